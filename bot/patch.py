"""A unified diff with no context → which lines of which files came and went. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.ports import FileChange


def read_patch(text: str) -> Iterator[FileChange]:
    """The files of `git diff --find-renames --unified=0`, in order. A renamed file is changed, not deleted."""
    for part in text.split("\ndiff --git "):
        if part.strip():
            yield _file(part.removeprefix("diff --git ").split("\n"))


def _file(lines: list[str]) -> FileChange:
    path = lines[0].rpartition(" b/")[2].removesuffix('"')
    deleted, body = False, len(lines)
    for at, line in enumerate(lines[1:], start=1):
        if line.startswith("@@"):
            body = at
            break
        deleted = deleted or line.startswith("deleted file mode")
        if line.startswith("rename to "):
            path = line.removeprefix("rename to ")
    added = tuple(line[1:] for line in lines[body:] if line.startswith("+"))
    removed = tuple(line[1:] for line in lines[body:] if line.startswith("-"))
    return FileChange(path, deleted, added, removed)
