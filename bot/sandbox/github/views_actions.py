"""Actions' workflows, runs and jobs as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

from bot.sandbox.github.state import CheckRun, Step, Variable, Workflow, WorkflowRun
from bot.sandbox.github.views import Json, Site, login, maybe_time, node_id, small_repository, time
from bot.sandbox.github.views_checks import head_commit, pulls_of
from bot.sandbox.github.world import Repository


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
    small = small_repository(site, repo)
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
        "pull_requests": [] if item.approval == "fork" else pulls_of(site, repo, item.sha),
        "created_at": time(item.created_at),
        "updated_at": time(item.updated_at),
        "actor": login(site, repo, item.actor),
        "triggering_actor": login(site, repo, item.triggered_by),
        "run_started_at": time(item.started_at),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{site.repo(repo)}/check-suites/{item.suite}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": earlier,
        "workflow_url": f"{site.repo(repo)}/actions/workflows/{item.workflow}",
        "head_commit": head_commit(tip),
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


def variable(item: Variable) -> Json:
    """A variable of a repository."""
    made, changed = time(item.created_at), time(item.updated_at)
    return {"name": item.name, "value": item.value, "created_at": made, "updated_at": changed}


def _step(item: Step) -> Json:
    return {
        "name": item.name,
        "status": "completed",
        "conclusion": item.conclusion,
        "number": item.number,
        "started_at": time(item.started_at),
        "completed_at": time(item.completed_at),
    }
