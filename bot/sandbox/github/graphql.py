"""GraphQL, as far as Nightjar asks it what REST does not know: who is asking, the two mutations that make a pull
request a draft or ready, and reactions, which reviews have nowhere else.

What is asked for in an answer is not looked at: each mutation answers with the same fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox.github import issues, pulls, views
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import PullRequest
from bot.sandbox.github.world import Repository

_VIEWER = re.compile(r"\bviewer\s*\{\s*login\s*\}")
_DRAFTS = ("markPullRequestReadyForReview", "convertPullRequestToDraft")
_REACT = "addReaction"
_MUTATION = re.compile(rf"\b({'|'.join((*_DRAFTS, _REACT))})\s*\(")
_CONTENTS: Mapping[str, str] = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "HOORAY": "hooray",
    "CONFUSED": "confused",
    "HEART": "heart",
    "ROCKET": "rocket",
    "EYES": "eyes",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """One mutation as it was asked for: its name, its input, and where it stands in the query."""

    call: Call
    name: str
    given: Mapping[str, Any]
    line: int
    column: int

    def text(self, key: str) -> str:
        """A text of the input."""
        return str(self.given.get(key, ""))

    def done(self, **answer: object) -> Reply:
        """It worked."""
        body = {"clientMutationId": self.given.get("clientMutationId"), **answer}
        return Reply(200, {"data": {self.name: body}})

    def unknown(self, node: str) -> Reply:
        """There is no such thing, or not for this token to see."""
        return self._error("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")

    def forbidden(self) -> Reply:
        """The token may not do that."""
        kind = "personal access token" if self.call.actor.token_kind == "pat" else "integration"
        return self._error("FORBIDDEN", f"Resource not accessible by {kind}", extensions={"saml_failure": False})

    def _error(self, kind: str, message: str, **more: object) -> Reply:
        error = {"type": kind, "path": [self.name], **more, "locations": self._locations, "message": message}
        return Reply(200, {"data": {self.name: None}, "errors": [error]})

    def invalid(self, key: str, allowed: Mapping[str, str]) -> Reply:
        """The input has a value that is none of those allowed: nothing was done, and there is no data."""
        why = f'Expected "{self.text(key)}" to be one of: {", ".join(allowed)}'
        kind = f"{self.name[0].upper()}{self.name[1:]}Input!"
        error = {
            "message": f"Variable $input of type {kind} was provided invalid value for {key} ({why})",
            "locations": self._locations,
            "extensions": {"value": dict(self.given), "problems": [{"path": [key], "explanation": why}]},
        }
        return Reply(200, {"errors": [error]})

    @property
    def _locations(self) -> list[dict[str, int]]:
        return [{"line": self.line, "column": self.column}]


def _answer(call: Call) -> Reply:
    query = call.text("query")
    if _VIEWER.search(query):
        return Reply(200, {"data": {"viewer": {"login": call.actor.login}}})
    found = _MUTATION.search(query)
    given = call.body.get("variables", {}).get("input", {})
    if found is None or not isinstance(given, dict):
        known = f"the embedded GitHub knows {', '.join((*_DRAFTS, _REACT))} with $input only, and viewer {{ login }}"
        return Reply(200, {"errors": [{"message": known}]})
    before = query[: found.start()]
    asked = _Asked(call, found[1], given, before.count("\n") + 1, found.start() - before.rfind("\n"))
    return _add_reaction(asked) if asked.name == _REACT else _set_draft(asked)


def _set_draft(asked: _Asked) -> Reply:
    node = asked.text("pullRequestId")
    found = _pull_by_node(asked.call, node)
    if found is None:
        return asked.unknown(node)
    # With `pull-requests: write` alone a job's token is often refused here, so the strict answer is the one to be
    # ready for.
    repo, pull = found
    if not _allows(asked.call, "pull_requests", "contents"):
        return asked.forbidden()
    saved = pulls.set_draft(repo, asked.call.actor, pull, asked.name == "convertPullRequestToDraft")
    return asked.done(pullRequest={"isDraft": saved.draft})


def _add_reaction(asked: _Asked) -> Reply:
    content, node = _CONTENTS.get(asked.text("content")), asked.text("subjectId")
    if content is None:
        return asked.invalid("content", _CONTENTS)
    found = _reactable(asked.call, node)
    if found is None:
        return asked.unknown(node)
    repo, number, comment = found
    if not _allows(asked.call, "pull_requests" if number in repo.pulls else "issues"):
        return asked.forbidden()
    issues.react(repo, asked.call.actor.login, number, comment, content)
    return asked.done(reaction={"content": asked.text("content")}, subject={"id": node})


def _allows(call: Call, *scopes: str) -> bool:
    """Whether the token may write all of these."""
    return call.token is not None and all(call.token.allows(scope, "write") for scope in scopes)


def _seen(call: Call) -> list[Repository]:
    """The repositories that whoever asks can see."""
    own = call.actor.token_kind == "pat"
    return [repo for repo in call.world.repositories.values() if not own or repo.can(call.actor.login, "read")]


def _pull_by_node(call: Call, node: str) -> tuple[Repository, PullRequest] | None:
    for repo in _seen(call):
        for pull in repo.pulls.values():
            if views.node_id("PR", pull.id) == node:
                return repo, pull
    return None


def _reactable(call: Call, node: str) -> tuple[Repository, int, int] | None:
    """The repository, the issue or pull request, and the comment or review (0: none) that a node is."""
    for repo in _seen(call):
        rows = {views.node_id("IC", row.id): (row.number, row.id) for row in repo.comments.values()}
        rows |= {views.node_id("PRR", row.id): (row.number, row.id) for row in repo.reviews.values()}
        rows |= {views.node_id("I", row.id): (row.number, 0) for row in repo.issues.values()}
        rows |= {views.node_id("PR", row.id): (row.number, 0) for row in repo.pulls.values()}
        if node in rows:
            return repo, *rows[node]
    return None


ROUTE = Route("POST", "/graphql", _answer)
