"""What was found out about a repository before any Run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.ci.found import FoundCi
from bot.config import Config


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody could tell, and why; where that is easily changed, how."""

    why: str
    remedy: str = ""


class TokenKind(StrEnum):
    """Whose token it is."""

    JOB = "the job's own token"
    APP = "a token of a GitHub App"
    CLASSIC = "a classic token of a person"
    FINE_GRAINED = "a fine-grained token of a person"
    PERSON = "a token that a person has by an app, such as gh"

    @property
    def is_persons(self) -> bool:
        """Whether it may do no more than a person may."""
        return self not in (TokenKind.JOB, TokenKind.APP)


@dataclass(frozen=True, slots=True)
class Token:
    """The token that was given."""

    kind: TokenKind
    login: str
    """"" where GitHub does not tell."""
    source: str
    """Where it is from: a variable, a file, the input."""
    scopes: tuple[str, ...] | None = None
    """Where GitHub tells them: those of a classic token."""
    unreadable: tuple[str, ...] = ()
    """Permissions whose things it may not even read."""
    may_push: bool = True
    """Of a person: whether they may write to the repository."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The token, or the way to GitHub, is of no use: nothing else could be asked."""

    reason: str
    unseen: bool = False
    """GitHub takes the token, and shows it no such repository."""
    away: bool = False
    """GitHub did not answer."""


@dataclass(frozen=True, slots=True)
class ActionsPolicy:
    """The repository's settings for Actions."""

    enabled: bool
    allowed: str = "all"
    patterns: tuple[str, ...] = ()
    by_commit: bool = False


@dataclass(frozen=True, slots=True)
class JobTokens:
    """What the repository lets the tokens of its jobs do."""

    default: str
    """`read` or `write`."""
    may_open_pull_requests: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a ruleset; `bypassed` is whether the token may pass it by, None where that is not told."""

    kind: str
    bypassed: bool | None


@dataclass(frozen=True, slots=True)
class Secrets:
    """Names of secrets; `whole` unless the organisation's could not be looked at."""

    names: frozenset[str]
    whole: bool


@dataclass(frozen=True, slots=True)
class Hub:
    """What GitHub told."""

    page: str
    """The repository's address."""
    is_public_github: bool
    """github.com or ghe.com, no Enterprise Server."""
    is_private: bool
    is_archived: bool
    has_issues: bool
    default_branch: str
    base_exists: bool | Unknown
    on_default: bool | Unknown
    """Whether the workflow is on the default branch."""
    actions: ActionsPolicy | Unknown
    job_tokens: JobTokens | Unknown
    labels: frozenset[str] | Unknown
    """Those of Nightjar's that are there."""
    secrets: Secrets | Unknown
    paused: bool | Unknown
    work_rules: tuple[Rule, ...] | Unknown
    """Those of an Issue branch."""
    base_rules: tuple[Rule, ...] | Unknown


@dataclass(frozen=True, slots=True)
class Files:
    """What the repository's own files say."""

    workflow: str | None
    """The text of Nightjar's workflow; None where there is none."""
    wake: str | None
    """That of the second one."""
    settings: bool
    """Whether there is a settings file."""
    problems: tuple[str, ...]
    """What is wrong with the settings."""
    config: Config
    """The settings, or their defaults where something is wrong."""
    ci: FoundCi = field(default_factory=FoundCi)
    names: frozenset[str] = frozenset()
    """What the repository's workflows are called."""
    dispatchable: frozenset[str] = frozenset()
    """File names of workflows that `workflow_dispatch` starts."""
    unread: str = ""
    """Why the workflow files could not be read; then nothing of them is known."""


@dataclass(frozen=True, slots=True)
class Answered:
    """claude said something."""

    version: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """claude could not be run, or said nothing: a Failure's code and the reason."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything."""

    in_job: bool
    files: Files
    git: str | None
    """git's version; None where it cannot be run."""
    token: Token | Refusal | Unknown
    hub: Hub | Unknown
    claude: Answered | NoAnswer | Unknown
