"""What a Repair's Session was given to go by, kept beside its transcript for people: a stream holds no prompt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bot.record import Evidence


def keep_evidence(logs: Path, prefix: str, number: int, evidence: Sequence[Evidence]) -> None:
    """Write it as `<prefix>-repair-<number>.evidence.txt`; nothing for a conflict. Never fails a Run."""
    if not evidence:
        return
    text = "\n\n".join(_told(item) for item in evidence)
    path = logs / f"{prefix}-repair-{number}.evidence.txt"
    with suppress(OSError):
        path.unlink(missing_ok=True)  # a link of that name is not to be written through
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")


def _told(item: Evidence) -> str:
    where = f", step {item.step}" if item.step else ""
    return f"{item.check.name} ({item.check.conclusion or 'no conclusion'}{where})\n\n{item.excerpt.strip()}"
