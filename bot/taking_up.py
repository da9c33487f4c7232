"""A Run that waits goes on in this job; and a Run that ended lets the next one in turn go on in another."""

from __future__ import annotations

from collections.abc import Callable

from bot.config import Config
from bot.failures import RunFailed
from bot.ports import Queue, Workflows
from bot.profiles import settings_of
from bot.queueing import next_in_turn
from bot.record import Record
from bot.run import Run
from bot.stored import UnreadableRecord
from bot.trigger import Ignored, Job
from bot.wiring import Wiring


def take_up(issue: int, job: Job, config: Config, wiring: Wiring) -> Record | Ignored:
    """Go on with the Run that waits on `issue`, from its Record; the Record as this job leaves it.

    Raises `RunFailed`.
    """
    journal = wiring.journal(issue)
    try:
        record = journal.last()
    except UnreadableRecord as unreadable:
        return Ignored(f"the Run on issue #{issue} cannot be taken up: {unreadable}")
    if record is None or record.told:
        return Ignored(f"no Run waits on issue #{issue}")
    if record.parked is None:
        return Ignored(f"the Run on issue #{issue} is at work in another job")
    record, config = settings_of(record, config)
    ports = wiring.ports(config, journal)
    record = record.taken_up(job.entry(ports.time.now()))
    try:
        journal.publish(record)  # of two jobs that would take it up one is refused, before either says a word
    except RunFailed as failed:
        if failed.code != "overtaken":
            raise
        return Ignored(f"another job has taken up the Run on issue #{issue}")
    return Run(record, config, ports).go()


def hand_on(config: Config, queue: Queue, workflows: Workflows, log: Callable[[str], None]) -> None:
    """Start the queued Runs whose turn it is, now that a slot may be free. Never fails the Run that ended."""
    try:
        others = queue.others()
        for record in next_in_turn(others.records, others.taken, config.max_working):
            issue = record.trigger.issue
            refused = workflows.take_up(record.jobs[0].workflow, issue)
            log(f"The Run on issue #{issue} is next: {refused or 'a job was started for it'}.")
    except RunFailed as failed:
        log(f"The next Run could not be started: {failed.reason}. A sweep will do it.")
