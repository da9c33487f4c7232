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
from bot.sandbox.ci.concurrency import Groups, Turn
from bot.sandbox.ci.contexts import RunAttempt
from bot.sandbox.ci.events import Annotation, CiPublisher, Conclusion, JobEnd
from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.host import JobHost
from bot.sandbox.ci.job_task import JobTask, job_scope
from bot.sandbox.ci.jobs import by_steps
from bot.sandbox.ci.log import JobLog, stamp
from bot.sandbox.ci.matrix import Combination, combinations, job_name
from bot.sandbox.ci.processes import JobProcesses
from bot.sandbox.ci.schedule import ancestors, combined, standing, startable
from bot.sandbox.ci.templates import condition_holds, expand
from bot.sandbox.ci.values import ExpressionError, Value
from bot.sandbox.ci.workflow import Concurrency, Job, Workflow

log = logging.getLogger(__name__)

LOST_RUNNER = (
    "The hosted runner lost communication with the server. Anything in your workflow that terminates the runner "
    "process, starves it for CPU/Memory, or blocks its network access can cause this error."
)
TAKEN_OVER = "Canceling since a higher priority waiting request for '{}' exists"

Submit = Callable[[Callable[[], None]], None]
"""Hands work to a thread."""
Play = Callable[[JobTask, JobProcesses], JobEnd]
"""Runs a job to its end; what it started is then dead."""


@dataclass(frozen=True, slots=True)
class Shop:
    """What the runs of one engine share: where they are shown, what their jobs have, the groups they wait in, the
    runners, a thread for what must not happen at once, and how a job is run.
    """

    publisher: CiPublisher
    host: JobHost
    groups: Groups
    submit: Submit
    later: Submit
    play: Play = by_steps


@dataclass(slots=True)
class _Member:
    """One row of a job; `end` once it has ended. `group` and `turn` are its place in a concurrency group."""

    job_id: int
    task: JobTask
    processes: JobProcesses = field(default_factory=JobProcesses)
    group: str = ""
    turn: Turn | None = None
    begun: bool = False
    end: JobEnd | None = None

    @property
    def name(self) -> str:
        """The name of its check."""
        return self.task.name


class WorkflowRun:
    """One attempt of a workflow that was started for a commit."""

    def __init__(
        self, shop: Shop, workflow: Workflow, commit: TestedCommit, attempt: RunAttempt, directory: Path
    ) -> None:
        """Nothing starts before `start`. `directory` is the run's own, for the jobs' directories."""
        self.attempt = attempt
        self._shop = shop
        self._workflow = workflow
        self._commit = commit
        self._directory = directory
        self._lock = threading.RLock()
        self._members: dict[str, list[_Member]] = {}
        self._results: dict[str, Conclusion] = {}
        self._before: Mapping[str, JobEnd] = {}  # rows carried over from the attempt before
        self._group = ""
        self._turn: Turn | None = None
        self._waiting = False
        self._cancelled = False
        self._killed = False
        self._finished = False

    def again(self, names: Collection[str], directory: Path) -> tuple[WorkflowRun, frozenset[str]]:
        """The next attempt of this run, which has ended: the job rows called `names` and the jobs that need theirs run
        again at the same commit. The second value names the rows that are carried over.
        """
        jobs = self._workflow.jobs
        named = {job for job, members in self._members.items() if any(member.name in names for member in members)}
        below = {job for job in jobs if ancestors(jobs, job) & named}
        whole = jobs.keys() - named - below if self._members else frozenset()
        attempt = RunAttempt(self.attempt.run_id, self.attempt.number + 1)
        run = WorkflowRun(self._shop, self._workflow, self._commit, attempt, directory)
        run._before = {
            member.name: member.end
            for job in jobs.keys() - below
            for member in self._members.get(job, ())
            if member.name not in names and member.end is not None
        }
        run._members = {job: self._members[job] for job in whole}
        run._results = {job: self._results[job] for job in whole}
        return run, frozenset(run._before)

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished

    def start(self) -> None:
        """Begin, or wait for the workflow's concurrency group."""
        concurrency = self._workflow.concurrency
        if concurrency is None or self._killed:
            self.advance()
            return
        job = next(iter(self._workflow.jobs.values()))
        try:
            group, now = _place(concurrency, job_scope(self._task(job)))
        except ExpressionError as error:
            log.warning("%s: concurrency: %s", self._workflow.path, error)
            self._finish("startup_failure")
            return
        self._group, self._waiting = group, True
        later = self._shop.later
        self._turn = Turn(partial(later, self._admitted), partial(later, self.cancel), partial(later, self.cancel))
        self._shop.groups.enter(group, self._turn, cancel_in_progress=now)

    def _admitted(self) -> None:
        with self._lock:
            self._waiting = False
        self.advance()

    def advance(self) -> None:
        """Start every job that can start; end the run when all have ended."""
        with self._lock:
            if self._waiting or self._finished:
                return
            while ready := startable(self._workflow.jobs, self._members, self._results):
                for job in ready:
                    self._begin(job)
            if len(self._results) == len(self._workflow.jobs):
                stopped = self._cancelled and "cancelled" in self._results.values()
                self._finish("cancelled" if stopped else combined(self._results.values()))

    def _finish(self, conclusion: str) -> None:
        self._finished = True
        shutil.rmtree(self._directory, ignore_errors=True)
        self._shop.publisher.workflow_finished(self.attempt.run_id, conclusion)
        if self._turn is not None:
            self._shop.groups.leave(self._group, self._turn)

    def cancel(self) -> None:
        """Cancel as somebody does on the run's page: jobs and steps whose `if:` wants to run all the same still do."""
        with self._lock:
            if self._finished or self._cancelled:
                return
            self._cancelled = True
            if self._waiting:
                assert self._turn is not None
                self._shop.groups.withdraw(self._group, self._turn)
                self._finish("cancelled")
                return
            open_members = [one for members in self._members.values() for one in members if one.end is None]
        for member in open_members:
            self._stop(member)
        self.advance()

    def kill(self) -> None:
        """Kill what runs; what waits ends as cancelled, whatever it wants."""
        self._killed = self._cancelled = True
        with self._lock:
            for member in (one for members in self._members.values() for one in members):
                member.processes.kill()

    def lose(self, name: str) -> bool:
        """Lose the machine that runs the job row called `name` ("" for whichever runs); whether one did."""
        with self._lock:
            running = [
                member
                for members in self._members.values()
                for member in members
                if member.begun and member.end is None and name in ("", member.name)
            ]
        for member in running[:1]:
            member.processes.lose()
        return bool(running)

    def _task(self, job: Job) -> JobTask:
        return JobTask(
            host=self._shop.host,
            workflow=self._workflow,
            job=job,
            name=job.name or job.id,
            combination={},
            commit=self._commit,
            attempt=self.attempt,
            needs={need: self._need(need) for need in job.needs if need in self._results},
            directory=self._directory / job.id,
        )

    def _begin(self, job: Job) -> None:
        """A job whose needs have ended: skip it, refuse it, or queue it once for each combination of its matrix."""
        self._members[job.id] = []
        task = self._task(job)
        if self._killed:
            self._end_early(task, "cancelled")
            return
        scope = job_scope(
            task, "cancelled" if self._cancelled else standing(self._workflow.jobs, job.id, self._results)
        )
        try:
            if not condition_holds(job.condition, scope):
                self._end_early(task, "cancelled" if self._cancelled else "skipped")
                return
            if why := self._shop.host.passes_over(job):
                self._pass_over(task, why)
                return
            tasks = [_member_task(task, index, one) for index, one in enumerate(combinations(job.matrix, scope))]
            places = [_place(job.concurrency, job_scope(one)) for one in tasks]
        except ExpressionError as error:
            self._refuse(task, str(error))
            return
        self._members[job.id] = [self._member(one) for one in tasks]
        for member, (group, now) in zip(self._members[job.id], places, strict=True):
            if member.end is None:
                self._queue(member, group, now)
        if not tasks:
            self._results[job.id] = "skipped"

    def _member(self, task: JobTask) -> _Member:
        """A row for a task: carried over where the attempt before ended it for good, else queued."""
        if end := self._before.get(task.name):
            return _Member(0, task, end=end)
        return _Member(self._shop.publisher.job_queued(self.attempt.run_id, task.name), task)

    def _queue(self, member: _Member, group: str, cancel_in_progress: bool) -> None:
        """Hand a row to the runners, once it has its concurrency group."""
        begin = partial(self._shop.submit, partial(self._work, member))
        if not group:
            begin()
            return
        later = self._shop.later
        taken_over = JobEnd("cancelled", annotations=(Annotation("failure", TAKEN_OVER.format(group)),))
        drop, cancel = partial(self._end_waiting, member, taken_over), partial(self._stop, member)
        member.group, member.turn = group, Turn(begin, partial(later, drop), partial(later, cancel))
        self._shop.groups.enter(group, member.turn, cancel_in_progress=cancel_in_progress)

    def _end_early(self, task: JobTask, conclusion: Conclusion) -> None:
        """A job that never had a worker."""
        job_id = self._shop.publisher.job_queued(self.attempt.run_id, task.name)
        self._end_at_once(task, job_id, JobEnd(conclusion))

    def _pass_over(self, task: JobTask, why: str) -> None:
        """A job that the host does not want played: skipped, with a note that says why."""
        job_id = self._shop.publisher.job_queued(self.attempt.run_id, task.name)
        self._end_at_once(task, job_id, JobEnd("skipped", annotations=(Annotation("notice", why),)))

    def _end_at_once(self, task: JobTask, job_id: int, end: JobEnd) -> None:
        self._shop.publisher.job_finished(job_id, end)
        self._members[task.job.id] = [_Member(job_id, task, end=replace(end, log=b""))]
        self._results[task.job.id] = end.conclusion

    def _refuse(self, task: JobTask, problem: str) -> None:
        """A job whose `if:`, name, matrix or group cannot be read: it fails at set-up."""
        job_id = self._shop.publisher.job_queued(self.attempt.run_id, task.name)
        self._shop.publisher.job_started(job_id)
        self._directory.mkdir(parents=True, exist_ok=True)
        text = JobLog(self._directory)
        text.error(f"The sandbox cannot run job '{task.job.id}': {problem}")
        self._end_at_once(task, job_id, JobEnd("failure", (), text.finish(), text.annotations))

    def _stop(self, member: _Member) -> None:
        """Cancel one row, unless its `if:` wants to run all the same."""
        if condition_holds(member.task.job.condition, job_scope(member.task, "cancelled")):
            return
        member.processes.interrupt()
        self._end_waiting(member, JobEnd("cancelled"))

    def _end_waiting(self, member: _Member, end: JobEnd) -> None:
        """End a row that no runner has taken up yet."""
        with self._lock:
            if member.begun:
                return
            member.begun = True
            if member.turn is not None:
                self._shop.groups.withdraw(member.group, member.turn)
        self._ended(member, end)

    def _work(self, member: _Member) -> None:
        """Run one queued job on this thread, then go on with the run."""
        with self._lock:
            if member.begun:
                return
            member.begun = True
        if member.processes.cancelled:
            end = JobEnd("cancelled")
        else:
            self._shop.publisher.job_started(member.job_id)
            end = _execute(self._shop.play, member.task, member.processes)
            shutil.rmtree(member.task.directory, ignore_errors=True)
        self._ended(member, end)

    def _ended(self, member: _Member, end: JobEnd) -> None:
        self._shop.publisher.job_finished(member.job_id, end)
        with self._lock:
            member.end = replace(end, log=b"")
            self._settle(member.task.job)
        if member.turn is not None:
            self._shop.groups.leave(member.group, member.turn)
        self.advance()

    def _settle(self, job: Job) -> None:
        """Note the result of a job once all of its combinations have ended; fail fast where the matrix says so."""
        members = self._members[job.id]
        ends = [member.end for member in members if member.end is not None]
        if any(end.conclusion == "failure" and not end.tolerated for end in ends) and job.fail_fast != "false":
            for member in members:
                if member.end is None:
                    member.processes.kill()
        if len(ends) == len(members):
            self._results[job.id] = combined("success" if end.tolerated else end.conclusion for end in ends)

    def _need(self, name: str) -> Mapping[str, Value]:
        ends: Sequence[JobEnd] = [member.end for member in self._members[name] if member.end is not None]
        outputs = {key: value for end in ends for key, value in end.outputs.items()}
        return {"result": self._results[name], "outputs": outputs}


def _place(concurrency: Concurrency | None, scope: Scope) -> tuple[str, bool]:
    """The group ("" for none) and whether its holder is to be cancelled. Raises `ExpressionError`."""
    if concurrency is None:
        return "", False
    return expand(concurrency.group, scope), expand(concurrency.cancel_in_progress, scope) == "true"


def _member_task(task: JobTask, index: int, combination: Combination) -> JobTask:
    """The task for one combination of its job's matrix, with a name and a directory of its own."""
    own = replace(task, combination=combination, directory=task.directory.with_name(f"{task.job.id}-{index}"))
    return replace(own, name=job_name(task.job, combination, job_scope(own)))


def _execute(play: Play, task: JobTask, processes: JobProcesses) -> JobEnd:
    """Run a job. What the sandbox could not do (a full disk, ...) fails it too: no job stays without an end."""
    try:
        end = play(task, processes)
    except Exception as error:  # a fault of ours becomes a failed job with its reason, not a job that never ends
        log.exception("job %s of %s", task.name, task.workflow.path)
        message = f"##[error]The sandbox failed to run this job: {type(error).__name__}: {error}"
        return JobEnd("failure", (), f"{stamp(datetime.now(UTC))} {message}\n".encode())
    return JobEnd("failure", annotations=(Annotation("failure", LOST_RUNNER),)) if processes.lost else end
