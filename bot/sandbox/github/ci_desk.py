"""Between the embedded GitHub and its CI: events go out to the engine, what the engine does comes back as runs, jobs
and logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.sandbox.ci import CiEngine, CiEvent, StepResult
from bot.sandbox.github import checks
from bot.sandbox.github.state import Step
from bot.sandbox.github.world import Repository


class CiDesk:
    """The CI of one repository: a `CiPort` for its events and the `CiPublisher` its engine reports to."""

    def __init__(self, repository: Repository, workroom: Path) -> None:
        """`workroom` is a folder for the jobs' checkouts."""
        self._repository = repository
        self._actors: dict[tuple[str, str], str] = {}
        self.engine = CiEngine(self, workroom)

    def start(self, event: CiEvent, actor: str) -> None:
        """Hand an event to the engine, remembering who caused it."""
        self._actors[(event.name, event.sha)] = actor
        self.engine.start(self._repository.git.path, event)

    def workflow_started(self, event: CiEvent, workflow_path: str, workflow_name: str, run_attempt: int) -> int:
        """A workflow of the commit was planned; the new run's id."""
        with self._repository.world.lock:
            actor = self._actors.get((event.name, event.sha), self._repository.owner)
            branch = event.ref.removeprefix("refs/heads/")
            plan = checks.RunPlan(workflow_path, workflow_name, event.name, branch, event.sha, actor, event.number)
            return checks.start_run(self._repository, plan, run_attempt).id

    def job_queued(self, run_id: int, name: str) -> int:
        """A job waits for a worker; its id, which is also its check run's."""
        with self._repository.world.lock:
            run = checks.find_run(self._repository, run_id)
            return checks.add_check(self._repository, name, run.sha, run).id

    def job_started(self, job_id: int) -> None:
        """A worker has the job."""
        with self._repository.world.lock:
            job = checks.find_check(self._repository, job_id)
            self._repository.checks[job_id] = replace(
                job, status="in_progress", started_at=self._repository.world.now()
            )

    def job_finished(self, job_id: int, conclusion: str, steps: Sequence[StepResult], log: bytes) -> None:
        """The job ended, with its steps and its whole log."""
        with self._repository.world.lock:
            kept = tuple(
                Step(step.name, step.number, step.conclusion, step.started_at, step.completed_at) for step in steps
            )
            job = replace(checks.find_check(self._repository, job_id), steps=kept, log=log)
            checks.complete(self._repository, job, conclusion)

    def workflow_finished(self, run_id: int, conclusion: str) -> None:
        """Every job of the run has ended."""
        with self._repository.world.lock:
            checks.finish_run(self._repository, checks.find_run(self._repository, run_id), conclusion)
