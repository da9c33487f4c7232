"""How a repository is set up for Nightjar, as far as GitHub shows it to a token. What the token may not look at is
`Unknown`, and no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from bot.doctor.facts import (
    ActionsPolicy,
    Hub,
    JobTokens,
    Rule,
    Secrets,
    Token,
    TokenKind,
    Unknown,
)
from bot.doctor.words import MAY_NOT_LOOK
from bot.github.ci_facts import JOB_TOKEN
from bot.github.client import PAGE, Client, Refused
from bot.github.conditional import Reader
from bot.github.labels import RepositoryLabels
from bot.github.repository import GitHubRepository

T = TypeVar("T")

PAUSED = "NIGHTJAR_PAUSED"
_SHUT = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_BYPASSING = frozenset({"always", "exempt"})
_FOLDER = ".github/workflows"
_PREFIXES = {
    "ghp_": TokenKind.CLASSIC,
    "github_pat_": TokenKind.FINE_GRAINED,
    "ghs_": TokenKind.APP,
    "gho_": TokenKind.PERSON,
    "ghu_": TokenKind.PERSON,
}


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: labels, branches and the workflow's path."""

    labels: Sequence[str]
    base: str
    """"" for the default branch."""
    issue_branch: str
    workflow: str
    paused: Callable[[str], bool]
    """What a value of the variable means."""


@dataclass(frozen=True, slots=True)
class _Repository:
    """The repository itself, and how the token looks from there."""

    page: str
    default_branch: str
    is_private: bool
    is_archived: bool
    has_issues: bool
    by_person: bool
    """Owned by a person, who shares no secrets among repositories."""
    may_push: bool
    scopes: tuple[str, ...] | None


class SetupFacts:
    """The questions, about one repository."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._reader = Reader(client)
        self._repository = GitHubRepository(client)

    def look(self, sought: Sought, token: str, source: str) -> tuple[Token, Hub]:
        """All of them. `token` is the very one that the client shows, and `source` where it is from. Raises `RunFailed`
        where the repository itself is not shown, or nothing is answered.
        """
        itself = self._itself()
        given = self._token(itself, token, source)
        return given, self._hub(itself, sought, frozenset(given.unreadable))

    def workflow_files(self, branch: str) -> dict[str, str]:
        """The workflow files on `branch`: path → text. Raises `Refused`."""

        def names(data: Any) -> list[str]:
            rows = data if isinstance(data, list) else []
            found = [str(row["path"]) for row in rows if row["type"] == "file"]
            return [path for path in found if path.endswith((".yml", ".yaml"))]

        nothing: list[str] = []
        paths = self._unless_missing(f"/contents/{_FOLDER}?ref={quote(branch)}", names, nothing)
        texts = {path: self._repository.read_file(path, branch) for path in paths}
        return {path: text.decode(errors="replace") for path, text in texts.items() if text is not None}

    def _itself(self) -> _Repository:
        client = self._client
        requester, url = client.repository.requester, client.repository.url

        def read() -> _Repository:
            headers, data = requester.requestJsonAndCheck("GET", url)
            scopes = headers.get("x-oauth-scopes")
            return _Repository(
                page=str(data["html_url"]),
                default_branch=str(data["default_branch"]),
                is_private=bool(data["private"]),
                is_archived=bool(data.get("archived")),
                has_issues=bool(data.get("has_issues", True)),
                by_person=data["owner"].get("type") == "User",
                may_push=bool((data.get("permissions") or {}).get("push")),
                scopes=None if scopes is None else tuple(one.strip() for one in scopes.split(",") if one.strip()),
            )

        return client.ask(f"GET /repos/{client.name}", read)

    # ── the token ───────────────────────────────────────────────────────────────────────────────────────────────

    def _token(self, itself: _Repository, token: str, source: str) -> Token:
        login = self._repository.own_login()
        named = next((kind for prefix, kind in _PREFIXES.items() if token.startswith(prefix)), None)
        kind = named or (TokenKind.CLASSIC if itself.scopes is not None else TokenKind.PERSON)
        if login == JOB_TOKEN:
            kind = TokenKind.JOB
        branch = quote(itself.default_branch, safe="")
        probes = {
            "contents": f"/commits?per_page=1&sha={branch}",
            "issues": "/issues?per_page=1",
            "pull requests": "/pulls?per_page=1",
            "checks": f"/commits/{branch}/check-runs?per_page=1",
            "statuses": f"/commits/{branch}/status?per_page=1",
            "actions": "/actions/runs?per_page=1",
        }
        unreadable = tuple(name for name, path in probes.items() if not self._opens(path))
        return Token(kind, login, source, itself.scopes, unreadable, itself.may_push)

    def _opens(self, path: str) -> bool:
        """Whether the token is let in there."""
        try:
            self._reader.get(path, lambda data: data)
        except Refused as refused:
            if refused.code != "github_denied":
                raise
            return refused.answer.status not in _SHUT
        return True

    # ── the repository ──────────────────────────────────────────────────────────────────────────────────────────

    def _hub(self, itself: _Repository, sought: Sought, unreadable: frozenset[str]) -> Hub:
        """What is in a place that the token may not read at all is not missing there."""
        base = sought.base or itself.default_branch
        no_code = "contents" in unreadable
        shipped = f"/contents/{quote(sought.workflow)}?ref={quote(itself.default_branch)}"
        return Hub(
            page=itself.page,
            is_public_github=_is_public_github(itself.page),
            is_private=itself.is_private,
            is_archived=itself.is_archived,
            has_issues=itself.has_issues,
            default_branch=itself.default_branch,
            base_exists=Unknown(MAY_NOT_LOOK) if no_code else self._is_there(f"/branches/{quote(base, safe='')}"),
            on_default=Unknown(MAY_NOT_LOOK) if no_code else self._is_there(shipped),
            actions=self._actions(),
            job_tokens=self._shown("/actions/permissions/workflow", _job_tokens),
            labels=Unknown(MAY_NOT_LOOK) if "issues" in unreadable else self._labels(sought.labels),
            secrets=self._secrets(itself),
            paused=self._paused(sought.paused),
            work_rules=self._rules(sought.issue_branch),
            base_rules=self._base_rules(base),
        )

    def _actions(self) -> ActionsPolicy | Unknown:
        policy = self._shown("/actions/permissions", _policy)
        if isinstance(policy, Unknown) or policy.allowed != "selected":
            return policy
        patterns = self._shown("/actions/permissions/selected-actions", lambda data: data.get("patterns_allowed") or ())
        if isinstance(patterns, Unknown):
            return patterns
        return ActionsPolicy(policy.enabled, policy.allowed, tuple(map(str, patterns)), policy.by_commit)

    def _labels(self, names: Sequence[str]) -> frozenset[str] | Unknown:
        labels = RepositoryLabels(self._client)
        try:
            return frozenset(name for name in names if labels.exists(name))
        except Refused as refused:
            return _known_refusal(refused)

    def _secrets(self, itself: _Repository) -> Secrets | Unknown:
        own = self._names("/actions/secrets")
        if isinstance(own, Unknown):
            return own
        shared = frozenset[str]() if itself.by_person else self._names("/actions/organization-secrets")
        if isinstance(shared, Unknown):
            return Secrets(own, whole=False)
        return Secrets(own | shared, whole=True)

    def _names(self, path: str) -> frozenset[str] | Unknown:
        try:
            rows, _ = self._reader.rows(path, "secrets", lambda row: str(row["name"]).upper())
        except Refused as refused:
            return _known_refusal(refused)
        return frozenset(rows)

    def _paused(self, meaning: Callable[[str], bool]) -> bool | Unknown:
        path = f"/actions/variables/{PAUSED}"
        try:
            return self._unless_missing(path, lambda data: meaning(str(data["value"])), False)
        except Refused as refused:
            return _known_refusal(refused)

    def _rules(self, branch: str) -> tuple[Rule, ...] | Unknown:
        def found(data: Any) -> list[tuple[str, int]]:
            return [(str(row["type"]), int(row.get("ruleset_id") or 0)) for row in data]

        rows = self._shown(f"/rules/branches/{quote(branch, safe='')}?per_page={PAGE}", found)
        if isinstance(rows, Unknown):
            return rows
        bypassed = {ruleset: self._bypassed(ruleset) for _, ruleset in rows if ruleset}
        return tuple(Rule(kind, bypassed.get(ruleset)) for kind, ruleset in rows)

    def _base_rules(self, base: str) -> tuple[Rule, ...] | Unknown:
        """Those of rulesets, and what an older protection of the branch asks for."""
        rules, path = self._rules(base), f"/branches/{quote(base, safe='')}"
        if isinstance(rules, Unknown) or self._shown(path, _is_protected) is not True:
            return rules
        protection = self._shown(f"{path}/protection", _protection_rules)
        return protection if isinstance(protection, Unknown) else (*rules, *protection)

    def _bypassed(self, ruleset: int) -> bool | None:
        told = self._shown(f"/rulesets/{ruleset}", lambda data: data.get("current_user_can_bypass"))
        return None if isinstance(told, Unknown) or told is None else told in _BYPASSING

    # ── asking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _is_there(self, path: str) -> bool | Unknown:
        try:
            return self._unless_missing(path, lambda _: True, False)
        except Refused as refused:
            return _known_refusal(refused)

    def _shown(self, path: str, parse: Callable[[Any], T]) -> T | Unknown:
        try:
            return self._reader.get(path, parse)
        except Refused as refused:
            return _known_refusal(refused)

    def _unless_missing(self, path: str, parse: Callable[[Any], T], missing: T) -> T:
        try:
            return self._reader.get(path, parse)
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return missing
            raise


def _known_refusal(refused: Refused) -> Unknown:
    """What a refusal leaves unknown. Raises it again where it is the whole credential's."""
    if refused.code == "token_expired":
        raise refused
    shut = refused.code == "github_denied" and refused.answer.status in _SHUT  # a rate limit answers 403, too
    return Unknown(MAY_NOT_LOOK if shut else f"GitHub did not tell ({refused.reason})")


def _is_public_github(page: str) -> bool:
    host = urlsplit(page).hostname or ""
    return host == "github.com" or host.endswith(".ghe.com")


def _policy(data: Any) -> ActionsPolicy:
    return ActionsPolicy(
        enabled=bool(data["enabled"]),
        allowed=str(data.get("allowed_actions") or "all"),
        by_commit=bool(data.get("sha_pinning_required")),
    )


def _is_protected(data: Any) -> bool:
    """By a protection, which only who administers the repository may read."""
    return bool((data.get("protection") or {}).get("enabled"))


def _protection_rules(data: Any) -> tuple[Rule, ...]:
    """A protection in the words of rulesets."""
    kinds = [
        kind for kind in ("required_linear_history", "required_signatures") if (data.get(kind) or {}).get("enabled")
    ]
    kinds += ["pull_request"] if data.get("required_pull_request_reviews") else []
    return tuple(Rule(kind, None) for kind in kinds)


def _job_tokens(data: Any) -> JobTokens:
    return JobTokens(str(data["default_workflow_permissions"]), bool(data["can_approve_pull_request_reviews"]))
