"""Puts new files into a repository: each whole or not at all, and never over one that is there."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


class CannotPlace(Exception):
    """A file could not be put there; the text says why, without its name."""


def there(top: Path, path: str) -> str | None:
    """The text of the file `path` below `top`; None where there is nothing of that name. Raises `CannotPlace`."""
    try:
        _look_for_ways_out(top, path)
        return (top / path).read_bytes().decode("utf-8", errors="replace") if os.path.lexists(top / path) else None
    except OSError as error:
        raise CannotPlace(f"what is there cannot be read: {error.strerror}") from error


def place(top: Path, path: str, text: str) -> None:
    """Write the file `path` below `top`, with the folders that it needs. Raises `CannotPlace`; then nothing but folders
    is left.
    """
    target = top / path
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        _look_for_ways_out(top, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as left:
            file = draft.open("x", encoding="utf-8", newline="\n")
            left.callback(draft.unlink, missing_ok=True)
            with file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            _name(draft, target)
    except FileExistsError as error:
        raise CannotPlace("somebody else has put one there in this moment") from error
    except OSError as error:
        raise CannotPlace(f"it could not be written: {error.strerror}") from error


def _name(draft: Path, target: Path) -> None:
    """Give it its name, which nothing else may have."""
    try:
        os.link(draft, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        draft.rename(target)


def _look_for_ways_out(top: Path, path: str) -> None:
    """Raises `CannotPlace` where a link leads out of the repository."""
    real = os.path.realpath(top)
    if not Path(os.path.realpath((top / path).parent)).is_relative_to(real):
        raise CannotPlace("a link on its way leads out of the repository")
