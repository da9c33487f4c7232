"""`bot.ports.CiWatch`: looks at CI on one commit until its verdict is final or a limit has passed.

A look is cheap: while a workflow run goes on only the list of runs is asked for, and a 304 is free. So looks come every
few seconds, and become rarer only where they cost more than `BUDGET` allows. Green is believed only when it is seen
twice, a settle interval apart: a check that registers late would else be overlooked.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Protocol

from bot.ci.expectation import Expectation, Pushed
from bot.ci.observation import ACTIONS, CiObservation
from bot.ci.verdict import judge
from bot.clock import Clock, Deadline
from bot.github.client import Refused
from bot.record import Check, CheckState, CiState, CiVerdict

FIRST_PAUSE = 2.0
"""Planned seconds after the first look."""
LONGEST_PAUSE = 2.5
"""Planned seconds between looks at most, while they cost little."""
GROWTH = 1.3
DEAR_PAUSE = 30.0
"""Planned seconds between looks at most, when they have cost more than the budget allows."""
BUDGET, BUDGET_A_MINUTE = 15, 4
"""Counted requests at once, and in each planned minute after that: 135 in half an hour of GitHub's 1 000 an hour."""
WHOLE_LOOK = 60.0
"""Planned seconds between looks at every check although nothing but progress can come of it."""
PULL_LOOK = 15.0
"""Planned seconds between looks at the pull request while nothing runs; a new head needs a moment to arrive there."""
SETTLE, LONG_SETTLE = 4.0, 6.0
"""Planned seconds between the two looks that make green: in Actions no job comes once its run is over; other services
post a check when it begins.
"""
RESERVE = 60.0
"""Planned seconds of the job's own time that are left for what comes after the wait."""
_NAMES_SHOWN = 5
_WORDS = {
    CheckState.PASSED: "passed",
    CheckState.FAILED: "failed",
    CheckState.NO_VERDICT: "without a verdict",
    CheckState.RUNNING: "running",
}
_UNREADABLE = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_PERMISSIONS = {"/check-runs": "checks: read", "/status": "statuses: read", "/actions/": "actions: read"}


class CiSource(Protocol):
    """CI as GitHub tells of it: see `bot.github.ci_source.GitHubCi`."""

    @property
    def counted(self) -> int:
        """Requests so far that count against the rate limit."""

    def observe(self, head: str, *, glance: bool = False) -> CiObservation:
        """What is listed for `head`; a `glance` may leave out what cannot matter yet."""

    def expect(self, pushed: Pushed, *, thorough: bool = False) -> Expectation:
        """What should check `pushed`; `thorough` where something that should have started has not."""

    def superseded(self, pushed: Pushed) -> str:
        """Why CI on `pushed` is no longer worth waiting for; "" while it is."""

    def told(self, checks: Sequence[Check]) -> Mapping[int, str]:
        """Jobs among `checks` that ended for no fault of the code, and why."""

    def explain(self, pushed: Pushed, expectation: Expectation) -> str:
        """Why CI did not start; "" when nothing tells."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long CI is waited for; minutes as planned, counted from when the waiting began, whatever job waits."""

    start_minutes: float
    """`ci-start-minutes`: without any check by then, none will come."""
    timeout_minutes: float
    """`ci-timeout-minutes`."""
    overall: Deadline | None = None
    """The job's own: `RESERVE` before it the wait ends, and the verdict is still `PENDING`."""


class Watch:
    """Waits for CI. Implements `bot.ports.CiWatch`."""

    def __init__(self, source: CiSource, clock: Clock, limits: Limits, progress: Callable[[str], None]) -> None:
        """`progress` is called with one line whenever something has changed."""
        self._source = source
        self._clock = clock
        self._limits = limits
        self._progress = progress

    def look(self, commit: str) -> CiVerdict:
        """What CI says of `commit` now; `PENDING` while something still runs, `UNREADABLE` without the permission."""
        try:
            return judge(self._source.observe(commit), Expectation(), start_over=True)
        except Refused as refused:
            return _unreadable(commit, refused)

    def wait(
        self, pushed: Pushed, *, known: Collection[int] = (), waited: float = 0.0, patience: float | None = None
    ) -> CiVerdict:
        """The verdict on `pushed`, as `bot.ci.verdict.judge` says it; `TIMED_OUT`, with the checks as they stood, when
        a limit has passed; `PENDING` when this job's time or `patience` is over; `SUPERSEDED` when nothing is left to
        wait for. `waited` and `patience` are planned seconds: before this wait, and for it.

        Raises `Refused` for anything but a missing permission, and whatever the clock's `sleep` raises to break the
        wait off.
        """
        try:
            limits = _limits(self._clock, self._limits, waited, patience)
            return _Waiting(self._source, self._clock, limits, self._progress, pushed, known).verdict()
        except Refused as refused:
            return _unreadable(pushed.head, refused)


@dataclass(frozen=True, slots=True)
class _Until:
    """Where one wait ends."""

    start: Deadline
    timeout: Deadline
    here: tuple[Deadline, ...]
    """Limits of this job, not of CI."""


def _limits(clock: Clock, limits: Limits, waited: float, patience: float | None) -> _Until:
    here = []
    if limits.overall is not None:
        end = limits.overall
        here.append(Deadline(end.name, end.seconds - RESERVE, end.at - RESERVE / clock.scale))
    if patience is not None:
        here.append(clock.deadline("patience", patience))
    return _Until(
        clock.deadline("ci-start-minutes", max(0.0, limits.start_minutes * 60 - waited)),
        clock.deadline("ci-timeout-minutes", max(0.0, limits.timeout_minutes * 60 - waited)),
        tuple(here),
    )


class _Waiting:
    """One wait."""

    def __init__(
        self,
        source: CiSource,
        clock: Clock,
        until: _Until,
        progress: Callable[[str], None],
        pushed: Pushed,
        known: Collection[int],
    ) -> None:
        self._source = source
        self._clock = clock
        self._progress = progress
        self._pushed = pushed
        self._known = known
        self._until = until
        self._began = self._now()
        self._counted = source.counted
        self._whole_at = self._began
        self._going: tuple[str, ...] = ()
        self._thorough = False
        self._pull_at = PULL_LOOK
        self._doubt = ""
        self._said = ""

    def verdict(self) -> CiVerdict:
        """Look until it is final."""
        expectation = self._source.expect(self._pushed)
        before = None
        for pause in _pauses():
            timed_out = self._until.timeout.passed()
            over = timed_out or any(limit.passed() for limit in self._until.here)
            verdict = self._look(expectation, glance=before is None and not over)
            self._say(describe(verdict, self._going))
            if self._misses(verdict):
                self._thorough = True
                expectation = self._source.expect(self._pushed, thorough=True)
                continue
            if verdict.state is CiState.PENDING:
                gone = self._superseded(verdict)
                if gone:
                    return replace(verdict, state=CiState.SUPERSEDED, explanation=gone)
                if over:
                    return replace(verdict, state=CiState.TIMED_OUT) if timed_out else verdict
                before = None
                self._sleep(pause)
            elif verdict.state not in (CiState.GREEN, CiState.INFRASTRUCTURE) or verdict == before:
                return self._explained(verdict, expectation)
            else:
                before = verdict
                self._clock.sleep(_settle(verdict, expectation))
        raise AssertionError("the pauses never end")

    def _look(self, expectation: Expectation, *, glance: bool) -> CiVerdict:
        whole = not glance or self._now() - self._whole_at >= WHOLE_LOOK
        seen = self._source.observe(self._pushed.head, glance=not whole).running_again(self._known)
        self._going = tuple(run.name or run.path for run in seen.runs if not run.completed)
        if whole or not seen.running:
            self._whole_at = self._now()
        verdict = judge(seen, expectation, start_over=self._until.start.passed())
        if verdict.state in (CiState.RED, CiState.INFRASTRUCTURE):
            told = self._source.told(verdict.checks)
            verdict = judge(seen.told(told), expectation, start_over=self._until.start.passed())
        return verdict

    def _misses(self, verdict: CiVerdict) -> bool:
        """Whether something that was expected does not come, and what to expect is worth one closer look."""
        if self._thorough or self._going:
            return False
        late = verdict.state is CiState.PENDING and self._now() - self._began >= PULL_LOOK
        return (
            late
            or verdict.state is CiState.NEVER_STARTED
            or (verdict.state is CiState.GREEN and verdict.explanation != "")
        )

    def _superseded(self, verdict: CiVerdict) -> str:
        """What the pull request says, once it has said it twice: right after a push it may not know better yet."""
        since = self._now() - self._began
        if since < self._pull_at:
            return ""
        running = any(check.state is CheckState.RUNNING for check in verdict.checks)
        gone = self._source.superseded(self._pushed)
        self._pull_at = since + (WHOLE_LOOK if running and not gone else PULL_LOOK)
        certain = gone if gone == self._doubt else ""
        self._doubt = gone
        return certain

    def _explained(self, verdict: CiVerdict, expectation: Expectation) -> CiVerdict:
        if verdict.state is not CiState.NEVER_STARTED:
            return verdict
        why = self._source.explain(self._pushed, expectation)
        parts = [part for part in (why, verdict.explanation) if part]
        return replace(verdict, explanation="; ".join(parts))

    def _sleep(self, pause: float) -> None:
        spent = self._source.counted - self._counted
        affordable = (spent - BUDGET) / BUDGET_A_MINUTE * 60 - (self._now() - self._began)
        pause = max(pause, min(affordable, DEAR_PAUSE))
        left = [limit.left() * self._clock.scale for limit in self._limits() if not limit.passed()]
        self._clock.sleep(min([pause * random.uniform(0.8, 1.2), *left]))

    def _limits(self) -> tuple[Deadline, ...]:
        return self._until.start, self._until.timeout, *self._until.here

    def _say(self, line: str) -> None:
        if line != self._said:
            self._progress(line)
            self._said = line

    def _now(self) -> float:
        """Planned seconds on a clock of its own."""
        return self._clock.now() * self._clock.scale


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * GROWTH, LONGEST_PAUSE)


def _settle(verdict: CiVerdict, expectation: Expectation) -> float:
    """Planned seconds until this verdict is looked at once more: few where nobody but Actions reports, here or on the
    base commit.
    """
    alone = all(check.app == ACTIONS for check in verdict.checks) and not expectation.usual
    return SETTLE if alone else LONG_SETTLE


def _unreadable(head: str, refused: Refused) -> CiVerdict:
    """The verdict where GitHub does not let the token read CI. Raises `refused` when it is anything else."""
    if refused.answer.status not in _UNREADABLE or refused.answer.limited:
        raise refused
    needed = next((permission for part, permission in _PERMISSIONS.items() if part in refused.request), "")
    remedy = f"; the token needs `{needed}`" if needed else ""
    return CiVerdict(head, CiState.UNREADABLE, (), f"{refused.reason}{remedy}")


def describe(verdict: CiVerdict, going: Sequence[str] = ()) -> str:
    """One line: how many checks passed, failed, run, and the names of those that are not done or not good.

    `going`: names of the workflow runs that have not ended, for when no check is known yet.
    """
    if not verdict.checks and going:
        return f"CI on {verdict.head[:7]}: {', '.join(going[:_NAMES_SHOWN])} is under way"
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
