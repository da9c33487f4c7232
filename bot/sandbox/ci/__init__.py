"""Real workflows for the sandbox: those of a commit that an event starts, their `run:` steps and the actions that the
sandbox has, each job in a folder of its own.
"""

from __future__ import annotations

from bot.sandbox.ci.engine import CiEngine
from bot.sandbox.ci.events import OF_PULL_REQUESTS, Annotation, Approval, CiEvent, CiPublisher, JobEnd, StepResult
from bot.sandbox.ci.runs import LOST_RUNNER

__all__ = [
    "LOST_RUNNER",
    "OF_PULL_REQUESTS",
    "Annotation",
    "Approval",
    "CiEngine",
    "CiEvent",
    "CiPublisher",
    "JobEnd",
    "StepResult",
]
