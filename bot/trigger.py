"""Who asks for what: the event's payload → a request for a Run, or ignored and why. Pure.

Nothing that the payload says about permission is believed; `bot.run` asks the API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from bot.labels import Labels
from bot.record import JobEntry, Trigger

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
EVENTS = ("issues", "workflow_dispatch")


class BadEvent(ValueError):
    """The event cannot ask for a Run at all: the workflow is set up wrongly. One line: what, where, what is allowed."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """No Run, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Answered(Ignored):
    """No Run in this job, but an answer for whoever asked; `why` is what they were told."""


@dataclass(frozen=True, slots=True)
class Job:
    """The job that the program runs in."""

    repository: str
    run_id: str
    run_attempt: int
    url: str
    workflow: str = ""
    """Name of the workflow's file; "" where the runner does not tell."""

    def entry(self, now: str) -> JobEntry:
        """The job as a Run's Record has it. `now`: ISO 8601, UTC."""
        return JobEntry(self.run_id, self.run_attempt, self.url, self.workflow, began=now)


class Asking(Protocol):
    """Somebody who asks for something."""

    @property
    def asked_by(self) -> str:
        """Their login."""

    @property
    def by_bot(self) -> bool:
        """Whether an App asks, or the token of a job."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asks for a Run on an issue. `title` is None where the payload carries no issue (`workflow_dispatch`)."""

    issue: int
    asked_by: str
    is_bot: bool
    label: str
    """The label that was put on; "" where none was (`workflow_dispatch`)."""
    at: str
    title: str | None = None
    body: str = ""
    take_up: bool = False
    """Asked by Nightjar itself, for a Run that waits: nothing is to be begun."""

    @property
    def by_bot(self) -> bool:
        """Whether an App asks, or the token of a job."""
        return self.is_bot or self.asked_by.endswith("[bot]")

    def trigger(self, job: Job, title: str, body: str) -> Trigger:
        """The Trigger: the issue's text as the payload had it, else `title` and `body` as GitHub has them now."""
        return Trigger(
            repository=job.repository,
            issue=self.issue,
            title=title if self.title is None else self.title,
            body=body if self.title is None else self.body,
            label=self.label,
            requested_by=self.asked_by,
            asked_at=self.at,
            run_id=job.run_id,
            run_attempt=job.run_attempt,
            job_url=job.url,
        )


def read_job(environ: Mapping[str, str]) -> Job:
    """The job, from the runner's variables. Raises `BadEvent` when they are not there."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if repository.count("/") != 1:
        raise BadEvent(
            f"GITHUB_REPOSITORY must be owner/name, not {repository!r}; Nightjar runs in a job of GitHub Actions"
        )
    run_id = environ.get("GITHUB_RUN_ID", "") or "0"
    attempt = environ.get("GITHUB_RUN_ATTEMPT", "") or "1"
    server = environ.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    url = f"{server}/{repository}/actions/runs/{run_id}"
    workflow = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")[0].rpartition("/")[2]
    return Job(repository, run_id, int(attempt) if attempt.isdigit() else 1, url, workflow)


def read_event(name: str, payload: object, now: str) -> Asked | Ignored:
    """What the event asks for. `now`: ISO 8601, for events without a time of their own. Raises `BadEvent`."""
    if name not in EVENTS:
        allowed = "issues, workflow_dispatch, issue_comment or pull_request_review"
        raise BadEvent(f"event {name or '(none)'!r} cannot start a Run; run the workflow on {allowed}")
    if not isinstance(payload, dict):
        raise BadEvent("the event's payload is not a JSON object")
    return _dispatched(payload, now) if name == "workflow_dispatch" else _labelled(payload, now)


def _labelled(payload: Mapping[str, Any], now: str) -> Asked | Ignored:
    issue, sender = payload.get("issue"), payload.get("sender")
    if not isinstance(issue, dict) or not isinstance(sender, dict) or not isinstance(issue.get("number"), int):
        raise BadEvent("the event's payload has no issue or no sender; run the workflow on issues: types: [labeled]")
    if payload.get("action") != "labeled":
        return Ignored(f"the issue was {payload.get('action')}, not labelled")
    given = payload.get("label")
    label = str(given.get("name") or "") if isinstance(given, dict) else ""
    if not label:
        return Ignored("the event names no label")
    number = issue["number"]
    if issue.get("pull_request"):
        return Ignored(f"#{number} is a pull request; Nightjar works on issues")
    if issue.get("state") != "open":
        return Ignored(f"issue #{number} is closed; open it again and put the label on once more")
    return Asked(
        issue=number,
        asked_by=str(sender.get("login") or ""),
        is_bot=sender.get("type") == "Bot",
        label=label,
        at=str(issue.get("updated_at") or now),
        title=str(issue.get("title") or ""),
        body=str(issue.get("body") or ""),
    )


def _dispatched(payload: Mapping[str, Any], now: str) -> Asked | Ignored:
    inputs, sender = payload.get("inputs"), payload.get("sender")
    text = str((inputs.get("issue") if isinstance(inputs, dict) else "") or "").strip().lstrip("#")
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise BadEvent(f"workflow input `issue`: {text!r} is not the number of an issue; give a number such as 7")
    login = str((sender.get("login") if isinstance(sender, dict) else "") or "")
    is_bot = isinstance(sender, dict) and sender.get("type") == "Bot"
    take_up = isinstance(inputs, dict) and str(inputs.get("take-up")).lower() == "true"
    return Asked(issue=int(text), asked_by=login, is_bot=is_bot, label="", at=now, take_up=take_up)


def by_label(asked: Asked, labels: Labels) -> Asked | Ignored:
    """The same request when its label is one that asks for a Run; one without a label is one by the setting `label`."""
    if not asked.label:
        return replace(asked, label=labels.asked)
    if asked.label == labels.asked or asked.label in labels.profiles:
        return asked
    shown = f"the label {asked.label!r} is not {labels.asked!r}"
    if asked.label in labels.states:
        return Ignored(f"{shown}; it is how Nightjar shows where a Run stands")
    if not asked.label.startswith(f"{labels.asked}:"):
        return Ignored(shown)
    profiles = f"profiles are {', '.join(map(repr, labels.profiles))}" if labels.profiles else "there are no profiles"
    return Ignored(f"{shown}, nor a profile of the settings file; {profiles}")


def default_branch_of(payload: object) -> str:
    """The repository's default branch, as every event of GitHub's tells it; "" where this one does not."""
    repository = payload.get("repository") if isinstance(payload, dict) else None
    branch = repository.get("default_branch") if isinstance(repository, dict) else None
    return branch if isinstance(branch, str) else ""


def is_public(payload: object) -> bool | None:
    """Whether anybody can read the repository, and write issues; None where the event does not tell."""
    repository = payload.get("repository") if isinstance(payload, dict) else None
    private = repository.get("private") if isinstance(repository, dict) else None
    return None if not isinstance(private, bool) else not private


def issue_of(name: str, payload: object, branch_prefix: str) -> int:
    """The issue whose Run an event of any kind is about; 0 when it is about none.

    CI's events (`workflow_run`, `check_suite`, `status`) name branches, and the Issue branch names the issue.
    """
    if not isinstance(payload, dict):
        return 0
    if name == "workflow_dispatch":
        text = str((payload.get("inputs") or {}).get("issue") or "").strip().lstrip("#")
        return int(text) if text.isascii() and text.isdigit() else 0
    if name in ("issues", "issue_comment"):
        issue = payload.get("issue") or {}
        return 0 if issue.get("pull_request") else int(issue.get("number") or 0)
    if name == "status":
        branches = [row.get("name") for row in payload.get("branches") or ()]
    elif name in ("workflow_run", "check_suite"):
        branches = [(payload.get(name) or {}).get("head_branch")]
    elif name == "pull_request_review":
        branches = [((payload.get("pull_request") or {}).get("head") or {}).get("ref")]
    else:
        return 0
    return next((issue for branch in branches if (issue := issue_of_branch(str(branch), branch_prefix))), 0)


def pull_request_of(name: str, payload: object) -> int:
    """The pull request that was commented on; 0 for another event. Its branch only GitHub can tell."""
    issue = payload.get("issue") if name == "issue_comment" and isinstance(payload, dict) else None
    return int(issue.get("number") or 0) if isinstance(issue, dict) and issue.get("pull_request") else 0


def issue_of_branch(branch: str, branch_prefix: str) -> int:
    """The issue that an Issue branch is for; 0 for any other branch."""
    found = re.fullmatch(rf"{re.escape(branch_prefix)}issue-(\d+)(-\d+)?", branch)
    return int(found[1]) if found else 0


def holds(role: str, required: str) -> bool:
    """Whether GitHub's `role` is at least the required one; a role that nobody knows is none."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(required)


def may_ask(asked: Asking, role: str, *, required: str, allowed_bots: Sequence[str]) -> Ignored | None:
    """None when whoever asked may; a bot only when it is named, a person only with the role. Roles as GitHub has them
    now.
    """
    if asked.by_bot:
        return (
            None
            if asked.asked_by in allowed_bots
            else Ignored(f"{asked.asked_by} is a bot that `allowed-bots` does not name")
        )
    if holds(role, required):
        return None
    return Ignored(f"{asked.asked_by} has the permission {role!r} on this repository; {required!r} is required")


def may_this_bot(asked: Asking, own_login: str) -> Ignored | None:
    """None when the bot that asks is another than Nightjar itself; `own_login` is "" where GitHub does not tell.

    Its own label would let one Run start the next, without an end. A person whose token Nightjar shows GitHub may ask
    like anybody: what is done with that token never sets the label that asks, so only the person can have.
    """
    if not own_login:
        return Ignored(f"GitHub does not tell whether {asked.asked_by} is Nightjar itself, which never starts a Run")
    if _app(asked.asked_by) == _app(own_login):
        return Ignored(f"{asked.asked_by} is Nightjar itself, which never starts a Run, whatever `allowed-bots` names")
    return None


def _app(login: str) -> str:
    """What an App is called: GitHub writes its login with `[bot]` behind it, or without, and in any case."""
    return login.lower().removesuffix("[bot]")
