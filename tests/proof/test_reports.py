"""What test runners report, read from what real ones printed and wrote."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.proof.facts import Ran
from bot.proof.reports.reading import read_report
from bot.proof.reports.report import MOST_CASES, Case
from tests.proof.sampled import ran, sample

Names = list[tuple[str, str]]


def names(cases: tuple[Case, ...]) -> Names:
    """Names and files of cases."""
    return [(case.name, case.file) for case in cases]


PY, JS, GO = "tests/test_half.py", "/repo/tests", "example.com/shelf"
HALF, UNIT = "tests.test_half", "tests.test_u.HalfTest"


@pytest.mark.parametrize(
    ("name", "told_by", "passed", "failed", "not_loaded", "errors", "skipped"),
    [
        (
            "pytest.xml",
            "JUnit XML",
            [("test_even", f"{HALF}.TestHalf")],
            [
                ("test_odd", f"{HALF}.TestHalf"),
                *((f"test_{name}", HALF) for name in ("new", "keyword", "names[a@b]", "names[c`d<e>]", "deep", "here")),
            ],
            [],
            [("test_setup", HALF), ("test_unknown_fixture", HALF)],
            [("test_later", HALF), ("test_known", HALF)],
        ),
        (
            "pytest-not-collected.xml",
            "JUnit XML",
            [],
            [],
            [("tests.test_slug", "tests.test_slug"), ("tests.test_nomod", "tests.test_nomod")],
            [],
            [],
        ),
        (
            "surefire.xml",
            "JUnit XML",
            [("even", "com.acme.SlugTest")],
            [("odd", "com.acme.SlugTest"), ("empty", "com.acme.SlugTest")],
            [],
            [],
            [("later", "com.acme.SlugTest")],
        ),
        (
            "jest.xml",
            "JUnit XML",
            [("slug lowers", "tests/slug.test.js")],
            [("slug joins", "tests/slug.test.js"), ("page has a title", "tests/page.test.js")],
            [],
            [],
            [],
        ),
        (
            "node.xml",
            "JUnit XML",
            [("even", "test"), ("fine", "test")],
            [("odd", "test"), ("slug", "test"), ("inner", "test"), (f"{JS}/nomod.test.js", "test")],
            [],
            [],
            [("later", "test"), ("some day", "test")],
        ),
        (
            "pytest.txt",
            "pytest",
            [("", PY)],
            [
                (f"{PY}::{name}", PY)
                for name in (
                    *("TestHalf::test_odd", "test_new", "test_keyword", "test_names[a@b]", "test_names[c`d<e>]"),
                    *("test_deep", "test_here"),
                )
            ],
            [],
            [(f"{PY}::test_setup", PY), (f"{PY}::test_unknown_fixture", PY)],
            [("", PY), ("", PY)],
        ),
        (
            "pytest-verbose.txt",
            "pytest",
            [(f"{PY}::TestHalf::test_even", PY)],
            [(f"{PY}::TestHalf::test_odd", PY)],
            [],
            [],
            [(f"{PY}::test_later", PY)],
        ),
        ("pytest-quiet.txt", "pytest", [("", "")], [(f"{PY}::TestHalf::test_odd", PY)], [], [], []),
        (
            "pytest-not-collected.txt",
            "pytest",
            [],
            [],
            [("tests/test_slug.py", "tests/test_slug.py"), ("tests/test_nomod.py", "tests/test_nomod.py")],
            [],
            [],
        ),
        ("pytest-deselected.txt", "pytest", [], [], [], [], []),
        ("pytest-no-file.txt", "pytest", [], [], [], [], []),
        ("pytest-usage.txt", "pytest", [], [], [], [], []),
        ("pytest-skipped.txt", "pytest", [], [], [], [], [("", "")]),
        (
            "unittest.txt",
            "unittest",
            [("", "")],
            [(f"{UNIT}.test_new", f"{UNIT}.test_new"), (f"{UNIT}.test_odd", f"{UNIT}.test_odd")],
            [("test_us", "test_us")],
            [("test_x", "tests.test_u.Prepared.test_x"), ("setUpClass", "tests.test_u.PreparedOnce")],
            [("", "")],
        ),
        (
            "unittest-verbose.txt",
            "unittest",
            [(f"{UNIT}.test_even", f"{UNIT}.test_even")],
            [(f"{UNIT}.test_new", f"{UNIT}.test_new"), (f"{UNIT}.test_odd", f"{UNIT}.test_odd")],
            [("test_us", "test_us")],
            [("test_x", "tests.test_u.Prepared.test_x"), ("setUpClass", "tests.test_u.PreparedOnce")],
            [(f"{UNIT}.test_later", f"{UNIT}.test_later")],
        ),
        (
            "unittest-3.9.txt",
            "unittest",
            [("", "")],
            [(f"{UNIT}.test_new", UNIT), (f"{UNIT}.test_odd", UNIT)],
            [],
            [("test_x", "tests.test_u.Prepared"), ("setUpClass", "tests.test_u.PreparedOnce")],
            [("", "")],
        ),
        ("unittest-none.txt", "unittest", [], [], [], [], []),
        ("unittest-passed.txt", "unittest", [("", "")], [], [], [], []),
        (
            "go-plain.txt",
            "go test",
            [],
            [("TestHalf/odd", f"{GO}/slug")],
            [(f"{GO}/half", f"{GO}/half")],
            [],
            [],
        ),
        (
            "go-verbose.txt",
            "go test",
            [("TestHalf/even", f"{GO}/slug")],
            [("TestHalf/odd", f"{GO}/slug")],
            [(f"{GO}/half", f"{GO}/half")],
            [],
            [("TestLater", f"{GO}/slug")],
        ),
        (
            "go-json.txt",
            "go test",
            [("TestHalf/even", f"{GO}/slug")],
            [("TestHalf/odd", f"{GO}/slug")],
            [(f"{GO}/half", f"{GO}/half")],
            [],
            [("TestLater", f"{GO}/slug")],
        ),
        ("go-json-build-output.txt", "go test", [], [], [(f"{GO}/half", f"{GO}/half")], [], []),
        (
            "go-json-passed.txt",
            "go test",
            [("TestHalf/even", f"{GO}/slug"), ("TestHalf/odd", f"{GO}/slug")],
            [],
            [],
            [],
            [("TestLater", f"{GO}/slug")],
        ),
        (
            "go-setup-failed.txt",
            "go test",
            [],
            [],
            [],
            [(f"{GO}/new", f"{GO}/new"), (f"{GO}/lost", f"{GO}/lost")],
            [],
        ),
        ("go-panic.txt", "go test", [], [("TestIt", f"{GO}/boom")], [], [], []),
        (
            "node-half.tap",
            "TAP",
            [("even", "")],
            [("odd", ""), ("slug", ""), ("group", "")],
            [],
            [],
            [("later", ""), ("some day", "")],
        ),
        ("node-mod.tap", "TAP", [], [], [(f"{JS}/mod.test.mjs",) * 2], [], []),
        ("node-nomod.tap", "TAP", [], [], [(f"{JS}/nomod.test.js",) * 2], [], []),
        ("shell.tap", "TAP", [("half", "")], [("slug", "")], [], [], []),
        ("perl-bail.tap", "TAP", [("two", "")], [("one", "")], [], [], []),
        ("perl-short.tap", "TAP", [("one", ""), ("two", "")], [], [], [], []),
        ("perl-skip-all.tap", "TAP", [], [], [], [], []),
    ],
)
def test_report_is_read(
    name: str, told_by: str, passed: Names, failed: Names, not_loaded: Names, errors: Names, skipped: Names
) -> None:
    """Every test that the runner told of is found, under what became of it, with what tells its file."""
    report = read_report(ran(name))
    assert report is not None
    assert report.told_by == told_by
    assert names(report.passed) == passed
    assert names(report.failed) == failed
    assert names(report.not_loaded) == not_loaded
    assert names(report.errors) == errors
    assert names(report.skipped) == skipped


@pytest.mark.parametrize("name", ["cargo-failed.txt", "cargo-not-built.txt", "javac.txt", "node-plain.txt"])
def test_other_output_is_no_report(name: str) -> None:
    """What no known runner printed is no report."""
    assert read_report(ran(name)) is None


@pytest.mark.parametrize(
    "text", ["ok", "ok then\nnot ok with me", "all is ok", "FAIL", "1 passed", "2..3", "Ran 3 tests"]
)
def test_words_of_a_report_make_none(text: str) -> None:
    """Output that only uses the same words as a runner is no report."""
    assert read_report(Ran(1, 1.0, text)) is None


@pytest.mark.parametrize(
    ("name", "unfinished", "short"),
    [
        ("perl-bail.tap", "it bailed out: no database", ""),
        ("perl-short.tap", "", "2 of 3 planned tests ran"),
        ("pytest-usage.txt", "pytest did not accept the command", ""),
        ("pytest-no-file.txt", "pytest did not accept the command", ""),
        ("shell.tap", "", ""),
    ],
)
def test_what_did_not_come_to_its_end_says_so(name: str, unfinished: str, short: str) -> None:
    """A report that is cut short tells why."""
    report = read_report(ran(name))
    assert report is not None
    assert (report.unfinished, report.short) == (unfinished, short)


@pytest.mark.parametrize(
    ("case", "group"),
    [
        ('<testcase classname="" name="tests.a"><error message="collection failure"/></testcase>', "not_loaded"),
        ('<testcase classname="p" name="[build failed]"><failure message="Failed"/></testcase>', "not_loaded"),
        ('<testcase classname="A" name="initializationError"><error/></testcase>', "not_loaded"),
        ('<testcase name="a"><error message="Failed to import test module: a"/></testcase>', "not_loaded"),
        ('<testcase name="a"><error message="failed on setup with x"/></testcase>', "errors"),
        ('<testcase name="a"><error message="failed on teardown with x"/></testcase>', "errors"),
        ('<testcase name="a"><error message="NullPointerException"/></testcase>', "failed"),
        ('<testcase name="a"><failure message="collection failure"/></testcase>', "failed"),
        ('<testcase name="a"><failure message="assert \'failed on setup\'"/></testcase>', "failed"),
        ('<testcase name="a"><skipped/><failure/></testcase>', "skipped"),
        ('<testcase name="a"><failure/><skipped/></testcase>', "failed"),
        ('<testcase name="a"><flakyFailure/><system-out>x</system-out></testcase>', "passed"),
    ],
)
def test_dialects_of_junit(case: str, group: str) -> None:
    """An element means what the runner that writes it means by it."""
    report = read_report(Ran(1, 1.0, "", (f"<testsuite>{case}</testsuite>",)))
    assert report is not None
    assert len(report.cases) == len(getattr(report, group)) == 1


def test_suite_tells_the_file() -> None:
    """Where the case says no file, that of its suite counts."""
    report = read_report(Ran(1, 1.0, "", ("<testsuite file='t/a.js'><testcase classname='a b'/></testsuite>",)))
    assert report is not None
    assert report.passed[0].file == "t/a.js"


def test_files_count_more_than_output() -> None:
    """Where a report was written, what was printed is not read."""
    report = read_report(Ran(1, 1.0, sample("unittest.txt"), (sample("jest.xml"), "<html/>", "{}")))
    assert report is not None
    assert report.told_by == "JUnit XML"


def test_output_counts_where_the_file_is_empty() -> None:
    """A file that tells of no test leaves the word to the output."""
    report = read_report(Ran(1, 1.0, sample("unittest.txt"), ("<testsuites/>",)))
    assert report is not None
    assert report.told_by == "unittest"
    report = read_report(Ran(1, 1.0, "", ("<testsuites/>",)))
    assert report is not None
    assert (report.told_by, report.cases) == ("JUnit XML", ())


def test_several_files_are_one_report() -> None:
    """The cases of all files that were written are counted together."""
    report = read_report(Ran(1, 1.0, "", (sample("jest.xml"), sample("surefire.xml"))))
    assert report is not None
    assert (len(report.passed), len(report.failed), len(report.skipped)) == (2, 4, 1)


_LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_CASE = '<testcase name="{}"/>'


@pytest.mark.parametrize(
    "text",
    [
        f"{_LAUGHS}<testsuite>{_CASE.format('&b;')}</testsuite>",
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite><testcase name="a"/></testsuite>',
        '<!DOCTYPE testsuite><testsuite><testcase name="a"/></testsuite>',
        "<testsuite>" * 40 + _CASE.format("a") + "</testsuite>" * 40,
        "<testsuite><testcase name='a'/>",
        "<testsuite>" + _CASE.format("a") * 300_000 + "</testsuite>",
        "<report><testcase name='a'/></report>",
    ],
    ids=["entities", "external", "doctype", "deep", "cut off", "huge", "something else"],
)
def test_unsafe_xml_is_not_read(text: str) -> None:
    """A file with a document type, too deep, too long, cut off or of another kind is no report."""
    assert read_report(Ran(1, 1.0, "", (text,))) is None


def test_reports_are_bounded() -> None:
    """No more cases are kept than the limit, and no more of a message than its end."""
    many = "<testsuite>" + _CASE.format("a") * (MOST_CASES + 10) + "</testsuite>"
    report = read_report(Ran(0, 1.0, "", (many, many)))
    assert report is not None
    assert len(report.passed) <= 2 * MOST_CASES
    long = f"<testsuite><testcase name='{'n' * 9999}'><failure>{'m' * 99_999} the end</failure></testcase></testsuite>"
    report = read_report(Ran(1, 1.0, "", (long,)))
    assert report is not None
    assert len(report.failed[0].name) <= 300
    assert len(report.failed[0].message) <= 4000
    assert report.failed[0].message.endswith("the end")


def test_pytest_without_its_summary_is_read_by_its_headings() -> None:
    """Where the summary is switched off, the failures are known from their own texts."""
    whole = sample("pytest.txt")
    report = read_report(
        Ran(1, 1.0, "\n".join(line for line in whole.splitlines() if line[:5] not in ("FAILE", "ERROR")))
    )
    assert report is not None
    assert ("TestHalf.test_odd", "tests/test_half.py") in names(report.failed)
    assert names(report.errors)[0] == ("test_setup", "tests/test_half.py")
    report = read_report(ran("pytest-not-collected.txt"))
    assert report is not None
    text = sample("pytest-not-collected.txt")
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("ERROR"))
    assert read_report(Ran(2, 1.0, bare)) == report


def test_pytest_that_only_counts_is_counted() -> None:
    """Where neither summary nor texts are printed, the numbers of the last line stand."""
    report = read_report(Ran(1, 1.0, "==== 2 failed, 3 passed, 1 xpassed, 4 skipped, 1 error in 0.10s ===="))
    assert report is not None
    counts = (len(report.passed), len(report.failed), len(report.skipped), len(report.errors))
    assert counts == (4, 2, 4, 1)


@pytest.mark.parametrize(
    ("text", "passed", "failed"),
    [
        ("ok  \texample.com/shelf/slug\t0.008s", 1, 0),
        ("ok  \texample.com/shelf/slug\t(cached)\tcoverage: 80.0% of statements", 1, 0),
        ("ok  \texample.com/shelf/slug\t0.008s [no tests to run]", 0, 0),
        ("ok  \texample.com/shelf/slug\t0.008s\tcoverage: 0.0% of statements [no tests to run]", 0, 0),
        ("?   \ta/b\t[no test files]\nok  \ta/c\t0.1s", 1, 0),
        ("panic: no such thing\nFAIL\texample.com/shelf/slug\t0.008s\nFAIL", 0, 1),
    ],
)
def test_packages_of_go_count_where_no_test_is_named(text: str, passed: int, failed: int) -> None:
    """Without `-v` a package that passed or broke down counts as one test, and one without tests as none."""
    report = read_report(Ran(1, 1.0, text))
    assert report is not None
    assert (len(report.passed), len(report.failed)) == (passed, failed)


def test_class_that_could_not_be_prepared_is_no_failed_test() -> None:
    """What unittest tells of a class's or module's preparation counts as that, wherever the error came from."""
    frame = '  File "/usr/lib/python3.11/contextlib.py", line 81, in inner'
    block = f"ERROR: setUpClass (tests.test_a.A)\n{'-' * 70}\nTraceback (most recent call last):\n{frame}\nOSError: x\n"
    report = read_report(
        Ran(1, 1.0, f"E\n{'=' * 70}\n{block}\n{'-' * 70}\nRan 0 tests in 0.001s\n\nFAILED (errors=1)\n")
    )
    assert report is not None
    assert (names(report.errors), report.failed) == ([("setUpClass", "tests.test_a.A")], ())


def test_colours_do_not_matter() -> None:
    """What a runner prints in colours is read as well."""
    coloured = "\n".join(f"\x1b[31m{line}\x1b[0m" for line in sample("pytest.txt").splitlines())
    assert read_report(Ran(1, 1.0, coloured)) == read_report(ran("pytest.txt"))


@pytest.mark.parametrize(
    ("text", "passed", "failed", "skipped", "short"),
    [
        ("TAP version 14\n1..1\nok", 1, 0, 0, ""),
        ("1..1\nok", 1, 0, 0, ""),
        ("ok 1\nok 2 # skip no network\n1..2", 1, 0, 1, ""),
        # A to-do decides nothing in TAP, whichever way it went.
        ("ok 1 - a # TODO soon\nnot ok 2 - b # todo soon\n1..2", 1, 0, 1, ""),
        ("1..0 # SKIP nothing here", 0, 0, 0, ""),
        ("ok 1\nok 2", 2, 0, 0, ""),
        ("1..2\nok 1\n1..1\nok 1", 2, 0, 0, "2 of 3 planned tests ran"),
        ("1..1\n    ok 1 - in\n    not ok 2 - in\n    1..2\nnot ok 1 - out", 0, 1, 0, ""),
        ("1..3", 0, 0, 0, "0 of 3 planned tests ran"),
    ],
)
def test_tap_as_it_is_specified(text: str, passed: int, failed: int, skipped: int, short: str) -> None:
    """Directives, plans at either end, missing plans and subtests mean what the protocol says."""
    report = read_report(Ran(0, 1.0, text))
    assert report is not None
    assert (len(report.passed), len(report.failed), len(report.skipped)) == (passed, failed, skipped)
    assert report.short == short


_PIECES = st.sampled_from(
    [
        *("ok 1", "not ok 2 - x", "1..3", "Bail out!", "TAP version 13", "  ---", "# x", "Ran 3 tests in 0.1s", "OK"),
        *("FAILED (failures=9)", "=" * 70, "-" * 70, "FAIL: a (b.c)", "ERROR: x", "FAILED a.py::b - c", "ERROR a.py"),
        *("___ a ___", "=== 1 failed in 0.1s ===", "collected 0 items", "no tests ran in 0.1s", "INTERNALERROR> x"),
        *("--- FAIL: A (0.0s)", "ok  \tp\t0.1s", "FAIL\tp [build failed]", "# p", '{"Action":"fail","Package":"p"}'),
        *("<testsuite>", "<testcase>", "</testcase>", "</testsuite>", "<failure>", "&b;", "<!DOCTYPE x>"),
        *('{"Action":[],"Package":{},"Test":3}', "a.py ...F", "E   x: y", "9" * 4000),
    ]
)


@given(st.lists(st.text() | _PIECES, max_size=60).map("\n".join), st.lists(st.text() | _PIECES, max_size=20))
def test_any_text_is_read_without_harm(output: str, reports: list[str]) -> None:
    """Whatever a command prints and writes gives a report or none."""
    report = read_report(Ran(1, 1.0, output, ("\n".join(reports), *reports)))
    assert report is None or len(report.cases) <= 5 * MOST_CASES


@pytest.mark.parametrize(
    "piece",
    [
        *("a", " ", "_", "=", "E ", "ok ", "# ", "\x1b[", "FAILED ", "1 passed, ", "::", "a.", "--- FAIL: ", "  File "),
        *(
            "a_",
            "/",
            "[",
            "{",
            "<a>",
            "\n",
            "___ a ___\n",
            "ok 1\n",
            "ERROR a.py\n",
            "FAIL\tp\t0.1s\n",
            "--- FAIL: A (0s)\n",
        ),
    ],
)
def test_long_texts_are_read_in_good_time(piece: str) -> None:
    """Many characters of anything are read within seconds."""
    begun = time.perf_counter()
    text = piece * (200_000 // len(piece))
    read_report(Ran(1, 1.0, text, (f"<testsuite><testcase name='a'><failure>{'x ' * 250_000}", text)))
    assert time.perf_counter() - begun < 10
