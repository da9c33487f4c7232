"""What can be done to check runs, suites and commit statuses, and what they add up to.

A check run that belongs to an Actions run (`runs`) is also that run's job, under the same id. The caller holds the
world's lock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bot.sandbox.github.state import CheckRun, CommitStatus, Suite, WorkflowRun
from bot.sandbox.github.world import Repository, invalid, not_found

PASSING = ("success", "neutral", "skipped")
STATES = ("error", "failure", "pending", "success")
ACTIONS = "github-actions"  # the app that workflow jobs belong to
Verdict = Literal["none", "pending", "failing", "passing"]


def add(repository: Repository, name: str, sha: str, maker: WorkflowRun | str) -> CheckRun:
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
        opened = [suite.id for suite in repository.suites.values() if (suite.sha, suite.app) == (sha, maker)]
        suite = opened[0] if opened else add_suite(repository, sha, maker).id
        check = CheckRun(world.next_id(), suite, name, sha, "queued", None, maker, world.now())
    repository.checks[check.id] = check
    return check


def add_suite(
    repository: Repository, sha: str, app: str, status: str = "queued", conclusion: str | None = None
) -> Suite:
    """A check suite of an app that has no check run yet."""
    suite = Suite(repository.world.next_id(), sha, app, status, conclusion, repository.world.now())
    repository.suites[suite.id] = suite
    return suite


def find(repository: Repository, check_id: int) -> CheckRun:
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


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """A check suite as it stands; `checks` counts the latest check runs of it."""

    id: int
    app: str
    branch: str | None
    status: str
    conclusion: str | None
    created_at: datetime
    updated_at: datetime
    checks: int


def suites_on(repository: Repository, sha: str) -> list[SuiteFacts]:
    """The check suites of a commit: one for each Actions run, and those that apps opened, empty ones too."""
    rows = on_commit(repository, sha)
    found = []
    for run in repository.runs.values():
        if run.sha == sha:
            count = sum(1 for row in rows if row.suite == run.suite)
            found.append(
                SuiteFacts(
                    run.suite, ACTIONS, run.branch, run.status, run.conclusion, run.created_at, run.updated_at, count
                )
            )
    for suite in repository.suites.values():
        if suite.sha == sha:
            found.append(_app_suite(suite, [row for row in rows if row.suite == suite.id]))
    return found


def _app_suite(suite: Suite, rows: list[CheckRun]) -> SuiteFacts:
    status, conclusion, updated = suite.status, suite.conclusion, suite.created_at
    if rows:
        done = all(row.status == "completed" for row in rows)
        bad = [row.conclusion for row in rows if row.conclusion not in PASSING]
        status, conclusion = ("completed", bad[0] if bad else "success") if done else ("in_progress", None)
        updated = max(row.completed_at or row.created_at for row in rows)
    return SuiteFacts(suite.id, suite.app, None, status, conclusion, suite.created_at, updated, len(rows))


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
