"""One workflow run: its jobs are queued as their needs end; each step forward is made under the run's own lock."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bot.sandbox.ci.commit import TestedCommit
from bot.sandbox.ci.contexts import RunAttempt
from bot.sandbox.ci.events import CiPublisher, Conclusion, JobEnd
from bot.sandbox.ci.jobs import JobRun, JobTask, job_scope
from bot.sandbox.ci.log import JobLog, stamp
from bot.sandbox.ci.matrix import Combination, combinations, job_name
from bot.sandbox.ci.processes import JobProcesses
from bot.sandbox.ci.schedule import ancestors, combined, standing, startable
from bot.sandbox.ci.templates import condition_holds
from bot.sandbox.ci.values import ExpressionError, Value
from bot.sandbox.ci.workflow import Job, Workflow

log = logging.getLogger(__name__)

Submit = Callable[[Callable[[], None]], None]
"""Hands work to a worker thread."""


@dataclass(slots=True)
class _Member:
    """One row of a job; `end` once it has ended."""

    job_id: int
    name: str
    processes: JobProcesses = field(default_factory=JobProcesses)
    end: JobEnd | None = None


class WorkflowRun:
    """One attempt of a workflow that was started for a commit."""

    def __init__(
        self,
        publisher: CiPublisher,
        workflow: Workflow,
        commit: TestedCommit,
        attempt: RunAttempt,
        directory: Path,
        submit: Submit,
    ) -> None:
        """Nothing starts before `advance`. `directory` is the run's own, for the jobs' directories."""
        self.attempt = attempt
        self._publisher = publisher
        self._workflow = workflow
        self._commit = commit
        self._directory = directory
        self._submit = submit
        self._lock = threading.RLock()
        self._members: dict[str, list[_Member]] = {}
        self._results: dict[str, Conclusion] = {}
        self._before: Mapping[str, JobEnd] = {}  # rows carried over from the attempt before
        self._cancelled = False
        self._finished = False

    def again(self, names: Collection[str], directory: Path) -> tuple[WorkflowRun, frozenset[str]]:
        """The next attempt of this run, which has ended: the job rows called `names` and the jobs that need theirs run
        again at the same commit. The second value names the rows that are carried over.
        """
        jobs = self._workflow.jobs
        named = {job for job, members in self._members.items() if any(member.name in names for member in members)}
        below = {job for job in jobs if ancestors(jobs, job) & named}
        whole = jobs.keys() - named - below
        attempt = RunAttempt(self.attempt.run_id, self.attempt.number + 1)
        run = WorkflowRun(self._publisher, self._workflow, self._commit, attempt, directory, self._submit)
        run._before = {
            member.name: member.end
            for job in jobs.keys() - below
            for member in self._members[job]
            if member.name not in names and member.end is not None
        }
        run._members = {job: self._members[job] for job in whole}
        run._results = {job: self._results[job] for job in whole}
        return run, frozenset(run._before)

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
                self._publisher.workflow_finished(self.attempt.run_id, combined(self._results.values()))

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
        task = JobTask(self._workflow, job, name, {}, self._commit, self.attempt, needs, self._directory / job.id)
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
        self._members[job.id] = [self._member(one) for one in tasks]
        for member, one in zip(self._members[job.id], tasks, strict=True):
            if member.end is None:
                self._submit(partial(self._work, member, one))
        if not tasks:
            self._results[job.id] = "skipped"

    def _member(self, task: JobTask) -> _Member:
        """A row for a task: carried over where the attempt before ended it for good, else queued."""
        if end := self._before.get(task.name):
            return _Member(0, task.name, end=end)
        return _Member(self._publisher.job_queued(self.attempt.run_id, task.name), task.name)

    def _end_early(self, job: Job, name: str, conclusion: Conclusion) -> None:
        """A job that never had a worker."""
        job_id = self._publisher.job_queued(self.attempt.run_id, name)
        self._end_at_once(job, job_id, name, JobEnd(conclusion))

    def _end_at_once(self, job: Job, job_id: int, name: str, end: JobEnd) -> None:
        self._publisher.job_finished(job_id, end)
        self._members[job.id] = [_Member(job_id, name, end=replace(end, log=b""))]
        self._results[job.id] = end.conclusion

    def _refuse(self, job: Job, task: JobTask, problem: str) -> None:
        """A job whose `if:`, name or matrix cannot be read: it fails at set-up."""
        job_id = self._publisher.job_queued(self.attempt.run_id, task.name)
        self._publisher.job_started(job_id)
        self._directory.mkdir(parents=True, exist_ok=True)
        text = JobLog(self._directory)
        text.error(f"The sandbox cannot run job '{job.id}': {problem}")
        self._end_at_once(job, job_id, task.name, JobEnd("failure", (), text.finish(), text.annotations))

    def _work(self, member: _Member, task: JobTask) -> None:
        """Run one queued job on this thread, then go on with the run."""
        if member.processes.cancelled:
            end = JobEnd("cancelled")
        else:
            self._publisher.job_started(member.job_id)
            end = _execute(task, member.processes)
            shutil.rmtree(task.directory, ignore_errors=True)
        self._publisher.job_finished(member.job_id, end)
        with self._lock:
            member.end = replace(end, log=b"")
            self._settle(task.job)
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
    except Exception as error:  # a fault of ours becomes a failed job with its reason, not a job that never ends
        log.exception("job %s of %s", task.name, task.workflow.path)
        message = f"##[error]The sandbox failed to run this job: {type(error).__name__}: {error}"
        return JobEnd("failure", (), f"{stamp(datetime.now(UTC))} {message}\n".encode())
