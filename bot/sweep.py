"""`nightjar sweep`: takes up Runs that wait, and ends those whose runner was lost.

On a schedule it looks at all Runs that are not over: one list of refs, and nothing more when there are none. On an
event of CI's it looks at the one Run whose branch the event names, and goes on with it in this very job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.clock import Clock
from bot.completing import complete
from bot.config import SETTINGS_FILE, Config, check_claude_path, read_config
from bot.event import read_payload
from bot.failures import RunFailed
from bot.job_step import as_a_step
from bot.own_runner import check_runner
from bot.ports import OpenRuns, Time
from bot.queueing import next_in_turn
from bot.record import CiState, Parked, Record, WaitsFor
from bot.report.actions import Runner
from bot.start import exit_code
from bot.stored import UnreadableRecord
from bot.sweeping import Around, Due, due
from bot.trigger import Ignored, Job, issue_of, read_job

if TYPE_CHECKING:
    from bot.wiring import Wiring

CI_EVENTS = frozenset({"workflow_run", "check_suite", "status"})


def sweep_command(environ: Mapping[str, str]) -> int:
    """Sweep once; the exit code."""
    return as_a_step("sweep", environ, _sweep, finish_follows=environ.get("GITHUB_ACTIONS") == "true")


def _sweep(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    config = read_config(environ, None)
    for secret in config.secrets():
        runner.mask(secret.reveal())
    job = read_job(environ)
    event = environ.get("GITHUB_EVENT_NAME", "")
    issue = issue_of(event, read_payload(environ), config.branch_prefix) if event in CI_EVENTS else 0
    if event in CI_EVENTS and not issue:
        return _nothing(runner, "the event is about no Issue branch")

    from bot.wiring import Wiring

    with Wiring(job, config, environ, runner, clock) as wiring:
        check_runner(config, environ, None, wiring.github.is_public)
        found = wiring.queue.others()
        if issue:
            found = replace(found, records=tuple(run for run in found.records if run.trigger.issue == issue))
        if not found.records and not (found.asked and not issue):
            return _nothing(runner, f"no Run waits on issue #{issue}" if issue else "every Run is over")
        config = read_config(environ, wiring.github.read_file(SETTINGS_FILE, wiring.github.default_branch()))
        check_claude_path(config)
        sweep = Sweep(config, job, wiring, runner, wiring.time(config))
        return sweep.one(found.records[0]) if issue else sweep.all(found)


def _nothing(runner: Runner, why: str) -> int:
    runner.log(f"Nothing to sweep: {why}.")
    return 0


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep."""

    config: Config
    job: Job
    wiring: Wiring
    runner: Runner
    time: Time

    def one(self, record: Record) -> int:
        """Look at one Run, and go on with it here if that is due."""
        if self._due(record) is not Due.TAKE_UP:
            return _nothing(self.runner, f"the Run on issue #{record.trigger.issue} waits on")
        return self._here(record.trigger.issue)

    def all(self, found: OpenRuns) -> int:
        """Look at all Runs. Each that is due goes on in a job of its own; where none can be started, one does here."""
        decided = {record.trigger.issue: self._due(record) for record in found.records}
        lost = [record for record in found.records if decided[record.trigger.issue] is Due.END]
        for record in lost:
            self._end(record)
        now = self.wiring.queue.others() if lost else found  # their places are free now
        for record in next_in_turn(found.records, now.taken, self.config.max_working):
            decided[record.trigger.issue] = Due.TAKE_UP
        here = 0
        for record in found.records:
            issue = record.trigger.issue
            self.runner.log(f"The Run on issue #{issue}, {record.state}: {decided[issue]}.")
            if decided[issue] is Due.TAKE_UP and not self._started(record):
                here = here or issue
        here = here or next(iter(self._start_asked(now)), 0)
        return self._here(here) if here else 0

    def _due(self, record: Record) -> Due:
        """What is to be done, with as few questions as that takes."""
        now, since = self.time.now(), record.parked.since if record.parked else ""
        around = Around(now=now, waited=self.time.since(since), paused=self.config.paused)
        if record.parked is None:
            last = record.jobs[-1]
            around = replace(around, conclusion=self.wiring.workflows.conclusion(last.run_id, last.run_attempt))
        elif record.parked.waits_for is WaitsFor.CI:
            seen = self.wiring.ci(self.config.for_label(record.trigger.label)).look(record.pushed)
            around = replace(around, ci_runs=seen.state is CiState.PENDING)
        return due(record, around)

    def _started(self, record: Record) -> bool:
        """Whether a job was started for it. An orphan waits from now on, so that another job may take it up."""
        issue = record.trigger.issue
        if record.parked is None:
            journal = self.wiring.journal(issue)
            try:
                last = journal.last()
                if last is None or last.parked or last.told:
                    return True  # it went on meanwhile
                # Its lost job stays without an end, which is what lost jobs are counted by.
                journal.publish(replace(last, parked=Parked(WaitsFor.RUNNER, self.time.now()), slot=0))
            except (RunFailed, UnreadableRecord) as problem:
                self.runner.log(f"The Run on issue #{issue} is left alone: {problem}")
                return True
        refused = self.wiring.workflows.take_up(record.jobs[0].workflow, issue)
        if refused:
            self.runner.log(f"No job could be started for issue #{issue}: {refused}")
        return not refused

    def _start_asked(self, now: OpenRuns) -> tuple[int, ...]:
        """The issues on which a Repair is asked for, and for which no job could be started."""
        from bot.handing_on import start_asked

        try:
            return tuple(start_asked(now, self.wiring, self.runner.log))
        except RunFailed as failed:
            self.runner.log(f"What people asked for could not be looked at: {failed.reason}")
            return ()

    def _end(self, record: Record) -> None:
        """Report a Run that nothing else can report any more."""
        issue = record.trigger.issue
        last = record.jobs[-1]
        journal = self.wiring.journal(issue)
        try:
            known = journal.last()
            if known is None or known.told or known.jobs[-1] != last:
                return
            cancelled = self.wiring.workflows.conclusion(last.run_id, last.run_attempt) == "cancelled"
            complete(known, self.config, self.wiring, journal, cancelled=cancelled)
        except (RunFailed, UnreadableRecord) as problem:
            self.runner.log(f"The Run on issue #{issue} could not be ended: {problem}")

    def _here(self, issue: int) -> int:
        from bot.handing_on import hand_on
        from bot.taking_up import take_up

        record = take_up(issue, self.job, self.config, self.wiring)
        if isinstance(record, Ignored):
            return _nothing(self.runner, record.why)
        if not record.slot:
            hand_on(self.job, self.config, self.wiring, self.runner.log)
        return exit_code(record)
