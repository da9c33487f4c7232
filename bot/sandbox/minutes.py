"""The timeline of jobs that were played: when each began and ended, and the runner minutes it took. Pure.

Minutes are planned ones: real seconds times the scale at which the story was played. A bill rounds each job up to whole
minutes; a job that never had a runner costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class JobTime:
    """One job, by its id. Times are real, None for a job that never had a runner or has not ended; `scale` is planned
    seconds in a real one.
    """

    job: int
    workflow: str
    event: str
    attempt: int
    name: str
    conclusion: str
    began: datetime | None
    ended: datetime | None
    scale: float

    @property
    def minutes(self) -> float:
        """Planned minutes on a runner."""
        if self.began is None or self.ended is None:
            return 0.0
        return (self.ended - self.began).total_seconds() * self.scale / 60

    @property
    def billed(self) -> int:
        """What GitHub bills: each job rounded up."""
        return math.ceil(self.minutes)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The jobs in the order in which they began; `start` is when the story began."""

    start: datetime
    jobs: tuple[JobTime, ...]

    @property
    def minutes(self) -> float:
        """Planned minutes of all jobs together."""
        return sum(job.minutes for job in self.jobs)

    @property
    def billed(self) -> int:
        """Billed minutes of all jobs together."""
        return sum(job.billed for job in self.jobs)

    def of(self, *workflows: str) -> Timeline:
        """The jobs of these workflows that had a runner."""
        return Timeline(self.start, tuple(job for job in self.jobs if job.began and job.workflow in workflows))

    def as_text(self) -> str:
        """For a terminal: a line for each job and one for the sum. `+m:ss` are planned minutes since the start."""
        head = ("workflow", "job", "started by", "began", "ended", "minutes", "billed", "conclusion")
        rows = [head, *(self._row(job) for job in self.jobs)]
        rows.append(("", "", "", "", "together", f"{self.minutes:.1f}", str(self.billed), ""))
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        return "\n".join(_line(row, widths) for row in rows) + "\n"

    def as_markdown(self) -> str:
        """For a file: a table."""
        rows = [self._row(job) for job in self.jobs]
        rows.append(("", "", "", "", "**together**", f"**{self.minutes:.1f}**", f"**{self.billed}**", ""))
        head = ["| workflow | job | started by | began | ended | minutes | billed | conclusion |", "|---" * 8 + "|"]
        return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"

    def _row(self, job: JobTime) -> tuple[str, ...]:
        name = job.name if job.attempt == 1 else f"{job.name} (attempt {job.attempt})"
        times = self._since(job.began, job.scale), self._since(job.ended, job.scale)
        return (job.workflow, name, job.event, *times, f"{job.minutes:.1f}", str(job.billed), job.conclusion)

    def _since(self, at: datetime | None, scale: float) -> str:
        if at is None:
            return "-"
        seconds = round((at - self.start) / timedelta(seconds=1) * scale)
        return f"+{seconds // 60}:{seconds % 60:02}"


def timeline(start: datetime, jobs: Iterable[JobTime]) -> Timeline:
    """The timeline of `jobs`; those that never had a runner stand last."""
    last = datetime.max.replace(tzinfo=start.tzinfo)
    return Timeline(start, tuple(sorted(jobs, key=lambda job: job.began or last)))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    right = (5, 6)
    cells = (
        text.rjust(width) if column in right else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()
