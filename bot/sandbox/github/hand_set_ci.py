"""CI from Python: runs, jobs, check runs, suites and statuses set by hand, as any CI could leave them behind, the odd
ones too.

`set_check_run`, `set_app_check` and `set_status` say what a test mostly wants. The rest makes single rows, which need
not fit together: a run that is over with a job that is not, two runs of one workflow, a job that comes late, no jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.sandbox.ci import LOST_RUNNER, Annotation
from bot.sandbox.github import checks, pushes, runs
from bot.sandbox.github.state import CheckRun, Step, WorkflowRun
from bot.sandbox.github.world import Actor, Repository


class HandSetCi:
    """The part of a repository that CI would write. A conclusion of None means: not finished."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lock = repository.world.lock

    def set_check_run(
        self, sha: str, name: str, conclusion: str | None, workflow: str | None = None, log: str = ""
    ) -> int:
        """A check run on a commit without any CI (None: still running); its id. `workflow` is the file name of the
        Actions workflow whose job it is, in the commit's latest run of it, which it finishes or reopens; without one it
        is Actions' own but belongs to no run."""
        with self._lock:
            run = self._run_for(sha, workflow) if workflow else None
            check = self._place(checks.add(self._repository, name, sha, run or checks.ACTIONS), conclusion, log)
            if run is not None:
                self._sum_up(run)
            return check

    def set_app_check(self, sha: str, name: str, conclusion: str | None, app: str) -> int:
        """A check run of some other app than Actions (None: still running); its id."""
        with self._lock:
            check = checks.add(self._repository, name, sha, app)
            placed = self._place(check, conclusion, "")
            self._announce_suite(sha, check.suite)
            return placed

    def set_status(
        self,
        sha: str,
        context: str,
        state: str,
        creator: str = "dana",
        *,
        description: str | None = None,
        target_url: str | None = None,
    ) -> None:
        """A commit status: error, failure, pending or success."""
        with self._lock:
            report = checks.StatusReport(state, context, description, target_url)
            status = checks.add_status(self._repository, creator, sha, report)
            self._repository.happened(Actor(creator), "status", number=status.id)

    def add_run(
        self,
        sha: str,
        workflow: str,
        conclusion: str | None = None,
        *,
        event: str = "push",
        branch: str = "",
        actor: str = "",
    ) -> int:
        """A new Actions run of a workflow file, without jobs, in a suite of its own; its id. `branch` is worked out
        from the commit when not given. A conclusion of `action_required` is a run that waits for an approval."""
        with self._lock:
            plan = self._plan(sha, workflow, event, branch, actor)
            if conclusion == "action_required":
                return runs.start(self._repository, plan, "fork").id
            return runs.finish(self._repository, runs.start(self._repository, plan), conclusion).id

    def add_job(
        self,
        run: int,
        name: str,
        conclusion: str | None = None,
        *,
        log: str = "",
        steps: Sequence[tuple[str, str]] = (),
        started_at: datetime | None = None,
    ) -> int:
        """A new job of a run's latest attempt, which changes nothing about the run; its id. `steps` are names with
        conclusions; without a log there is none (404)."""
        with self._lock:
            made = checks.add(self._repository, name, runs.find(self._repository, run).sha, self._repository.runs[run])
            at = started_at or made.created_at
            rows = tuple(Step(step, number, came_to, at, at) for number, (step, came_to) in enumerate(steps, start=1))
            return self._place(replace(made, steps=rows, started_at=at), conclusion, log)

    def lose_runner(self, run: int, name: str) -> int:
        """A job of a run whose runner went away: failed, with no steps, no log, and GitHub's annotation; its id."""
        job = self.add_job(run, name, "failure")
        self.annotate(job, Annotation("failure", LOST_RUNNER))
        return job

    def set_run(self, run: int, conclusion: str | None, status: str = "") -> None:
        """Change what a run came to, whatever its jobs say; `status` is worked out when not given."""
        with self._lock:
            changed = runs.finish(self._repository, runs.find(self._repository, run), conclusion)
            if status:
                runs.save(self._repository, replace(changed, status=status))

    def set_check(self, check: int, conclusion: str | None, *, status: str = "", log: str | None = None) -> None:
        """Change a check run or job; `status` is worked out when not given, `log` stays when None."""
        with self._lock:
            row = checks.find(self._repository, check)
            self._place(row, conclusion, log if log is not None else (row.log or b"").decode())
            if status:
                self._repository.checks[check] = replace(self._repository.checks[check], status=status)
                self._repository.world.changed.notify_all()

    def annotate(self, check: int, *annotations: Annotation) -> None:
        """Put annotations on a check run or job."""
        with self._lock:
            row = checks.find(self._repository, check)
            self._repository.checks[check] = replace(row, annotations=(*row.annotations, *annotations))

    def add_suite(self, sha: str, app: str, status: str = "queued", conclusion: str | None = None) -> int:
        """A check suite that an app opened and never put a check run into; its id."""
        with self._lock:
            suite = checks.add_suite(self._repository, sha, app, status, conclusion).id
            self._announce_suite(sha, suite)
            return suite

    def _announce_suite(self, sha: str, suite: int) -> None:
        """The event of a suite that has come to its end: of another app than Actions, on a commit that Actions has no
        run on, as GitHub's documentation has it."""
        repo = self._repository
        facts = next(one for one in checks.suites_on(repo, sha) if one.id == suite)
        of_actions = facts.app == checks.ACTIONS or any(run.sha == sha for run in repo.runs.values())
        if facts.status == "completed" and not of_actions:
            repo.happened(Actor(f"{facts.app}[bot]"), "check_suite", "completed", number=suite)

    def _place(self, made: CheckRun, conclusion: str | None, log: str) -> int:
        started = made.started_at or made.created_at
        check = replace(
            made,
            status="in_progress",
            conclusion=None,
            started_at=started,
            completed_at=None,
            log=log.encode() if log else None,
        )
        self._repository.checks[made.id] = check
        if conclusion is not None:
            checks.complete(self._repository, check, conclusion)
        return made.id

    def _plan(self, sha: str, workflow: str, event: str = "push", branch: str = "", actor: str = "") -> runs.RunPlan:
        repository, path = self._repository, f"{runs.WORKFLOWS}/{workflow}"
        heads = [ref for ref, tip in repository.git.refs().items() if tip == sha and ref.startswith(pushes.HEADS)]
        branch = branch or (heads or [""])[-1].removeprefix(pushes.HEADS)
        name = workflow.rsplit(".", 1)[0]
        return runs.RunPlan(path, name, event, branch, sha, actor or repository.owner)

    def _run_for(self, sha: str, workflow: str) -> WorkflowRun:
        plan = self._plan(sha, workflow)
        for run in reversed(self._repository.runs.values()):
            if (run.sha, run.path) == (sha, plan.path):
                return run
        return runs.start(self._repository, plan)

    def _sum_up(self, run: WorkflowRun) -> None:
        jobs = [row for row in checks.on_commit(self._repository, run.sha) if row.run == run.id]
        bad = [row.conclusion for row in jobs if row.conclusion not in checks.PASSING]
        done = all(row.status == "completed" for row in jobs)
        runs.finish(self._repository, run, (bad[0] if bad else "success") if done else None)
