"""The verdict, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from bot.proof.facts import Claim, Proof, Result, Trial, Verdict
from bot.proof.judge import judge, needs_again, needs_before_with_tests

CLAIM = Claim("pytest -q", ("tests/test_slug.py",))
HEAD = "2" * 40


def trial(result: Result, why: str = "", **facts: object) -> Trial:
    """A Trial told by nothing but its exit code, unless `facts` say more."""
    code = {Result.PASSED: 0, Result.NOT_RUN: 127}.get(result, 1)
    plain = Trial("1" * 40, result, code, 1.0, why or f"exit code {code} alone")
    return replace(plain, **facts)  # type: ignore[arg-type]  # names checked by `replace`


PASSED, FAILED = trial(Result.PASSED), trial(Result.FAILED)
NOT_RUN = trial(Result.NOT_RUN, "the command was not found (exit code 127)")
NOT_LOADED = trial(Result.NOT_LOADED, "`tests.test_slug` could not be loaded")


def lacking(name: str, result: Result = Result.NOT_LOADED) -> Trial:
    """A Trial that lacked a name."""
    return trial(result, f"`tests.test_slug` could not be loaded: `{name}` is missing", missing=name)


def judged(
    before: Trial | None = None,
    after: Trial | None = None,
    again: Trial | None = None,
    *,
    with_tests: Trial | None = None,
    claim: Claim | None = CLAIM,
    refused: str = "",
    added: tuple[str, ...] = (),
    unchanged: bool = False,
) -> Proof:
    """The Proof of these Trials."""
    return judge(
        base="1" * 40,
        head=HEAD,
        claim=claim,
        refused=refused,
        named_by="implement",
        before=before,
        before_with_tests=with_tests,
        after=after,
        again=again,
        added=added,
        unchanged=unchanged,
    )


def test_nothing_named_is_not_named() -> None:
    """Where no Session named a test, that is said."""
    proof = judged(claim=None)
    assert (proof.verdict, proof.why) == (Verdict.NOT_NAMED, "no test was named")


def test_refused_claim_is_not_named() -> None:
    """Where a claim was refused, the reason is told."""
    proof = judged(claim=None, refused="`proof.json` is not JSON")
    assert (proof.verdict, proof.why) == (Verdict.NOT_NAMED, "`proof.json` is not JSON")
    assert judged(FAILED, PASSED, refused="`a.py` is not in the commit").verdict is Verdict.NOT_NAMED


def test_fails_before_and_passes_after_is_proved() -> None:
    """A test that fails for its own reason on the base and passes twice on the head proves the work."""
    proof = judged(FAILED, PASSED, PASSED)
    assert (proof.verdict, proof.feature) == (Verdict.PROVED, "")
    assert proof.why == "before, exit code 1 alone; after, exit code 0 alone, twice"


def test_slow_test_need_not_pass_twice() -> None:
    """Without a second Trial the first counts, and `twice` is not said."""
    proof = judged(FAILED, PASSED)
    assert (proof.verdict, proof.why) == (
        Verdict.PROVED,
        "before, exit code 1 alone; after, exit code 0 alone",
    )


@pytest.mark.parametrize("result", [Result.NOT_LOADED, Result.FAILED])
def test_lack_of_an_added_name_proves_a_feature(result: Result) -> None:
    """A test that could not do without a name which the diff adds proves that feature."""
    proof = judged(lacking("slugify", result), PASSED, PASSED, added=("slugify",))
    assert (proof.verdict, proof.feature) == (Verdict.PROVED, "slugify")
    assert proof.why == "`slugify`, which the diff adds, is missing before; after, exit code 0 alone, twice"


@pytest.mark.parametrize("result", [Result.NOT_LOADED, Result.FAILED])
def test_lack_of_anything_else_could_not_run(result: Result) -> None:
    """What fails on the base for lack of something that the diff does not bring shows nothing."""
    proof = judged(lacking("requests", result), PASSED, PASSED, added=("slugify",))
    assert (proof.verdict, proof.feature) == (Verdict.COULD_NOT_RUN, "")
    assert proof.why.endswith("`requests` is missing; `requests` is nothing that the diff adds")


def test_not_loaded_for_no_known_reason_could_not_run() -> None:
    """A test that cannot be loaded on the base, and does not say what it lacks, shows nothing."""
    proof = judged(NOT_LOADED, PASSED, PASSED, added=("",))
    assert proof.verdict is Verdict.COULD_NOT_RUN
    assert proof.why == "on the base, `tests.test_slug` could not be loaded"


def test_helpers_of_the_diff_decide() -> None:
    """Where the base lacked only a test helper, what the named test does with that helper decides."""
    proof = judged(lacking("helper"), PASSED, PASSED, with_tests=FAILED)
    assert (proof.verdict, proof.feature) == (Verdict.PROVED, "")
    assert judged(lacking("helper"), PASSED, with_tests=lacking("slugify"), added=("slugify",)).feature == "slugify"


def test_passing_with_the_helpers_passes_before_too() -> None:
    """A test that only lacked the diff's other test files proves nothing about the code."""
    proof = judged(FAILED, PASSED, PASSED, with_tests=PASSED)
    assert proof.verdict is Verdict.PASSES_BEFORE_TOO
    assert "once the diff's other test files are there" in proof.why
    assert judged(lacking("slugify"), PASSED, with_tests=PASSED, added=("slugify",)).verdict is proof.verdict


@pytest.mark.parametrize("with_tests", [NOT_RUN, NOT_LOADED, lacking("requests")])
def test_helpers_that_break_it_could_not_run(with_tests: Trial) -> None:
    """Where the named test cannot run with the diff's other test files on the base, nothing is shown."""
    proof = judged(FAILED, PASSED, PASSED, with_tests=with_tests)
    assert proof.verdict is Verdict.COULD_NOT_RUN
    assert proof.why.startswith("on the base, with the diff's other test files, ")


def test_passing_before_is_told() -> None:
    """A test that passes on the base as well proves nothing."""
    proof = judged(PASSED, PASSED, PASSED)
    assert (proof.verdict, proof.why) == (
        Verdict.PASSES_BEFORE_TOO,
        "it passes before too (exit code 0 alone)",
    )


def test_unchanged_test_shows_that_things_still_work() -> None:
    """An unchanged test that passes on both says no more than that nothing broke."""
    proof = judged(PASSED, PASSED, PASSED, unchanged=True)
    assert proof.verdict is Verdict.PASSES_BEFORE_TOO
    assert "still works, not that something new does" in proof.why


@pytest.mark.parametrize("after", [FAILED, NOT_LOADED])
@pytest.mark.parametrize("before", [FAILED, NOT_LOADED, NOT_RUN, None])
def test_failing_head_fails_after(after: Trial, before: Trial | None) -> None:
    """A test that fails or cannot be loaded on the head fails after, whatever it does before."""
    proof = judged(before, after)
    assert (proof.verdict, proof.why) == (Verdict.FAILS_AFTER, f"on the head, {after.why}")


def test_what_passed_before_and_fails_after_is_said() -> None:
    """A test that the diff broke is told as that."""
    proof = judged(PASSED, FAILED)
    assert (proof.verdict, proof.why) == (
        Verdict.FAILS_AFTER,
        "on the head, exit code 1 alone; it passed before",
    )


@pytest.mark.parametrize("again", [FAILED, NOT_LOADED, NOT_RUN])
def test_flaky_test_fails_after(again: Trial) -> None:
    """A test that passes once and then does not, on one commit, is flaky and no proof."""
    proof = judged(FAILED, PASSED, again)
    assert (proof.verdict, proof.flaky) == (Verdict.FAILS_AFTER, True)
    assert proof.why == f"it passed once on the head and then did not: {again.why}"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (NOT_RUN, PASSED, "on the base, the command was not found (exit code 127)"),
        (None, PASSED, "it was not run on the base"),
        (FAILED, NOT_RUN, "on the head, the command was not found (exit code 127)"),
        (PASSED, NOT_RUN, "on the head, the command was not found (exit code 127)"),
        (FAILED, None, "it was not run on the head"),
    ],
)
def test_what_did_not_run_shows_nothing(before: Trial | None, after: Trial | None, why: str) -> None:
    """Where a Trial that is needed tested nothing, the verdict is that it could not be run."""
    proof = judged(before, after)
    assert (proof.verdict, proof.why) == (Verdict.COULD_NOT_RUN, why)


def test_missing_command_is_no_feature() -> None:
    """A command that is not there on the base proves nothing, even where the diff adds it."""
    absent = replace(NOT_RUN, missing="slugify")
    assert judged(absent, PASSED, PASSED, added=("slugify",)).verdict is Verdict.COULD_NOT_RUN


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(2, 3, Verdict.PROVED), (2, 2, Verdict.COULD_NOT_RUN), (2, 1, Verdict.COULD_NOT_RUN)],
)
def test_a_test_that_failed_has_to_pass(before: int, after: int, verdict: Verdict) -> None:
    """Where tests are reported, more of them have to pass after than before: the failing one may have been skipped."""
    failed = trial(Result.FAILED, "1 of 3 tests failed", passed=before, told_by="JUnit XML", failed=("test_slug",))
    passed = trial(Result.PASSED, "tests passed", passed=after, told_by="JUnit XML")
    assert judged(failed, passed, passed).verdict is verdict


def test_nothing_is_counted_where_one_side_reports_nothing() -> None:
    """A Trial that only has an exit code is not compared by numbers."""
    failed = trial(Result.FAILED, passed=2, told_by="JUnit XML")
    assert judged(failed, PASSED, PASSED).verdict is Verdict.PROVED


@pytest.mark.parametrize(("before", "needed"), [(FAILED, True), (NOT_LOADED, True), (PASSED, False), (NOT_RUN, False)])
def test_other_test_files_are_laid_over_when_they_may_matter(before: Trial, needed: bool) -> None:
    """The base is tried again with the diff's other test files only where the first Trial did not pass."""
    assert needs_before_with_tests(before) is needed


@pytest.mark.parametrize(
    ("after", "needed"),
    [(PASSED, True), (replace(PASSED, seconds=60.0), True), (replace(PASSED, seconds=60.1), False), (FAILED, False)],
)
def test_fast_test_is_run_twice(after: Trial, needed: bool) -> None:
    """Only what passed on the head within a minute is run a second time."""
    assert needs_again(after) is needed


_TRIALS = (None, PASSED, FAILED, NOT_RUN, NOT_LOADED, lacking("slugify"), lacking("requests", Result.FAILED))


def test_only_a_failing_base_and_a_passing_head_prove() -> None:
    """Whatever the Trials, nothing is proved unless the base did not pass, the head did, and no Trial contradicts."""
    broken = (Result.FAILED, Result.NOT_LOADED)
    proved = 0
    for before, with_tests, after, again in product(_TRIALS, repeat=4):
        proof = judged(before, after, again, with_tests=with_tests, added=("slugify",))
        assert proof.why
        assert not proof.why.endswith(".")
        if proof.verdict is Verdict.PROVED:
            proved += 1
            assert before is not None
            assert before.result in broken
            assert with_tests is None or with_tests.result in broken
            assert (with_tests or before).missing in ("", "slugify")
            assert (after, again in (None, PASSED)) == (PASSED, True)
    # Two decide alone; any of four before one of those two with the other test files; a second Trial or none.
    assert proved == (2 + 4 * 2) * 2
