"""What can be done to check runs, Actions runs and commit statuses, and what they add up to.

A check run that belongs to an Actions run is also that run's job, under the same id. The caller holds the world's lock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.sandbox.github.state import CheckRun, CommitStatus, Workflow, WorkflowRun
from bot.sandbox.github.world import Repository, invalid, not_found

PASSING = ("success", "neutral", "skipped")
STATES = ("error", "failure", "pending", "success")
ACTIONS = "github-actions"  # the app that workflow jobs belong to
WORKFLOWS = ".github/workflows"
_NAME = re.compile(r"^name:\s*(.+?)\s*$", re.MULTILINE)
Verdict = Literal["none", "pending", "failing", "passing"]


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


def start_run(repository: Repository, plan: RunPlan, attempt: int = 1) -> WorkflowRun:
    """A new Actions run, or the next attempt of the run there is for the same workflow, event and commit."""
    world = repository.world
    known = workflow(repository, plan.path, plan.name)
    runs = [run for run in repository.runs.values() if run.workflow == known.id]
    if attempt > 1:
        for run in reversed(runs):
            if (run.sha, run.event) == (plan.sha, plan.event):
                return save_run(repository, replace(run, attempt=attempt, status="in_progress", conclusion=None))
    now = world.now()
    run = WorkflowRun(
        id=world.next_id(),
        workflow=known.id,
        suite=world.next_id(),
        number=len(runs) + 1,
        attempt=attempt,
        name=plan.name,
        path=plan.path,
        event=plan.event,
        branch=plan.branch,
        sha=plan.sha,
        actor=plan.actor,
        status="in_progress",
        conclusion=None,
        created_at=now,
        updated_at=now,
        pull=plan.pull,
    )
    return save_run(repository, run)


def save_run(repository: Repository, run: WorkflowRun) -> WorkflowRun:
    """Keep a changed run."""
    saved = replace(run, updated_at=repository.world.now())
    repository.runs[run.id] = saved
    return saved


def finish_run(repository: Repository, run: WorkflowRun, conclusion: str | None) -> WorkflowRun:
    """Set what a run came to; None while it is in progress."""
    return save_run(
        repository, replace(run, status="completed" if conclusion else "in_progress", conclusion=conclusion)
    )


def find_run(repository: Repository, run_id: int) -> WorkflowRun:
    """An Actions run. Raises `Refused` (404)."""
    if run_id not in repository.runs:
        raise not_found()
    return repository.runs[run_id]


def add_check(repository: Repository, name: str, sha: str, maker: WorkflowRun | str) -> CheckRun:
    """A queued check run: a job of an Actions run, or one of the app of that name."""
    world = repository.world
    if isinstance(maker, WorkflowRun):
        check = CheckRun(
            world.next_id(),
            maker.suite,
            name,
            sha,
            "queued",
            None,
            ACTIONS,
            world.now(),
            run=maker.id,
            attempt=maker.attempt,
        )
    else:
        suites = [row.suite for row in repository.checks.values() if (row.sha, row.app, row.run) == (sha, maker, None)]
        suite = suites[0] if suites else world.next_id()
        check = CheckRun(world.next_id(), suite, name, sha, "queued", None, maker, world.now())
    repository.checks[check.id] = check
    return check


def find_check(repository: Repository, check_id: int) -> CheckRun:
    """A check run. Raises `Refused` (404)."""
    if check_id not in repository.checks:
        raise not_found()
    return repository.checks[check_id]


def complete(repository: Repository, check: CheckRun, conclusion: str) -> CheckRun:
    """Finish a check run and note its result on the branches it stands on."""
    now = repository.world.now()
    finished = replace(
        check, status="completed", conclusion=conclusion, started_at=check.started_at or now, completed_at=now
    )
    repository.checks[check.id] = finished
    run = repository.runs.get(check.run or 0)
    label = f"{run.name} / {check.name}" if run and run.name != check.name else check.name
    _note(repository, f"{check.app}[bot]", f"{label}: {conclusion}", check.sha, run.branch if run else "")
    return finished


@dataclass(frozen=True, slots=True)
class StatusReport:
    """What somebody reports of a commit; `state` is error, failure, pending or success."""

    state: str
    context: str
    description: str | None = None
    target_url: str | None = None


def add_status(repository: Repository, actor: str, sha: str, report: StatusReport) -> CommitStatus:
    """A commit status. Raises `Refused` (422) for an unknown state."""
    if report.state not in STATES:
        raise invalid("Status", "state", "invalid")
    world = repository.world
    status = CommitStatus(
        id=world.next_id(),
        sha=sha,
        state=report.state,
        context=report.context,
        description=report.description,
        target_url=report.target_url,
        creator=world.user(actor).login,
        created_at=world.now(),
    )
    repository.statuses.append(status)
    _note(repository, actor, f"{report.context}: {report.state}", sha, "")
    return status


def _note(repository: Repository, actor: str, text: str, sha: str, branch: str) -> None:
    heads = [pull.head for pull in repository.pulls.values() if pull.head_sha == sha]
    for name in dict.fromkeys([branch] if branch else heads or [""]):
        repository.record_on(name, sha, actor, "check", text)


def on_commit(repository: Repository, sha: str, *, latest: bool = True) -> list[CheckRun]:
    """The check runs of a commit, newest first; the latest of each name and suite, or all."""
    found = [check for check in reversed(repository.checks.values()) if check.sha == sha]
    if not latest:
        return found
    seen: dict[tuple[int, str], CheckRun] = {}
    for check in found:
        seen.setdefault((check.suite, check.name), check)
    return list(seen.values())


def statuses_on(repository: Repository, sha: str, *, latest: bool = True) -> list[CommitStatus]:
    """The commit statuses of a commit, newest first; the latest of each context, or all."""
    found = [status for status in reversed(repository.statuses) if status.sha == sha]
    if not latest:
        return found
    seen: dict[str, CommitStatus] = {}
    for status in found:
        seen.setdefault(status.context, status)
    return list(seen.values())


def verdict(repository: Repository, sha: str) -> Verdict:
    """What the check runs and statuses of a commit add up to."""
    checks, statuses = on_commit(repository, sha), statuses_on(repository, sha)
    if not checks and not statuses:
        return "none"
    if any(check.status != "completed" for check in checks) or any(status.state == "pending" for status in statuses):
        return "pending"
    green = all(check.conclusion in PASSING for check in checks) and all(
        status.state == "success" for status in statuses
    )
    return "passing" if green else "failing"


def passed_names(repository: Repository, sha: str) -> set[str]:
    """The names of the checks and statuses that passed on a commit."""
    passed = {check.name for check in on_commit(repository, sha) if check.conclusion in PASSING}
    return passed | {status.context for status in statuses_on(repository, sha) if status.state == "success"}
