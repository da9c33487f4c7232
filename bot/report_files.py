"""Finds the JUnit XML that a command wrote; read as a stranger's files: no links, regular files only, bounded."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

MAX_FILES = 20
MAX_BYTES = 2 * 1024 * 1024
"""Of one file; a longer one is left out, for half a document says nothing."""
MAX_ENTRIES = 100_000
"""Files and folders that are looked at."""
_PASSED_BY = frozenset((".git", "node_modules"))
_BEGINNING = 1024
_MARK = b"<testsuite"


def written_reports(root: Path, after: int) -> tuple[str, ...]:
    """The text of the JUnit files below `root` that were written or changed `after` then, in nanoseconds of the file
    system's clock; those nearest to `root` first.
    """
    found: list[str] = []
    for path in _changed(root, after):
        text = _read(root, path)
        if text is not None:
            found.append(text)
        if len(found) == MAX_FILES:
            break
    return tuple(found)


def _changed(root: Path, after: int) -> Iterator[Path]:
    """The XML files, relative to `root`, that are new by their time."""
    folders, seen = deque([Path()]), 0
    while folders and seen < MAX_ENTRIES:
        folder = folders.popleft()
        with suppress(OSError), os.scandir(root / folder) as entries:
            some = sorted(islice(entries, MAX_ENTRIES - seen), key=lambda entry: entry.name)
            seen += len(some)
            for entry in some:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _PASSED_BY:
                        folders.append(folder / entry.name)
                elif entry.name.lower().endswith(".xml") and entry.stat(follow_symlinks=False).st_ctime_ns > after:
                    yield folder / entry.name


def _read(root: Path, path: Path) -> str | None:
    """The file's text; None when it is no JUnit file, and for all that has to be left alone."""
    try:
        handle = _open(root, path)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
            return None
        content = file.read(_BEGINNING)
        if _MARK not in content:
            return None
        content += file.read(MAX_BYTES - len(content))  # it may be growing all the same
    return content.decode("utf-8", "replace")


def _open(root: Path, path: Path) -> int:
    """Open a file without following a link anywhere below `root`. Raises `OSError`."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    for name in path.parts[:-1]:
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    try:
        # O_NONBLOCK, so that opening a FIFO does not wait for a writer.
        return os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
