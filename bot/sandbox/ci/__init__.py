"""Real CI for the sandbox: the workflows of the commit under test, their `run:` steps executed in a clean checkout."""

from __future__ import annotations

from bot.sandbox.ci.engine import CiEngine
from bot.sandbox.ci.events import CiEvent, CiPublisher, StepResult

__all__ = ["CiEngine", "CiEvent", "CiPublisher", "StepResult"]
