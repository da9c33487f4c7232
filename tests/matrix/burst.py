"""Very many issues labelled within a minute: none is lost, none is worked on twice, and the line is kept.

The shipped workflows play it in the sandbox's Actions, with GitHub's hourly limit and its one waiting job a group; the
Sessions are a few lines of shell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.clock import Clock
from tests.run.town import SCALE, Town, town

AT_WORK = 3
HOURLY = 1000
"""GitHub's limit for the job's token, for each repository."""
IN_LINE = 20
"""So many stand in line, if there are so many, before the first Sessions end."""
SLOW = 30
"""How much faster than planned time goes in the whole burst: two cores make more than `HOURLY` requests in such an hour
only if it is not too short.
"""
WEEK = "10080"
PATIENT = {f"{name}-timeout-minutes": WEEK for name in ("silence", "session", "run", "ci")}
SECONDS_EACH = 90.0
"""Real seconds that each Run adds at most to the time the burst may take."""


@dataclass(frozen=True, slots=True)
class Burst:
    """What became of it."""

    issues: int
    seconds: float
    requests: int
    """Those that count."""
    limited: int
    """Answers that were the limit's."""
    jobs: int
    broken: tuple[str, ...]

    def __str__(self) -> str:
        """The size and the survivors, for people."""
        told = f"{self.issues} issues in {self.seconds:.0f} s, {self.jobs} jobs, {self.requests} requests that count"
        head = f"{told}, {self.limited} of them over the limit, {len(self.broken)} broken promises"
        return "\n".join([head, *(f"  {line}" for line in self.broken)])


def burst(folder: Path, number: int, *, hourly: int = HOURLY, scale: float = SCALE) -> Burst:
    """Label `number` issues; the first few Sessions wait until others stand in line."""
    began = Clock.now()
    settings = {"max-working": str(AT_WORK), **PATIENT}
    with town(folder, "right; gate go", settings=settings, hourly=hourly, scale=scale) as played:
        issues = [played.issue, *(played.open_issue() for _ in range(number - 1))]
        for issue in issues:
            played.label(issue)
        patience = SECONDS_EACH * number
        line = min(IN_LINE, number - AT_WORK)
        played.wait(lambda: sum(played.labels(issue) == ("nightjar:queued",) for issue in issues) >= line, patience)
        played.open("go")
        played.settle(patience)
        requests = [request for request in played.hub.requests if request.counted]
        return Burst(
            issues=number,
            seconds=Clock.now() - began,
            requests=len(requests),
            limited=sum(request.status == 403 and "/variables/" not in request.path for request in requests),
            jobs=len(played.jobs),
            broken=tuple(_broken(played, issues)),
        )


def _broken(played: Town, issues: list[int]) -> Iterator[str]:
    sessions = Counter(session.issue for session in played.sessions)
    for issue in issues:
        if sessions[issue] != 1:
            yield f"issue #{issue}: {sessions[issue]} Sessions"
        if len(played.endings(issue)) != 1 or len(played.comments(issue)) != 2:
            yield f"issue #{issue}: {len(played.endings(issue))} endings, {len(played.comments(issue))} comments"
        if played.labels(issue) != ("nightjar:ready",):
            yield f"issue #{issue}: labels {', '.join(played.labels(issue))}"
    yield from _out_of_order(played, issues)
    most = _most_at_once(played)
    if most > AT_WORK:
        yield f"{most} Sessions at once"
    left = [ref for ref in played.repository.refs() if "/slot/" in ref or "/open/" in ref]
    if left:
        yield f"left: {', '.join(left)}"


def _out_of_order(played: Town, issues: list[int]) -> Iterator[str]:
    """Runs that stood in line when later ones were begun before them; as many as may work begin at the same time."""
    began = {session.issue: session.at for session in reversed(played.sessions)}
    jobs = {issue: played.record(issue).jobs for issue in issues}
    for issue in issues:
        later = [other for other in issues if other > issue and began.get(other, 0) < began.get(issue, 0)]
        overtaking = [other for other in later if jobs[issue][0].ended and jobs[issue][0].ended < jobs[other][-1].began]
        if len(overtaking) >= AT_WORK:
            yield f"issue #{issue} stood in line, and was overtaken by {overtaking}"


def _most_at_once(played: Town) -> int:
    now = most = 0
    for seen in sorted(played.beginnings_and_ends, key=lambda seen: seen.at):
        now += -1 if seen.ended else 1
        most = max(most, now)
    return most
