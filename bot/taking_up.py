"""A Run that waits goes on in this job, or one that is over in a new Run."""

from __future__ import annotations

from bot.commands import Answer, used_up
from bot.config import Config
from bot.failures import RunFailed
from bot.following_up import follow_up
from bot.journal import RunJournal
from bot.profiles import settings_of
from bot.record import Record
from bot.request import Request, Wants
from bot.run import Run
from bot.stored import UnreadableRecord
from bot.telling import Heard, tell
from bot.trigger import Answered, Ignored, Job
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
    if record is not None and record.told:
        return _follow_up(record, job, config, wiring, journal)
    if record is None:
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


def follow_up_here(
    request: Request, last: Record, job: Job, config: Config, wiring: Wiring, journal: RunJournal
) -> Record | Ignored:
    """Begin the Run after `last`, which is over, for what `request` asks; the Record as this job leaves it.

    Raises `RunFailed`.
    """
    last, config = settings_of(last, config)
    ports = wiring.ports(config, journal)
    record = follow_up(last, request, job.entry(ports.time.now()), config.max_repairs)
    try:
        journal.publish(record)
    except RunFailed as failed:
        if failed.code != "overtaken":
            raise
        return Ignored(f"another job has just begun a Run on issue #{last.trigger.issue}")
    return Run(record, config, ports).go()


def _follow_up(last: Record, job: Job, config: Config, wiring: Wiring, journal: RunJournal) -> Record | Ignored:
    """What was asked of a Run that is over begins the next one: nobody took it up in time."""
    issue = last.trigger.issue
    asked = [request for request in wiring.requests.waiting(issue) if request.wants is Wants.FIX]
    if not asked:
        return Ignored(f"no Run waits on issue #{issue}")
    refused = used_up(last, settings_of(last, config)[1])
    found = last.pull_request
    if found is None or wiring.github.pull_request_now(found.number).state != "open":
        refused = Answer.NO_PULL_REQUEST
    if refused is None:
        return follow_up_here(asked[0], last, job, config, wiring, journal)
    told = [tell(refused, Heard("/nightjar fix", one.by, one.url, issue), last, wiring) for one in asked]
    wiring.requests.taken(issue, asked)  # after that nobody hears of them any more
    return Answered(told[-1].rstrip("."))
