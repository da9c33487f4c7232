"""Checks, suites and statuses as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

import zlib
from urllib.parse import quote

from bot.sandbox.ci import Annotation
from bot.sandbox.github import checks, pulls
from bot.sandbox.github.gitdata import CommitInfo
from bot.sandbox.github.state import CheckRun, CommitStatus
from bot.sandbox.github.views import Json, Site, login, maybe_time, node_id, small_repository, time
from bot.sandbox.github.world import Repository

ACTIONS_APP = 15368  # the id of the GitHub Actions app on github.com


def app_id(slug: str) -> int:
    """The id of an app."""
    return ACTIONS_APP if slug == checks.ACTIONS else zlib.crc32(slug.encode())


def _app(site: Site, repo: Repository, slug: str) -> Json:
    name = "GitHub Actions" if slug == checks.ACTIONS else slug
    made = time(repo.created_at)
    return {
        "id": app_id(slug),
        "slug": slug,
        "node_id": node_id("A", app_id(slug)),
        "owner": login(site, repo, repo.owner),
        "name": name,
        "description": None,
        "external_url": site.host,
        "html_url": f"{site.host}/apps/{slug}",
        "created_at": made,
        "updated_at": made,
        "permissions": {"checks": "write"},
        "events": [],
    }


def pulls_of(site: Site, repo: Repository, sha: str) -> list[Json]:
    """The open pull requests whose head a commit is, in short."""
    short = {"id": repo.id, "url": site.repo(repo), "name": repo.name}
    return [
        {
            "id": item.id,
            "number": item.number,
            "url": f"{site.repo(repo)}/pulls/{item.number}",
            "head": {"ref": item.head, "sha": item.head_sha, "repo": short},
            "base": {"ref": item.base, "sha": item.base_sha, "repo": short},
        }
        for item in repo.pulls.values()
        if item.head_sha == sha and pulls.is_open(repo, item)
    ]


def check_run(site: Site, repo: Repository, item: CheckRun) -> Json:
    """A check run."""
    url = f"{site.repo(repo)}/check-runs/{item.id}"
    page = (
        f"{site.page(repo)}/actions/runs/{item.run}/job/{item.id}" if item.run else f"{site.page(repo)}/runs/{item.id}"
    )
    return {
        "id": item.id,
        "node_id": node_id("CR", item.id),
        "head_sha": item.sha,
        "external_id": "",
        "url": url,
        "html_url": page,
        "details_url": page,
        "status": item.status,
        "conclusion": item.conclusion,
        "started_at": maybe_time(item.started_at or item.created_at),
        "completed_at": maybe_time(item.completed_at),
        "name": item.name,
        "check_suite": {"id": item.suite},
        "app": _app(site, repo, item.app),
        "pull_requests": pulls_of(site, repo, item.sha),
        "output": {
            "title": item.title,
            "summary": item.summary,
            "text": None,
            "annotations_count": len(item.annotations),
            "annotations_url": f"{url}/annotations",
        },
    }


def check_suite(site: Site, repo: Repository, item: checks.SuiteFacts, tip: CommitInfo) -> Json:
    """A check suite."""
    url = f"{site.repo(repo)}/check-suites/{item.id}"
    return {
        "id": item.id,
        "node_id": node_id("CS", item.id),
        "head_branch": item.branch,
        "head_sha": tip.sha,
        "status": item.status,
        "conclusion": item.conclusion,
        "url": url,
        "before": None,
        "after": tip.sha,
        "pull_requests": pulls_of(site, repo, tip.sha),
        "app": _app(site, repo, item.app),
        "repository": small_repository(site, repo),
        "created_at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "head_commit": head_commit(tip),
        "latest_check_runs_count": item.checks,
        "check_runs_url": f"{url}/check-runs",
    }


def annotation(site: Site, repo: Repository, check: CheckRun, item: Annotation) -> Json:
    """What a check run says about a line of a file."""
    return {
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "start_column": None,
        "end_column": None,
        "annotation_level": item.level,
        "title": item.title or "",
        "message": item.message,
        "raw_details": "",
        "blob_href": f"{site.page(repo)}/blob/{check.sha}/{quote(item.path)}",
    }


def head_commit(tip: CommitInfo) -> Json:
    """A commit as suites and runs hold it."""
    people = {
        role: {"name": who.name, "email": who.email}
        for role, who in (("author", tip.author), ("committer", tip.committer))
    }
    return {
        "id": tip.sha,
        "tree_id": tip.tree,
        "message": tip.message,
        "timestamp": tip.committer.date.isoformat(),
        **people,
    }


def status(site: Site, repo: Repository, item: CommitStatus) -> Json:
    """A commit status as the list of them shows it."""
    return status_in_sum(site, repo, item) | {"creator": login(site, repo, item.creator)}


def status_in_sum(site: Site, repo: Repository, item: CommitStatus) -> Json:
    """A commit status as the combined status holds it."""
    made = time(item.created_at)
    return {
        "url": f"{site.repo(repo)}/statuses/{item.sha}",
        "avatar_url": f"{site.host}/avatars/{item.creator}",
        "id": item.id,
        "node_id": node_id("SC", item.id),
        "state": item.state,
        "description": item.description,
        "target_url": item.target_url,
        "context": item.context,
        "created_at": made,
        "updated_at": made,
    }


def combined_status(site: Site, repo: Repository, sha: str, items: list[CommitStatus]) -> Json:
    """The statuses of a commit, the latest of each context, and what they add up to."""
    states = {item.state for item in items}
    total = "failure" if states & {"failure", "error"} else "success" if states == {"success"} else "pending"
    url = f"{site.repo(repo)}/commits/{sha}"
    return {
        "state": total,
        "statuses": [status_in_sum(site, repo, item) for item in items],
        "sha": sha,
        "total_count": len(items),
        "repository": small_repository(site, repo),
        "commit_url": url,
        "url": f"{url}/status",
    }
