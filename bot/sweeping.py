"""What is to be done about a Run that is not over, in a job that is not its own. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.record import Record, WaitsFor
from bot.steps import Step, step_at

_SWEEPS = re.compile(r"^\s*command:.*\bsweep\b", re.MULTILINE)
"""What a workflow says that takes parked Runs up. A heuristic: the line may stand in a comment's example."""
_LOST_JOBS = 2
"""So many jobs may have been lost under a Run until it ends: it may be what kills them."""
_RUNNER_PATIENCE = 600.0
"""Planned seconds that a started job may take to begin."""


class Due(StrEnum):
    """What a sweep does."""

    NOTHING = "waits"
    TAKE_UP = "is taken up"
    END = "is ended"


@dataclass(frozen=True, slots=True)
class Around:
    """What has to be known of the world around the Run."""

    now: str
    """ISO 8601, UTC, like every moment here."""
    waited: float
    """Planned seconds since it was parked."""
    conclusion: str = ""
    """How its job ended; "" while that goes on. Of a Run that is at work only."""
    ci_runs: bool = True
    """Whether CI still runs on its head. Of a Run that waits for CI only."""
    paused: bool = False
    """Whether `NIGHTJAR_PAUSED` is set."""


def due(record: Record, around: Around) -> Due:
    """What to do about one Run. Whose turn it is among the queued ones is `bot.queueing`'s."""
    if record.parked is None:
        return _orphan(record) if around.conclusion else Due.NOTHING
    past = bool(record.parked.until) and record.parked.until <= around.now
    ready = {
        WaitsFor.CI: past or not around.ci_runs,
        WaitsFor.RUNNER: around.waited >= _RUNNER_PATIENCE,
        WaitsFor.USAGE_LIMIT: past,
        WaitsFor.UNPAUSED: not around.paused,
        WaitsFor.SLOT: False,
    }
    return Due.TAKE_UP if ready[record.parked.waits_for] else Due.NOTHING


def _orphan(record: Record) -> Due:
    """Its job is over and said nothing: what it knew is on its ref, but for a Session that was going on."""
    lost = sum(not job.ended for job in record.jobs)
    if record.outcome is not None or record.failure is not None or lost >= _LOST_JOBS:
        return Due.END
    at_rest = step_at(record) not in {Step.IMPLEMENT, Step.REPAIR}
    return Due.TAKE_UP if record.implemented and at_rest else Due.END


def is_swept(workflows: Iterable[str]) -> bool:
    """Whether one of a repository's workflow files takes parked Runs up: nothing else does so for certain."""
    return any(_SWEEPS.search(text) for text in workflows)
