"""What in a diff a reviewer should look at first: checks that were made to pass instead of the code being made right.
Pure.

A heuristic over paths and lines: it shows, it does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from bot.guard import closing, code
from bot.ports import FileChange
from bot.suspicion.in_tests import in_tests
from bot.suspicion.named_test import about_the_named_test
from bot.suspicion.running import running

__all__ = ["about_the_named_test", "closed_by_messages", "protected", "suspicions"]

_CONFIGURES = re.compile(r"(^|/)(\.claude/.+|CLAUDE(\.local)?\.md|AGENTS\.md|\.mcp\.json)$")
_LINK, _SUBMODULE = "120000", "160000"
_SHOWN = 100
_NAMED = 20
_LONGEST = 2000


def suspicions(changes: Iterable[FileChange]) -> tuple[str, ...]:
    """One sentence each, without a full stop; Markdown."""
    changes = tuple(_cut(change) for change in changes)
    outside = [text for change in changes for text in _elsewhere(change)]
    return tuple(dict.fromkeys([*_configuring(changes), *outside, *running(changes), *in_tests(changes)]))


def _cut(change: FileChange) -> FileChange:
    """The same with lines that are read in no time: a longer one is data."""
    added, removed = (tuple(line[:_LONGEST] for line in lines) for lines in (change.added, change.removed))
    return replace(change, added=added, removed=removed)


def closed_by_messages(messages: Iterable[str], issue: int) -> tuple[str, ...]:
    """What commit messages close beside `issue`, one sentence each."""
    found = dict.fromkeys(words for message in messages for words in closing(message))
    return tuple(
        f"a commit message says `{words}`, which closes that once it is merged"
        for words in found
        if not re.search(rf"\s(#|GH-){issue}$", words, re.IGNORECASE)
    )


def protected(changes: Iterable[FileChange], patterns: Sequence[str]) -> tuple[str, ...]:
    """Paths among `changes` that `patterns` protect. `*` and `**` both match across folders."""
    return tuple(change.path for change in changes if any(fnmatchcase(change.path, pattern) for pattern in patterns))


def _configuring(changes: Sequence[FileChange]) -> list[str]:
    """What will tell agents what to do, and run with them, once it is merged."""
    paths = [code(change.path, _SHOWN) for change in changes if _CONFIGURES.search(change.path)]
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    names = f"{', '.join(paths[:_NAMED])}{more}"
    return [f"agent settings or instructions were changed, which count once this is merged: {names}"] if paths else []


def _elsewhere(change: FileChange) -> list[str]:
    """What brings in something that is not in the diff: links out of the repository, and submodules."""
    path = code(change.path, _SHOWN)
    if change.path == ".gitmodules":
        return [f"`.gitmodules` was {'deleted' if change.deleted else 'changed'}: it says where submodules come from"]
    if change.mode == _SUBMODULE:
        return [f"{path} is a submodule, and the commit it stands for is another one now"]
    if change.mode == _LINK and (target := "".join(change.added)) and _leaves(change.path, target):
        return [f"{path} is a link that leads out of the repository, to {code(target, _SHOWN)}"]
    return []


def _leaves(path: str, target: str) -> bool:
    """Whether a link at `path` leads out of the tree, or into `.git`, or in a way that another link decides."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    deep = path.count("/")
    return target.startswith("/") or up > deep or ".." in parts[up:] or ".git" in (part.lower() for part in parts)
