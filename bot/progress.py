"""How far a Run has got, and what every step of it needs: the Record, kept as it grows, and the Ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.cancel import Cancel, Cancelled
from bot.config import Config
from bot.failures import RunFailed
from bot.ports import (
    CiWatch,
    GitHub,
    Journal,
    Queue,
    Reporter,
    Sessions,
    Time,
    Tree,
    Trials,
    Workflows,
    Workspace,
)
from bot.record import Outcome, PullRequest, Record
from bot.request import Request, Requests, Wants
from bot.sweeping import is_swept


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything that a Run talks to."""

    github: GitHub
    ci: CiWatch
    workspace: Workspace
    tree: Tree
    sessions: Sessions
    trials: Trials
    report: Reporter
    journal: Journal
    queue: Queue
    requests: Requests
    workflows: Workflows
    time: Time
    cancel: Cancel
    finish_follows: bool
    """Whether the job has a later step that completes the ending of a cancelled Run: here there are seconds for it."""


class Progress:
    """The Record of a Run at work; it is saved after every change."""

    def __init__(self, record: Record, config: Config, ports: Ports) -> None:
        """`record` may be fresh, or one that an earlier job left."""
        self.record = record
        self.config = config
        self.ports = ports
        self.labels = config.asking
        self.worked = False
        """Whether this job has done anything of length: else a new runner would do no better."""
        self.checkpointed = ""
        """The head that this job has brought to where another runner finds it."""

    def keep(self, **known: object) -> None:
        """What is known now, saved on the runner."""
        self.record = self.ports.journal.save(replace(self.record, **known))  # type: ignore[arg-type]

    def keep_repair(self, **known: object) -> None:
        """What is known of the newest Repair now."""
        *before, last = self.record.repairs
        self.keep(repairs=(*before, replace(last, **known)))  # type: ignore[arg-type]

    def note(self, note: str) -> None:
        """A fact worth telling that is no Failure."""
        self.record = self.ports.journal.save(self.record.noted(note))

    def publish(self) -> None:
        """The Record is where another runner finds it."""
        self.record = self.ports.journal.publish(self.record)

    def checkpoint(self) -> None:
        """The head is on the remote, where it starts no CI, before anything is done with it. Raises `RunFailed`
        (`secret_in_diff`).
        """
        self.may_leave()
        self.record = self.ports.journal.publish(self.record, work=self.record.head)
        self.checkpointed = self.record.head

    def may_leave(self) -> None:
        """Nothing of what was written leaves the runner with a secret in it. Raises `RunFailed` (`secret_in_diff`)."""
        head = self.record.head
        if head and head != self.record.pushed and (secret := self.ports.workspace.secret_in(head)):
            raise RunFailed("secret_in_diff", secret)

    def still_ours(self) -> None:
        """Somebody else's commits on the Issue branch end the Run; nothing of theirs is overwritten. Raises
        `RunFailed`.
        """
        found = self.ports.workspace.remote_head()
        if found != self.record.pushed:
            there = f"is at {found[:10]}" if found else "is gone"
            raise RunFailed(
                "handed_over", f"the Issue branch {there}, although Nightjar pushed {self.record.pushed[:10]}"
            )

    def somebody_stepped_in(self) -> bool:
        """Whether a person did something meanwhile from which the next step has to be chosen anew: merged the pull
        request, and the Run is done; gave it another Base branch; or asked for a Repair.

        Raises `Cancelled` when the issue was closed, the label taken off or a stop asked for, `RunFailed` for a closed
        pull request.
        """
        asked = self._hear()
        meanwhile = "while Nightjar was at work" if self.record.claimed else "while Nightjar waited"
        trigger, pull_request = self.record.trigger, self.record.pull_request
        issue = self.ports.github.issue(trigger.issue)
        now = self.ports.github.pull_request_now(pull_request.number) if pull_request is not None else None
        if now is not None and now.state == "merged":
            self.note(f"Somebody merged the pull request {meanwhile}.")
            self.keep(outcome=Outcome.MERGED)
            return True
        if now is not None and now.state == "closed":
            raise RunFailed("pr_closed", f"the pull request was closed {meanwhile}")
        if not issue.open:
            raise Cancelled(f"the issue was closed {meanwhile}")
        # A label is swapped after the Record says so: a job that died in between left the one from before.
        if not {trigger.label, *self.labels.going} & set(issue.labels):
            label = self.labels.working if self.record.claimed else self.labels.parked
            raise Cancelled(f"the label `{label}` was taken off {meanwhile}")
        if now is not None and now.base != self.record.base:
            self.note(f"Somebody had the pull request go to `{now.base}` instead of `{self.record.base}` {meanwhile}.")
            self.keep(base=now.base, round_base="", ci=None)
            return True
        return asked

    def _hear(self) -> bool:
        """Whether a Repair was asked for. What is asked is taken from where it waits only when the Record has it.

        Raises `Cancelled` where somebody asked the Run to stop.
        """
        issue = self.record.trigger.issue
        try:
            found = self.ports.requests.waiting(issue)
        except RunFailed as failed:  # it waits, and is heard at the next step or by the next Run
            self.ports.report.mention(failed.reason)
            return False
        if not found:
            return False
        before = self.record.requests
        for request in unheard(found, self.record):
            self._take_request(request)
        self.publish()
        try:
            self.ports.requests.taken(issue, found)
        except RunFailed as failed:  # it is known by its id when it is found once more
            self.ports.report.mention(failed.reason)
        if stop := stopped_by(found, self.record):
            raise Cancelled(stop)
        return self.record.requests != before

    def _take_request(self, request: Request) -> None:
        if self.record.repairs_taken < self.record.max_repairs:
            self.keep(requests=(*self.record.requests, request))
        else:
            used = f"all {self.record.max_repairs} Repairs are used"
            self.note(f"What {request.by} asked for was not taken up, because {used}: {request.url}")

    def tell_anew(self, pull_request: PullRequest) -> None:
        """The pull request says what is known now."""
        report = self.ports.report
        self.ports.github.edit_pull_request(
            pull_request.number, lambda there: report.pull_request_anew(self.record, there)
        )

    def is_swept(self) -> bool:
        """Whether a workflow takes the Run up when it is parked."""
        return is_swept(self.ports.workspace.pushed().files.values())


def unheard(requests: Sequence[Request], record: Record) -> tuple[Request, ...]:
    """The Repairs that are asked for and that the Record does not know of: one may be found once more."""
    begun = (repair.request.id for repair in record.repairs if repair.request)
    known = {*begun, *(request.id for request in record.requests)}
    return tuple(one for one in requests if one.wants is Wants.FIX and one.id not in known)


def stopped_by(requests: Sequence[Request], record: Record) -> str:
    """Who asked this Run to stop, as its reason; "" for nobody. What was asked before the Run was is about another."""
    began = datetime.fromisoformat(record.trigger.asked_at)
    stops = (one for one in requests if one.wants is Wants.STOP and datetime.fromisoformat(one.at) >= began)
    return next((f"{one.by} stopped the Run with a comment, {one.url}" for one in stops), "")
