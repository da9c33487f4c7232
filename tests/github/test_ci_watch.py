"""Waiting for CI."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import pytest

from bot.cancel import Cancel, Cancelled
from bot.ci.expectation import Expectation, Pushed
from bot.ci.observation import CheckRow, CiObservation, WorkflowRun
from bot.clock import Clock
from bot.github.answers import Answer
from bot.github.client import Refused
from bot.github.watch import FIRST_PAUSE, Limits, Watch
from bot.record import Check, CheckState, CiState, CiVerdict

HEAD = "abcdef1" + "0" * 33
PASSED = CheckState.PASSED


def seen(*checks: tuple[str, CheckState], run: str = "completed") -> CiObservation:
    """One look: checks by name, all in one workflow run."""
    words = {
        PASSED: "success",
        CheckState.FAILED: "failure",
        CheckState.RUNNING: "",
        CheckState.NO_VERDICT: "cancelled",
    }
    rows = tuple(
        CheckRow(number, 5, Check(name, "github-actions", "", state, words[state], ""))
        for number, (name, state) in enumerate(checks, 1)
    )
    conclusion = "failure" if run == "completed" else ""
    runs = (WorkflowRun(7, 5, ".github/workflows/ci.yml", "CI", run, conclusion, ""),) if checks else ()
    return CiObservation(HEAD, rows, runs)


EXPECTED = Expectation(expected=(".github/workflows/ci.yml",))


class Script:
    """CI as it looks from one look to the next; the last look stays. A `CiSource`."""

    def __init__(self, looks: Iterable[CiObservation], clock: Clock) -> None:
        self.looks = list(looks)
        self.times: list[float] = []
        self.lines: list[str] = []
        self.cost = 0
        self.counted = 0
        self.expectation = EXPECTED
        self.gone: list[str] = []
        self.broken: Mapping[int, str] = {}
        self.refusal: Refused | None = None
        self._clock = clock

    def observe(self, head: str, *, glance: bool = False) -> CiObservation:
        assert head == HEAD
        if self.refusal is not None:
            raise self.refusal
        self.times.append(self._clock.now() * self._clock.scale)
        self.counted += self.cost
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def expect(self, pushed: Pushed, *, thorough: bool = False) -> Expectation:
        return self.expectation

    def superseded(self, pushed: Pushed) -> str:
        return (self.gone.pop(0) if len(self.gone) > 1 else self.gone[0]) if self.gone else ""

    def told(self, checks: Sequence[Check]) -> Mapping[int, str]:
        return self.broken

    def explain(self, pushed: Pushed, expectation: Expectation) -> str:
        return "Actions is off"

    def watch(self, start: float = 1, timeout: float = 10, run: float | None = None) -> Watch:
        overall = None if run is None else self._clock.deadline("run-timeout-minutes", run * 60)
        return Watch(self, self._clock, Limits(start, timeout, overall), self.lines.append)

    def verdict(
        self, known: Collection[int] = (), waited: float = 0, patience: float | None = None, **limits: float
    ) -> CiVerdict:
        """What a wait ends with."""
        return self.watch(**limits).wait(Pushed(HEAD), known=known, waited=waited, patience=patience)


@pytest.fixture
def script() -> Callable[..., Script]:
    """Builds a Script on a clock that makes a planned minute of 60 ms."""
    return lambda *looks: Script(looks, Clock(scale=1000))


def test_zero_then_running_then_red(script: Callable[..., Script]) -> None:
    """No check in the first looks is no verdict; the failure that comes later is. One line of progress a change."""
    running = seen(("test", CheckState.RUNNING), run="in_progress")
    ci = script(CiObservation(HEAD), CiObservation(HEAD), running, running, seen(("test", CheckState.FAILED)))
    assert ci.verdict().state is CiState.RED
    assert ci.lines == [
        "CI on abcdef1: nothing has started yet",
        "CI on abcdef1: 1 running (test)",
        "CI on abcdef1: 1 failed (test)",
    ]


def test_green_is_seen_twice(script: Callable[..., Script]) -> None:
    """A check that registers just after the others were green is waited for, and its failure counts."""
    late = seen(("build", PASSED), ("e2e", CheckState.RUNNING), run="in_progress")
    ci = script(seen(("build", PASSED)), late, seen(("build", PASSED), ("e2e", CheckState.FAILED)))
    assert ci.verdict().state is CiState.RED
    ci = script(seen(("build", PASSED)))
    assert ci.verdict().state is CiState.GREEN
    assert len(ci.times) == 2


def test_ci_that_never_starts(script: Callable[..., Script]) -> None:
    """After ci-start-minutes nothing will come any more: named so, with the cause, when workflows should have run,
    else there is no CI.
    """
    ci = script(CiObservation(HEAD))
    before = Clock.now()
    verdict = ci.verdict(start=2)
    assert verdict.state is CiState.NEVER_STARTED
    assert verdict.explanation == "Actions is off; did not start although it should have: `ci.yml`"
    assert 0.12 <= Clock.now() - before < 0.5
    ci.expectation = Expectation()
    assert ci.verdict(start=0.1).state is CiState.NONE_EXPECTED


def test_ci_that_never_ends(script: Callable[..., Script]) -> None:
    """After ci-timeout-minutes the wait ends, with the checks as they stood."""
    ci = script(seen(("build", PASSED), ("slow", CheckState.RUNNING), run="in_progress"))
    verdict = ci.verdict(timeout=3)
    assert verdict.state is CiState.TIMED_OUT
    assert [check.name for check in verdict.checks if check.state is CheckState.RUNNING] == ["slow"]


def test_word_that_nobody_knows_is_open_until_the_deadline(script: Callable[..., Script]) -> None:
    """A conclusion that GitHub may add one day is waited for, and told as it is when the time is over."""
    check = Check("odd", "some-app", "", CheckState.RUNNING, "novel", "")
    verdict = script(CiObservation(HEAD, (CheckRow(1, 0, check),))).verdict(timeout=1)
    assert verdict.state is CiState.TIMED_OUT
    assert [check.conclusion for check in verdict.checks] == ["novel"]


def test_looks_that_cost_nothing_come_often(script: Callable[..., Script]) -> None:
    """A look that costs nothing is followed by another, but never at once."""
    ci = script(seen(("slow", CheckState.RUNNING), run="in_progress"))
    ci.verdict(timeout=5)
    gaps = [later - earlier for earlier, later in zip(ci.times, ci.times[1:], strict=False)]
    assert len(gaps) > 2
    assert sum(gap < FIRST_PAUSE * 0.7 for gap in gaps) <= 2  # the time for starting, and the end


@pytest.mark.field_case(35, "polling")
def test_looks_that_cost_become_rare(script: Callable[..., Script]) -> None:
    """However much each look costs, half an hour stays within its 150 requests; but for the last look of all."""
    ci = script(seen(("slow", CheckState.RUNNING), run="in_progress"))
    ci.cost = 2
    ci.verdict(timeout=30)
    assert 0 < ci.counted <= 150


def test_run_deadline_ends_the_wait() -> None:
    """The job's own time counts too, less a minute for what comes after: CI is still running then."""
    ci = Script([seen(("slow", CheckState.RUNNING), run="in_progress")], Clock(scale=200))
    before = Clock.now()
    verdict = ci.verdict(start=1, timeout=600, run=3)
    assert verdict.state is CiState.PENDING
    assert Clock.now() - before >= 0.6


def test_patience_ends_the_wait() -> None:
    """Who waits without a runner looks for as long as the patience lasts."""
    ci = Script([seen(("slow", CheckState.RUNNING), run="in_progress")], Clock(scale=200))
    before = Clock.now()
    assert ci.verdict(start=1, timeout=600, patience=60).state is CiState.PENDING
    assert 0.3 <= Clock.now() - before < 10


def test_waiting_counts_across_jobs() -> None:
    """What an earlier job waited counts towards the limit."""
    ci = Script([seen(("slow", CheckState.RUNNING), run="in_progress")], Clock(scale=200))
    assert ci.verdict(start=1, timeout=600, waited=601 * 60).state is CiState.TIMED_OUT


def test_branch_that_moved_is_not_waited_for(script: Callable[..., Script]) -> None:
    """When the pull request says twice that this commit is not the one to check, the wait ends with that."""
    ci = script(seen(("slow", CheckState.RUNNING), run="in_progress"))
    ci.gone = ["it is at another commit", "", "it conflicts", "it conflicts"]
    verdict = ci.verdict()
    assert (verdict.state, verdict.explanation) == (CiState.SUPERSEDED, "it conflicts")


def test_job_that_lost_its_runner_is_no_failure_of_the_code(script: Callable[..., Script]) -> None:
    """A failed job that GitHub gave up is nobody's to repair; a real failure beside it is."""
    ci = script(with_job(seen(("test", CheckState.FAILED))))
    ci.broken = {1: "The runner went away."}
    verdict = ci.verdict()
    assert verdict.state is CiState.INFRASTRUCTURE
    assert verdict.explanation == "`test`: The runner went away."
    ci = script(with_job(seen(("test", CheckState.FAILED), ("lint", CheckState.FAILED))))
    ci.broken = {1: "The runner went away."}
    assert [check.name for check in ci.verdict().failed] == ["lint"]


def with_job(observation: CiObservation) -> CiObservation:
    """The same with the rows' ids as their jobs'."""
    rows = tuple(replace(row, check=replace(row.check, job_id=row.id)) for row in observation.rows)
    return replace(observation, rows=rows)


@pytest.mark.field_case(33, "c")
def test_what_may_not_be_read_is_named(script: Callable[..., Script]) -> None:
    """A refusal is no "no CI": the request and the permission are in the explanation, for a look as well."""
    ci = script(CiObservation(HEAD))
    ci.refusal = Refused("GET /repos/acme/widget/commits/1/check-runs", Answer(403, "Resource not accessible"))
    for verdict in (ci.verdict(), ci.watch().look(HEAD)):
        assert verdict.state is CiState.UNREADABLE
        assert verdict.explanation.endswith("→ 403: Resource not accessible; the token needs `checks: read`")


def test_outage_is_not_taken_for_a_missing_permission(script: Callable[..., Script]) -> None:
    """A server that fails, or a limit, ends the wait as what it is."""
    ci = script(CiObservation(HEAD))
    for answer in (Answer(502, "Server Error"), Answer(403, "rate limit", limited=True)):
        ci.refusal = Refused("GET /repos/acme/widget/actions/runs", answer)
        with pytest.raises(Refused):
            ci.verdict()


def test_cancel_breaks_the_wait_off() -> None:
    """A Run that is asked to stop does not finish waiting."""
    cancel = Cancel()
    ci = Script([seen(("slow", CheckState.RUNNING), run="in_progress")], Clock(cancel=cancel))

    def stop(line: str) -> None:
        cancel.request()

    with pytest.raises(Cancelled):
        Watch(ci, Clock(cancel=cancel), Limits(1, 60), stop).wait(Pushed(HEAD))
