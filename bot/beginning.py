"""A Run that somebody asked for, until it begins: may they, on which branch, with what budgets, and what was said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands import remark_in
from bot.config import Config
from bot.failures import RunFailed
from bot.guard import hidden_in
from bot.ports import GitHub, IssueComment, Workflows
from bot.record import FailureEntry, Record, Remark, Trigger
from bot.report import words
from bot.report.actions import Runner
from bot.run import Run
from bot.stored import UnreadableRecord
from bot.trigger import Asked, Ignored, Job, holds, may_ask, may_this_bot
from bot.wiring import Wiring

_REMARKS = 30
_REMARK_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class _Remarks:
    approved: tuple[Remark, ...]
    edited: int
    """How many more there were that somebody edited after the label."""


def begin(trigger: Trigger, job: Job, default_branch: str, config: Config, wiring: Wiring) -> Record | Ignored:
    """Take a fresh Run as far as this job takes it; the Record then. Raises `RunFailed` before there is a Run."""
    journal = wiring.journal(trigger.issue)
    record = _fresh_record(trigger, job, config.base_branch or default_branch, config, wiring.github)
    if hidden := _hidden_in(record):
        said = f"{hidden} piece{'' if hidden == 1 else 's'} of the issue's text that its page does not show"
        wiring.say(f"{said}: not read")
        record = record.noted(f"{said} {'was' if hidden == 1 else 'were'} not read.")
    if config.profile is not None:
        wiring.say(f"profile: {words.profile(trigger.label, config.profile.names, config.profile.overridden)}")
    try:
        last = journal.last()
    except UnreadableRecord as unreadable:
        record = _after_an_unreadable(record, unreadable)
    except RunFailed as failed:  # the Run ends before it begins, and tells it on the issue
        record = replace(record, failure=FailureEntry(failed.code, failed.reason, failed.evidence))
    else:
        if last is not None and _is_at_work(last, job, wiring.workflows):
            return Ignored(f"the Run on issue #{trigger.issue} is at work in another job: {last.jobs[-1].url}")
        if last is not None and _put_on_together(last, trigger):
            others = f"the label {trigger.label!r} was put on together with {last.trigger.label!r}"
            return Ignored(f"{others}, whose Run had the issue; put it on once more for another Run")
        record = _after(last, record)
    return Run(record, config, wiring.ports(config, journal)).go()


def permitted(asked: Asked, job: Job, config: Config, github: GitHub, runner: Runner) -> Trigger | Ignored:
    """The Trigger, when the issue can be worked on and whoever asks may: GitHub is asked, not the payload."""
    issue = github.issue(asked.issue)
    if issue.is_pull_request:
        return Ignored(f"#{asked.issue} is a pull request; Nightjar works on issues")
    if not issue.open:
        return Ignored(f"issue #{asked.issue} is closed; open it again and put the label on once more")
    role = github.role_of(asked.asked_by)
    refused = may_ask(asked, role, required=config.required_permission, allowed_bots=config.allowed_bots)
    if refused is None and asked.by_bot:
        refused = may_this_bot(asked, github.own_login())
    if refused is None:
        return asked.trigger(job, issue.title, issue.body)
    # Quiet on the issue: no comment that a stranger could make Nightjar write again and again.
    try:
        github.react(asked.issue, "confused")
        github.remove_label(asked.issue, asked.label)
    except RunFailed as failed:
        runner.log(f"The refusal could not be shown on the issue: {failed.reason}")
    return refused


def _fresh_record(trigger: Trigger, job: Job, base: str, config: Config, github: GitHub) -> Record:
    remarks = _remarks(github.comments(trigger.issue), trigger, config, github)
    record = Record(
        trigger=trigger,
        jobs=(job.entry(trigger.asked_at),),
        base=base,
        branch=_issue_branch(github, config.branch_prefix, trigger.issue),
        max_repairs=config.max_repairs,
        remarks=remarks.approved,
    )
    if remarks.edited:
        return record.noted(f"{remarks.edited} comments were edited after the label was set and were not read.")
    return record


def _hidden_in(record: Record) -> int:
    """How many pieces of what Sessions are told no person would see."""
    texts = (record.trigger.title, record.trigger.body, *(remark.body for remark in record.remarks))
    return sum(hidden_in(text) for text in texts)


def _is_at_work(last: Record, job: Job, workflows: Workflows) -> bool:
    """Whether the newest Run on the issue is going on somewhere else. Where GitHub does not say, it is not: of two Runs
    the ref lets one go on.
    """
    there = last.jobs[-1] if last.jobs else None
    if last.told or last.parked is not None or there is None or there.run_id == job.run_id:
        return False
    try:
        return not workflows.conclusion(there.run_id, there.run_attempt)
    except RunFailed:
        return False


def _put_on_together(last: Record, trigger: Trigger) -> bool:
    """Whether the label was there already, beside another one, when the Run before began its work and took both off."""
    began = last.sessions[0].began if last.sessions else ""
    if last.trigger.label == trigger.label or not began or trigger.run_attempt > 1:
        return False
    return datetime.fromisoformat(trigger.asked_at) <= datetime.fromisoformat(began)


def _after(last: Record | None, record: Record) -> Record:
    """The fresh Run after the one before it on this issue: what that one left is gone on with.

    A re-run of the same workflow run has the Repairs and the money that it had; only a fresh label refills them.
    """
    if last is None:
        return record
    if not last.told:  # it was lost, or waits: what it held is this Run's now
        record = replace(record, slot=last.slot, tracking_comment=last.tracking_comment)
    if last.branch == record.branch:
        left = last.head if last.head else last.checkpoint
        record = replace(record, checkpoint=left if left != last.pushed else "")
    if last.trigger.run_id != record.trigger.run_id or record.trigger.run_attempt <= 1:
        return record
    return replace(record, repairs=last.repairs, sessions=last.sessions, resumes=last.resumes)


def _after_an_unreadable(record: Record, unreadable: UnreadableRecord) -> Record:
    """Budgets that cannot be read count as used up, until a fresh label."""
    note = f"The last Run's Record could not be read: {unreadable}."
    return replace(record, max_repairs=0).noted(note) if record.trigger.run_attempt > 1 else record.noted(note)


def _issue_branch(github: GitHub, prefix: str, issue: int) -> str:
    """The first of `…issue-7`, `…issue-7-2`, … that no merged or closed pull request has used up."""
    name, number = f"{prefix}issue-{issue}", 1
    while github.find_pull_request(name) is None and github.closed_pull_request_exists(name):
        number += 1
        name = f"{prefix}issue-{issue}-{number}"
    return name


def _remarks(comments: tuple[IssueComment, ...], trigger: Trigger, config: Config, github: GitHub) -> _Remarks:
    """Comments by people with the permission, written before the label: the newest ones, bounded. One that was edited
    afterwards is not what was approved, whoever edited it.
    """
    until = datetime.fromisoformat(trigger.asked_at)
    roles: dict[str, str] = {}
    found, edited = [], 0
    for comment in comments:
        if comment.created_at > until or comment.author.endswith("[bot]"):
            continue
        if comment.author not in roles:
            roles[comment.author] = github.role_of(comment.author)
        if not holds(roles[comment.author], config.required_permission):
            continue
        if comment.updated_at > until:
            edited += 1
        elif said := remark_in(comment.body):
            found.append(Remark(comment.author, said[:_REMARK_CHARACTERS]))
    return _Remarks(tuple(found[-_REMARKS:]), edited)
