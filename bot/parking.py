"""A Run gives its runner back and waits: for CI, for another runner, for a limit's reset, or for its turn.

What it knows and what its Sessions wrote is on its ref before the job ends, so that any other job can take it up
there, with the same caps and budgets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.config import Config
from bot.ending import trying
from bot.labels import Labels
from bot.ports import GitHub, Journal, Queue, Reporter, Time, Workflows
from bot.queueing import ahead, free_slot
from bot.record import FailureEntry, Record, WaitsFor
from bot.steps import next_step


class Park(Exception):
    """The Run cannot go on in this job: it waits."""

    def __init__(self, waits_for: WaitsFor, until: str = "") -> None:
        """`until`: ISO 8601, UTC; "" where only an event can tell."""
        super().__init__(str(waits_for))
        self.waits_for = waits_for
        self.until = until


@dataclass(frozen=True, slots=True)
class ParkingPorts:
    """What parking talks to."""

    github: GitHub
    report: Reporter
    journal: Journal
    queue: Queue
    workflows: Workflows
    time: Time


def park(record: Record, asked: Park, config: Config, ports: ParkingPorts) -> Record:
    """Park the Run; the Record, `parked`. It is not parked where it can go on at once after all: its turn came
    meanwhile, or, then with a Failure, nothing could ever take it up. Raises `RunFailed`.
    """
    if not record.claimed:  # nothing is written on an issue that another Run has
        record = ports.journal.publish(record)
    issue = record.trigger.issue
    before = ahead(record, ports.queue.others(issue).records) if asked.waits_for is WaitsFor.SLOT else 0
    parked = record.parked_for(asked.waits_for, ports.time.now(), asked.until)
    parked = ports.journal.save(ports.report.parked(parked, before))
    parked = _labelled(parked, config.asking, ports)
    # Last of all: from now on another job may have it.
    parked = ports.journal.publish(parked, work=record.head if record.head != record.pushed else "")
    if asked.waits_for is WaitsFor.RUNNER:
        refused = ports.workflows.take_up(record.jobs[0].workflow, issue)
        if refused:
            why = f"the job's time was used up while {next_step(record)}, and no new runner could be had: {refused}"
            return ports.journal.publish(replace(record, slot=0, failure=FailureEntry("run_timeout", why)))
    if asked.waits_for is WaitsFor.SLOT:
        # The Run that ended while this one stood in line looked for whom to start before this one was there.
        others = ports.queue.others(issue)
        if free_slot(parked, others.records, others.taken, config.max_working):
            return replace(parked, parked=None, jobs=record.jobs)
    return parked


def _labelled(record: Record, labels: Labels, ports: ParkingPorts) -> Record:
    shown = labels.queued if record.state == "queued" else labels.parked
    rest = [label for label in labels.all if label != shown]

    def swap(record: Record) -> Record:
        ports.github.swap_labels(record.trigger.issue, add=shown, remove=rest)
        return record

    return trying(record, "The label could not be changed", swap)
