"""Completes the ending of a Run whose own process is gone: in the job's last step, in a job of its own, in a sweep.

What was told already is looked for first, so that nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.config import Config
from bot.ending import EndingPorts, end
from bot.failures import RunFailed
from bot.journal import RunJournal
from bot.own_comments import found_in, own_comments
from bot.ports import GitHub, IssueComment, Reporter, Workspace
from bot.profiles import settings_of
from bot.record import FailureEntry, Outcome, Record
from bot.steps import step_at

if TYPE_CHECKING:
    from bot.wiring import Wiring


def complete(record: Record, config: Config, wiring: Wiring, journal: RunJournal, *, cancelled: bool) -> Record:
    """End a Run whose own process is gone: what is known of it, told once."""
    record, config = settings_of(record, config)
    return _complete(record, config, wiring, journal, wiring.report(config), cancelled=cancelled)


def complete_aside(record: Record, config: Config, wiring: Wiring, journal: RunJournal) -> Record:
    """End a Run in a job that is another one's: told on its issue, and nowhere else."""
    record, config = settings_of(record, config)
    return _complete(record, config, wiring, journal, wiring.report_aside(config), cancelled=False)


def _complete(
    record: Record, config: Config, wiring: Wiring, journal: RunJournal, report: Reporter, *, cancelled: bool
) -> Record:
    ports = EndingPorts(wiring.github, wiring.workspace(config), report, journal)
    try:
        wiring.confine(config)  # a Session was in what git now looks at
        record = _with_its_work(record, ports.workspace)
    except RunFailed as failed:
        record = replace(record, head="").noted(f"The work could not be looked at: {failed.reason}.")
    record = _as_it_was(record, own_comments(record, wiring.github), cancelled=cancelled)
    return end(_with_its_pull_request(record, wiring.github), config, ports)


def _with_its_work(record: Record, workspace: Workspace) -> Record:
    """The Record, with the workspace that was left here, or one of what was checkpointed. Raises `RunFailed`."""
    base_commit = record.round_base or record.base_commit
    if workspace.reopen(base=record.base, branch=record.branch, base_commit=base_commit):
        return record
    if not record.head:
        return record
    base_commit, head = workspace.prepare(base=record.base, branch=record.branch, checkpoint=record.head)
    return replace(record, base_commit=base_commit, head=head)


def _as_it_was(record: Record, comments: Sequence[IssueComment], *, cancelled: bool) -> Record:
    """The Record with how it ended, and with what had been told but not noted down when the process died."""
    tracking = record.tracking_comment or found_in(comments, "tracking", record)
    record = replace(
        record,
        tracking_comment=tracking,
        ending_comment=record.ending_comment or found_in(comments, "ending", record),
        claimed=record.claimed or bool(tracking),
    )
    if record.outcome is not None or record.failure is not None:
        return record
    if cancelled:
        return replace(record, outcome=Outcome.CANCELLED)
    reason = f"the Run's process ended without a word while {step_at(record)}"
    return replace(record, failure=FailureEntry("runner_lost", reason))


def _with_its_pull_request(record: Record, github: GitHub) -> Record:
    """As GitHub has it: it may have been opened, or marked ready, without being noted down."""
    if not record.head:
        return record
    try:
        return replace(record, pull_request=github.find_pull_request(record.branch) or record.pull_request)
    except RunFailed:
        return record
