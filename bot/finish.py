"""`nightjar finish`: the job's last step reports a Run whose own process could not: killed, cancelled, out of memory.

It reads the Record that the Run left on the runner and completes the one ending that every Run shares. What was told
already is looked for first, so that nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bot.cancel import on_signals
from bot.clock import BadTimeScale, Clock
from bot.config import SETTINGS_FILE, Config, ConfigInvalid, read_config
from bot.ending import EndingPorts, end
from bot.failures import RunFailed
from bot.ports import GitHub, IssueComment
from bot.record import FailureEntry, Outcome, Record, UnreadableRecord, from_json
from bot.report.actions import Runner
from bot.report.render import marker
from bot.settings import SETTINGS
from bot.steps import next_step
from bot.trigger import BadEvent, read_job

INPUT = 2


def finish_command(environ: Mapping[str, str]) -> int:
    """Finish the Run that this job began, if it has to be; the exit code."""
    runner = Runner.from_environment(environ)
    inputs = {**environ, SETTINGS["command"].variable: "finish"}  # asked for by a step's input or on a command line
    with on_signals() as cancel:
        try:
            return _finish(inputs, runner, Clock.from_environment(environ, cancel))
        except (ConfigInvalid, BadEvent, BadTimeScale, UnreadableRecord) as problem:
            for line in str(problem).splitlines():
                runner.annotate("error", "Nightjar", line)
            return INPUT
        except RunFailed as failed:
            runner.annotate("error", f"Nightjar: {failed.failure.title}", failed.reason)
            return 1


def _finish(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    job = read_job(environ)
    path = Path(environ.get("RUNNER_TEMP", "") or "/nonexistent") / "nightjar" / "record.json"
    if not path.is_file():
        return _nothing(runner, "no Run was begun in this job")
    record = from_json(path.read_text(encoding="utf-8"))
    if (record.trigger.run_id, record.trigger.run_attempt) != (job.run_id, job.run_attempt):
        return _nothing(runner, "the Record on this runner is another job's")
    if record.ending_comment:
        return _nothing(runner, "the Run has told its end itself")
    config = read_config(environ, None)

    from bot.wiring import Wiring

    with Wiring(job, config.github_token.reveal(), environ, runner, clock) as wiring:
        file = wiring.github.read_file(SETTINGS_FILE, wiring.github.default_branch())
        config = read_config(environ, file)
        journal = wiring.journal(record.trigger.issue, config)
        try:
            journal.last()
        except (RunFailed, UnreadableRecord) as problem:  # then the ending is told, but not kept on the ref
            runner.log(f"The Record on GitHub could not be read: {problem}")
        ports = EndingPorts(wiring.github, wiring.workspace(config), wiring.report(config), journal)
        there = ports.workspace.reopen(
            base=record.base, branch=record.branch, base_commit=record.round_base or record.base_commit
        )
        record = _as_it_was(record, config, wiring.github.comments(record.trigger.issue))
        record = _with_its_pull_request(record, wiring.github)
        end(record if there else replace(record, head=""), config, ports)
    return 0


def _nothing(runner: Runner, why: str) -> int:
    runner.log(f"Nothing to finish: {why}.")
    return 0


def _as_it_was(record: Record, config: Config, comments: Sequence[IssueComment]) -> Record:
    """The Record with how it ended, and with what had been told but not noted down when the process died."""
    tracking = record.tracking_comment or _find(comments, marker("tracking", record))
    # Anybody can write our marker, so that the ending has to be by whoever wrote the Tracking comment.
    author = next((comment.author for comment in comments if comment.id == tracking), "")
    record = replace(
        record,
        tracking_comment=tracking,
        ending_comment=_find(comments, marker("ending", record), author),
        claimed=record.claimed or bool(tracking),
    )
    if record.outcome is not None or record.failure is not None:
        return record
    if config.job_status == "cancelled":
        return replace(record, outcome=Outcome.CANCELLED)
    reason = f"the Run's process ended without a word while {next_step(record)}"
    return replace(record, failure=FailureEntry("runner_lost", reason))


def _find(comments: Sequence[IssueComment], text: str, author: str = "") -> int:
    """The comment with this text, by `author` if that is known; 0 when there is none."""
    return next((one.id for one in comments if text in one.body and (not author or one.author == author)), 0)


def _with_its_pull_request(record: Record, github: GitHub) -> Record:
    """As GitHub has it: it may have been opened, or marked ready, without being noted down."""
    if not record.head:
        return record
    try:
        return replace(record, pull_request=github.find_pull_request(record.branch) or record.pull_request)
    except RunFailed:
        return record
