"""A step of a job beside the Run's own: how it begins, and how it ends where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.cancel import Cancelled
from bot.clock import BadTimeScale, Clock
from bot.config import ConfigInvalid
from bot.failures import RunFailed
from bot.report.actions import Runner
from bot.settings import SETTINGS
from bot.signals import CANCELLED, on_signals
from bot.stored import UnreadableRecord
from bot.trigger import BadEvent

INPUT = 2

Act = Callable[[Mapping[str, str], Runner, Clock], int]


def as_a_step(command: str, environ: Mapping[str, str], act: Act, *, finish_follows: bool) -> int:
    """Do `act` as the step `command`; the exit code. Whatever stops it is one annotation."""
    runner = Runner.from_environment(environ)
    inputs = {**environ, SETTINGS["command"].variable: command}  # asked for by a step's input or on a command line
    with on_signals(finish_follows=finish_follows) as cancel:
        try:
            return act(inputs, runner, Clock.from_environment(environ, cancel))
        except (ConfigInvalid, BadEvent, BadTimeScale, UnreadableRecord) as problem:
            for line in str(problem).splitlines():
                runner.annotate("error", "Nightjar", line)
            return INPUT
        except Cancelled:
            runner.log(f"The job was cancelled before `{command}` was done.")
            return CANCELLED
        except RunFailed as failed:
            runner.annotate("error", f"Nightjar: {failed.failure.title}", failed.reason)
            return 1
