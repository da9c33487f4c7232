"""What the embedded GitHub remembers: frozen records, replaced whole when something changes.

Times are UTC. A login is a user's name as people write it (`alice`, `nightjar[bot]`); ids are unique over one
embedded GitHub. Labels of an issue are kept by name; the label records themselves belong to the repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.sandbox.ci import Annotation, Approval

TokenKind = Literal["job", "app", "pat"]
Role = Literal["admin", "maintain", "write", "triage", "read", "none"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
LEVELS: tuple[str, ...] = ("none", "read", "write", "admin")


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a login: a person (`User`), an app (`Bot`) or an `Organization`."""

    id: int
    login: str
    kind: Literal["User", "Bot", "Organization"]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Token:
    """A credential. `job`: a workflow job's own; `app`: an app installation's; `pat`: a person's. One without an end is
    good for as long as the embedded GitHub is."""

    secret: str = field(repr=False)
    login: str
    kind: TokenKind
    permissions: Mapping[str, str]
    budget: str = ""
    """Whose requests its own are counted with: a repository's job tokens share theirs; "" for nobody's."""
    expires_at: datetime | None = None

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """Those of a person's token of the older kind, which GitHub tells with each answer; None for any other."""
        return ("repo", "workflow") if self.secret.startswith("ghp_") else None

    def allows(self, scope: str, level: str) -> bool:
        """Whether the token's permission for `scope` is at least `level` (none, read, write, admin)."""
        return LEVELS.index(self.permissions.get(scope, "none")) >= LEVELS.index(level)


@dataclass(frozen=True, slots=True)
class App:
    """A GitHub App with its one installation. `public_key` is PEM; its tokens live for `token_seconds` and may do what
    `permissions` say, on `repositories` (owner/name)."""

    id: str
    slug: str
    public_key: str
    installation: int
    permissions: Mapping[str, str]
    token_seconds: float
    created_at: datetime
    repositories: frozenset[str] = frozenset()
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a repository; `color` is six hex digits."""

    id: int
    name: str
    color: str
    description: str | None


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or the issue half of a pull request of the same number."""

    id: int
    number: int
    title: str
    body: str | None
    author: str
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    closed_at: datetime | None = None
    closed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue or pull request. `versions` holds every body it had, the latest last."""

    id: int
    number: int
    author: str
    versions: tuple[str, ...]
    created_at: datetime
    updated_at: datetime

    @property
    def body(self) -> str:
        """The text as it reads now."""
        return self.versions[-1]

    @property
    def edited(self) -> bool:
        """Whether the text was changed after it was posted."""
        return len(self.versions) > 1


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction to an issue (`comment` 0), or to what has the id `comment`: a comment, or a review."""

    id: int
    number: int
    comment: int
    author: str
    content: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Review:
    """A person's review of a pull request at `sha`; `state` as GitHub writes it (APPROVED, CHANGES_REQUESTED,
    COMMENTED)."""

    id: int
    number: int
    author: str
    state: str
    body: str
    sha: str
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """What a review says about a line of a file, as the file is at `sha`."""

    id: int
    review: int
    number: int
    author: str
    path: str
    line: int
    body: str
    sha: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The git half of a pull request. `asked` is the (head, base) pair GitHub was last asked to try merging;
    `mergeable` is the answer, None while it is not known."""

    number: int
    id: int
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool
    reviewers: tuple[str, ...] = ()
    asked: tuple[str, str] | None = None
    mergeable: bool | None = None
    merged_at: datetime | None = None
    merged_by: str | None = None
    merge_sha: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A finished step of a job."""

    name: str
    number: int
    conclusion: str
    started_at: datetime
    completed_at: datetime


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run; one with a `run` is also the Actions job of the same id."""

    id: int
    suite: int
    name: str
    sha: str
    status: str
    conclusion: str | None
    app: str
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    run: int | None = None
    attempt: int = 1
    steps: Sequence[Step] = ()
    log: bytes | None = field(default=None, repr=False)
    title: str | None = None
    summary: str | None = None
    annotations: Sequence[Annotation] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A check suite that some app opened on a commit before, or without ever, adding a check run."""

    id: int
    sha: str
    app: str
    status: str
    conclusion: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow file that the repository has run at least once."""

    id: int
    path: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """One run of a workflow on one commit; `number` counts the runs of its workflow, `attempt` its own re-runs from 1.
    `approval` says why it waited or waits for somebody's approval: as a fork's pull request would, or for a job's own
    token."""

    id: int
    workflow: int
    suite: int
    number: int
    attempt: int
    name: str
    path: str
    event: str
    branch: str
    sha: str
    actor: str
    status: str
    conclusion: str | None
    created_at: datetime
    started_at: datetime
    updated_at: datetime
    triggered_by: str
    pull: int = 0
    approval: Approval = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a repository's Actions."""

    name: str
    value: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """A commit status (the older kind of check): the latest for a context counts."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of a repository's Actions, as far as anybody is told of it. `shared` by its organisation."""

    name: str
    shared: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ActionsPolicy:
    """The repository's settings for Actions: which actions workflows may use (`all`, `local_only` or `selected`: those
    by GitHub and of `patterns`), whether only by commit id, and what a job's token may do where nobody says it (`read`
    or `write`)."""

    allowed: str = "all"
    patterns: tuple[str, ...] = ()
    by_commit: bool = False
    default_permissions: str = "read"


@dataclass(frozen=True, slots=True)
class Protection:
    """A protected branch: no direct pushes; `checks` must pass (`strict`: on a head that has the base's tip) and
    `reviews` approvals be there before a merge."""

    checks: tuple[str, ...] = ()
    reviews: int = 0
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A ruleset for the branches that the pattern `branch` matches: it requires `checks` before a merge, and `rules`
    are the types of others that it has. `bypass` says whether who asks may pass it by, in GitHub's word."""

    id: int
    branch: str
    checks: tuple[str, ...]
    strict: bool
    created_at: datetime
    rules: tuple[str, ...] = ()
    bypass: str = "never"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something that happened, for people to read. `number` is the issue or pull request (0: none); `branch` and
    `sha` name the commit that a push or a check result is about; `before` is what a changed title or comment was;
    `comment` is the comment that it happened to, as it then was."""

    at: datetime
    actor: str
    kind: str
    text: str
    number: int = 0
    branch: str = ""
    sha: str = ""
    id: int = 0
    before: str = ""
    comment: Comment | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something that somebody attached to a text in `repository` (owner/name). `path` is its address on the server;
    `key` the id of an image, "" for a file."""

    id: int
    repository: str
    path: str
    name: str
    content: bytes = field(repr=False)
    key: str


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request the embedded GitHub answered. `target` is path and query as asked, `status` 0 when the connection was
    dropped instead, `token_kind` "" without a known token; `counted` is whether it cost rate budget, `authorized`
    whether it carried any credential."""

    method: str
    target: str
    status: int
    token_kind: str
    counted: bool
    authorized: bool = False

    @property
    def path(self) -> str:
        """The path alone."""
        return self.target.partition("?")[0]
