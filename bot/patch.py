"""A unified diff with no context → which lines of which files came and went. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.ports import FileChange

_ESCAPED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_MODE = re.compile(r"(?:new file mode|new mode|index [0-9a-f]+\.\.[0-9a-f]+) ([0-7]{6})$")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def read_patch(text: str) -> Iterator[FileChange]:
    """The files of `git diff --find-renames --unified=0`, in order. A renamed file is changed, not deleted."""
    for part in text.split("\ndiff --git "):
        if part.strip():
            yield _file(part.removeprefix("diff --git ").split("\n"))


def _file(lines: list[str]) -> FileChange:
    path = _same_name(lines[0])
    deleted, new, mode, body = False, False, "", len(lines)
    for at, line in enumerate(lines[1:], start=1):
        if line.startswith("@@"):
            body = at
            break
        deleted = deleted or line.startswith("deleted file mode")
        new = new or line.startswith(("new file mode", "rename to "))
        mode = said[1] if (said := _MODE.match(line)) else mode
        if line.startswith("rename to "):
            path = _unquoted(line.removeprefix("rename to "))
    added = tuple(line[1:] for line in lines[body:] if line.startswith("+"))
    removed = tuple(line[1:] for line in lines[body:] if line.startswith("-"))
    return FileChange(path, deleted, added, removed, "" if deleted else mode, new)


def _same_name(header: str) -> str:
    """`x` of `a/x b/x`, whatever blanks and quotes are in it; a renamed file says its name elsewhere."""
    return _unquoted(header[(len(header) + 1) // 2 :]).removeprefix("b/")


def _unquoted(name: str) -> str:
    """A path as git writes it in a patch: in quotes, with escapes, where it has unusual characters."""
    if not (len(name) > 1 and name[0] == name[-1] == '"'):
        return name

    def plain(found: re.Match[bytes]) -> bytes:
        what = found[1]
        return bytes([int(what, 8)]) if len(what) == 3 else _LETTERS.get(what, what)

    return _ESCAPED.sub(plain, name[1:-1].encode()).decode(errors="replace")
