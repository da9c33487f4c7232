"""Issues, labels, comments and reactions as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from bot.sandbox.github.state import Comment, Issue, Label, Reaction
from bot.sandbox.github.views import Json, Site, login, maybe_time, node_id, repository, time
from bot.sandbox.github.world import Repository


def label(site: Site, repo: Repository, item: Label) -> Json:
    """A label of a repository."""
    return label_on_issue(site, repo, item) | {"archived_at": None, "archived_by": None}


def label_on_issue(site: Site, repo: Repository, item: Label) -> Json:
    """A label as an issue or pull request holds it."""
    return {
        "id": item.id,
        "node_id": node_id("LA", item.id),
        "url": f"{site.repo(repo)}/labels/{quote(item.name)}",
        "name": item.name,
        "color": item.color,
        "default": False,
        "description": item.description,
        "archived_by": None,
    }


def labels_of(site: Site, repo: Repository, item: Issue) -> list[Json]:
    """The labels an issue holds."""
    return [label_on_issue(site, repo, repo.labels[name.lower()]) for name in item.labels]


def association(repo: Repository, name: str) -> str:
    """How an author stands to the repository."""
    if name == repo.owner:
        return "OWNER"
    return "COLLABORATOR" if name in repo.roles and repo.can(name, "triage") else "NONE"


def rollup(url: str, reactions: Iterable[Reaction]) -> Json:
    """Reactions counted."""
    given = [reaction.content for reaction in reactions]
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {"url": f"{url}/reactions", "total_count": len(given), **{kind: given.count(kind) for kind in kinds}}


def issue(site: Site, repo: Repository, item: Issue) -> Json:
    """An issue, or a pull request as the issues API shows it."""
    url = f"{site.repo(repo)}/issues/{item.number}"
    pull = repo.pulls.get(item.number)
    kind = "pull" if pull else "issues"
    page = f"{site.page(repo)}/{kind}/{item.number}"
    body: Json = {
        "id": item.id,
        "node_id": node_id("I", item.id),
        "url": url,
        "repository_url": site.repo(repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": page,
        "number": item.number,
        "state": item.state,
        "state_reason": item.state_reason,
        "title": item.title,
        "body": item.body,
        "user": login(site, repo, item.author),
        "labels": labels_of(site, repo, item),
        "assignees": [login(site, repo, name) for name in item.assignees],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": sum(1 for comment in repo.comments.values() if comment.number == item.number),
        "closed_at": maybe_time(item.closed_at),
        "created_at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "author_association": association(repo, item.author),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "reactions": rollup(
            url, (reaction for reaction in repo.reactions if (reaction.number, reaction.comment) == (item.number, 0))
        ),
        "closed_by": login(site, repo, item.closed_by) if item.closed_by else None,
    }
    if pull:
        body["draft"] = pull.draft
        body["pull_request"] = {
            "url": f"{site.repo(repo)}/pulls/{item.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": maybe_time(pull.merged_at),
        }
    return body


def labelled_event(site: Site, repo: Repository, item: Issue, name: str, sender: str) -> Json:
    """The payload of the `issues` webhook with action `labeled`. Unlike the API it says of labels whether they are
    archived."""
    whole = [label(site, repo, repo.labels[held.lower()]) for held in item.labels]
    body = {key: value for key, value in issue(site, repo, item).items() if key != "closed_by"}
    return {
        "action": "labeled",
        "issue": body | {"labels": whole},
        "label": label(site, repo, repo.labels[name.lower()]),
        "repository": repository(site, repo),
        "sender": login(site, repo, sender),
    }


def comment(site: Site, repo: Repository, item: Comment) -> Json:
    """A comment on an issue or pull request."""
    url = f"{site.repo(repo)}/issues/comments/{item.id}"
    kind = "pull" if item.number in repo.pulls else "issues"
    return {
        "id": item.id,
        "node_id": node_id("IC", item.id),
        "url": url,
        "body": item.body,
        "user": login(site, repo, item.author),
        "html_url": f"{site.page(repo)}/{kind}/{item.number}#issuecomment-{item.id}",
        "created_at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "issue_url": f"{site.repo(repo)}/issues/{item.number}",
        "author_association": association(repo, item.author),
        "performed_via_github_app": None,
        "reactions": rollup(url, (reaction for reaction in repo.reactions if reaction.comment == item.id)),
    }


def reaction(site: Site, repo: Repository, item: Reaction) -> Json:
    """A reaction."""
    return {
        "id": item.id,
        "node_id": node_id("REA", item.id),
        "user": login(site, repo, item.author),
        "content": item.content,
        "created_at": time(item.created_at),
    }
