"""REST: what happened to an issue or pull request, in GitHub's two lists of it.

`events` holds what people did to it; `timeline` also comments, reviews, commits and mentions by pull requests. What
GitHub records in neither (edits, reactions) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from bot.sandbox.github import issues, views_issues, views_pulls
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import TimelineEvent
from bot.sandbox.github.views import Json, login, node_id, time
from bot.sandbox.github.views_git import timeline_commit

_NAMES = {
    "labelled": "labeled",
    "unlabelled": "unlabeled",
    "assigned": "assigned",
    "retitled": "renamed",
    "closed": "closed",
    "reopened": "reopened",
    "merged": "merged",
    "ready": "ready_for_review",
    "draft": "convert_to_draft",
    "review requested": "review_requested",
}
_Dated = tuple[datetime, Json]


def _event(call: Call, item: TimelineEvent) -> Json:
    repo, site = call.repository, call.site
    actor = login(site, repo, item.actor)
    body: Json = {
        "id": item.id,
        "node_id": node_id("EV", item.id),
        "url": f"{site.repo(repo)}/issues/events/{item.id}",
        "actor": actor,
        "event": _NAMES[item.kind],
        "commit_id": None,
        "commit_url": None,
        "created_at": time(item.at),
        "performed_via_github_app": None,
    }
    if item.kind in ("labelled", "unlabelled"):
        label = repo.labels[item.text.lower()]
        body["label"] = {"name": label.name, "color": label.color}
    elif item.kind == "assigned":
        body["assignee"] = login(site, repo, item.text)
    elif item.kind == "retitled":
        body["rename"] = {"from": item.before, "to": item.text}
    elif item.kind == "review requested":
        body |= {"review_requester": actor, "requested_reviewer": login(site, repo, item.text)}
    elif item.kind == "merged":
        merge = repo.pulls[item.number].merge_sha
        body |= {"commit_id": merge, "commit_url": f"{site.repo(repo)}/commits/{merge}"}
    return body


def _events_of(call: Call) -> Iterator[_Dated]:
    number = issues.find(call.repository, call.number()).number
    for item in call.repository.events:
        if item.number == number and item.kind in _NAMES:
            yield item.at, _event(call, item)


def _comments(call: Call) -> Iterator[_Dated]:
    for item in issues.comments_of(call.repository, call.number()):
        body = views_issues.comment(call.site, call.repository, item)
        yield item.created_at, body | {"event": "commented", "actor": body["user"]}


def _reviews(call: Call) -> Iterator[_Dated]:
    for item in call.repository.reviews.values():
        if item.number == call.number():
            yield item.submitted_at, views_pulls.review(call.site, call.repository, item) | {"event": "reviewed"}


def _commits(call: Call) -> Iterator[_Dated]:
    repo = call.repository
    pull = repo.pulls.get(call.number())
    if pull is not None:
        for item in reversed(repo.git.commits(f"{views_pulls.pull_base(repo, pull)}..{pull.head_sha}")):
            yield item.committer.date, timeline_commit(call.site, repo, item)


def _mentions(call: Call) -> Iterator[_Dated]:
    repo = call.repository
    for pull in repo.pulls.values():
        issue = repo.issues[pull.number]
        if pull.number != call.number() and re.search(rf"(?<!\w)#{call.number()}\b", issue.body or ""):
            made = time(issue.created_at)
            yield (
                issue.created_at,
                {
                    "event": "cross-referenced",
                    "actor": login(call.site, repo, issue.author),
                    "created_at": made,
                    "updated_at": made,
                    "source": {"type": "issue", "issue": views_issues.issue(call.site, repo, issue)},
                },
            )


def _in_order(call: Call, *parts: Iterator[_Dated]) -> Reply:
    rows = sorted((row for part in parts for row in part), key=lambda row: row[0])
    return call.paged(rows, lambda row: row[1])


def _events(call: Call) -> Reply:
    return _in_order(call, _events_of(call))


def _timeline(call: Call) -> Reply:
    return _in_order(call, _commits(call), _events_of(call), _comments(call), _reviews(call), _mentions(call))


_ISSUE = "/repos/{owner}/{repo}/issues/{number}"
ROUTES = (
    Route("GET", _ISSUE + "/events", _events, "issues"),
    Route("GET", _ISSUE + "/timeline", _timeline, "issues"),
)
