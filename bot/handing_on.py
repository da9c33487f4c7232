"""A Run that ended lets the next one in turn go on in another job, and what was asked too late of one that is over.

Where GitHub starts no job, a sweep does it later; where nothing sweeps, nobody would: people are told so now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.cancel import Cancelled
from bot.commands import Answer
from bot.completing import complete_aside
from bot.config import Config
from bot.failures import RunFailed
from bot.ports import OpenRuns
from bot.queueing import free_slots, in_line
from bot.record import FailureEntry, Record
from bot.request import Wants
from bot.stored import UnreadableRecord
from bot.telling import Heard, tell
from bot.trigger import Job
from bot.wiring import Wiring


def hand_on(job: Job, config: Config, wiring: Wiring, log: Callable[[str], None]) -> None:
    """Start the queued Runs whose turn it is, now that a slot may be free, and what was asked of Runs that are over.
    Never fails the Run that ended.
    """
    try:
        found = wiring.queue.others()
        free = free_slots(found.taken, config.max_working)
        for record in in_line(found.records):
            if not free:
                break
            issue = record.trigger.issue
            refused = wiring.workflows.take_up(record.jobs[0].workflow, issue)
            log(f"The Run on issue #{issue} is next: {refused or 'a job was started for it'}.")
            if refused and not wiring.is_swept:
                _give_up(issue, refused, job, config, wiring)
            else:
                free -= 1
        left = start_asked(found, wiring, log)
        if left and not wiring.is_swept:
            for issue, refused in left.items():
                _refuse_asked(issue, refused, wiring)
    except RunFailed as failed:
        log(f"The next Run could not be started: {failed.reason}. The next Run to end will do it, or a sweep.")
    except Cancelled:  # the Run of this job has said already how it stands
        log("The job was cancelled before the next Run was started. The next Run to end will do it, or a sweep.")


def start_asked(found: OpenRuns, wiring: Wiring, log: Callable[[str], None]) -> dict[int, str]:
    """Start a job for each Repair that was asked for too late for the Run that it was asked of; the issues for which
    GitHub started none, with its reasons. Raises `RunFailed`.
    """
    left: dict[int, str] = {}
    for issue in sorted(found.asked - {record.trigger.issue for record in found.records}):
        waiting = wiring.requests.waiting(issue)
        wiring.requests.taken(issue, [request for request in waiting if request.wants is Wants.STOP])
        fixes = [request for request in waiting if request.wants is Wants.FIX]
        if fixes:
            refused = wiring.workflows.take_up(fixes[0].workflow, issue)
            log(f"A Repair is asked for on issue #{issue}: {refused or 'a job was started for it'}.")
            if refused:
                left[issue] = refused
    return left


def _give_up(issue: int, refused: str, job: Job, config: Config, wiring: Wiring) -> None:
    """End the Run that nothing would ever take up. Raises `RunFailed`."""
    journal = wiring.journal(issue)
    try:
        record = journal.last()
    except UnreadableRecord:
        return  # whoever looks at the issue next says so
    if record is None or record.state != "queued":
        return  # it went on meanwhile
    try:
        ended = journal.publish(_ended(record, refused, job, wiring.time(config).now()))
    except RunFailed as failed:
        if failed.code != "overtaken":
            raise
        return
    complete_aside(ended, config, wiring, journal)


def _ended(record: Record, refused: str, job: Job, now: str) -> Record:
    reason = f"its turn came, but GitHub started no job for it: {refused}"
    jobs = (*record.jobs, job.entry(now))
    return replace(record, jobs=jobs, parked=None, failure=FailureEntry("github_denied", reason))


def _refuse_asked(issue: int, refused: str, wiring: Wiring) -> None:
    """Tell who asked for a Repair that none is made. Raises `RunFailed`."""
    asked = [request for request in wiring.requests.waiting(issue) if request.wants is Wants.FIX]
    try:
        last = wiring.journal(issue).last()
    except UnreadableRecord:
        last = None
    for request in asked:
        tell(Answer.TOO_LATE, Heard("/nightjar fix", request.by, request.url, issue), last, wiring, refused)
    wiring.requests.taken(issue, asked)
