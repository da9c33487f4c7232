"""The Record on disk: written whole or not at all, before and after each step."""

from __future__ import annotations

import os
from pathlib import Path

from bot.record import Record, to_json


class DiskJournal:
    """Keeps the newest Record in one file."""

    def __init__(self, path: Path) -> None:
        """`path`'s folder is made when needed."""
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def save(self, record: Record) -> Record:
        """Write it; the same Record, for the caller's convenience."""
        fresh = self._path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(to_json(record))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        return record
