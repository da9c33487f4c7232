"""Checks, statuses and Actions as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

from bot.sandbox.github import checks, pulls
from bot.sandbox.github.gitdata import CommitInfo
from bot.sandbox.github.state import CheckRun, CommitStatus, Step, Workflow, WorkflowRun
from bot.sandbox.github.views import Json, Site, login, maybe_time, node_id, small_repository, time
from bot.sandbox.github.world import Repository

ACTIONS_APP = 15368  # the id of the GitHub Actions app on github.com


def _app(site: Site, repo: Repository, slug: str) -> Json:
    name = "GitHub Actions" if slug == "github-actions" else slug
    made = time(repo.created_at)
    return {
        "id": ACTIONS_APP,
        "slug": slug,
        "node_id": node_id("A", ACTIONS_APP),
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


def _pulls_of(site: Site, repo: Repository, sha: str) -> list[Json]:
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
        "pull_requests": _pulls_of(site, repo, item.sha),
        "output": {
            "title": item.title,
            "summary": item.summary,
            "text": None,
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
    }


def check_suite(site: Site, repo: Repository, members: list[CheckRun], tip: CommitInfo) -> Json:
    """The check runs of one suite, summed up."""
    first, url = members[0], f"{site.repo(repo)}/check-suites/{members[0].suite}"
    run = repo.runs.get(first.run or 0)
    done = all(item.status == "completed" for item in members)
    bad = [item.conclusion for item in members if item.conclusion not in checks.PASSING]
    return {
        "id": first.suite,
        "node_id": node_id("CS", first.suite),
        "head_branch": run.branch if run else None,
        "head_sha": first.sha,
        "status": "completed" if done else "in_progress",
        "conclusion": (bad[0] if bad else "success") if done else None,
        "url": url,
        "before": None,
        "after": first.sha,
        "pull_requests": _pulls_of(site, repo, first.sha),
        "app": _app(site, repo, first.app),
        "repository": small_repository(site, repo),
        "created_at": time(first.created_at),
        "updated_at": time(max(item.completed_at or item.created_at for item in members)),
        "head_commit": _head_commit(tip),
        "latest_check_runs_count": len(members),
        "check_runs_url": f"{url}/check-runs",
    }


def _head_commit(tip: CommitInfo) -> Json:
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


def workflow(site: Site, repo: Repository, item: Workflow) -> Json:
    """A workflow."""
    made = time(item.created_at)
    return {
        "id": item.id,
        "node_id": node_id("W", item.id),
        "name": item.name,
        "path": item.path,
        "state": "active",
        "created_at": made,
        "updated_at": made,
        "url": f"{site.repo(repo)}/actions/workflows/{item.id}",
        "html_url": f"{site.page(repo)}/blob/{repo.default_branch}/{item.path}",
        "badge_url": f"{site.page(repo)}/workflows/{item.id}/badge.svg",
    }


def workflow_run(site: Site, repo: Repository, item: WorkflowRun) -> Json:
    """An Actions run."""
    url, tip = f"{site.repo(repo)}/actions/runs/{item.id}", repo.git.commit(item.sha)
    small, actor = small_repository(site, repo), login(site, repo, item.actor)
    earlier = f"{url}/attempts/{item.attempt - 1}" if item.attempt > 1 else None
    title = repo.issues[item.pull].title if item.pull else tip.message.splitlines()[0] if tip.message else item.name
    return {
        "id": item.id,
        "name": item.name,
        "node_id": node_id("WFR", item.id),
        "check_suite_id": item.suite,
        "check_suite_node_id": node_id("CS", item.suite),
        "head_branch": item.branch,
        "head_sha": item.sha,
        "path": item.path,
        "run_number": item.number,
        "run_attempt": item.attempt,
        "referenced_workflows": [],
        "event": item.event,
        "status": item.status,
        "conclusion": item.conclusion,
        "workflow_id": item.workflow,
        "url": url,
        "html_url": f"{site.page(repo)}/actions/runs/{item.id}",
        "pull_requests": _pulls_of(site, repo, item.sha),
        "created_at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "actor": actor,
        "triggering_actor": actor,
        "run_started_at": time(item.created_at),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{site.repo(repo)}/check-suites/{item.suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": earlier,
        "workflow_url": f"{site.repo(repo)}/actions/workflows/{item.workflow}",
        "head_commit": _head_commit(tip),
        "repository": small,
        "head_repository": small,
        "display_title": title,
    }


def job(site: Site, repo: Repository, item: CheckRun) -> Json:
    """A job of an Actions run."""
    run = repo.runs[item.run or 0]
    started = item.status != "queued"
    return {
        "id": item.id,
        "run_id": run.id,
        "run_url": f"{site.repo(repo)}/actions/runs/{run.id}",
        "run_attempt": item.attempt,
        "node_id": node_id("CR", item.id),
        "head_sha": item.sha,
        "url": f"{site.repo(repo)}/actions/jobs/{item.id}",
        "html_url": f"{site.page(repo)}/actions/runs/{run.id}/job/{item.id}",
        "status": item.status,
        "conclusion": item.conclusion,
        "created_at": time(item.created_at),
        "started_at": time(item.started_at or item.created_at),
        "completed_at": maybe_time(item.completed_at),
        "name": item.name,
        "steps": [_step(step) for step in item.steps],
        "check_run_url": f"{site.repo(repo)}/check-runs/{item.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1 if started else None,
        "runner_name": "sandbox" if started else None,
        "runner_group_id": 1 if started else None,
        "runner_group_name": "Default" if started else None,
        "workflow_name": run.name,
        "head_branch": run.branch,
    }


def _step(item: Step) -> Json:
    return {
        "name": item.name,
        "status": "completed",
        "conclusion": item.conclusion,
        "number": item.number,
        "started_at": time(item.started_at),
        "completed_at": time(item.completed_at),
    }
