"""What one run of the named test means."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.proof.facts import Ran, Result
from bot.proof.trial import trial_of
from tests.proof.sampled import ran, sample

COMMIT = "a" * 40
HALF = "tests/test_half.py"


@pytest.mark.parametrize(
    ("name", "exit_code", "files", "result", "missing", "why"),
    [
        (
            *("pytest.xml", 1, [HALF], Result.FAILED, ""),
            "7 of 8 tests failed: `test_odd`, `test_new`, `test_keyword` and 4 more",
        ),
        (
            *("pytest-missing.txt", 1, [HALF], Result.FAILED, "slugify"),
            "2 of 2 tests failed: `tests/test_half.py::test_new`, `tests/test_half.py::test_keyword`",
        ),
        (
            *("pytest-not-collected.xml", 2, ["tests/test_nomod.py"], Result.NOT_LOADED, "slug"),
            "`tests.test_nomod` could not be loaded: `slug` is missing; 1 other test failed too",
        ),
        (
            *("pytest-not-collected.txt", 2, ["tests/test_slug.py"], Result.NOT_LOADED, "slugify"),
            "`tests/test_slug.py` could not be loaded: `slugify` is missing; 1 other test failed too",
        ),
        (
            *("pytest-setup.xml", 1, [HALF], Result.NOT_RUN, ""),
            "set-up or tear-down of `test_setup` failed",
        ),
        (
            *("pytest-no-fixture.xml", 1, [HALF], Result.NOT_LOADED, "client"),
            "set-up or tear-down of `test_unknown_fixture` failed: `client` is missing",
        ),
        (
            *("pytest-conftest.txt", 4, ["tests/test_a.py"], Result.NOT_LOADED, "Shelf"),
            "`tests/conftest.py` could not be loaded: `Shelf` is missing",
        ),
        ("pytest-code-fails.xml", 1, [HALF], Result.FAILED, "", "1 of 1 test failed: `test_deep`"),
        ("pytest-deselected.txt", 5, [HALF], Result.NOT_RUN, "", "no tests were run (exit code 5)"),
        ("pytest-no-file.txt", 4, [HALF], Result.NOT_RUN, "", "pytest did not accept the command"),
        ("pytest-usage.txt", 4, [HALF], Result.NOT_RUN, "", "pytest did not accept the command"),
        ("pytest-skipped.txt", 0, [HALF], Result.NOT_RUN, "", "all of 1 test skipped"),
        (
            *("unittest-not-loaded.txt", 1, ["tests/test_us.py"], Result.NOT_LOADED, "slugify"),
            "`test_us` could not be loaded: `slugify` is missing",
        ),
        (
            *("unittest-3.9.txt", 1, ["tests/test_u.py"], Result.FAILED, ""),
            "2 of 2 tests failed: `tests.test_u.HalfTest.test_new`, `tests.test_u.HalfTest.test_odd`",
        ),
        ("unittest-none.txt", 5, ["tests/test_u.py"], Result.NOT_RUN, "", "no tests were run (exit code 5)"),
        ("unittest-passed.txt", 0, ["tests/test_u.py"], Result.PASSED, "", "1 test passed"),
        (
            *("go-json.txt", 2, ["half/half_test.go"], Result.NOT_LOADED, "Slugify"),
            "`example.com/shelf/half` could not be loaded: `Slugify` is missing; 1 other test failed too",
        ),
        (
            *("go-json-build-output.txt", 1, ["half/half_test.go"], Result.NOT_LOADED, "Slugify"),
            "`example.com/shelf/half` could not be loaded: `Slugify` is missing",
        ),
        (
            *("go-plain.txt", 1, ["slug/slug_test.go"], Result.FAILED, ""),
            "1 of 1 test failed: `TestHalf/odd`; 1 other test failed too",
        ),
        (
            *("go-setup-failed.txt", 1, ["new/new_test.go"], Result.NOT_LOADED, "notthere"),
            "set-up or tear-down of `example.com/shelf/new` failed: `notthere` is missing; 1 other test failed too",
        ),
        ("go-panic.txt", 1, ["boom/boom_test.go"], Result.FAILED, "", "1 of 1 test failed: `TestIt`"),
        ("go-json-passed.txt", 0, ["slug/slug_test.go"], Result.PASSED, "", "2 tests passed, 1 skipped"),
        ("node-half.tap", 1, ["tests/half.test.js"], Result.FAILED, "", "3 of 4 tests failed: `odd`, `slug`, `group`"),
        (
            *("node-mod.tap", 1, ["tests/mod.test.mjs"], Result.NOT_LOADED, "slugify"),
            "`tests/mod.test.mjs` could not be loaded: `slugify` is missing",
        ),
        (
            *("node-nomod.tap", 1, ["tests/nomod.test.js"], Result.NOT_LOADED, "slugs"),
            "`tests/nomod.test.js` could not be loaded: `slugs` is missing",
        ),
        ("shell.tap", 1, ["tests/t2.sh"], Result.FAILED, "slugify", "1 of 2 tests failed: `slug`"),
        ("perl-short.tap", 255, ["t/a.t"], Result.FAILED, "", "2 of 3 planned tests ran (exit code 255)"),
        ("perl-short.tap", 0, ["t/a.t"], Result.FAILED, "", "2 of 3 planned tests ran (exit code 0)"),
        ("perl-skip-all.tap", 0, ["t/a.t"], Result.NOT_RUN, "", "no tests were run (exit code 0)"),
        ("cargo-failed.txt", 101, ["tests/slug.rs"], Result.FAILED, "", "exit code 101 alone"),
        (
            *("cargo-not-built.txt", 101, ["tests/slug.rs"], Result.NOT_LOADED, "slugify"),
            "it could not be built (exit code 101)",
        ),
        ("javac.txt", 1, ["SlugTest.java"], Result.NOT_LOADED, "slugify", "it could not be built (exit code 1)"),
        (
            *("node-plain.txt", 1, ["tests/mod.test.mjs"], Result.NOT_LOADED, "slugify"),
            "it could not be built (exit code 1)",
        ),
        (
            *("node-no-script.txt", 1, ["tests/mod.test.mjs"], Result.NOT_RUN, ""),
            "what the command is to run was not found (exit code 1)",
        ),
        ("shell-no-lib.txt", 2, ["tests/test_slug.sh"], Result.FAILED, "slug", "exit code 2 alone"),
        (
            *("shell-no-lib.txt", 127, ["tests/test_slug.sh"], Result.NOT_LOADED, "slug"),
            "`slug` was not found by the named file",
        ),
        (
            *("surefire.xml", 1, ["src/test/java/com/acme/SlugTest.java"], Result.FAILED, ""),
            "2 of 3 tests failed: `odd`, `empty`",
        ),
        (
            *("jest.xml", 1, ["tests/slug.test.js"], Result.FAILED, "join"),
            "1 of 2 tests failed: `slug joins`; 1 other test failed too",
        ),
    ],
)
def test_meaning_of_real_runs(
    name: str, exit_code: int, files: list[str], result: Result, missing: str, why: str
) -> None:
    """What real runners reported comes to the right result, for the reason that decided."""
    trial = trial_of(COMMIT, ran(name, exit_code), files)
    assert (trial.result, trial.missing, trial.why) == (result, missing, why)


def test_trial_tells_what_it_rests_on() -> None:
    """Commit, exit code, seconds, counts, names and what told them are kept; names are inert."""
    trial = trial_of(COMMIT, Ran(1, 2.5, "x" * 5000, (sample("pytest.xml"),)), [HALF])
    assert (trial.commit, trial.exit_code, trial.seconds, trial.told_by) == (COMMIT, 1, 2.5, "JUnit XML")
    assert (trial.passed, len(trial.failed), trial.output) == (1, 7, "x" * 3000)
    assert "test_names(c?d?e?)" in trial.failed


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (Ran(0, 0.0, "", setup_failed="`pip` @alice\nexit code 1"), "`setup` failed: ?pip? ?alice exit code 1"),
        (Ran(None, 900.4, "....."), "it was stopped after 900 seconds"),
        (Ran(-9, 1.0, "1..1\nok 1"), "it was killed by signal 9"),
        (Ran(139, 1.0, "Segmentation fault"), "it was killed by signal 11"),
        (Ran(127, 1.0, "sh: 1: pytest: not found"), "the command was not found (exit code 127)"),
        (Ran(126, 1.0, "sh: 1: ./t.sh: Permission denied"), "the command could not be executed (exit code 126)"),
        (
            Ran(1, 1.0, "/usr/bin/python: No module named pytest"),
            "what the command is to run was not found (exit code 1)",
        ),
        (
            Ran(2, 1.0, "make: *** No rule to make target 'slug'.  Stop."),
            "what the command is to run was not found (exit code 2)",
        ),
        (
            Ran(2, 1.0, "sh: 0: cannot open t.sh: No such file"),
            "what the command is to run was not found (exit code 2)",
        ),
        (Ran(1, 1.0, 'npm error Missing script: "slug"'), "what the command is to run was not found (exit code 1)"),
        (Ran(0, 1.0, "Bail out! no database"), "it bailed out: no database"),
        (Ran(0, 1.0, "1..2\nok 1\nBail out!"), "it bailed out"),
        (Ran(0, 1.0, "", ("<testsuites/>",)), "no tests were run (exit code 0)"),
        (Ran(3, 1.0, "INTERNALERROR> Traceback"), "pytest broke down"),
        (Ran(4, 1.0, "ERROR: Missing required plugins: pytest-x"), "pytest did not accept the command"),
        (Ran(4, 1.0, "ERROR: /repo/pytest.ini:1: unexpected line: 'x'"), "pytest did not accept the command"),
    ],
)
def test_what_tested_nothing_is_not_run(run: Ran, why: str) -> None:
    """A run that came to no test says why, and is neither passed nor failed."""
    trial = trial_of(COMMIT, run, [HALF])
    assert (trial.result, trial.why) == (Result.NOT_RUN, why)
    assert trial.exit_code == (None if run.setup_failed else run.exit_code)


def suite(**cases: str) -> str:
    """A JUnit file: for each case its class and what became of it, as `class outcome`."""
    inner = ""
    for name, told in cases.items():
        place, _, outcome = told.partition(" ")
        inner += f'<testcase classname="{place}" name="{name}">{f"<{outcome}/>" if outcome else ""}</testcase>'
    return f"<testsuite>{inner}</testsuite>"


@pytest.mark.parametrize(
    ("exit_code", "xml", "result", "why"),
    [
        (0, suite(a="tests.test_slug"), Result.PASSED, "1 test passed"),
        (
            *(1, suite(a="tests.test_slug", b="tests.test_other failure"), Result.PASSED),
            "1 test passed; other tests failed, not the named ones: `b`",
        ),
        (
            *(1, suite(a="tests.test_slug", b="tests.test_slug"), Result.FAILED),
            "2 tests passed and none failed, but the exit code is 1",
        ),
        (
            *(0, suite(a="tests.test_slug failure", b="tests.test_slug"), Result.FAILED),
            "1 of 2 tests failed: `a`, though the exit code is 0",
        ),
        (
            *(1, suite(a="tests.test_slug skipped", b="tests.test_other failure"), Result.NOT_RUN),
            "all of 1 test skipped",
        ),
        (
            *(0, suite(a="tests.test_other", b="tests.test_more"), Result.NOT_RUN),
            "none of the 2 tests that ran is in `tests/test_slug.py`",
        ),
        (1, suite(a="my-words failure", b="my-words"), Result.FAILED, "1 of 2 tests failed: `a`"),
        (0, suite(a="my-words", b="my-words"), Result.PASSED, "2 tests passed"),
    ],
)
def test_named_tests_decide(exit_code: int, xml: str, result: Result, why: str) -> None:
    """Only the tests in the named files decide where it can be told which they are; then all do."""
    trial = trial_of(COMMIT, Ran(exit_code, 1.0, "", (xml,)), ["tests/test_slug.py"])
    assert (trial.result, trial.why) == (result, why)


@pytest.mark.parametrize(
    ("place", "path", "inside"),
    [
        ("tests.test_slug.TestSlug", "tests/test_slug.py", True),
        ("test_slug.TestSlug", "tests/test_slug.py", True),
        ("tests.test_slug", "web/tests/test_slug.py", True),
        ("tests.test_slugs", "tests/test_slug.py", False),
        ("tests.api.test_slug", "tests/test_slug.py", False),
        ("tests/slug.test.js", "web/tests/slug.test.js", True),
        ("./tests/slug.test.js", "tests/slug.test.js", True),
        ("/repo/web/tests/slug.test.js", "web/tests/slug.test.js", True),
        ("my-slug.test.js", "tests/slug.test.js", False),
        ("com.acme.SlugTest$Inner", "app/src/test/java/com/acme/SlugTest.java", True),
    ],
)
def test_cases_are_found_by_their_files(place: str, path: str, inside: bool) -> None:
    """A case belongs to a named file by its path or dotted name, from whatever folder the runner was started."""
    xml = suite(a=f"{place} failure", b="my-words")
    trial = trial_of(COMMIT, Ran(1, 1.0, "", (xml,)), [path])
    assert (trial.passed == 0) is inside


@pytest.mark.parametrize(
    ("run", "result", "why"),
    [
        (Ran(0, 1.0, "fine"), Result.PASSED, "exit code 0 alone"),
        (Ran(3, 1.0, "bad"), Result.FAILED, "exit code 3 alone"),
    ],
)
def test_exit_code_alone_is_said(run: Ran, result: Result, why: str) -> None:
    """Where nothing is reported the exit code decides, and that is told."""
    trial = trial_of(COMMIT, run, [HALF])
    assert (trial.result, trial.why, trial.told_by) == (result, why, "")


@pytest.mark.parametrize(
    ("run", "result", "why"),
    [
        (Ran(0, 1.0, "1..2\nok 1\nnot ok 2"), Result.PASSED, "exit code 0, 1 test passed"),
        (Ran(0, 1.0, "Ran 0 tests in 0.0s\n\nOK"), Result.PASSED, "exit code 0, 0 tests passed"),
        (Ran(0, 1.0, "clean"), Result.PASSED, "exit code 0 alone"),
        (Ran(1, 1.0, "1..2\nok 1\nnot ok 2 - slug"), Result.FAILED, "1 of 2 tests failed: `slug`"),
    ],
)
def test_a_check_passes_by_its_exit_code(run: Ran, result: Result, why: str) -> None:
    """Where no files are named, as for `check-command`, exit code 0 is a pass whatever was reported."""
    trial = trial_of(COMMIT, run)
    assert (trial.result, trial.why) == (result, why)


def test_suite_that_could_not_load_without_a_report_is_not_loaded() -> None:
    """A runner that reports no test because the only file could not be loaded lacks what its output names."""
    output = "FAIL tests/slug.test.js\n  Cannot find module '../src/slug' from 'tests/slug.test.js'"
    trial = trial_of(COMMIT, Ran(1, 1.0, output, ("<testsuites/>",)), ["tests/slug.test.js"])
    assert (trial.result, trial.missing) == (Result.NOT_LOADED, "slug")


def test_script_that_stops_before_its_first_test_fails() -> None:
    """A plan of which nothing ran is a failure, for lack of what the script says is missing."""
    output = "1..2\ntests/t.sh: line 3: slugify: command not found"
    trial = trial_of(COMMIT, Ran(1, 1.0, output), ["tests/t.sh"])
    assert (trial.result, trial.missing, trial.why) == (
        Result.FAILED,
        "slugify",
        "0 of 2 planned tests ran (exit code 1)",
    )


def test_script_that_stops_for_lack_of_a_command_is_not_loaded() -> None:
    """A named script that ends with 127 after a test that passed lacks what it says was not found."""
    output = "1..2\nok 1\ntests/t.sh: line 3: slugify: command not found"
    trial = trial_of(COMMIT, Ran(127, 1.0, output), ["tests/t.sh"])
    assert (trial.result, trial.missing) == (Result.NOT_LOADED, "slugify")


def test_all_that_failed_have_to_lack_something() -> None:
    """One test that fails for its own reason is enough for the run to lack nothing."""
    lacks = "<testcase name=\"a\"><failure>E   NameError: name 'slugify' is not defined</failure></testcase>"
    own = '<testcase name="b"><failure>E   assert 1 == 2</failure></testcase>'
    assert trial_of(COMMIT, Ran(1, 1.0, "", (f"<testsuite>{lacks}</testsuite>",))).missing == "slugify"
    assert trial_of(COMMIT, Ran(1, 1.0, "", (f"<testsuite>{lacks}{own}</testsuite>",))).missing == ""


@given(
    st.builds(
        Ran,
        st.none() | st.integers(-20, 260),
        st.floats(0, 1e6),
        st.text() | st.sampled_from(["1..2\nnot ok 1 - @alice [x](y) `z` <b>\n", "FAILED a`b.py::[x](y) - @bob"]),
        st.lists(st.text(), max_size=2).map(tuple),
        st.text(),
    ),
    st.lists(st.text(), max_size=3),
)
def test_any_run_has_an_inert_meaning(run: Ran, files: list[str]) -> None:
    """Whatever ran, there is one line that says what it means, with strangers' words inside code only."""
    trial = trial_of(COMMIT, run, files)
    assert trial.why
    assert trial.why.isprintable()
    assert trial.why.isascii()
    outside = re.sub(r"`[^`]*`", "", trial.why)
    assert not set("`@<>[]|\\") & set(outside)
    assert len(trial.failed) <= 20
    assert not any(set("`@<>[]|\\\n") & set(name) for name in trial.failed)
    assert len(trial.output) <= 3000
