"""Real CI for the sandbox: the workflows of the commit under test, their `run:` steps executed in a clean checkout."""

from __future__ import annotations

from bot.sandbox.ci.engine import CiEngine
from bot.sandbox.ci.events import Annotation, CiEvent, CiPublisher, JobEnd, StepResult

__all__ = ["Annotation", "CiEngine", "CiEvent", "CiPublisher", "JobEnd", "StepResult"]
