"""What in a diff makes tests check less: deleted, skipped, emptied, loosened. Pure.

A test that is renamed or moved is no suspicion; a test rewritten with as many assertions as before is none either, so
it can be fooled by a patient cheat.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.difference import is_test
from bot.guard import code
from bot.ports import FileChange
from bot.suspicion.assertions import always_true, count, is_shell, loosened

_SKIP = re.compile(
    r"@?pytest\.(mark\.)?(skip|skipif|xfail)\b|@?unittest\.(skip|expectedFailure)|@(skip|skipIf|skipUnless"
    r"|expectedFailure)\b|\bSkipTest\b|\bself\.skipTest\(|\b(it|test|describe|context)\.(skip|todo|only|fixme)\("
    r"|\b(x(it|describe|test|context)|fdescribe|fcontext)\(|\bt\.Skip(f|Now)?\(|#\[ignore|@(Disabled|Ignore)\b|^\s*skip\b.*#"
    # What takes tests out of a run: TAP has the directives SKIP and TODO for it.
    r"|\b__test__\s*=\s*False|\bcollect_ignore\w*\b|\bok\b.*#\s*(SKIP|TODO)\b|\b1\.\.0\b"
)
_SHELL_SKIP = re.compile(r"^\s*(skip|skip_all|todo)\b", re.IGNORECASE)
_HOOK = re.compile(
    r"\bdef (pytest_(?:collection_modifyitems|ignore_collect|runtest_makereport|runtest_protocol|runtest_call"
    r"|pyfunc_call|sessionfinish|report_teststatus))\b"
)
_ENDS_WELL = re.compile(r"\b(os\._exit\(0\)|exitstatus\s*=\s*0|process\.exit\(0\)|os\.Exit\(0\))")
_REPLACES = re.compile(r"\bmonkeypatch\.setattr\(|\bpatch(?:\.object)?\(|\bsys\.modules\[")
_SHOWN = 120
_LISTED = 3


def in_tests(changes: Sequence[FileChange]) -> Iterator[str]:
    """One sentence each, without a full stop; Markdown."""
    tests = [change for change in changes if is_test(change.path)]
    for change, left in zip(tests, _without_moved(tests), strict=True):
        yield from _deleted(change, left) if change.deleted else _weakened(left)


def _without_moved(tests: Sequence[FileChange]) -> Iterator[FileChange]:
    """The changes without the lines that one test lost and another, or the same elsewhere, got."""
    came = Counter(line.strip() for change in tests for line in change.added)
    went = Counter(line.strip() for change in tests for line in change.removed)
    moved_from, moved_to = came & went, came & went
    for change in tests:
        yield replace(change, added=_left(change.added, moved_to), removed=_left(change.removed, moved_from))


def _left(lines: Sequence[str], moved: Counter[str]) -> tuple[str, ...]:
    """The lines that `moved` does not account for; what it does is taken off it."""
    left = []
    for line in lines:
        if moved[line.strip()] > 0:
            moved[line.strip()] -= 1
        else:
            left.append(line)
    return tuple(left)


def _deleted(change: FileChange, left: FileChange) -> list[str]:
    moved_whole = count(change.removed, change.path) and not count(left.removed, change.path)
    return [] if moved_whole else [f"the test file {code(change.path, _SHOWN)} was deleted"]


def _weakened(left: FileChange) -> Iterator[str]:
    """`left`: a change of a test without what was only moved."""
    path = code(left.path, _SHOWN)
    if _skips(left.added, left.path) > _skips(left.removed, left.path):
        yield f"{path} skips a test"
    lost = count(left.removed, left.path) - count(left.added, left.path)
    if lost > 0:
        yield f"{path} lost {lost} assertion{'' if lost == 1 else 's'}"
    less = ", ".join(code(what, _SHOWN) for what in [*loosened(left.removed, left.added)][:_LISTED])
    if less:
        yield f"{path} checks less than before of {less}"
    idle = next((line.strip() for line in left.added if always_true(line, left.path)), "")
    if idle:
        yield f"{path} asserts what is always true: {code(idle, _SHOWN)}"
    if left.path.endswith("conftest.py") and any("autouse=True" in line for line in left.added):
        other = next((line.strip() for line in left.added if _REPLACES.search(line)), "")
        if other:
            yield f"{path} puts something else in the place of what is tested: {code(other, _SHOWN)}"
    for line in left.added:
        if (hook := _HOOK.search(line)) or (hook := _ENDS_WELL.search(line)):
            yield f"{path} changes which tests run or how they end: {code(hook[1], _SHOWN)}"
            break


def _skips(lines: Sequence[str], path: str) -> int:
    return sum(bool(_SKIP.search(line) or (is_shell(path) and _SHELL_SKIP.search(line))) for line in lines)
