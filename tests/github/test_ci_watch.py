"""Waiting for CI."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from bot.cancel import Cancel, Cancelled
from bot.clock import Clock
from bot.github.checks import CheckRow, CiObservation, WorkflowRun
from bot.github.watch import LONGEST_PAUSE, Limits, Watch
from bot.record import Check, CheckState, CiState

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


class Script:
    """CI as it looks from one look to the next; the last look stays."""

    def __init__(self, looks: Iterable[CiObservation], clock: Clock) -> None:
        self.looks = list(looks)
        self.times: list[float] = []
        self.lines: list[str] = []
        self._clock = clock

    def __call__(self, head: str) -> CiObservation:
        assert head == HEAD
        self.times.append(self._clock.now() * self._clock.scale)
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def watch(self, start: float = 1, timeout: float = 10) -> Watch:
        return Watch(self, self._clock, Limits(start, timeout), self.lines.append)


@pytest.fixture
def script() -> Callable[..., Script]:
    """Builds a Script on a clock that makes a planned minute of 60 ms."""
    return lambda *looks: Script(looks, Clock(scale=1000))


def test_zero_then_running_then_red(script: Callable[..., Script]) -> None:
    """No check in the first looks is no verdict; the failure that comes later is."""
    running = seen(("test", CheckState.RUNNING), run="in_progress")
    ci = script(CiObservation(HEAD), CiObservation(HEAD), running, seen(("test", CheckState.FAILED)))
    verdict = ci.watch().wait(HEAD, expects_ci=True)
    assert verdict.state is CiState.RED
    assert ci.lines == [
        "CI on abcdef1: nothing has started yet",
        "CI on abcdef1: 1 running (test)",
        "CI on abcdef1: 1 failed (test)",
    ]


def test_green_is_seen_twice(script: Callable[..., Script]) -> None:
    """A check that registers just after the others were green is waited for, and its failure counts."""
    late = seen(("build", PASSED), ("e2e", CheckState.RUNNING), run="in_progress")
    ci = script(seen(("build", PASSED)), late, seen(("build", PASSED), ("e2e", CheckState.FAILED)))
    assert ci.watch().wait(HEAD, expects_ci=True).state is CiState.RED
    ci = script(seen(("build", PASSED)))
    assert ci.watch().wait(HEAD, expects_ci=True).state is CiState.GREEN
    assert len(ci.times) == 2


def test_ci_that_never_starts(script: Callable[..., Script]) -> None:
    """After ci-start-minutes nothing will come any more: named so when workflows should have run, else there is no
    CI.
    """
    ci = script(CiObservation(HEAD))
    before = Clock.now()
    assert ci.watch(start=2).wait(HEAD, expects_ci=True).state is CiState.NEVER_STARTED
    assert 0.12 <= Clock.now() - before < 0.5
    assert ci.watch(start=0.1).wait(HEAD, expects_ci=False).state is CiState.NONE_EXPECTED


def test_ci_that_never_ends(script: Callable[..., Script]) -> None:
    """After ci-timeout-minutes the wait ends, with the checks as they stood."""
    ci = script(seen(("build", PASSED), ("slow", CheckState.RUNNING), run="in_progress"))
    verdict = ci.watch(timeout=3).wait(HEAD, expects_ci=True)
    assert verdict.state is CiState.TIMED_OUT
    assert [check.name for check in verdict.checks if check.state is CheckState.RUNNING] == ["slow"]


def test_looks_become_rarer(script: Callable[..., Script]) -> None:
    """A long wait costs two looks a minute at most, and the first looks come quickly."""
    ci = script(seen(("slow", CheckState.RUNNING), run="in_progress"))
    ci.watch(timeout=20).wait(HEAD, expects_ci=True)
    gaps = [later - earlier for earlier, later in zip(ci.times, ci.times[1:], strict=False)]
    assert gaps[0] < 20
    assert min(gaps[10:-1]) >= LONGEST_PAUSE * 0.8
    assert len(ci.times) < 20 * 60 / (LONGEST_PAUSE * 0.8) + 12


def test_run_deadline_ends_the_wait(script: Callable[..., Script]) -> None:
    """The Run's own deadline counts too."""
    ci = script(seen(("slow", CheckState.RUNNING), run="in_progress"))
    clock = Clock(scale=1000)
    watch = Watch(ci, clock, Limits(1, 600, clock.deadline("run-timeout-minutes", 60)), ci.lines.append)
    assert watch.wait(HEAD, expects_ci=True).state is CiState.TIMED_OUT


def test_cancel_breaks_the_wait_off() -> None:
    """A Run that is asked to stop does not finish waiting."""
    cancel = Cancel()
    ci = Script([seen(("slow", CheckState.RUNNING), run="in_progress")], Clock(cancel=cancel))

    def stop(line: str) -> None:
        cancel.request()

    with pytest.raises(Cancelled):
        Watch(ci, Clock(cancel=cancel), Limits(1, 60), stop).wait(HEAD, expects_ci=True)
