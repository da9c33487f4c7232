"""The payloads of events, as GitHub's webhooks word them, and which happenings on issues and in comments are events.

Workflows see a payload as `github.event` and in the file that `GITHUB_EVENT_PATH` names. Those of `push` and
`pull_request` are left to CI, which needs little of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.sandbox.ci import CiEvent
from bot.sandbox.github import checks, views_actions, views_checks, views_issues, views_pulls
from bot.sandbox.github.state import Comment, Issue, TimelineEvent
from bot.sandbox.github.views import Json, Site, login, repository, time
from bot.sandbox.github.views_git import commit
from bot.sandbox.github.world import Actor, Repository

_ISSUE_ACTIONS = {
    "opened": "opened",
    "edited": "edited",
    "retitled": "edited",
    "closed": "closed",
    "reopened": "reopened",
    "labelled": "labeled",
    "unlabelled": "unlabeled",
    "assigned": "assigned",
}
_COMMENT_ACTIONS = {"commented": "created", "comment edited": "edited", "comment deleted": "deleted"}


def announce(site: Site, repo: Repository, happened: Sequence[TimelineEvent], actor: Actor) -> None:
    """Tell CI what has happened to issues, and what was said on them and on pull requests; what else happens to pull
    requests is told where it happens.
    """
    for event in happened:
        who = Actor(event.actor, actor.token_kind)
        if event.comment is not None:
            said = _said(site, repo, event, event.comment)
            repo.happened(who, "issue_comment", _COMMENT_ACTIONS[event.kind], number=event.number, said=said)
        elif event.number in repo.issues and event.number not in repo.pulls and event.kind in _ISSUE_ACTIONS:
            detail = event.text if event.kind in ("labelled", "unlabelled") else ""
            repo.happened(who, "issues", _ISSUE_ACTIONS[event.kind], number=event.number, detail=detail)


def _said(site: Site, repo: Repository, event: TimelineEvent, comment: Comment) -> Json:
    """A comment as it then was, and, where it was edited, its text before."""
    said: Json = {"comment": views_issues.comment(site, repo, comment)}
    return said | ({"changes": {"body": {"from": event.before}}} if event.kind == "comment edited" else {})


def payload(site: Site, repo: Repository, event: CiEvent, actor: str) -> Json:
    """What an event says; empty for one that is left to CI."""
    body = _BODIES.get(event.name)
    if body is None:
        return {}
    action = {"action": event.action} if event.action else {}
    common = {"repository": repository(site, repo), "sender": login(site, repo, actor)}
    return {**action, **body(site, repo, event), **common}


def _issues(site: Site, repo: Repository, event: CiEvent) -> Json:
    item = repo.issues[event.number]
    whole = [views_issues.label(site, repo, repo.labels[held.lower()]) for held in item.labels]
    found: Json = {"issue": _issue(site, repo, item) | {"labels": whole}}
    if event.detail:
        found["label"] = views_issues.label(site, repo, repo.labels[event.detail.lower()])
    return found


def _issue(site: Site, repo: Repository, item: Issue) -> Json:
    """An issue or pull request. What the API says of who closed it the webhook leaves out."""
    return {key: value for key, value in views_issues.issue(site, repo, item).items() if key != "closed_by"}


def _issue_comment(site: Site, repo: Repository, event: CiEvent) -> Json:
    return {"issue": _older(_issue(site, repo, repo.issues[event.number])), **event.payload}


def _pull_request_review(site: Site, repo: Repository, event: CiEvent) -> Json:
    item = repo.reviews[int(event.detail)]
    review = views_pulls.review(site, repo, item)
    body = _older(views_pulls.pull(site, repo, repo.pulls[event.number]))
    for end in ("head", "base"):
        body[end]["repo"]["topics"] = []
    return {
        "review": review | {"state": item.state.lower(), "updated_at": review["submitted_at"]},
        "pull_request": body,
    }


def _older(body: Json) -> Json:
    """An issue or pull request in the form that the API has given up and these webhooks have kept."""
    labels = [{key: value for key, value in held.items() if key != "archived_by"} for held in body["labels"]]
    return body | {"labels": labels, "assignee": next(iter(body["assignees"]), None)}


def _workflow_dispatch(site: Site, repo: Repository, event: CiEvent) -> Json:
    return {"inputs": dict(event.inputs) or None, "ref": event.ref, "workflow": f".github/workflows/{event.workflow}"}


def _repository_dispatch(site: Site, repo: Repository, event: CiEvent) -> Json:
    return {"branch": repo.default_branch, "client_payload": dict(event.payload)}


def _workflow_run(site: Site, repo: Repository, event: CiEvent) -> Json:
    run = repo.runs[event.number]
    workflow = next(known for known in repo.workflows.values() if known.id == run.workflow)
    return {
        "workflow_run": views_actions.workflow_run(site, repo, run),
        "workflow": views_actions.workflow(site, repo, workflow),
    }


def _check_suite(site: Site, repo: Repository, event: CiEvent) -> Json:
    sha = repo.suites[event.number].sha
    facts = next(suite for suite in checks.suites_on(repo, sha) if suite.id == event.number)
    body = views_checks.check_suite(site, repo, facts, repo.git.commit(sha))
    return {"check_suite": {key: value for key, value in body.items() if key != "repository"}}


def _status(site: Site, repo: Repository, event: CiEvent) -> Json:
    item = next(status for status in repo.statuses if status.id == event.number)
    branches = [
        {
            "name": name.removeprefix("refs/heads/"),
            "commit": {"sha": tip, "url": f"{site.repo(repo)}/commits/{tip}"},
            "protected": name.removeprefix("refs/heads/") in repo.protections,
        }
        for name, tip in repo.git.refs().items()
        if name.startswith("refs/heads/") and tip == item.sha
    ]
    made = time(item.created_at)
    return {
        "id": item.id,
        "sha": item.sha,
        "name": repo.full_name,
        "target_url": item.target_url,
        "context": item.context,
        "description": item.description,
        "state": item.state,
        "commit": commit(site, repo, repo.git.commit(item.sha)),
        "branches": branches,
        "created_at": made,
        "updated_at": made,
    }


def _schedule(site: Site, repo: Repository, event: CiEvent) -> Json:
    return {"schedule": event.detail}


_BODIES: Mapping[str, Callable[[Site, Repository, CiEvent], Json]] = {
    "issues": _issues,
    "issue_comment": _issue_comment,
    "pull_request_review": _pull_request_review,
    "workflow_dispatch": _workflow_dispatch,
    "repository_dispatch": _repository_dispatch,
    "workflow_run": _workflow_run,
    "check_suite": _check_suite,
    "status": _status,
    "schedule": _schedule,
}
