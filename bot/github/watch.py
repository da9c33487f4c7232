"""`bot.ports.CiWatch`: polls CI on one commit until its verdict is final or a limit has passed.

Green is believed only when it is seen twice, a settle interval apart: a check that registers late would else be
overlooked. The intervals grow and are jittered, so that a long wait stays far below GitHub's 1 000 requests an hour
(three requests a look, a look in 30 s).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from bot.clock import Clock, Deadline
from bot.github.checks import CiObservation, judge
from bot.record import CheckState, CiState, CiVerdict

FIRST_PAUSE = 5.0
"""Planned seconds after the first look."""
LONGEST_PAUSE = 30.0
"""Planned seconds between looks at most."""
GROWTH = 1.3
SETTLE = 15.0
"""Planned seconds between the two looks that make green."""
_NAMES_SHOWN = 5
_WORDS = {
    CheckState.PASSED: "passed",
    CheckState.FAILED: "failed",
    CheckState.NO_VERDICT: "without a verdict",
    CheckState.RUNNING: "running",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long CI is waited for; minutes as planned, counted from each `Watch.wait`."""

    start_minutes: float
    """`ci-start-minutes`: without any check by then, none will come."""
    timeout_minutes: float
    """`ci-timeout-minutes`."""
    overall: Deadline | None = None
    """Ends the wait as well, with `TIMED_OUT`: the caller owns that limit and sees that it has passed."""


class Watch:
    """Waits for CI. Implements `bot.ports.CiWatch`."""

    def __init__(
        self, observe: Callable[[str], CiObservation], clock: Clock, limits: Limits, progress: Callable[[str], None]
    ) -> None:
        """`observe` is `Checks.observe`. `progress` is called with one line whenever something has changed."""
        self._observe = observe
        self._clock = clock
        self._limits = limits
        self._progress = progress

    def look(self, commit: str) -> CiVerdict:
        """What CI says of `commit` now; `PENDING` while something still runs. Raises what `observe` raises."""
        return judge(self._observe(commit), expects_ci=False, start_over=True)

    def wait(self, head: str, *, expects_ci: bool, known: Collection[int] = ()) -> CiVerdict:
        """The verdict on `head`, as `bot.github.checks.judge` says it; `TIMED_OUT`, with the checks as they stood, when
        a limit has passed.

        Raises what `observe` raises, and whatever the clock's `sleep` raises to break the wait off.
        """
        start = self._clock.deadline("ci-start-minutes", self._limits.start_minutes * 60)
        limits = [self._clock.deadline("ci-timeout-minutes", self._limits.timeout_minutes * 60)]
        limits += [self._limits.overall] if self._limits.overall else []
        said, before = "", None
        for pause in _pauses():
            out_of_time = any(limit.passed() for limit in limits)
            observation = self._observe(head).running_again(known)
            verdict = judge(observation, expects_ci=expects_ci, start_over=start.passed())
            line = describe(verdict)
            if line != said:
                self._progress(line)
                said = line
            if verdict.state is CiState.GREEN:
                if verdict == before:
                    return verdict
                self._clock.sleep(SETTLE)
            elif verdict.state is not CiState.PENDING:
                return verdict
            elif out_of_time:
                return replace(verdict, state=CiState.TIMED_OUT)
            else:
                ends = [limit.left() for limit in (start, *limits) if not limit.passed()]
                self._clock.sleep(min([pause, *(left * self._clock.scale for left in ends)]))
            before = verdict
        raise AssertionError("the pauses never end")


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause * random.uniform(0.8, 1.2)
        pause = min(pause * GROWTH, LONGEST_PAUSE)


def describe(verdict: CiVerdict) -> str:
    """One line: how many checks passed, failed, run, and the names of those that are not done or not good."""
    if not verdict.checks:
        return f"CI on {verdict.head[:7]}: nothing has started" + (" yet" if verdict.state is CiState.PENDING else "")
    counts = Counter(check.state for check in verdict.checks)
    parts = [f"{counts[state]} {word}{_names(verdict, state)}" for state, word in _WORDS.items() if counts[state]]
    return f"CI on {verdict.head[:7]}: " + ", ".join(parts)


def _names(verdict: CiVerdict, state: CheckState) -> str:
    if state is CheckState.PASSED:
        return ""
    names = [check.name for check in verdict.checks if check.state is state]
    more = ["…"] if len(names) > _NAMES_SHOWN else []
    return f" ({', '.join(names[:_NAMES_SHOWN] + more)})"
