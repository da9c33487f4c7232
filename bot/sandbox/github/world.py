"""The tables of the embedded GitHub, and the one lock that guards them.

A `World` holds users, tokens and repositories; a `Repository` holds its issues, pull requests, checks and what
happened, in order. Every reader and writer holds `world.lock`. What may be done to the tables is in `issues`,
`pulls`, `checks` and `pushes`.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from bot.clock import Clock
from bot.sandbox.ci import Approval, CiEvent
from bot.sandbox.github.gitdata import GitData
from bot.sandbox.github.rates import RateLimits
from bot.sandbox.github.state import (
    ROLES,
    ActionsPolicy,
    App,
    Attachment,
    CheckRun,
    Comment,
    CommitStatus,
    Issue,
    Label,
    LoggedRequest,
    Protection,
    PullRequest,
    Reaction,
    Review,
    ReviewComment,
    Role,
    Ruleset,
    Secret,
    Suite,
    TimelineEvent,
    Token,
    TokenKind,
    User,
    Variable,
    Workflow,
    WorkflowRun,
)

DISPATCHES = ("workflow_dispatch", "repository_dispatch")
JobTokenStarts = Literal["nothing", "awaiting approval"]  # Enterprise Server; github.com since June 2026

# What a Run needs, which is also what a token gets when nobody says otherwise.
RUN_PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "read",
    "statuses": "read",
    "actions": "write",
}


class Refused(Exception):
    """GitHub says no: an HTTP status, the message, and for 422 the `errors` list as GitHub words it."""

    def __init__(self, status: int, message: str, errors: Sequence[Mapping[str, Any] | str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


def not_found() -> Refused:
    """The answer for what is not there, or is not for this token to see."""
    return Refused(404, "Not Found")


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Refused:
    """A 422 with one entry in `errors`; `code` is GitHub's (missing, missing_field, invalid, already_exists,
    custom)."""
    entry = (
        {"resource": resource, "code": code}
        | ({"field": field} if field else {})
        | ({"message": message} if message else {})
    )
    return Refused(422, "Validation Failed", [entry])


class CiPort(Protocol):
    """Where events that may start CI go."""

    def start(self, event: CiEvent, actor: str, approval: Approval) -> None:
        """Start what the event asks for, held when it needs an approval; returns at once."""

    def approve(self, run_id: int) -> None:
        """Let a held run begin; returns at once."""

    def cancel(self, run_id: int) -> None:
        """Cancel a run; returns at once."""

    def rerun(self, run_id: int, names: Collection[str]) -> frozenset[str] | None:
        """Run these jobs of a run, and those that need them, again; returns at once. The names of the jobs that are
        carried over; None when CI does not know the run."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, and with which kind of token ("" for somebody in the browser)."""

    login: str
    token_kind: TokenKind | str = ""


class Repository:
    """One repository: its settings, its tables and its git data."""

    def __init__(self, world: World, full_name: str, private: bool, default_branch: str) -> None:
        self.world = world
        self.owner, self.name = full_name.split("/")
        self.full_name = full_name
        self.private = private
        self.default_branch = default_branch
        self.id = world.next_id()
        self.created_at = self.updated_at = world.now()
        self.git = GitData.create(world.directory / self.owner / f"{self.name}.git", default_branch)
        self.ci: CiPort | None = None
        self.actions_enabled = True
        self.actions_may_open_pulls = True
        self.actions_policy = ActionsPolicy()
        self.job_token_starts: JobTokenStarts = "nothing"
        self.needs_approval: set[str] = set()
        self.roles: dict[str, Role] = {}
        self.protections: dict[str, Protection] = {}
        self.rulesets: list[Ruleset] = []
        self.labels: dict[str, Label] = {}
        self.issues: dict[int, Issue] = {}
        self.comments: dict[int, Comment] = {}
        self.reactions: list[Reaction] = []
        self.pulls: dict[int, PullRequest] = {}
        self.reviews: dict[int, Review] = {}
        self.review_comments: dict[int, ReviewComment] = {}
        self.workflows: dict[str, Workflow] = {}
        self.runs: dict[int, WorkflowRun] = {}
        self.attempts: dict[tuple[int, int], WorkflowRun] = {}  # by run and attempt
        self.suites: dict[int, Suite] = {}
        self.checks: dict[int, CheckRun] = {}
        self.statuses: list[CommitStatus] = []
        self.variables: dict[str, Variable] = {}
        self.secrets: dict[str, Secret] = {}
        self.events: list[TimelineEvent] = []

    def role(self, login: str) -> Role:
        """What `login` may do here: the role given, `admin` for the owner, else `read` where the repository is
        public."""
        if login == self.owner:
            return "admin"
        return self.roles.get(login, "none" if self.private else "read")

    def can(self, login: str, role: Role) -> bool:
        """Whether `login` has at least `role`."""
        return ROLES.index(self.role(login)) >= ROLES.index(role)

    def record(self, actor: str, kind: str, text: str, number: int = 0, before: str = "") -> None:
        """Note something that happened, now; `number` is the issue or pull request it happened to."""
        at, event_id = self.world.now(), self.world.next_id()
        self._note(TimelineEvent(at, actor, kind, text, number, id=event_id, before=before))

    def record_comment(self, actor: str, kind: str, comment: Comment, before: str = "") -> None:
        """Note something that happened to a comment, now; `before` is the text that it had."""
        at, event_id = self.world.now(), self.world.next_id()
        self._note(
            TimelineEvent(at, actor, kind, comment.body, comment.number, id=event_id, before=before, comment=comment)
        )

    def record_on(self, branch: str, sha: str, actor: str, kind: str, text: str) -> None:
        """Note something that happened to a branch at a commit, now."""
        self._note(TimelineEvent(self.world.now(), actor, kind, text, 0, branch, sha, self.world.next_id()))

    def _note(self, event: TimelineEvent) -> None:
        self.updated_at = event.at
        self.events.append(event)
        self.world.changed.notify_all()

    def happened(
        self,
        actor: Actor,
        name: str,
        action: str = "",
        *,
        number: int = 0,
        detail: str = "",
        said: Mapping[str, Any] | None = None,
    ) -> None:
        """Hand an event that is about the default branch to CI. `CiEvent` tells what `number` and `detail` are; `said`
        is what whoever caused it has to say."""
        tip = self.git.branch(self.default_branch) if self.ci is not None else None
        if tip is not None:
            ref = f"refs/heads/{self.default_branch}"
            event = CiEvent(name, action, ref, tip, number=number, detail=detail, payload=said or {})
            self.start_ci(event, actor)

    def start_ci(self, event: CiEvent, actor: Actor, author: str = "") -> None:
        """Hand an event to CI, where there is one; `author` is whose pull request it is about. What a job's own token
        did starts nothing, but a dispatch; a pull request of its own may start runs that wait for an approval."""
        if self.ci is None or not self.actions_enabled:
            return
        approval: Approval = ""
        if event.name == "pull_request" and self.needs_approval & {actor.login, author}:
            approval = "fork"
        elif event.name not in DISPATCHES and actor.token_kind == "job":
            if event.name != "pull_request" or self.job_token_starts == "nothing":
                return
            approval = "job token"
        self.ci.start(event, actor.login, approval)


class World:
    """Everything one embedded GitHub knows. `directory` holds the bare repositories."""

    def __init__(self, directory: Path, rates: RateLimits) -> None:
        self.directory = directory
        self.rates = rates
        self.signing_key = secrets.token_bytes(32)
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.apps: dict[str, App] = {}
        self.repositories: dict[str, Repository] = {}
        self.attachments: dict[str, Attachment] = {}  # by path
        self.requests: list[LoggedRequest] = []
        self.store_requests: list[LoggedRequest] = []
        self._ids = itertools.count(1001)

    def next_id(self) -> int:
        """An id nothing else has."""
        return next(self._ids)

    @staticmethod
    def now() -> datetime:
        """The time, in UTC."""
        return Clock.today()

    def user(self, login: str) -> User:
        """The user called `login`, made on first mention."""
        found = self.users.get(login.lower())
        if found is None:
            found = User(self.next_id(), login, "Bot" if login.endswith("[bot]") else "User", self.now())
            self.users[login.lower()] = found
        return found

    def find_user(self, login: str) -> User | None:
        """The user called `login`, when there is one."""
        return self.users.get(login.lower())

    def repository(self, owner: str, name: str) -> Repository | None:
        """The repository `owner/name`, whatever its letters' case."""
        return self.repositories.get(f"{owner}/{name}".lower())

    def create_repository(self, full_name: str, private: bool, default_branch: str) -> Repository:
        """A new, empty repository. Raises `ValueError` for a name in use or of another form than `owner/name`."""
        if full_name.count("/") != 1 or full_name.lower() in self.repositories:
            raise ValueError(f"repository {full_name!r}: allowed is an unused name of the form owner/name")
        owner = full_name.split("/", maxsplit=1)[0]
        self.users.setdefault(owner.lower(), User(self.next_id(), owner, "Organization", self.now()))
        repository = Repository(self, full_name, private, default_branch)
        self.repositories[full_name.lower()] = repository
        return repository

    def issue_token(
        self, login: str, kind: TokenKind, permissions: Mapping[str, str] | None, budget: str = ""
    ) -> Token:
        """A new token for `login`; without `permissions` it may do what a Run needs (a person's may do everything)."""
        # A person's token with permissions one by one is of the newer kind.
        prefix = "ghs_" if kind != "pat" else "ghp_" if permissions is None else "github_pat_"
        granted = dict(RUN_PERMISSIONS if permissions is None else permissions)
        if permissions is None and kind != "job":
            granted["workflows"] = "write"
        if permissions is None and kind == "pat":
            granted |= dict.fromkeys(("checks", "statuses", "administration", "actions_variables", "secrets"), "write")
        granted = {"metadata": "read"} | granted
        token = Token(prefix + secrets.token_hex(18), self.user(login).login, kind, granted, budget)
        self.tokens[token.secret] = token
        return token
