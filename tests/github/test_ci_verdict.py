"""What CI's rows add up to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ci.expectation import Expectation
from bot.ci.observation import ACTIONS, CheckRow, CiObservation, WorkflowRun, state_of
from bot.ci.verdict import judge
from bot.record import Check, CheckState, CiState

HEAD = "1" * 40
WORDS = ("", "success", "neutral", "skipped", "failure", "timed_out", "cancelled", "action_required", "startup_failure")
"""Every word GitHub has for the end of a check."""
OPEN_WORDS = ("stale", "novel")
"""A word that says that something newer comes, and one that GitHub does not have yet."""
CI, NIGHTLY = ".github/workflows/ci.yml", ".github/workflows/nightly.yml"
EXPECTED = Expectation(expected=(CI,))


def row(number: int, name: str, conclusion: str, suite: int = 0) -> CheckRow:
    """A check run; conclusion "" while it runs."""
    return CheckRow(number, suite, Check(name, ACTIONS if suite else "ext", "", state_of(conclusion), conclusion, ""))


def run(suite: int, path: str, conclusion: str = "success", *, number: int | None = None) -> WorkflowRun:
    """A workflow run; conclusion "" while it runs."""
    status = "completed" if conclusion else "in_progress"
    return WorkflowRun(
        suite if number is None else number, suite, f".github/workflows/{path}", path, status, conclusion, ""
    )


def state(
    *rows: CheckRow, runs: tuple[WorkflowRun, ...] = (), expectation: Expectation = EXPECTED, over: bool = True
) -> CiState:
    """The verdict's state."""
    return judge(CiObservation(HEAD, rows, runs), expectation, start_over=over).state


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        ("success", CiState.GREEN),
        ("neutral", CiState.GREEN),
        ("skipped", CiState.GREEN),
        ("failure", CiState.RED),
        ("timed_out", CiState.RED),
        ("cancelled", CiState.INFRASTRUCTURE),
        ("startup_failure", CiState.INFRASTRUCTURE),
        ("stale", CiState.PENDING),
        ("novel", CiState.PENDING),
        ("action_required", CiState.NEEDS_APPROVAL),
        ("", CiState.PENDING),
    ],
)
def test_conclusion_beside_a_success(conclusion: str, expected: CiState) -> None:
    """Each word that GitHub has for the end of a check means what it says."""
    assert state(row(1, "build", "success"), row(2, "test", conclusion)) is expected


@pytest.mark.parametrize("conclusion", ["cancelled", "startup_failure"])
def test_end_that_says_nothing_of_the_code_has_nothing_to_repair(conclusion: str) -> None:
    """A cancelled check is not green, and not among the failed checks either; it is named with GitHub's word."""
    verdict = judge(CiObservation(HEAD, (row(1, "test", conclusion),)), EXPECTED, start_over=True)
    assert verdict.state is CiState.INFRASTRUCTURE
    assert verdict.failed == ()
    unjudged = [check for check in verdict.checks if check.state is CheckState.NO_VERDICT]
    assert [(check.name, check.conclusion) for check in unjudged] == [("test", conclusion)]


def test_nothing_yet_is_unknown_until_the_start_window_is_over() -> None:
    """Zero checks are neither a pass nor a failure, and afterwards it counts whether CI was expected."""
    assert state(over=False) is CiState.PENDING
    assert state() is CiState.NEVER_STARTED
    assert state(expectation=Expectation()) is CiState.NONE_EXPECTED


def test_only_skipped_checks_are_no_ci() -> None:
    """All skipped or neutral: nothing checked the commit, which is not green."""
    rows = (row(1, "a", "skipped"), row(2, "b", "neutral"))
    assert state(*rows, over=False) is CiState.PENDING
    assert state(*rows) is CiState.NONE_EXPECTED


def test_same_name_twice() -> None:
    """Of two runs of one workflow the newest row counts; a row of the same name in another workflow counts by
    itself.
    """
    rows = (row(1, "test", "failure", 10), row(9, "test", "success", 11), row(5, "test", "failure", 12))
    runs = (run(10, "ci.yml", "failure"), run(11, "ci.yml"), run(12, "nightly.yml", "failure"))
    verdict = judge(CiObservation(HEAD, rows, runs), EXPECTED, start_over=True)
    assert verdict.state is CiState.RED
    assert [check.workflow for check in verdict.failed] == [".github/workflows/nightly.yml"]
    assert state(*rows[:2], runs=runs[:2]) is CiState.GREEN


def test_newer_unfinished_twin_is_waited_for() -> None:
    """A green row does not count while a newer one of the same name runs."""
    rows = (row(1, "test", "success", 10), row(2, "test", "", 11))
    assert state(*rows, runs=(run(10, "ci.yml"), run(11, "ci.yml", ""))) is CiState.PENDING


def test_job_that_may_fail() -> None:
    """A failed job of a workflow run that succeeded passes, and its check says so; the run has to have ended first."""
    rows = (row(1, "lint", "success", 77), row(2, "nightly", "failure", 77))
    verdict = judge(CiObservation(HEAD, rows, (run(77, "ci.yml"),)), EXPECTED, start_over=True)
    assert verdict.state is CiState.GREEN
    nightly = next(check for check in verdict.checks if check.name == "nightly")
    assert (nightly.state, nightly.conclusion) == (CheckState.PASSED, "failure")
    assert "allowed to fail" in nightly.summary
    assert state(*rows, runs=(run(77, "ci.yml", ""),)) is CiState.PENDING
    assert state(*rows, runs=(run(77, "ci.yml", "failure"),)) is CiState.RED
    required = replace(EXPECTED, required=("nightly",))
    assert state(*rows, runs=(run(77, "ci.yml"),), expectation=required) is CiState.RED


def test_job_that_has_not_registered_yet() -> None:
    """All visible checks are green, but their workflow run goes on: more may come."""
    assert state(row(1, "build", "success", 10), runs=(run(10, "ci.yml", ""),)) is CiState.PENDING


def test_workflow_run_waiting_for_approval_has_no_check_run() -> None:
    """A run that a person has to approve is found although it shows no check."""
    verdict = judge(CiObservation(HEAD, (), (run(10, "ci.yml", "action_required"),)), EXPECTED, start_over=False)
    assert verdict.state is CiState.NEEDS_APPROVAL
    assert [check.workflow for check in verdict.checks] == [".github/workflows/ci.yml"]


def test_workflow_that_could_not_start_is_not_overlooked() -> None:
    """A startup failure beside green checks is not green; a newer run of the same workflow takes its place."""
    green = row(1, "build", "success", 10)
    broken = run(11, "deploy.yml", "startup_failure")
    assert state(green, runs=(run(10, "ci.yml"), broken)) is CiState.INFRASTRUCTURE
    newer = (run(10, "ci.yml"), broken, run(12, "deploy.yml"))
    assert state(green, row(2, "deploy", "success", 12), runs=newer) is CiState.GREEN


def test_failure_counts_before_approval() -> None:
    """What has failed can be repaired, whoever has to approve the rest."""
    assert state(row(1, "a", "failure"), row(2, "b", "action_required")) is CiState.RED


def test_row_that_is_stuck_is_settled_by_its_run() -> None:
    """A job that is still listed as running although its workflow run is over passes with the run, and else says
    nothing.
    """
    stuck = row(1, "test", "", 10)
    assert state(stuck, runs=(run(10, "ci.yml"),)) is CiState.GREEN
    verdict = judge(CiObservation(HEAD, (stuck,), (run(10, "ci.yml", "failure"),)), EXPECTED, start_over=True)
    assert verdict.state is CiState.INFRASTRUCTURE
    assert verdict.explanation == "`test`: its workflow run is over, and GitHub still lists it as running"


def test_expected_workflow_that_has_not_started() -> None:
    """Green waits for every workflow that should start, for as long as CI may take to start; then it says what is
    missing.
    """
    both = Expectation(expected=(CI, NIGHTLY))
    green = (row(1, "build", "success", 10),)
    assert state(*green, runs=(run(10, "ci.yml"),), expectation=both, over=False) is CiState.PENDING
    verdict = judge(CiObservation(HEAD, green, (run(10, "ci.yml"),)), both, start_over=True)
    assert verdict.state is CiState.GREEN
    assert verdict.explanation == "did not start although it should have: `nightly.yml`"


def test_required_check_that_never_reports() -> None:
    """Without a required check nothing is green, whether other checks ran or none: it is named."""
    needs = Expectation(required=("build", "deploy"))
    for rows in ((), (row(1, "build", "success"),)):
        observation = CiObservation(HEAD, rows)
        assert judge(observation, needs, start_over=False).state is CiState.PENDING
        verdict = judge(observation, needs, start_over=True)
        assert verdict.state is CiState.NEVER_STARTED
        assert verdict.explanation.startswith("required check never reported: ")
        assert "`deploy`" in verdict.explanation


def test_required_check_of_another_service_is_given_its_time() -> None:
    """A required check that the base commit has from elsewhere comes when its service is done: it is waited for."""
    needs = Expectation(required=("ci/ext",), usual=("ci/ext",))
    assert state(row(1, "build", "success"), expectation=needs) is CiState.PENDING


def test_skip_marker_is_no_absence_of_ci() -> None:
    """Where a marker keeps workflows from starting, nothing is not as it should be."""
    assert state(expectation=Expectation(skipped=True)) is CiState.NEVER_STARTED


def test_job_that_runs_again_is_waited_for() -> None:
    """Until the new attempt of a job shows, its old result and its run's old end do not count."""
    observation = CiObservation(HEAD, (row(1, "test", "failure", 10),), (run(10, "ci.yml", "failure"),))
    again = CiObservation(HEAD, (replace(observation.rows[0], check=replace(observation.rows[0].check, job_id=1)),))
    seen = replace(again, runs=observation.runs)
    assert judge(seen.running_again({1}), EXPECTED, start_over=True).state is CiState.PENDING
    newer = replace(row(2, "test", "success", 10).check, job_id=2)
    done = replace(seen, rows=(*seen.rows, CheckRow(2, 10, newer)), runs=(run(10, "ci.yml"),))
    assert judge(done.running_again({1}), EXPECTED, start_over=True).state is CiState.GREEN


def test_list_that_moved_while_it_was_read_is_no_verdict() -> None:
    """Fewer rows than GitHub counts: read again, not green."""
    observation = CiObservation(HEAD, (row(1, "a", "success"),), whole=False)
    assert judge(observation, EXPECTED, start_over=True).state is CiState.PENDING


CONCLUSIONS = st.sampled_from((*WORDS, *OPEN_WORDS))
EXPECTATIONS = st.builds(
    Expectation,
    expected=st.lists(st.sampled_from([CI, NIGHTLY]), unique=True).map(tuple),
    required=st.lists(st.sampled_from(["a", "b", "never"]), unique=True).map(tuple),
    usual=st.lists(st.sampled_from(["b", "never"]), unique=True).map(tuple),
    skipped=st.booleans(),
)
SUITES = st.integers(0, 3)
ROWS = st.lists(
    st.tuples(st.integers(1, 50), st.sampled_from("abc"), CONCLUSIONS, SUITES),
    unique_by=lambda values: values[0],
    max_size=8,
).map(lambda drawn: [row(*values) for values in drawn])
RUNS = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from(["ci.yml", "nightly.yml"]), CONCLUSIONS),
    unique_by=lambda values: values[0],
    max_size=3,
).map(lambda drawn: [run(*values) for values in drawn])


@given(ROWS, RUNS, EXPECTATIONS, st.booleans(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(
    rows: list[CheckRow], runs: list[WorkflowRun], expectation: Expectation, over: bool, dice: object
) -> None:
    """GitHub may list checks and runs in any order: the whole verdict stays the same."""
    shuffle = getattr(dice, "shuffle")  # noqa: B009 (hypothesis types its random as a private class)
    first = judge(CiObservation(HEAD, tuple(rows), tuple(runs)), expectation, start_over=over)
    shuffle(rows)
    shuffle(runs)
    assert judge(CiObservation(HEAD, tuple(rows), tuple(runs)), expectation, start_over=over) == first


@given(ROWS, RUNS, EXPECTATIONS, st.booleans())
def test_unfinished_check_is_never_green(
    rows: list[CheckRow], runs: list[WorkflowRun], expectation: Expectation, over: bool
) -> None:
    """Whatever else was listed, one more check or workflow run that goes on keeps the verdict open, and a required one
    that has not begun keeps it from green.
    """
    observation = CiObservation(HEAD, tuple(rows), tuple(runs))
    one_more_check = replace(observation, rows=(*observation.rows, row(99, "late", "")))
    one_more_run = replace(observation, runs=(*observation.runs, run(9, "late.yml", "")))
    for more in (one_more_check, one_more_run):
        assert judge(more, expectation, start_over=over).state is CiState.PENDING
    one_more_wanted = replace(expectation, required=(*expectation.required, "late"))
    assert judge(observation, one_more_wanted, start_over=over).state is not CiState.GREEN


@given(ROWS, RUNS, EXPECTATIONS, st.booleans())
def test_green_needs_every_check_to_pass_and_one_to_say_something(
    rows: list[CheckRow], runs: list[WorkflowRun], expectation: Expectation, over: bool
) -> None:
    """Nothing that is not a pass gives green."""
    verdict = judge(CiObservation(HEAD, tuple(rows), tuple(runs)), expectation, start_over=over)
    if verdict.state is CiState.GREEN:
        assert all(check.state is CheckState.PASSED for check in verdict.checks)
        assert any(check.conclusion not in ("skipped", "neutral") for check in verdict.checks)
