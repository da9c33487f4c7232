"""Between the embedded GitHub and its CI: events go out to the engine, what the engine does comes back as runs, jobs
and logs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from bot.sandbox.ci import CiEngine, CiEvent, JobEnd
from bot.sandbox.github import checks, runs
from bot.sandbox.github.state import Approval, Step
from bot.sandbox.github.world import Repository


class CiDesk:
    """The CI of one repository: a `CiPort` for its events and the `CiPublisher` its engine reports to."""

    def __init__(self, repository: Repository, workroom: Path) -> None:
        """`workroom` is a folder for the jobs' checkouts."""
        self._repository = repository
        self._lock = repository.world.lock
        self._causes: dict[tuple[str, str], tuple[str, Approval]] = {}
        self.engine = CiEngine(self, workroom)

    def start(self, event: CiEvent, actor: str, approval: Approval) -> None:
        """Hand an event to the engine, remembering who caused it and why it may have to wait."""
        self._causes[event.name, event.sha] = (actor, approval)
        self.engine.start(self._repository.git.path, event, held=bool(approval))

    def approve(self, run_id: int) -> None:
        """Let a held run begin."""
        self.engine.approve(run_id)

    def rerun(self, run_id: int, names: Collection[str]) -> frozenset[str] | None:
        """Run jobs of a run again; what is carried over, or None for a run that was set by hand."""
        return self.engine.rerun(run_id, names)

    def workflow_started(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow of the commit was planned; the new run's id."""
        with self._lock:
            return runs.start(self._repository, self._plan(event, workflow_path, workflow_name)).id

    def workflow_held(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow of the commit waits for an approval; the new run's id."""
        with self._lock:
            approval = self._causes[event.name, event.sha][1]
            return runs.start(self._repository, self._plan(event, workflow_path, workflow_name), approval).id

    def _plan(self, event: CiEvent, path: str, name: str) -> runs.RunPlan:
        branch = event.ref.removeprefix("refs/heads/")
        actor = self._causes[event.name, event.sha][0]
        return runs.RunPlan(path, name, event.name, branch, event.sha, actor, event.number)

    def job_queued(self, run_id: int, name: str) -> int:
        """A job waits for a worker; its id, which is also its check run's."""
        with self._lock:
            run = runs.find(self._repository, run_id)
            return checks.add(self._repository, name, run.sha, run).id

    def job_started(self, job_id: int) -> None:
        """A worker has the job."""
        with self._lock:
            job = checks.find(self._repository, job_id)
            started = replace(job, status="in_progress", started_at=self._repository.world.now())
            self._repository.checks[job_id] = started

    def job_finished(self, job_id: int, end: JobEnd) -> None:
        """The job ended, with its steps, its whole log and its annotations."""
        with self._lock:
            steps = tuple(
                Step(step.name, step.number, step.conclusion, step.started_at, step.completed_at) for step in end.steps
            )
            job = checks.find(self._repository, job_id)
            ended = replace(job, steps=steps, log=end.log, annotations=tuple(end.annotations))
            checks.complete(self._repository, ended, end.conclusion)

    def workflow_finished(self, run_id: int, conclusion: str) -> None:
        """Every job of the run has ended."""
        with self._lock:
            runs.finish(self._repository, runs.find(self._repository, run_id), conclusion)
