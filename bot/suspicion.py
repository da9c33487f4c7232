"""What in a diff a reviewer should look at first: checks that were made to pass instead of the code being made right.
Pure.

A heuristic over paths and lines: it shows, it does not judge. A test that is renamed or moved is no suspicion; a test
rewritten with as many assertions as before is none either, so it can be fooled by a patient cheat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

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
_THRESHOLD = re.compile(
    r"(?P<name>[\w.-]*(?:fail[-_]under|threshold|min(?:imum)?[-_]?coverage|coverage[-_]?min\w*)[\w.-]*)\W+(?P<value>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)


def suspicions(changes: Iterable[FileChange]) -> tuple[str, ...]:
    """One sentence each, without a full stop; Markdown."""
    found: list[str] = []
    for change in changes:
        found += _workflow(change)
        if _TEST_PATH.search(change.path):
            found += _test(change)
        if any(_TOLERATED.search(line) for line in change.added):
            found.append(f"`{change.path}` lets a command fail without being noticed")
        found += _thresholds(change)
    return tuple(dict.fromkeys(found))


def protected(changes: Iterable[FileChange], patterns: Sequence[str]) -> tuple[str, ...]:
    """Paths among `changes` that `patterns` protect. `*` and `**` both match across folders."""
    return tuple(change.path for change in changes if any(fnmatchcase(change.path, pattern) for pattern in patterns))


def _workflow(change: FileChange) -> list[str]:
    if change.path.startswith(".github/workflows/"):
        return [f"the workflow `{change.path}` was {'deleted' if change.deleted else 'changed'}"]
    return [f"`{change.path}` was changed"] if change.path.rpartition("/")[2] == "CODEOWNERS" else []


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
