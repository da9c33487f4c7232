"""Which paths a kernel that can only grant has to grant, so that some are left out. And who can reach a path."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path


def all_but(kept: Iterable[Path], root: Path = Path("/")) -> Iterator[Path]:
    """The outermost files and folders below `root` that hold none of `kept`: together, all of `root` but `kept`, and
    but what will be put into a folder above one of `kept`. No symbolic links: what they lead to is judged by its place.
    """
    found = {Path(os.path.realpath(path)) for path in kept}
    if root in found:
        return
    above = {parent for path in found for parent in path.parents}
    yield from _walk(root, found, above)


def _walk(folder: Path, kept: set[Path], above: set[Path]) -> Iterator[Path]:
    with suppress(OSError):  # what cannot be listed is not granted
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 (names, which a folder of thousands is sorted by)
            child = folder / name
            if child in kept or child.is_symlink():
                continue
            if child in above:
                yield from _walk(child, kept, above)
            else:
                yield child


def block_devices(folder: Path = Path("/dev")) -> Iterator[Path]:
    """The disks: who can read or write one needs no file."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                if stat.S_ISBLK(path.lstat().st_mode):
                    yield path


def hand_over(folder: Path, user: int, group: int) -> None:
    """Make `user` the owner of `folder` and all below it; links themselves, not what they lead to. A file with several
    names stays as it is, for another of them may be anywhere. Raises `OSError`.
    """
    for path in _tree(folder):
        found = path.lstat()
        if found.st_uid != user and (stat.S_ISDIR(found.st_mode) or found.st_nlink == 1):
            os.chown(path, user, group, follow_symlinks=False)


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    for path, folders, files in os.walk(folder):
        yield from (Path(path, name) for name in (*folders, *files))


def reaches(user: int, group: int, run: Iterable[Path], enter: Iterable[Path]) -> bool:
    """Whether that user, without other groups, may run each of `run` and go into each of `enter`. Takes root."""

    def ask() -> bool:
        os.setgroups(())
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        return all(os.access(path, os.X_OK) for path in (*run, *enter))

    return in_a_child(ask)


def in_a_child(ask: Callable[[], bool]) -> bool:
    """What `ask` answers in a fork of this process, which it may change; False when it fails."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if ask() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
