"""Which parts of which field cases have a test: what was met in the field stays handled.

A test that shows a part carries `@pytest.mark.field_case(number, "part")`. The marks are read from the files, so that
this holds as well when only some tests run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent

# Number → what it is about, and its parts. A part is a letter where the case has variants, else a few words.
CASES = {
    33: ("refused at the last step", ("a", "b", "c", "d")),
    35: ("slow down and go away", ("a", "b", "c", "d", "e", "f", "g", "polling")),
    36: ("size limits on the way out", ("title", "pull request", "comment", "edit", "summary")),
    37: ("the issue is a pull request, closed, locked, moved, gone or empty", ("a", "b", "c", "d", "e", "f", "g")),
    38: ("the credential dies in the middle", ("refresh", "no refresh", "refresh refused")),
    39: ("a person steps in", ("a", "b", "c", "d", "e", "f", "retargeted")),
    40: ("two labels at once", ("other events", "one group an issue", "second starter")),
    41: ("a checkout one commit deep", ("depth-1 checkout", "deepened", "shallow server", "unrelated base")),
    43: ("the session moved HEAD", ("a", "b", "c", "d", "e", "f", "g", "h")),
    44: ("nothing to commit, and what is never to be committed", ("a", "b", "c", "d", "e")),
    45: ("names that git does not take", ("titles", "paths", "collision", "case twin")),
    46: ("the checkout's credential", ("a", "b")),
    47: ("the machine's git does not cooperate", ("a", "b", "c", "d", "e", "f")),
    48: ("who may pull the trigger", ("person", "bot", "own bot", "fail closed")),
    49: ("edited after approval", ("issue", "comments", "repair")),
    50: ("text a human cannot see", ("issue", "every path", "idempotent", "fenced", "kept", "counted")),
    52: ("secrets reach the session, then the world", ("environment", "texts", "diff", "masks")),
    53: ("quoting strangers", ("comment", "fences", "marker", "job log", "commit messages")),
    54: ("a report file that is a link", ("handover", "pipe", "folder", "size", "committed")),
    56: ("making CI green by cheating", ("a", "b", "c", "d")),
}


def marks() -> Iterator[tuple[str, int, str]]:
    """Every mark on a test: where, the case's number and the part."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.field_case":
                    number, part = (ast.literal_eval(argument) for argument in decorator.args)
                    yield f"{path.relative_to(TESTS)}::{node.name}", number, part


def test_every_part_has_a_test() -> None:
    """Each part of each case is shown by a test at least."""
    shown = {(number, part) for _, number, part in marks()}
    wanted = {(number, part) for number, (_, parts) in CASES.items() for part in parts}
    assert sorted(wanted - shown) == []


def test_every_mark_is_of_a_part() -> None:
    """No test is marked with a case or part that the table does not know."""
    strange = [mark for mark in marks() if mark[2] not in CASES.get(mark[1], ("", ()))[1]]
    assert strange == []
