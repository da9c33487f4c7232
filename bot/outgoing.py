"""What a push of commits would carry, object by object: each commit with its authors and message, each folder with its
names, each file as it was at any time in between, merged, binary, or taken back later.

Nothing of it is chosen by what a diff shows, so that no attribute or merge can keep anything from being looked at.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from typing import IO

from bot.git import Git
from bot.guard.leaving import Piece

_BLOCK = 1024 * 1024
"""Bytes that are held of an object at a time. The size of an object has no bound: all of it is looked at."""


def outgoing(git: Git, head: str, known: Sequence[str]) -> Generator[Piece]:
    """What `head` has over `known` and over all that was fetched from the remote, oldest commit first. Each piece has
    to be read before the next. Raises `RunFailed`.
    """
    words = ("rev-list", "--objects", "--in-commit-order", "--reverse", head, "--not", *known, "--remotes")
    rows = [row.partition(" ") for row in git.local(*words).out.split("\n") if row]
    with git.reading("cat-file", "--batch", given="".join(f"{row[0]}\n" for row in rows)) as file:
        commit = ""
        for name, _, path in rows:
            kind, size = _header(file)
            commit = name if kind == "commit" else commit
            what = {"commit": "the message or an author", "tree": f"a name in `{path or '.'}`"}.get(kind, f"`{path}`")
            blocks = _content(file, size)
            yield Piece(f"{what} of commit {commit[:10]}", chain((path.encode() + b"\n",), blocks))
            for _ in blocks:  # what was left unread
                pass


def _header(file: IO[bytes]) -> tuple[str, int]:
    """Kind and size in bytes of the object that follows. Raises `EOFError` where git has it no more."""
    words = file.readline().split()
    if len(words) != 3 or not words[2].isdigit():
        raise EOFError("git could not read an object that a push would carry")
    return words[1].decode(), int(words[2])


def _content(file: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = file.read(min(left, _BLOCK))
        if not block:
            raise EOFError("git ended within an object that a push would carry")
        left -= len(block)
        yield block
    file.read(1)  # a newline of git's own
