"""Users, repositories, issues and git data as GitHub's REST API words them (schema of API version 2026-03-10).

Functions of records only: what a body says about several tables at once is handed in. Every `url` starts with the API
address, every `html_url` with the server's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.sandbox.github.state import Comment, Issue, Label, Reaction, Role, User
from bot.sandbox.github.world import Repository

Json = dict[str, Any]
_USER_URLS = ("followers", "subscriptions", "organizations", "repos", "received_events")
_REPO_URLS = {
    "archive": "{archive_format}{/ref}",
    "assignees": "assignees{/user}",
    "blobs": "git/blobs{/sha}",
    "branches": "branches{/branch}",
    "collaborators": "collaborators{/collaborator}",
    "comments": "comments{/number}",
    "commits": "commits{/sha}",
    "compare": "compare/{base}...{head}",
    "contents": "contents/{+path}",
    "contributors": "contributors",
    "deployments": "deployments",
    "downloads": "downloads",
    "events": "events",
    "forks": "forks",
    "git_commits": "git/commits{/sha}",
    "git_refs": "git/refs{/sha}",
    "git_tags": "git/tags{/sha}",
    "hooks": "hooks",
    "issue_comment": "issues/comments{/number}",
    "issue_events": "issues/events{/number}",
    "issues": "issues{/number}",
    "keys": "keys{/key_id}",
    "labels": "labels{/name}",
    "languages": "languages",
    "merges": "merges",
    "milestones": "milestones{/number}",
    "notifications": "notifications{?since,all,participating}",
    "pulls": "pulls{/number}",
    "releases": "releases{/id}",
    "stargazers": "stargazers",
    "statuses": "statuses/{sha}",
    "subscribers": "subscribers",
    "subscription": "subscription",
    "tags": "tags",
    "teams": "teams",
    "trees": "git/trees{/sha}",
}


@dataclass(frozen=True, slots=True)
class Site:
    """Addresses: `host` of the server, `prefix` of the REST API below it ("" or "/api/v3"), `storage` of the log
    store."""

    host: str
    prefix: str
    storage: str

    @property
    def api(self) -> str:
        """Where REST paths start."""
        return self.host + self.prefix

    def repo(self, repository: Repository) -> str:
        """The REST address of a repository."""
        return f"{self.api}/repos/{repository.full_name}"

    def page(self, repository: Repository) -> str:
        """The address of a repository for people."""
        return f"{self.host}/{repository.full_name}"


def time(at: datetime) -> str:
    """A time as GitHub writes it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe_time(at: datetime | None) -> str | None:
    """A time as GitHub writes it, null when there is none."""
    return time(at) if at else None


def node_id(kind: str, number: int) -> str:
    """The GraphQL id of a record."""
    return f"{kind}_{number}"


def user(site: Site, who: User) -> Json:
    """A user in short."""
    url = f"{site.api}/users/{who.login}"
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("U", who.id),
        "avatar_url": f"{site.host}/avatars/{who.login}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{site.host}/{who.login}",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "events_url": f"{url}/events{{/privacy}}",
        "type": who.kind,
        "site_admin": False,
        **{f"{name}_url": f"{url}/{name}" for name in _USER_URLS},
    }


def login(site: Site, repository: Repository, name: str) -> Json:
    """The user called `name`, in short."""
    return user(site, repository.world.user(name))


def profile(site: Site, who: User) -> Json:
    """A user in full."""
    empty = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    return user(site, who) | empty | counts | {"created_at": time(who.created_at), "updated_at": time(who.created_at)}


def collaborator(site: Site, who: User, role: Role) -> Json:
    """What `who` may do in a repository."""
    permission = {"maintain": "write", "triage": "read"}.get(role, role)
    return {
        "permission": permission,
        "role_name": role,
        "user": user(site, who) | {"permissions": permissions(role), "role_name": role},
    }


def permissions(role: Role) -> Json:
    """A role spelled out."""
    ranks = {"pull": 1, "triage": 2, "push": 3, "maintain": 4, "admin": 5}
    rank = ("none", "read", "triage", "write", "maintain", "admin").index(role)
    return {name: rank >= needed for name, needed in ranks.items()}


def small_repository(site: Site, repository: Repository) -> Json:
    """A repository as other bodies hold it."""
    url = site.repo(repository)
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "owner": login(site, repository, repository.owner),
        "private": repository.private,
        "html_url": site.page(repository),
        "description": None,
        "fork": False,
        "url": url,
        **{f"{name}_url": f"{url}/{rest}" for name, rest in _REPO_URLS.items()},
    }


def repository(site: Site, repo: Repository) -> Json:
    """A repository with its counts and settings."""
    page = site.page(repo)
    still_open = sum(1 for item in repo.issues.values() if item.state == "open")
    zeros = dict.fromkeys(("forks_count", "stargazers_count", "watchers_count", "size", "forks", "watchers"), 0)
    nothing = dict.fromkeys(("mirror_url", "homepage", "language", "license"))
    no = dict.fromkeys(
        ("has_projects", "has_wiki", "has_pages", "has_discussions", "archived", "disabled", "allow_auto_merge"), False
    )
    return (
        small_repository(site, repo)
        | zeros
        | nothing
        | no
        | {
            "git_url": f"git://{page.split('://', 1)[1]}.git",
            "ssh_url": f"git@{page.split('://', 1)[1]}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "default_branch": repo.default_branch,
            "open_issues_count": still_open,
            "open_issues": still_open,
            "has_issues": True,
            "visibility": "private" if repo.private else "public",
            "pushed_at": time(repo.updated_at),
            "created_at": time(repo.created_at),
            "updated_at": time(repo.updated_at),
            "allow_merge_commit": True,
            "allow_squash_merge": True,
            "allow_rebase_merge": False,
        }
    )


def full_repository(site: Site, repo: Repository, role: Role) -> Json:
    """The answer to asking for one repository."""
    return repository(site, repo) | {"permissions": permissions(role), "subscribers_count": 0, "network_count": 0}


def label(site: Site, repo: Repository, item: Label) -> Json:
    """A label of a repository."""
    return label_on_issue(site, repo, item) | {"archived_at": None, "archived_by": None}


def label_on_issue(site: Site, repo: Repository, item: Label) -> Json:
    """A label as an issue or pull request holds it."""
    return {
        "id": item.id,
        "node_id": node_id("LA", item.id),
        "url": f"{site.repo(repo)}/labels/{item.name}",
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


def many(view: Callable[[Site, Repository, Any], Json], site: Site, repo: Repository) -> Callable[[Any], Json]:
    """A view of one row, ready for a page of rows."""
    return lambda row: view(site, repo, row)
