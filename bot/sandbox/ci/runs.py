"""One workflow run: its jobs are queued as their needs end; each step forward is made under the run's own lock."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bot.sandbox.ci.commit import TestedCommit
from bot.sandbox.ci.events import CiPublisher, Conclusion
from bot.sandbox.ci.jobs import JobEnd, JobRun, JobTask, job_scope
from bot.sandbox.ci.log import JobLog, stamp
from bot.sandbox.ci.matrix import Combination, combinations, job_name
from bot.sandbox.ci.processes import JobProcesses
from bot.sandbox.ci.schedule import combined, standing, startable
from bot.sandbox.ci.templates import condition_holds
from bot.sandbox.ci.values import ExpressionError, Value
from bot.sandbox.ci.workflow import Job, Workflow

log = logging.getLogger(__name__)

Submit = Callable[[Callable[[], None]], None]
"""Hands work to a worker thread."""


@dataclass(slots=True)
class _Member:
    """One job that was queued; `end` once it has ended."""

    job_id: int
    task: JobTask
    processes: JobProcesses = field(default_factory=JobProcesses)
    end: JobEnd | None = None


class WorkflowRun:
    """A workflow that was started for a commit."""

    def __init__(
        self, publisher: CiPublisher, workflow: Workflow, commit: TestedCommit, directory: Path, submit: Submit
    ) -> None:
        """Announce the run. `directory` is its own, for the jobs' directories."""
        self._publisher = publisher
        self._workflow = workflow
        self._commit = commit
        self._directory = directory
        self._submit = submit
        self._lock = threading.RLock()
        self._members: dict[str, list[_Member]] = {}
        self._results: dict[str, Conclusion] = {}
        self._cancelled = False
        self._finished = False
        self.run_id = publisher.workflow_started(commit.event, workflow.path, workflow.name, 1)

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished

    def advance(self) -> None:
        """Start every job that can start; end the run when all have ended."""
        with self._lock:
            while ready := startable(self._workflow.jobs, self._members, self._results):
                for job in ready:
                    self._begin(job)
            if not self._finished and len(self._results) == len(self._workflow.jobs):
                self._finished = True
                shutil.rmtree(self._directory, ignore_errors=True)
                self._publisher.workflow_finished(self.run_id, combined(self._results.values()))

    def cancel(self) -> None:
        """Kill what runs; what waits ends as cancelled."""
        self._cancelled = True
        with self._lock:
            for member in (one for members in self._members.values() for one in members):
                member.processes.cancel()

    def _begin(self, job: Job) -> None:
        """A job whose needs have ended: skip it, refuse it, or queue it once for each combination of its matrix."""
        self._members[job.id] = []
        name, needs = job.name or job.id, self._needs(job)
        task = JobTask(self._workflow, job, name, {}, self._commit, self.run_id, needs, self._directory / job.id)
        if self._cancelled:
            self._end_early(job, name, "cancelled")
            return
        scope = job_scope(task, standing(self._workflow.jobs, job.id, self._results))
        try:
            if not condition_holds(job.condition, scope):
                self._end_early(job, name, "skipped")
                return
            tasks = [_member_task(task, index, one) for index, one in enumerate(combinations(job.matrix, scope))]
        except ExpressionError as error:
            self._refuse(job, task, str(error))
            return
        self._members[job.id] = [_Member(self._publisher.job_queued(self.run_id, one.name), one) for one in tasks]
        for member in self._members[job.id]:
            self._submit(partial(self._work, member))
        if not tasks:
            self._results[job.id] = "skipped"

    def _end_early(self, job: Job, name: str, conclusion: Conclusion) -> None:
        """A job that never had a worker."""
        self._publisher.job_finished(self._publisher.job_queued(self.run_id, name), conclusion, (), b"")
        self._results[job.id] = conclusion

    def _refuse(self, job: Job, task: JobTask, problem: str) -> None:
        """A job whose `if:`, name or matrix cannot be read: it fails at set-up."""
        job_id = self._publisher.job_queued(self.run_id, task.name)
        self._publisher.job_started(job_id)
        self._directory.mkdir(parents=True, exist_ok=True)
        text = JobLog(self._directory)
        text.error(f"The sandbox cannot run job '{job.id}': {problem}")
        self._publisher.job_finished(job_id, "failure", (), text.finish())
        self._results[job.id] = "failure"

    def _work(self, member: _Member) -> None:
        """Run one queued job on this thread, then go on with the run."""
        if member.processes.cancelled:
            end = JobEnd("cancelled", (), b"")
        else:
            self._publisher.job_started(member.job_id)
            end = _execute(member.task, member.processes)
            shutil.rmtree(member.task.directory, ignore_errors=True)
        self._publisher.job_finished(member.job_id, end.conclusion, end.steps, end.log)
        with self._lock:
            member.end = replace(end, log=b"")
            self._settle(member.task.job)
        self.advance()

    def _settle(self, job: Job) -> None:
        """Note the result of a job once all of its combinations have ended; fail fast where the matrix says so."""
        members = self._members[job.id]
        ends = [member.end for member in members if member.end is not None]
        if any(end.conclusion == "failure" and not end.tolerated for end in ends) and job.fail_fast != "false":
            for member in members:
                if member.end is None:
                    member.processes.cancel()
        if len(ends) == len(members):
            self._results[job.id] = combined("success" if end.tolerated else end.conclusion for end in ends)

    def _needs(self, job: Job) -> Mapping[str, Value]:
        return {need: {"result": self._results[need], "outputs": self._outputs(need)} for need in job.needs}

    def _outputs(self, name: str) -> Mapping[str, Value]:
        ends: Sequence[JobEnd] = [member.end for member in self._members[name] if member.end is not None]
        return {key: value for end in ends for key, value in end.outputs.items()}


def _member_task(task: JobTask, index: int, combination: Combination) -> JobTask:
    """The task for one combination of its job's matrix, with a name and a directory of its own."""
    own = replace(task, combination=combination, directory=task.directory.with_name(f"{task.job.id}-{index}"))
    return replace(own, name=job_name(task.job, combination, job_scope(own)))


def _execute(task: JobTask, processes: JobProcesses) -> JobEnd:
    """Run a job. What the sandbox could not do (a full disk, ...) fails it too: no job stays without an end."""
    try:
        return JobRun(task, processes).execute()
    except Exception as error:
        log.exception("job %s of %s", task.name, task.workflow.path)
        message = f"##[error]The sandbox failed to run this job: {type(error).__name__}: {error}"
        return JobEnd("failure", (), f"{stamp(datetime.now(UTC))} {message}\n".encode())
