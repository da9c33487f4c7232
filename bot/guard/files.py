"""Files that outlive a Run made free of secrets, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bot.guard.secrets import OVERLAP, Redactor

_BLOCK = 1024 * 1024
"""Characters, or bytes, that are read at once."""


def clean_file(path: Path, redactor: Redactor) -> bool:
    """Replace every secret in a file; whether there was one. A file that cannot be cleaned is taken away: raises
    `OSError` then. One without a secret is not written.
    """
    try:
        if not _is_within(path, redactor):
            return False
        clean = path.with_name(f"{path.name}.cleaned")
        with (
            path.open(encoding="utf-8", errors="surrogateescape", newline="") as file,
            clean.open("w", encoding="utf-8", errors="surrogateescape", newline="") as out,
        ):
            out.writelines(redactor.clean_blocks(_blocks(file)))
        clean.chmod(path.stat().st_mode & 0o777)
        clean.replace(path)
    except OSError:
        for left in (path, path.with_name(f"{path.name}.cleaned")):
            left.unlink(missing_ok=True)
        raise
    return True


def _is_within(path: Path, redactor: Redactor) -> bool:
    with path.open("rb") as file:
        held = b""
        while block := file.read(_BLOCK):
            held = held[-OVERLAP:] + block
            if redactor.found_bytes(held):
                return True
    return False


def _blocks(file: IO[str]) -> Iterator[str]:
    while block := file.read(_BLOCK):
        yield block


def clean_folder(folder: Path, redactor: Redactor) -> None:
    """`clean_file` for each regular file in a folder, no deeper. Raises `OSError` for the last that could not be."""
    refused: OSError | None = None
    for entry in list(os.scandir(folder)) if folder.is_dir() else []:
        try:
            if entry.is_file(follow_symlinks=False):
                clean_file(Path(entry.path), redactor)
        except OSError as error:
            refused = error
    if refused is not None:
        raise refused
