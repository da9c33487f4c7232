"""What a reviewer is told of the test that a Session named."""

from __future__ import annotations

from time import perf_counter

import pytest

from bot.ports import FileChange
from bot.proof.facts import Claim, Proof, Verdict
from bot.suspicion import about_the_named_test

PY, SH, JS = "tests/test_sub.py", "t/sub.sh", "src/sub.test.js"
COMMANDS = {PY: "python -m pytest -q tests/test_sub.py", SH: "sh t/sub.sh", JS: "npx jest src/sub.test.js"}
CODE = FileChange("widget/sub.py", False, ("def sub(a, b):", "    return a - b"), (), new=True)
GOOD = "from widget.sub import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n"


def file(path: str, text: str, *, old: str = "") -> FileChange:
    """A file that the diff adds, or extends beyond what was `old`."""
    return FileChange(path, False, tuple(text.removeprefix(old).splitlines()), (), new=not old)


def told(
    text: str,
    *,
    path: str = PY,
    old: str = "",
    command: str = "",
    verdict: Verdict = Verdict.PROVED,
    work: tuple[FileChange, ...] = (CODE,),
) -> tuple[str, ...]:
    """What is said of a named file with that text."""
    claim = Claim(command or COMMANDS.get(path, f"run {path}"), (path,))
    changes = (*work, *([file(path, text, old=old)] if text != old else []))
    return about_the_named_test(claim, {path: text}, changes, Proof("b" * 40, "a" * 40, verdict, "", claim))


IDLE = {
    "a new function that is only called": (PY, "from widget.sub import sub\n\ndef test_sub():\n    sub(3, 2)\n"),
    "a comment about asserting": (PY, "def test_sub():\n    # assert sub(3, 2) == 1\n    sub(3, 2)\n"),
    # Asserts nothing, and has to be told so.
    "always true": (PY, "def test_sub():\n    sub(3, 2)\n    assert True\n"),
    "a constant": (PY, "def test_sub():\n    sub(3, 2)\n    assert 1 == 1, 'works'\n"),
    "a way out": (PY, "def test_sub():\n    assert sub(3, 2) == 9 or True\n"),
    "unittest": (PY, "class T(TestCase):\n    def test_sub(self):\n        sub(3, 2)\n        self.assertTrue(True)\n"),
    "JavaScript": (JS, "const { sub } = require('./sub')\ntest('it should subtract', () => { sub(3, 2) })\n"),
    "JavaScript, always true": (JS, "test('subtracts', () => {\n  sub(3, 2)\n  expect(true).toBe(true)\n})\n"),
    "TAP that is only printed": (SH, "#!/bin/sh\n./widget sub 3 2\necho 1..1\necho 'ok 1 - subtracts'\n"),
    "TAP that tolerates all": (SH, "#!/bin/sh\n./widget sub 3 2 || true\necho 'ok 1 - subtracts'\n"),
    "TAP that compares constants": (SH, "#!/bin/sh\n[ 1 = 1 ]; echo 'ok 1 - subtracts'\n"),
    "TAP with the work itself": (SH, ". ./sub.sh\nsub 3 2\necho 'ok 1 - subtracts'\n"),
}


@pytest.mark.parametrize("name", IDLE)
def test_a_test_that_asserts_nothing(name: str) -> None:
    """It is named, even where it is proved: it would pass whatever comes out."""
    path, text = IDLE[name]
    work = (FileChange("sub.sh", False, ("sub() {",), (), new=True),) if "work itself" in name else (CODE,)
    assert told(text, path=path, work=work) == (f"the named test `{path}` asserts nothing",)


def test_a_new_test_that_asserts_nothing_among_others() -> None:
    """Of a file that was there, only the tests that the diff adds are looked at."""
    old = "def test_old():\n    run()\n\n\n" + GOOD
    new = "\n\ndef test_new():\n    sub(1, 1)\n\n\ndef test_more():\n    assert sub(2, 2) == 0\n"
    assert told(old + new, old=old) == (f"the new test `test_new` in `{PY}` asserts nothing",)
    assert told(old + new.replace("test_more", "test_x").replace("assert ", ""), old=old) == (
        f"the new tests `test_new`, `test_x` in `{PY}` assert nothing",
    )


HELPERS = """
from widget.sub import sub
from tests.helpers import (
    same_number,
)
from conftest import shows


def gives(a, b, result):
    assert sub(a, b) == result


def test_one():
    gives(3, 2, 1)


def test_two():
    same_number(sub(3, 2), 1)


def test_three():
    shows(sub(3, 2), 1)


def test_four(): assert sub(3, 2) == 1
"""
HONEST = {
    "a test beside new code": (PY, GOOD, ""),
    "helpers that assert": (PY, HELPERS, ""),
    "one more case": (PY, GOOD.replace("3, 2", "3, 2)\n    assert sub(9, 9"), GOOD[:60]),
    "an error": (PY, "def test_sub():\n    with pytest.raises(ValueError):\n        sub('a', 2)\n", ""),
    "unittest": (PY, "class T(TestCase):\n    def test_sub(self):\n        self.assertEqual(sub(3, 2), 1)\n", ""),
    "a doctest": (PY, '"""\n>>> sub(3, 2)\n1\n"""\n', ""),
    "a program that must succeed": (PY, "def test_sub():\n    subprocess.run(['widget', 'sub'], check=True)\n", ""),
    "JavaScript": (JS, "test('subtracts', () => {\n  expect(sub(3, 2)).toBe(1)\n})\n", ""),
    "node's own assert": (JS, "it('subtracts', () => assert.strictEqual(sub(3, 2), 1))\n", ""),
    "a helper in JavaScript": (
        JS,
        "import { sameNumber } from '../test/helpers'\ntest('subtracts', () => { sameNumber(sub(3, 2), 1) })\n",
        "",
    ),
    "a helper in Go": ("pkg/sub_test.go", "func TestSub(t *testing.T) {\n\tsame(t, Sub(3, 2), 1)\n}\n", ""),
    "Go": ("pkg/sub_test.go", 'func TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Errorf("no")\n\t}\n}\n', ""),
    "Rust": ("tests/sub.rs", "#[test]\nfn subtracts() {\n    assert_eq!(sub(3, 2), 1);\n}\n", ""),
    "TAP": (SH, '#!/bin/sh\n[ "$(./widget sub 3 2)" = 1 ] && echo "ok 1" || echo "not ok 1"\n', ""),
    "TAP with if": (SH, "if ./widget sub 3 2 | grep -q '^1$'; then\n  echo ok 1\nelse\n  echo not ok 1\nfi\n", ""),
    "a script that ends at the first error": (SH, "#!/bin/sh\nset -eu\n./widget sub 3 2\n", ""),
    "a library of TAP": (SH, '. "$(dirname "$0")/tap.sh"\nis "$(./widget sub 3 2)" 1 "subtracts"\n', ""),
    "cases as data": ("tests/cases/sub.json", '{"in": [3, 2], "out": 1}', ""),
    "a language that is not known": ("tests/sub.ex", "test 'sub', do: sub(3, 2)", ""),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_tests(name: str) -> None:
    """Nothing is said of a test that checks something, or of which that cannot be told."""
    path, text, old = HONEST[name]
    assert told(text, path=path, old=old) == ()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("true", "the command `true` runs no test"),
        ("exit 0", "the command `exit 0` runs no test"),
        (":", "the command `:` runs no test"),
        ("echo 1..1 && echo ok 1", "the command `echo 1..1 && echo ok 1` runs no test"),
        ("grep -q 'def sub' widget/sub.py", "the command `grep -q 'def sub' widget/sub.py` runs no test"),
        ("test -f widget/sub.py && ls | wc -l", "the command `test -f widget/sub.py && ls | wc -l` runs no test"),
        ("pytest -q || true", "the command `pytest -q || true` hides whether the test failed"),
        ("pytest -q; exit 0", "the command `pytest -q; exit 0` hides whether the test failed"),
        (
            "pytest -q tests/test_old.py",
            "the command `pytest -q tests/test_old.py` names `tests/test_old.py`, and none of the named test files",
        ),
    ],
)
def test_commands_that_show_nothing(command: str, said: str) -> None:
    """A command that cannot fail, or that runs another test, is named."""
    assert told(GOOD, command=command) == (said,)


@pytest.mark.parametrize(
    "command",
    [
        *("pytest", "make test", "npm test", "python -m unittest", "python -m unittest tests.test_sub", "pytest tests"),
        *("pytest tests/test_sub.py::test_sub", "pytest -q tests/test_old.py tests/test_sub.py", "tox -e py311"),
        *(
            "cd tests && pytest test_sub.py",
            "pytest tests/test_*.py",
            "PYTHONPATH=. pytest -q -k sub",
            "pytest -q | cat",
        ),
    ],
)
def test_ordinary_commands(command: str) -> None:
    """A command may run more than the named files, and find them in its own way."""
    assert told(GOOD, command=command) == ()


def test_a_file_that_is_no_test() -> None:
    """A named file that neither is called like a test nor looks like one is named; a doctest is one."""
    said = ("the named file `widget/add.py` does not look like a test",)
    text = "def sub(a, b):\n    assert a\n    return a - b\n"
    assert told(text, path="widget/add.py", old=text) == said
    assert told('def sub(a, b):\n    """\n    >>> sub(3, 2)\n    1\n    """\n', path="widget/sub.py") == ()
    assert told("def test_sub():\n    assert sub(3, 2) == 1\n", path="checks/sub.py") == ()
    script = "import sub\nassert sub.sub(3, 2) == 1\n"
    assert told(script, path="check_sub.py") == ()
    assert told(script, path="check_sub.py", old=script) == ("the named file `check_sub.py` does not look like a test",)


def test_a_test_that_has_nothing_to_do_with_the_diff() -> None:
    """It is told where the runs do not show the contrary, and what the diff changes."""
    text = "from other import name\n\ndef test_name():\n    assert name() == 'x'\n"
    said = ("the named test mentions nothing that the diff changes (`widget/sub.py`)",)
    assert told(text, old=text, verdict=Verdict.PASSES_BEFORE_TOO) == said
    assert told(text, old=text, verdict=Verdict.PROVED) == ()
    inside = FileChange("widget/__init__.py", False, ("VERSION = 2",), ("VERSION = 1",))
    assert (
        told("import widget\n\ndef test_x():\n    assert widget.f()\n", verdict=Verdict.FAILS_AFTER, work=(inside,))
        == ()
    )


def test_refactored_code_with_its_unchanged_test() -> None:
    """A test that covers what was rewritten is no suspicion, by module, by package or by name."""
    for text in ("from widget.sub import f", "import widget as w", "sub = load('x')"):
        body = f"{text}\n\ndef test_f():\n    assert f() == 1\n"
        assert told(body, old=body, verdict=Verdict.PASSES_BEFORE_TOO) == ()


def test_documentation_has_nothing_to_be_mentioned() -> None:
    """Where no code was changed, no test has to mention any."""
    readme = FileChange("README.md", False, ("x",), ())
    assert told(GOOD, old=GOOD, verdict=Verdict.PASSES_BEFORE_TOO, work=(readme,)) == ()


def test_only_tests_make_the_difference() -> None:
    """A test that passes because of the settings of the runner, and of no code, is told."""
    ini = FileChange("pytest.ini", False, ("addopts = -p no:warnings",), ())
    said = ("nothing but tests, and what configures them, was changed: that alone makes the named test pass",)
    assert told(GOOD, work=(ini,)) == said
    assert told(GOOD, work=()) == said
    assert told(GOOD, work=(ini, CODE)) == ()


def test_a_file_that_cannot_be_read() -> None:
    """A named file that is too big, or gone, costs nothing but what would be said of its text."""
    claim = Claim("pytest tests/test_sub.py", (PY,))
    proof = Proof("b" * 40, "a" * 40, Verdict.COULD_NOT_RUN, "", claim)
    assert about_the_named_test(claim, {}, (CODE,), proof) == ()


@pytest.mark.parametrize("path", [PY, SH, JS])
@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " \t",
        "from test",
        "import {",
        "from tests import (",
        "source ",
        "test(",
        "def test_a",
        "assert ",
        "1..",
        ". x ",
        "test.",
    ],
)
def test_odd_texts_take_no_time(path: str, piece: str) -> None:
    """A named file of 64 KiB of anything is read in no time."""
    began = perf_counter()
    told(piece * (64 * 1024 // len(piece)), path=path)
    told(f"{piece}\n" * (64 * 1024 // (len(piece) + 1)), path=path)
    assert perf_counter() - began < 5
