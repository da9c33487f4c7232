"""What in a diff a reviewer should look at first: checks that were made to pass instead of the code being made right.
Pure.

A heuristic over paths and lines: it shows, it does not judge. A test that is renamed or moved is no suspicion; a test
rewritten with as many assertions as before is none either, so it can be fooled by a patient cheat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from bot.guard import closing
from bot.ports import FileChange

_TEST_PATH = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|(^|/)(test_[^/]+|conftest\.py)$|[^/]+(_test|_spec|\.test|\.spec|Tests?|Spec)\.\w+$"
)
_SKIP = re.compile(
    r"@?pytest\.(mark\.)?(skip|skipif|xfail)\b|@?unittest\.(skip|expectedFailure)|\bself\.skipTest\(|\b(it|test|describe)"
    r"\.(skip|todo)\(|\bx(it|describe|test)\(|\bt\.Skip(f|Now)?\(|#\[ignore|@(Disabled|Ignore)\b|^\s*skip\b.*#"
)
_ASSERT = re.compile(r"\bassert\w*\b|\bexpect\(|\.should\b|\brequire\.\w+\(|\bt\.(Error|Fatal)f?\(", re.IGNORECASE)
_TOLERATED = re.compile(r"\|\|\s*true\b|continue-on-error:\s*true|--exit-zero\b|\|\|\s*exit 0\b|set \+e\b")
_CONFIGURES = re.compile(r"(^|/)(\.claude/.+|CLAUDE(\.local)?\.md|AGENTS\.md|\.mcp\.json)$")
_LINK, _SUBMODULE = "120000", "160000"
_SHOWN = 100
_NAMED = 20
_THRESHOLD = re.compile(
    r"(?P<name>[\w.-]*(?:fail[-_]under|threshold|min(?:imum)?[-_]?coverage|coverage[-_]?min\w*)[\w.-]*)\W+(?P<value>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)


def suspicions(changes: Iterable[FileChange]) -> tuple[str, ...]:
    """One sentence each, without a full stop; Markdown."""
    changes = tuple(changes)
    found = _configuring(changes)
    for change in changes:
        found += _workflow(change)
        found += _elsewhere(change)
        if _TEST_PATH.search(change.path):
            found += _test(change)
        if any(_TOLERATED.search(line) for line in change.added):
            found.append(f"`{change.path}` lets a command fail without being noticed")
        found += _thresholds(change)
    return tuple(dict.fromkeys(found))


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
    paths = [f"`{change.path}`" for change in changes if _CONFIGURES.search(change.path)]
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    names = f"{', '.join(paths[:_NAMED])}{more}"
    return [f"agent settings or instructions were changed, which count once this is merged: {names}"] if paths else []


def _workflow(change: FileChange) -> list[str]:
    if change.path.startswith(".github/workflows/"):
        return [f"the workflow `{change.path}` was {'deleted' if change.deleted else 'changed'}"]
    return [f"`{change.path}` was changed"] if change.path.rpartition("/")[2] == "CODEOWNERS" else []


def _elsewhere(change: FileChange) -> list[str]:
    """What brings in something that is not in the diff: links out of the repository, and submodules."""
    if change.path == ".gitmodules":
        return [f"`.gitmodules` was {'deleted' if change.deleted else 'changed'}: it says where submodules come from"]
    if change.mode == _SUBMODULE:
        return [f"`{change.path}` is a submodule, and the commit it stands for is another one now"]
    if change.mode == _LINK and (target := "".join(change.added)) and _leaves(change.path, target):
        return [f"`{change.path}` is a link that leads out of the repository, to `{target[:_SHOWN]}`"]
    return []


def _leaves(path: str, target: str) -> bool:
    """Whether a link at `path` leads out of the tree, or into `.git`, or in a way that another link decides."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    deep = path.count("/")
    return target.startswith("/") or up > deep or ".." in parts[up:] or ".git" in (part.lower() for part in parts)


def _test(change: FileChange) -> list[str]:
    if change.deleted:
        return [f"the test file `{change.path}` was deleted"]
    found = []
    if any(_SKIP.search(line) for line in change.added):
        found.append(f"`{change.path}` skips a test")
    lost = _count(_ASSERT, change.removed) - _count(_ASSERT, change.added)
    if lost > 0:
        found.append(f"`{change.path}` lost {lost} assertion{'' if lost == 1 else 's'}")
    return found


def _thresholds(change: FileChange) -> list[str]:
    before = {match["name"]: float(match["value"]) for line in change.removed for match in _THRESHOLD.finditer(line)}
    after = {match["name"]: float(match["value"]) for line in change.added for match in _THRESHOLD.finditer(line)}
    return [
        f"`{name}` in `{change.path}` was lowered from {value:g} to {after[name]:g}"
        for name, value in before.items()
        if name in after and after[name] < value
    ]


def _count(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    return sum(len(pattern.findall(line)) for line in lines)
