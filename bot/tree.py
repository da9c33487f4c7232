"""Reads files of a commit from the program's own repository, where no checkout and no filter has a say."""

from __future__ import annotations

from collections.abc import Sequence

from bot.git import Git
from bot.ports import TreeEntry


class GitTree:
    """The `Tree` port on real git."""

    def __init__(self, git: Git) -> None:
        """Nothing is read yet."""
        self._git = git

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every file of `commit`, links and submodules too. Raises `RunFailed` when there is no such commit."""
        rows = self._git.local("ls-tree", "-r", "-z", "--full-tree", commit).out.split("\0")
        found = (row.partition("\t") for row in rows if row)
        return tuple(TreeEntry(path, mode=about.split()[0], id=about.split()[2]) for about, _, path in found)

    def contents(self, entries: Sequence[TreeEntry], limit: int) -> tuple[bytes | None, ...]:
        """What is in these files; None for one of more than `limit` bytes, and for a submodule. Raises `RunFailed`."""
        asked = "".join(f"{entry.id}\n" for entry in entries)
        sizes = [row.split() for row in self._git.local("cat-file", "--batch-check", given=asked).out.splitlines()]
        small = [len(size) == 3 and size[1] == "blob" and int(size[2]) <= limit for size in sizes]
        ids = (entry.id for entry, fits in zip(entries, small, strict=True) if fits)
        with self._git.reading("cat-file", "--batch", given="".join(f"{one}\n" for one in ids)) as file:
            found: list[bytes | None] = []
            for fits in small:
                if not fits:
                    found.append(None)
                    continue
                size = int(file.readline().split()[2])
                found.append(file.read(size))
                file.read(1)  # a newline of git's own
        return tuple(found)
