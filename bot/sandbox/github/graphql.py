"""GraphQL, as far as Nightjar asks it what REST does not know: who is asking, and the two mutations that make a pull
request a draft or ready.
"""

from __future__ import annotations

import re

from bot.sandbox.github import pulls, views
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import PullRequest
from bot.sandbox.github.world import Refused, Repository, not_found

_VIEWER = re.compile(r"\bviewer\s*\{\s*login\s*\}")
_MUTATION = re.compile(r"\b(markPullRequestReadyForReview|convertPullRequestToDraft)\s*\(")


def _answer(call: Call) -> Reply:
    query = call.text("query")
    if _VIEWER.search(query):
        return Reply(200, {"data": {"viewer": {"login": call.actor.login}}})
    found = _MUTATION.search(query)
    given = call.body.get("variables", {}).get("input", {})
    if found is None or not isinstance(given, dict):
        known = "the embedded GitHub knows markPullRequestReadyForReview and convertPullRequestToDraft with $input only"
        return Reply(200, {"errors": [{"message": f"{known}, and viewer {{ login }}"}]})
    name, node = found[1], str(given.get("pullRequestId", ""))
    try:
        repo, pull = _by_node(call, node)
    except Refused:
        return _error(name, "NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
    # With `pull-requests: write` alone a job's token is often refused here, so the strict answer is the one to be
    # ready for.
    if not call.token or not (call.token.allows("pull_requests", "write") and call.token.allows("contents", "write")):
        return _error(name, "FORBIDDEN", "Resource not accessible by integration")
    saved = pulls.set_draft(repo, call.actor, pull, name == "convertPullRequestToDraft")
    answer = {"clientMutationId": given.get("clientMutationId"), "pullRequest": {"isDraft": saved.draft}}
    return Reply(200, {"data": {name: answer}})


def _by_node(call: Call, node: str) -> tuple[Repository, PullRequest]:
    for repo in call.world.repositories.values():
        for pull in repo.pulls.values():
            if views.node_id("PR", pull.id) == node:
                return repo, pull
    raise not_found()


def _error(name: str, kind: str, message: str) -> Reply:
    return Reply(200, {"data": {name: None}, "errors": [{"type": kind, "path": [name], "message": message}]})


ROUTE = Route("POST", "/graphql", _answer)
