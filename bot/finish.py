"""`nightjar finish`: the job's last step reports a Run whose own process could not: killed, cancelled, out of memory.

It reads the Record that the Run left on the runner, or, in a job of its own after the runner was lost, the one on the
Run's ref, and completes the one ending that every Run shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bot.clock import Clock
from bot.completing import complete
from bot.config import SETTINGS_FILE, read_config
from bot.event import read_payload
from bot.failures import RunFailed
from bot.job_step import as_a_step
from bot.journal import RunJournal
from bot.progress import stopped_by, unheard
from bot.record import FailureEntry, Outcome, Record
from bot.report.actions import Runner
from bot.request import Requests
from bot.stored import UnreadableRecord, from_json
from bot.trigger import Job, issue_of, issue_of_branch, pull_request_of, read_job


def finish_command(environ: Mapping[str, str]) -> int:
    """Finish the Run that this job began, if it has to be; the exit code."""
    return as_a_step("finish", environ, _finish, finish_follows=False)


def _finish(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    job = read_job(environ)
    config = read_config(environ, None)
    for secret in config.secrets():
        runner.mask(secret.reveal())
    left = _left_here(environ)
    event = _Event.of(environ)
    issue = left.trigger.issue if left else event.issue(config.branch_prefix)
    if not issue and not event.pull_request:
        return _nothing(runner, "no Run was begun in this job")
    if left is not None and not left.parked and (why := _needs_nothing(left, job)):
        return _nothing(runner, why)

    from bot.handing_on import hand_on
    from bot.wiring import Wiring

    with Wiring(job, config, environ, runner, clock) as wiring:
        wiring.clean_logs()
        issue = issue or issue_of_branch(
            wiring.github.pull_request_now(event.pull_request).branch, config.branch_prefix
        )
        if not issue:
            return _nothing(runner, "no Run was begun in this job")
        journal = wiring.journal(issue)
        published = _published(journal, runner)
        if left and published and _never_taken_up(left, published):
            return _nothing(runner, f"the Run on issue #{issue} is another job's")
        record = _not_parked_after_all(left, published) if left and published else left or published
        why = _needs_nothing(record, job) if record else f"no Run was begun on issue #{issue}"
        if record is None or why:
            return _nothing(runner, why)
        config = read_config(environ, wiring.github.read_file(SETTINGS_FILE, wiring.github.default_branch()))
        cancelled = config.job_status == "cancelled"
        record = _stopped(record, wiring.requests, runner) if cancelled else record
        complete(record, config, wiring, journal, cancelled=cancelled)
        hand_on(job, config, wiring, runner.log)
    return 0


def _left_here(environ: Mapping[str, str]) -> Record | None:
    """The Record that a Run left on this runner. Raises `UnreadableRecord`."""
    path = Path(environ.get("RUNNER_TEMP", "") or "/nonexistent") / "nightjar" / "record.json"
    return from_json(path.read_text(encoding="utf-8")) if path.is_file() else None


@dataclass(frozen=True, slots=True)
class _Event:
    """The event of this job, as far as it tells whose Run the job had."""

    name: str
    payload: object
    pull_request: int
    """The one that was commented on, where the event names no branch; 0 for none."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> _Event:
        name, payload = environ.get("GITHUB_EVENT_NAME", ""), read_payload(environ)
        return cls(name, payload, pull_request_of(name, payload))

    def issue(self, branch_prefix: str) -> int:
        """The issue that it is about; 0 where it does not tell."""
        return issue_of(self.name, self.payload, branch_prefix)


def _stopped(record: Record, requests: Requests, runner: Runner) -> Record:
    """The Record of a cancelled Run, with who asked for that by a comment, where somebody did, as its reason."""
    if record.failure is not None or record.outcome not in (None, Outcome.CANCELLED):
        return record
    try:
        asked = requests.waiting(record.trigger.issue)
        why = stopped_by(asked, record)
        if why:
            requests.taken(record.trigger.issue, asked)
    except RunFailed as failed:
        runner.log(f"Whether somebody stopped the Run is not known: {failed.reason}")
        return record
    if not why:
        return record
    waiting = (*record.requests, *unheard(asked, record))
    return replace(record, outcome=Outcome.CANCELLED, failure=FailureEntry("cancelled", why), requests=waiting)


def _published(journal: RunJournal, runner: Runner) -> Record | None:
    try:
        return journal.last()
    except (RunFailed, UnreadableRecord) as problem:  # then the ending is told, but not kept on the ref
        runner.log(f"The Record on GitHub could not be read: {problem}")
        return None


def _needs_nothing(record: Record, job: Job) -> str:
    """Why there is nothing to finish; "" when there is."""
    last = record.jobs[-1]
    if (last.run_id, last.run_attempt) != (job.run_id, job.run_attempt):
        return "the Run that is known here is another job's"
    if record.told:
        return "the Run has told its end itself"
    return f"the Run is {record.state} and goes on by itself" if record.parked else ""


def _never_taken_up(left: Record, published: Record) -> bool:
    """Whether this job wanted to take a Run up, and nobody could see that it did."""
    here = left.jobs[-1]
    known = {(job.run_id, job.run_attempt) for job in published.jobs}
    return len(left.jobs) > 1 and (here.run_id, here.run_attempt) not in known


def _not_parked_after_all(left: Record, published: Record) -> Record:
    """What was left here; it does not wait when the job died before others could see that it does."""
    here, there = left.jobs[-1], published.jobs[-1]
    same = (here.run_id, here.run_attempt) == (there.run_id, there.run_attempt)
    unseen = left.parked and same and not (published.parked or published.told)
    return replace(left, parked=None, slot=published.slot) if unseen else left


def _nothing(runner: Runner, why: str) -> int:
    runner.log(f"Nothing to finish: {why}.")
    return 0
