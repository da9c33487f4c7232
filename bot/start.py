"""`nightjar run`: everything before the Run begins: settings, event, permission; then the ports, and the Run.

Bad input ends here in one clear line, before any label, branch or Session: exit code 2. What is not ours to do ends
here too: skipped, exit code 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.cancel import Cancelled
from bot.clock import BadTimeScale, Clock
from bot.config import SETTINGS_FILE, ConfigInvalid, check_claude_path, read_config
from bot.event import read_payload
from bot.failures import RunFailed, failure
from bot.own_runner import check_runner
from bot.record import Outcome, Record
from bot.report.actions import Runner
from bot.signals import CANCELLED, on_signals
from bot.trigger import BadEvent, Ignored, by_label, default_branch_of, read_event, read_job

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
    asked = read_event(environ.get("GITHUB_EVENT_NAME", ""), payload, now)
    if isinstance(asked, Ignored):
        return _skipped(runner, asked)

    from bot.beginning import begin, permitted
    from bot.taking_up import hand_on, take_up
    from bot.wiring import Wiring

    with Wiring(job, config, environ, runner, clock) as wiring:
        check_runner(config, environ, payload, wiring.github.is_public)
        default_branch = default_branch_of(payload) or wiring.github.default_branch()
        config = read_config(environ, wiring.github.read_file(SETTINGS_FILE, default_branch))
        check_claude_path(config)
        asked = by_label(asked, config.asking)
        if isinstance(asked, Ignored):
            return _skipped(runner, asked)
        # Of a Run that waits the Record says who asked for it, and that they may.
        trigger = None if asked.take_up else permitted(asked, job, config, wiring.github, runner)
        if isinstance(trigger, Ignored):
            return _skipped(runner, trigger)
        if trigger is None:
            record = take_up(asked.issue, job, config, wiring)
        else:
            record = begin(trigger, job, default_branch, config.for_label(trigger.label), wiring)
        if isinstance(record, Ignored):
            return _skipped(runner, record)
        if not record.slot and not clock.cancel.requested:
            hand_on(config, wiring.queue, wiring.workflows, runner.log)
    return exit_code(record)


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
    runner.annotate("notice", "Nightjar: skipped", ignored.why)
    runner.step_summary(f"Nightjar did nothing: {ignored.why}.")
    runner.outputs({"outcome": str(Outcome.SKIPPED), "reason": ignored.why})
    return 0
