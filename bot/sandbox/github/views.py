"""Users and repositories as GitHub's REST API words them (schema of API version 2026-03-10).

Functions of records only: what a body says about several tables at once is handed in. Every `url` starts with the API
address, every `html_url` with the server's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.sandbox.github.state import Role, User
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


def many(view: Callable[[Site, Repository, Any], Json], site: Site, repo: Repository) -> Callable[[Any], Json]:
    """A view of one row, ready for a page of rows."""
    return lambda row: view(site, repo, row)
