"""The one ending of a Run: its work pushed, draft or ready, the label, and the report. Whatever stumbles here becomes a
note, never silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.config import Config
from bot.failures import RunFailed
from bot.labels import Labels
from bot.ports import GitHub, Journal, Reporter, Workspace
from bot.record import Outcome, Record
from bot.suspicion import protected

_NOT_PUSHED = frozenset({"handed_over", "push_rejected", "push_workflow_forbidden", "protected_path", "secret_in_diff"})
"""Failures after which a push would be refused again, or must not be made."""


@dataclass(frozen=True, slots=True)
class EndingPorts:
    """What an ending talks to."""

    github: GitHub
    workspace: Workspace
    report: Reporter
    journal: Journal


def end(record: Record, config: Config, ports: EndingPorts) -> Record:
    """End the Run that `record` tells of; the Record with its outcome. Raises nothing of GitHub's or git's."""
    labels = config.asking
    ports.github.fall_back()
    for request in record.requests:
        record = record.noted(f"What {request.by} asked for was not begun: {request.url}")
    outcome = record.outcome or Outcome.FAILED
    record = ports.journal.save(replace(record, outcome=outcome, parked=None, slot=0))
    if record.failure is not None and record.failure.code == "overtaken":
        return ports.journal.save(ports.report.ended(record))  # issue, branch and Record are the other Run's
    good = record.outcome in (Outcome.READY, Outcome.MERGED)
    if not good:
        record = _kept(record, config, ports)
        record = _back_to_draft(record, config.draft, ports)
    record = trying(record, "The label could not be changed", lambda known: _labelled(known, good, labels, ports))
    record = trying(record, "The Record could not be pushed", ports.journal.publish)
    record = ports.journal.save(ports.report.ended(record))
    return trying(record, "The Record could not be pushed", ports.journal.publish)


def _labelled(record: Record, good: bool, labels: Labels, ports: EndingPorts) -> Record:
    done = labels.ready if good else labels.failed
    others = [label for label in labels.all if label != done]
    ports.github.swap_labels(record.trigger.issue, add=done, remove=others)
    return record


def _kept(record: Record, config: Config, ports: EndingPorts) -> Record:
    """What a Session wrote is on the Issue branch on the remote before the Run ends."""
    if not record.head:
        return record
    why = record.failure.code if record.failure else "cancelled"

    def collect(record: Record) -> Record:
        return replace(record, head=ports.workspace.collect(f"nightjar: unfinished work ({why})"))

    def push(record: Record) -> Record:
        if record.head == record.pushed or not ports.workspace.ahead():
            return record
        changes = ports.workspace.changed(record.pushed or record.base_commit, record.head)
        if config.protected_paths_action == "refuse" and protected(changes, config.protected_paths):
            return record.noted("The unfinished work touches protected files and was not pushed.")
        return replace(record, pushed=ports.workspace.push())

    def keep(record: Record) -> Record:
        if record.head == record.pushed or not ports.workspace.ahead():
            return record
        return record.noted(
            f"What is not on GitHub is kept as a patch in the job's logs folder: {ports.workspace.keep_patch()}."
        )

    record = trying(record, "What the session left could not be committed", collect)
    if why not in _NOT_PUSHED:
        record = trying(record, "The work could not be pushed", push)
    return trying(record, "The work could not be kept", keep)


def _back_to_draft(record: Record, draft: str, ports: EndingPorts) -> Record:
    pull_request = record.pull_request
    if pull_request is None or draft == "never":
        return record

    def mark(record: Record) -> Record:
        if ports.github.mark_draft(pull_request.number):
            return replace(record, pull_request=replace(pull_request, draft=True))
        return record.noted("The pull request could not be made a draft.")

    return trying(record, "The pull request could not be made a draft", mark)


def trying(record: Record, what: str, act: Callable[[Record], Record]) -> Record:
    """What `act` makes of the Record; a note that begins with `what`, where it is refused."""
    try:
        return act(record)
    except RunFailed as refused:
        return record.noted(f"{what}: {refused.reason}.")
