"""REST: pull requests."""

from __future__ import annotations

from bot.sandbox.github import issues, pulls, pushes, reviews, views, views_git, views_pulls
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import PullRequest
from bot.sandbox.github.world import Refused


def _list(call: Call) -> Reply:
    repo, query = call.repository, call.query
    state, base = query.get("state", "open"), query.get("base", "")
    owner, _, head = query.get("head", "").rpartition(":")

    def asked(pull: PullRequest) -> bool:
        return (
            state in ("all", repo.issues[pull.number].state)
            and base in ("", pull.base)
            and (not head or (pull.head == head and owner in ("", repo.owner)))
        )

    found = [pull for pull in repo.pulls.values() if asked(pull)]
    found.sort(key=lambda pull: pull.number, reverse=query.get("direction", "desc") == "desc")
    return call.paged(found, views.many(views_pulls.pull, call.site, repo))


def _create(call: Call) -> Reply:
    repo = call.repository
    if call.actor.token_kind == "job" and not repo.actions_may_open_pulls:
        raise Refused(403, "GitHub Actions is not permitted to create or approve pull requests.")
    asked = pulls.Proposal(
        call.text("title"), call.maybe_text("body"), call.text("head"), call.text("base"), call.flag("draft")
    )
    pull = pulls.open_pull(repo, call.actor, asked)
    return Reply(201, views_pulls.full_pull(call.site, repo, pull))


def _get(call: Call) -> Reply:
    return Reply(
        200, views_pulls.full_pull(call.site, call.repository, pulls.ask_mergeable(call.repository, call.number()))
    )


def _edit(call: Call) -> Reply:
    repo, number = call.repository, call.number()
    pull = pulls.find(repo, number)
    issues.edit(repo, call.actor.login, number, title=call.maybe_text("title"), body=call.maybe_text("body"))
    base = call.maybe_text("base")
    if base is not None and base != pull.base:
        pulls.set_base(repo, call.actor.login, number, base)
    _set_state(call, pull)
    return Reply(200, views_pulls.full_pull(call.site, repo, pulls.find(repo, number)))


def _set_state(call: Call, pull: PullRequest) -> None:
    state, repo = call.maybe_text("state"), call.repository
    if state not in (None, "open", "closed"):
        raise Refused(422, "Validation Failed", [{"resource": "PullRequest", "field": "state", "code": "invalid"}])
    if state is None or state == repo.issues[pull.number].state:
        return
    if state == "open" and (pull.merged_at or repo.git.branch(pull.head) is None):
        raise Refused(
            422,
            "Validation Failed",
            [
                {
                    "resource": "PullRequest",
                    "field": "state",
                    "code": "invalid",
                    "message": "state cannot be changed. The pull request cannot be reopened.",
                }
            ],
        )
    issues.set_state(repo, call.actor.login, pull.number, "open" if state == "open" else "closed")
    if state == "open":
        pulls.start_ci(repo, call.actor, pull, "reopened")


def _files(call: Call) -> Reply:
    repo, pull = call.repository, pulls.find(call.repository, call.number())
    changes = repo.git.diff(views_pulls.pull_base(repo, pull), pull.head_sha)
    return call.paged(changes, lambda change: views_git.file_change(call.site, repo, pull.head_sha, change))


def _commits(call: Call) -> Reply:
    repo, pull = call.repository, pulls.find(call.repository, call.number())
    found = repo.git.commits(f"{views_pulls.pull_base(repo, pull)}..{pull.head_sha}")
    return call.paged(reversed(found), views.many(views_git.commit, call.site, repo))


def _reviews(call: Call) -> Reply:
    number = pulls.find(call.repository, call.number()).number
    found = [row for row in call.repository.reviews.values() if row.number == number]
    return call.paged(found, views.many(views_pulls.review, call.site, call.repository))


def _review(call: Call) -> Reply:
    found = reviews.find(call.repository, call.number(), call.number("review"))
    return Reply(200, views_pulls.review(call.site, call.repository, found))


def _comments_of_review(call: Call) -> Reply:
    repo, number = call.repository, call.number()
    found = reviews.comments_of(repo, number, reviews.find(repo, number, call.number("review")).id)
    return call.paged(found, views.many(views_pulls.review_comment, call.site, repo))


def _review_comments(call: Call) -> Reply:
    found = reviews.comments_of(call.repository, call.number())
    return call.paged(found, views.many(views_pulls.full_review_comment, call.site, call.repository))


def _request_reviews(call: Call) -> Reply:
    pull = pulls.request_reviews(call.repository, call.actor.login, call.number(), call.texts("reviewers") or [])
    return Reply(201, views_pulls.pull(call.site, call.repository, pull))


def _merge(call: Call) -> Reply:
    repo, number = call.repository, call.number()
    method = call.text("merge_method", "merge")
    if method not in ("merge", "squash"):
        raise Refused(405, f"{method.capitalize()} merges are not allowed on this repository.")
    base = pulls.find(repo, number).base
    old = repo.git.branch(base) or ""
    order = pulls.MergeOrder(
        call.text("sha", ""), method, call.text("commit_title", ""), call.text("commit_message", "")
    )
    new = pulls.merge(repo, call.actor, number, order)
    pushes.refs_changed(repo, call.actor, [pushes.RefChange(f"refs/heads/{base}", old, new)])
    return Reply(200, {"sha": new, "merged": True, "message": "Pull Request successfully merged"})


_PULLS = "/repos/{owner}/{repo}/pulls"
_PULL = _PULLS + "/{number}"
ROUTES = (
    Route("GET", _PULLS, _list, "pull_requests"),
    Route("POST", _PULLS, _create, "pull_requests", "write"),
    Route("GET", _PULL, _get, "pull_requests"),
    Route("PATCH", _PULL, _edit, "pull_requests", "write"),
    Route("GET", _PULL + "/files", _files, "pull_requests"),
    Route("GET", _PULL + "/commits", _commits, "pull_requests"),
    Route("GET", _PULL + "/reviews", _reviews, "pull_requests"),
    Route("GET", _PULL + "/reviews/{review}", _review, "pull_requests"),
    Route("GET", _PULL + "/reviews/{review}/comments", _comments_of_review, "pull_requests"),
    Route("GET", _PULL + "/comments", _review_comments, "pull_requests"),
    Route("POST", _PULL + "/requested_reviewers", _request_reviews, "pull_requests", "write"),
    Route("PUT", _PULL + "/merge", _merge, "contents", "write"),
)
