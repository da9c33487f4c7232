"""Starts the workflows that an event asks for and runs their jobs on worker threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

from bot.ci.filters import skip_requested, starts
from bot.sandbox.ci.commit import TestedCommit, tested_commit
from bot.sandbox.ci.contexts import RunAttempt
from bot.sandbox.ci.events import CiEvent, CiPublisher
from bot.sandbox.ci.runs import WorkflowRun
from bot.sandbox.ci.workflow import Broken, Workflow, read_workflow

JOBS_AT_ONCE = 2

log = logging.getLogger(__name__)


class CiEngine:
    """The sandbox's CI. Close it: its jobs are processes.

    A planner thread takes the events in order; jobs share `JOBS_AT_ONCE` workers. The publisher is called from these
    threads.
    """

    def __init__(self, publisher: CiPublisher, workroom: Path) -> None:
        """`workroom` is a directory of the engine's own, made when needed; checkouts lie there while their jobs run."""
        self._publisher = publisher
        self._workroom = workroom
        self._planner = ThreadPoolExecutor(1, thread_name_prefix="ci-planner")
        self._workers = ThreadPoolExecutor(JOBS_AT_ONCE, thread_name_prefix="ci-job")
        self._changed = threading.Condition()
        self._open = 0  # tasks handed to either pool that have not ended
        self._closed = False
        self._runs: dict[int, WorkflowRun] = {}  # the latest attempt of each
        self._held: dict[int, WorkflowRun] = {}
        self._numbers = count(1)

    def start(self, repository: Path, event: CiEvent, *, held: bool = False) -> None:
        """Plan and run what `event` starts in the bare `repository`; returns at once. `held` runs wait for `approve`.
        After `close` nothing starts.
        """
        self._hand_to(self._planner, lambda: self._plan(repository, event, held))

    def approve(self, run_id: int) -> None:
        """Let a held run begin; returns at once."""
        self._hand_to(self._planner, lambda: self._release(run_id))

    def rerun(self, run_id: int, names: Collection[str]) -> frozenset[str] | None:
        """Run the job rows called `names` of a run that has ended again, and the jobs that need theirs, as its next
        attempt; returns at once. The names of the rows that are carried over; None for a run that is not the engine's.
        """
        ended = self._runs.get(run_id)
        if ended is None:
            return None
        run, carried = ended.again(names, self._directory())
        self._hand_to(self._planner, lambda: self._begin(run))
        return carried

    def idle(self, timeout: float) -> bool:
        """Wait up to `timeout` real seconds until nothing is planned or runs; whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, timeout)

    def close(self) -> None:
        """Kill what runs, report it as cancelled, join the threads. No process of a job survives this."""
        with self._changed:
            self._closed = True
            runs = [run for run in self._runs.values() if not run.finished]
        for run in runs:
            run.cancel()
        self._planner.shutdown()
        self._workers_done()
        self._workers.shutdown()

    def _workers_done(self) -> None:
        """Wait for every task: a job that ends may still hand on the next one."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)

    def _hand_to(self, pool: ThreadPoolExecutor, work: Callable[[], None]) -> None:
        with self._changed:
            if self._closed and pool is self._planner:
                return
            self._open += 1
        pool.submit(self._count_down, work)

    def _count_down(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # a fault of ours, logged: whoever waits for `idle` must still be woken
            log.exception("the sandbox's CI lost a task")
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def _plan(self, repository: Path, event: CiEvent, held: bool) -> None:
        """Start the workflows of the commit under test; none for a pull request that conflicts with its base."""
        if self._closed:
            return
        commit = tested_commit(repository, event)
        if commit is None or (event.name != "workflow_dispatch" and skip_requested(commit.message)):
            return
        for workflow in planned(commit):
            if isinstance(workflow, Broken):
                self._refuse(workflow, event)
            elif held:
                run_id = self._publisher.workflow_held(event, workflow.path, workflow.name)
                self._held[run_id] = self._run(run_id, workflow, commit)
            else:
                run_id = self._publisher.workflow_started(event, workflow.path, workflow.name)
                self._begin(self._run(run_id, workflow, commit))

    def _refuse(self, workflow: Broken, event: CiEvent) -> None:
        log.warning("%s", workflow.problem)
        run_id = self._publisher.workflow_started(event, workflow.path, workflow.path)
        self._publisher.workflow_finished(run_id, "startup_failure")

    def _release(self, run_id: int) -> None:
        if run_id in self._held:
            self._begin(self._held.pop(run_id))

    def _run(self, run_id: int, workflow: Workflow, commit: TestedCommit) -> WorkflowRun:
        attempt, submit = RunAttempt(run_id), partial(self._hand_to, self._workers)
        return WorkflowRun(self._publisher, workflow, commit, attempt, self._directory(), submit)

    def _directory(self) -> Path:
        return self._workroom / f"run-{next(self._numbers)}"

    def _begin(self, run: WorkflowRun) -> None:
        with self._changed:
            self._runs[run.attempt.run_id] = run
            closed = self._closed
        if closed:
            run.cancel()
        run.advance()


def planned(commit: TestedCommit) -> Iterator[Workflow | Broken]:
    """The workflows that the commit's event starts. A file without readable triggers counts for a push."""
    event = commit.event
    for path, text in commit.workflow_files().items():
        workflow = read_workflow(path, text)
        if event.name == "workflow_dispatch" and Path(path).name != Path(event.workflow).name:
            continue
        if workflow.on is None:
            if event.name != "pull_request":
                yield workflow
        elif starts(workflow.on, event, lambda: commit.changed_paths):
            yield workflow
