"""What can be done to Actions' workflows and runs: start, finish, approve, run again.

A job of a run is a check run, under the same id (`checks`). As on GitHub every job of a new attempt is a new row,
those that are carried over with the times they had. The caller holds the world's lock.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from bot.sandbox.ci import Approval
from bot.sandbox.github import checks
from bot.sandbox.github.state import CheckRun, Workflow, WorkflowRun
from bot.sandbox.github.world import Actor, Refused, Repository, not_found

WORKFLOWS = ".github/workflows"
NEVER_STARTED = ("action_required", "startup_failure")
_NAME = re.compile(r"^name:\s*(.+?)\s*$", re.MULTILINE)


def workflow(repository: Repository, path: str, name: str) -> Workflow:
    """The workflow at `path`, made on first mention."""
    known = repository.workflows.get(path)
    if known is None or known.name != name:
        world = repository.world
        known = replace(known, name=name) if known else Workflow(world.next_id(), path, name, world.now())
        repository.workflows[path] = known
    return known


def workflows(repository: Repository) -> list[Workflow]:
    """The workflows on the default branch, and those that have run."""
    tip = repository.git.branch(repository.default_branch)
    for entry in repository.git.entries(tip, WORKFLOWS) if tip else ():
        if entry.path.endswith((".yml", ".yaml")) and entry.path not in repository.workflows:
            named = _NAME.search(repository.git.blob(entry.sha).decode(errors="replace"))
            workflow(repository, entry.path, named[1].strip("\"' ") if named else entry.path)
    return list(repository.workflows.values())


def find_workflow(repository: Repository, key: str) -> Workflow:
    """A workflow by its id, its file name or its path. Raises `Refused` (404)."""
    for known in workflows(repository):
        if key in (str(known.id), known.path, known.path.rsplit("/", 1)[-1]):
            return known
    raise not_found()


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What an Actions run is about: the workflow, what started it (`pull` is 0 unless a pull request did), and the
    commit."""

    path: str
    name: str
    event: str
    branch: str
    sha: str
    actor: str
    pull: int = 0


def start(repository: Repository, plan: RunPlan, approval: Approval = "") -> WorkflowRun:
    """A new Actions run: in progress, or, as GitHub words a run that needs an approval, completed with
    `action_required` and no jobs."""
    world, now = repository.world, repository.world.now()
    known = workflow(repository, plan.path, plan.name)
    run = WorkflowRun(
        id=world.next_id(),
        workflow=known.id,
        suite=world.next_id(),
        number=1 + sum(1 for run in repository.runs.values() if run.workflow == known.id),
        attempt=1,
        name=plan.name,
        path=plan.path,
        event=plan.event,
        branch=plan.branch,
        sha=plan.sha,
        actor=plan.actor,
        status="completed" if approval else "in_progress",
        conclusion="action_required" if approval else None,
        created_at=now,
        started_at=now,
        updated_at=now,
        triggered_by=plan.actor,
        pull=plan.pull,
        approval=approval,
    )
    return save(repository, run)


def save(repository: Repository, run: WorkflowRun) -> WorkflowRun:
    """Keep a changed run."""
    saved = replace(run, updated_at=repository.world.now())
    repository.runs[run.id] = repository.attempts[run.id, run.attempt] = saved
    repository.world.changed.notify_all()
    return saved


def finish(repository: Repository, run: WorkflowRun, conclusion: str | None) -> WorkflowRun:
    """Set what a run came to; None while it is in progress. Coming to its end is an event."""
    status = "completed" if conclusion else "in_progress"
    saved = save(repository, replace(run, status=status, conclusion=conclusion))
    if conclusion and run.status != "completed":
        repository.happened(Actor(run.actor), "workflow_run", "completed", number=run.id, detail=run.branch)
    return saved


def find(repository: Repository, run_id: int) -> WorkflowRun:
    """An Actions run at its latest attempt. Raises `Refused` (404)."""
    if run_id not in repository.runs:
        raise not_found()
    return repository.runs[run_id]


def find_attempt(repository: Repository, run_id: int, attempt: int) -> WorkflowRun:
    """An Actions run as one of its attempts left it. Raises `Refused` (404)."""
    if (run_id, attempt) not in repository.attempts:
        raise not_found()
    return repository.attempts[run_id, attempt]


def jobs(repository: Repository, run: WorkflowRun) -> list[CheckRun]:
    """The jobs of one attempt of a run."""
    return [row for row in repository.checks.values() if (row.run, row.attempt) == (run.id, run.attempt)]


def approve(repository: Repository, run: WorkflowRun) -> WorkflowRun:
    """Let a run begin that waits for an approval. Raises `Refused` (403) for any other."""
    if run.conclusion != "action_required" or not run.approval:
        raise Refused(403, "This workflow run is not waiting for approval")
    begun = finish(repository, run, None)
    if repository.ci is not None:
        repository.ci.approve(run.id)
    return begun


def cancel(repository: Repository, run: WorkflowRun) -> None:
    """Ask for the end of a run. Raises `Refused` (409) for one that has ended."""
    if run.status == "completed":
        raise Refused(409, "Cannot cancel a workflow run that is completed.")
    if repository.ci is not None:
        repository.ci.cancel(run.id)


def failed_names(repository: Repository, run: WorkflowRun) -> set[str]:
    """The names of the jobs of a run that a re-run of its failed jobs is about."""
    return {row.name for row in jobs(repository, run) if row.conclusion not in checks.PASSING}


def rerun(repository: Repository, run: WorkflowRun, names: Collection[str], actor: str) -> WorkflowRun:
    """The next attempt of a run: the jobs called `names` and those that need them run again, the others are carried
    over. Where no CI ran them they are queued, for somebody to set. Raises `Refused` (403) while the run is going on,
    when it never started, or with nothing to run again."""
    if run.status != "completed":
        raise Refused(403, "This workflow is already running")
    if not names or run.conclusion in NEVER_STARTED:
        raise Refused(403, "This workflow run cannot be retried")
    before = jobs(repository, run)
    carried = repository.ci.rerun(run.id, names) if repository.ci else None
    now = repository.world.now()
    again = replace(
        run, attempt=run.attempt + 1, status="in_progress", conclusion=None, started_at=now, triggered_by=actor
    )
    save(repository, again)
    for row in before:
        if row.name not in names and (carried is None or row.name in carried):
            copy = replace(row, id=repository.world.next_id(), attempt=again.attempt)
            repository.checks[copy.id] = copy
        elif carried is None:
            checks.add(repository, row.name, row.sha, again)
    return again
