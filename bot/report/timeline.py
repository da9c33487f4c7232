"""The timeline of a Run, from its Record: jobs and what was waited for between them, Sessions, CI. Pure.

Only what the Record has a time for is shown, and nothing is guessed: a job that was lost lasts until the Run was last
heard of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.record import CiState, JobEntry, Record, WaitsFor
from bot.report import bars

_SHORTEST = timedelta(seconds=1)
"""A bar of no length is not drawn."""


class Look(StrEnum):
    """How a bar is drawn: Mermaid's own words."""

    PLAIN = ""
    GREY = "done, "
    GOING_ON = "active, "
    RED = "crit, "


_SESSIONS = {"done": Look.PLAIN, "cancelled": Look.GREY}
_CI = {
    CiState.GREEN: Look.PLAIN,
    CiState.NONE_EXPECTED: Look.PLAIN,
    CiState.SUPERSEDED: Look.GREY,
    CiState.PENDING: Look.GOING_ON,
}
"""Whatever else a Session or CI ends with is drawn in red."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the diagram, at least a second long. `text` holds nothing that means anything to Mermaid."""

    text: str
    look: Look
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Section:
    """Bars under one heading, the newest of them; `left_out` are older."""

    name: str
    bars: tuple[Bar, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class OnRunner:
    """One job, and what the Run waited for after it."""

    number: int
    """From 1."""
    entry: JobEntry
    began: datetime
    ended: datetime
    going_on: bool
    lost: bool
    """Nobody saw it end: `ended` is when the Run was last heard of."""
    waits_for: WaitsFor | None
    waited_until: datetime
    """Equal to `ended` where nothing was waited for."""

    @property
    def seconds(self) -> float:
        """Seconds on the runner."""
        return max(0.0, (self.ended - self.began).total_seconds())

    @property
    def waited(self) -> float:
        """Seconds without a runner afterwards."""
        return max(0.0, (self.waited_until - self.ended).total_seconds())


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is known of when the Run did what; no sections where nothing is."""

    sections: tuple[Section, ...]
    jobs: tuple[OnRunner, ...]
    axis: str
    """The axis' format of times."""

    @property
    def runner_seconds(self) -> float:
        """Seconds on runners, of all jobs."""
        return sum(job.seconds for job in self.jobs)

    @property
    def waited_seconds(self) -> float:
        """Seconds that the Run waited without a runner."""
        return sum(job.waited for job in self.jobs)

    @property
    def left_out(self) -> int:
        """Bars that are not drawn."""
        return sum(section.left_out for section in self.sections)


def timeline(record: Record, now: datetime, many: int) -> Timeline:
    """The Run up to `now` (UTC), with at most `many` bars in a section."""
    jobs = tuple(_jobs(record, now))
    rows = (
        ("Jobs", tuple(_job_bars(jobs, record))),
        ("Sessions", tuple(_session_bars(record))),
        ("CI", tuple(_ci_bars(record, now))),
    )
    sections = tuple(Section(name, drawn[-many:], len(drawn[:-many])) for name, drawn in rows if drawn)
    return Timeline(sections, jobs, _axis(sections))


def _jobs(record: Record, now: datetime) -> Iterator[OnRunner]:
    known = [(job, began) for job in record.jobs if (began := _moment(job.began))]
    heard = [*(bar.ended for bar in _session_bars(record)), *(bar.ended for bar in _ci_bars(record, None))]
    was_lost = record.failure is not None and record.failure.code == "runner_lost"
    for number, (job, began) in enumerate(known, start=1):
        is_last = number == len(known)
        until = now if is_last else known[number][1]
        ended = _moment(job.ended)
        going_on = ended is None and is_last and not was_lost
        lost = ended is None and not going_on
        if ended is None:
            ended = now if going_on else max((moment for moment in heard if began <= moment <= until), default=began)
        waits_for = job.waits_for if not is_last or record.parked else None
        yield OnRunner(
            number, job, began, ended, going_on and not record.outcome, lost, waits_for, until if waits_for else ended
        )


def _job_bars(jobs: tuple[OnRunner, ...], record: Record) -> Iterator[Bar]:
    for job in jobs:
        look = Look.RED if job.lost else Look.GOING_ON if job.going_on else Look.PLAIN
        yield _bar(bars.job(job.number, job.seconds, lost=job.lost), look, job.began, job.ended)
        if job.waits_for is not None:
            look = Look.GOING_ON if job.number == len(jobs) and record.parked else Look.GREY
            yield _bar(bars.waiting(job.waits_for, job.waited), look, job.ended, job.waited_until)


def _session_bars(record: Record) -> Iterator[Bar]:
    for entry in record.sessions:
        began = _moment(entry.began)
        if began is not None:
            look = _SESSIONS.get(entry.ended, Look.RED)
            yield _bar(bars.session(entry), look, began, began + timedelta(seconds=entry.seconds))


def _ci_bars(record: Record, now: datetime | None) -> Iterator[Bar]:
    """What CI said each time, and, up to `now`, what it has not said yet."""
    for entry in record.waits_for_ci:
        ended = _moment(entry.ended)
        if ended is not None:
            look = _CI.get(entry.state, Look.RED)
            yield _bar(bars.ci(entry.state, entry.head, entry.red), look, _moment(entry.began) or ended, ended)
    began = _moment(record.watched_since)
    judged = record.ci is not None and record.ci.head == record.pushed
    if now is not None and began is not None and not judged and record.outcome is None:
        yield _bar(bars.ci(CiState.PENDING, record.pushed, ()), Look.GOING_ON, began, now)


def _bar(text: str, look: Look, began: datetime, ended: datetime) -> Bar:
    return Bar(bars.diagram(text), look, began, max(ended, began + _SHORTEST))


def _axis(sections: tuple[Section, ...]) -> str:
    drawn = [bar for section in sections for bar in section.bars]
    if not drawn:
        return ""
    span = max(bar.ended for bar in drawn) - min(bar.began for bar in drawn)
    if span > timedelta(days=1):
        return "%m-%d %H:%M"
    return "%H:%M" if span > timedelta(minutes=20) else "%H:%M:%S"


def _moment(text: str) -> datetime | None:
    """In UTC; None where there is none, or where it cannot be read."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
