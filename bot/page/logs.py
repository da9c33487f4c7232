"""The logs folder as the page reads it, like a stranger's: regular files only, no links, bounded; and its page."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from bot.claude.told import Transcript
from bot.claude.transcript import read_transcript
from bot.guard import shorten
from bot.page.model import SessionTold
from bot.record import Record, SessionEntry
from bot.replay import lines

PAGE = "run.html"
MOST_TRANSCRIPTS = 60
"""Transcripts that are read of one Run, the newest."""
_LINE_BYTES = 8 * 1024 * 1024
"""A longer line of a transcript is not looked at: the largest measured was 3 MB."""
_EVIDENCE_BYTES = 256 * 1024
_NAME = re.compile(r"issue-\d+-run-[\w.-]+\.jsonl")


class Logs:
    """A logs folder, which need not be there."""

    def __init__(self, folder: Path | None, clean: Callable[[str], str] = str) -> None:
        """`clean` takes secrets out of what is read."""
        self._folder = folder
        self._clean = clean

    def sessions(self, record: Record) -> tuple[SessionTold, ...]:
        """The Run's Sessions as the Record has them, then those that left a transcript and no entry."""
        known = [(transcript_name(record, entry), entry) for entry in record.sessions]
        # One that was interrupted and taken up has a name twice; what is here is the newer one's.
        newest = {name: at for at, (name, _) in enumerate(known)}
        left = [name for name in self._transcripts(record) if name not in newest]
        rows: list[tuple[str, SessionEntry | None]] = [*known, *((name, None) for name in left)]
        unread = max(0, len(rows) - MOST_TRANSCRIPTS)
        return tuple(
            self._session(record, name, entry, read=at >= unread and newest.get(name, at) == at)
            for at, (name, entry) in enumerate(rows)
        )

    def evidence(self, record: Record, number: int) -> str:
        """What the Repair of that number was given; "" where nothing is kept of it."""
        with self._opened(f"{prefix(record)}-repair-{number}.evidence.txt") as file:
            return self._clean(file.read(_EVIDENCE_BYTES).decode(errors="replace")) if file else ""

    def write(self, page: str) -> Path:
        """Put the page there, whole or not at all, in the place of whatever has its name. Raises `OSError`."""
        if self._folder is None:
            raise FileNotFoundError(2, "there is no logs folder")
        self._folder.mkdir(parents=True, exist_ok=True)
        return write_file(self._folder / PAGE, page)

    def _session(self, record: Record, name: str, entry: SessionEntry | None, *, read: bool) -> SessionTold:
        kind = entry.name if entry else name.removeprefix(f"{prefix(record)}-").removesuffix(".jsonl")
        if not read:
            return SessionTold(kind, entry, None, name)
        with self._opened(name) as file:
            if file is None:
                return SessionTold(kind, entry, None, name)
            size = os.fstat(file.fileno()).st_size
            return SessionTold(kind, entry, self._read(file), name, size)

    def _read(self, file: BinaryIO) -> Transcript:
        return read_transcript(lines(file, _LINE_BYTES), clean=self._clean)

    def _transcripts(self, record: Record) -> Sequence[str]:
        try:
            names = [path.name for path in self._folder.iterdir()] if self._folder else []
        except OSError:
            return ()
        return sorted(name for name in names if name.startswith(f"{prefix(record)}-") and _NAME.fullmatch(name))

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO | None]:
        """A regular file of the folder; None for all else. O_NONBLOCK, so that a FIFO waits for no writer."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(self._folder / name, flags) if self._folder else -1
        except OSError:
            handle = -1
        if handle < 0 or not stat.S_ISREG(os.fstat(handle).st_mode):
            if handle >= 0:
                os.close(handle)
            yield None
            return
        with os.fdopen(handle, "rb") as file:
            yield file


def write_file(path: Path, text: str) -> Path:
    """Write a file, whole or not at all; a link of its name is replaced, not followed. Raises `OSError`."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return fresh.replace(path)


def prefix(record: Record) -> str:
    """How the names of a Run's files in the logs folder begin."""
    trigger = record.trigger
    return f"issue-{trigger.issue}-run-{trigger.run_id}-{trigger.run_attempt}"


def transcript_name(record: Record, entry: SessionEntry) -> str:
    """The name of a Session's transcript, wherever it was written."""
    name = Path(entry.transcript).name
    return name if _NAME.fullmatch(name) else f"{prefix(record)}-{shorten(entry.name, 60, 'end')}.jsonl"
