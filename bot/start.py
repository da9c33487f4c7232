"""`nightjar run`: everything before the Run begins: settings, event, permission; then the ports, and the Run.

Bad input ends here in one clear line, before any label, branch or Session: exit code 2. What is not ours to do ends
here too: skipped, exit code 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.cancel import Cancelled
from bot.clock import BadTimeScale, Clock
from bot.commanded import EVENTS as BY_COMMENT
from bot.commanded import Commanded, read_commanded
from bot.config import SETTINGS_FILE, Config, ConfigInvalid, check_claude_path, read_config
from bot.event import read_payload
from bot.failures import RunFailed, failure
from bot.own_runner import check_runner
from bot.record import Outcome, Record
from bot.report.actions import Runner
from bot.signals import CANCELLED, on_signals
from bot.trigger import Answered, Asked, BadEvent, Ignored, Job, by_label, default_branch_of, read_event, read_job

if TYPE_CHECKING:
    from bot.wiring import Wiring

INPUT = 2


def run_command(environ: Mapping[str, str]) -> int:
    """Run on the event of this job; the exit code."""
    runner = Runner.from_environment(environ)
    with on_signals(finish_follows=runner.in_actions) as cancel:
        try:
            return _start(environ, runner, Clock.from_environment(environ, cancel))
        except (ConfigInvalid, BadEvent, BadTimeScale) as problem:
            return _bad_input(runner, str(problem))
        except Cancelled:
            runner.annotate("warning", "Nightjar: cancelled", "The job was cancelled before the Run began.")
            runner.outputs({"outcome": str(Outcome.CANCELLED), "reason": "cancelled before the Run began"})
            return CANCELLED
        except RunFailed as failed:  # before there is a Run that could report it on its issue
            runner.annotate("error", f"Nightjar: {failed.failure.title}", failed.reason)
            runner.outputs({"outcome": str(Outcome.FAILED), "reason": failed.reason})
            return failed.failure.exit_code


def _start(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    config = read_config(environ, None)
    check_claude_path(config)
    for secret in config.secrets():
        runner.mask(secret.reveal())
    job = read_job(environ)
    now = clock.today().isoformat(timespec="seconds")
    payload = read_payload(environ)
    event = environ.get("GITHUB_EVENT_NAME", "")
    asked = read_commanded(event, payload, now) if event in BY_COMMENT else read_event(event, payload, now)
    if isinstance(asked, Ignored):
        return _skipped(runner, asked)

    from bot.answering import answer
    from bot.handing_on import hand_on
    from bot.wiring import Wiring

    with Wiring(job, config, environ, runner, clock) as wiring:
        check_runner(config, environ, payload, wiring.github.is_public)
        default_branch = default_branch_of(payload) or wiring.github.default_branch()
        config = read_config(environ, wiring.github.read_file(SETTINGS_FILE, default_branch))
        check_claude_path(config)
        if isinstance(asked, Commanded):
            record = answer(asked, job, default_branch, config, wiring, runner)
        else:
            record = _begun(asked, job, default_branch, config, wiring, runner)
        if isinstance(record, Ignored):
            return _skipped(runner, record)
        if not record.slot and not clock.cancel.requested:
            hand_on(job, config, wiring, runner.log)
    return exit_code(record)


def _begun(
    asked: Asked, job: Job, default_branch: str, config: Config, wiring: Wiring, runner: Runner
) -> Record | Ignored:
    """The Run that a label or a dispatch asks for, as far as this job takes it."""
    from bot.beginning import begin, permitted
    from bot.taking_up import take_up

    asked_for = by_label(asked, config.asking)
    if isinstance(asked_for, Ignored):
        return asked_for
    if asked_for.take_up:  # of a Run that waits the Record says who asked for it, and that they may
        return take_up(asked_for.issue, job, config, wiring)
    trigger = permitted(asked_for, job, config, wiring.github, runner)
    if isinstance(trigger, Ignored):
        return trigger
    return begin(trigger, job, default_branch, config.for_label(trigger.label), wiring)


def exit_code(record: Record) -> int:
    """What the process ends with."""
    if record.failure is not None and record.parked is None:
        return failure(record.failure.code).exit_code
    return CANCELLED if record.outcome is Outcome.CANCELLED else 0


def _bad_input(runner: Runner, text: str) -> int:
    lines = text.splitlines()
    for line in lines:
        runner.annotate("error", "Nightjar", line)
    runner.outputs({"outcome": str(Outcome.FAILED), "reason": lines[0]})
    return INPUT


def _skipped(runner: Runner, ignored: Ignored) -> int:
    if isinstance(ignored, Answered):
        runner.annotate("notice", "Nightjar: answered", ignored.why)
        runner.step_summary(f"{ignored.why}.")
    else:
        runner.annotate("notice", "Nightjar: skipped", ignored.why)
        runner.step_summary(f"Nightjar did nothing: {ignored.why}.")
    runner.outputs({"outcome": str(Outcome.SKIPPED), "reason": ignored.why})
    return 0
