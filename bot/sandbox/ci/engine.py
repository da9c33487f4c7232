"""Starts the workflows that an event asks for and runs their jobs on the sandbox's runners."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from bot.sandbox.ci.commit import TestedCommit, tested_commit
from bot.sandbox.ci.concurrency import Groups
from bot.sandbox.ci.contexts import RunAttempt
from bot.sandbox.ci.events import CiEvent, CiPublisher
from bot.sandbox.ci.host import BareHost, JobHost
from bot.sandbox.ci.planning import planned
from bot.sandbox.ci.runners import RUNNERS, Runners
from bot.sandbox.ci.runs import Play, Shop, WorkflowRun
from bot.sandbox.ci.workflow import Broken, Workflow

log = logging.getLogger(__name__)


class CiEngine:
    """The sandbox's CI. Close it: its jobs are processes.

    A planner thread takes the events in order; jobs share the runners. The publisher is called from these threads.
    """

    def __init__(self, publisher: CiPublisher, workroom: Path, host: JobHost | None = None) -> None:
        """`workroom` is a directory of the engine's own, made when needed; checkouts lie there while their jobs run.
        Without a `host` jobs have nothing but a shell.
        """
        self._publisher = publisher
        self._workroom = workroom.resolve()
        self._planner = ThreadPoolExecutor(1, thread_name_prefix="ci-planner")
        self._runners = Runners(RUNNERS)
        self._changed = threading.Condition()
        self._open = 0  # tasks handed to either that have not ended
        self._closed = False
        self._runs: dict[int, WorkflowRun] = {}  # the latest attempt of each
        self._held: dict[int, WorkflowRun] = {}
        self._numbers = count(1)
        later = partial(self._hand_to, self._planner.submit)
        submit = partial(self._hand_to, self._runners.submit)
        self._shop = Shop(publisher, host or BareHost(), Groups(), submit, later)

    def resize(self, runners: int) -> None:
        """Have so many runners from now on."""
        self._runners.resize(runners)

    def play_by(self, play: Play) -> None:
        """Run the jobs of workflow runs that start from now on by `play`."""
        self._shop = replace(self._shop, play=play)

    def start(self, repository: Path, event: CiEvent) -> None:
        """Plan and run what `event` starts in the bare `repository`; returns at once. What needs an approval waits for
        `approve`. After `close` nothing starts.
        """
        self._ask(lambda: self._plan(repository, event))

    def approve(self, run_id: int) -> None:
        """Let a held run begin; returns at once."""
        self._ask(lambda: self._release(run_id))

    def cancel(self, run_id: int) -> None:
        """Cancel a run as its page does; returns at once. Nothing happens to one that has ended."""
        self._ask(lambda: self._runs[run_id].cancel() if run_id in self._runs else None)

    def lose(self, run_id: int, name: str = "") -> bool:
        """Lose the machine that runs a job of a run, the one called `name` where several run; whether there was one."""
        run = self._runs.get(run_id)
        return run is not None and run.lose(name)

    def rerun(self, run_id: int, names: Collection[str]) -> frozenset[str] | None:
        """Run the job rows called `names` of a run that has ended again, and the jobs that need theirs, as its next
        attempt; returns at once. The names of the rows that are carried over; None for a run that is not the engine's.
        """
        ended = self._runs.get(run_id)
        if ended is None:
            return None
        run, carried = ended.again(names, self._directory())
        self._ask(lambda: self._begin(run))
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
            run.kill()
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)
        self._planner.shutdown()
        self._runners.join()

    def _ask(self, work: Callable[[], None]) -> None:
        """Hand something new to the planner, unless the engine is closed."""
        with self._changed:
            if self._closed:
                return
        self._shop.later(work)

    def _hand_to(self, take: Callable[[Callable[[], None]], object], work: Callable[[], None]) -> None:
        with self._changed:
            self._open += 1
        take(partial(self._count_down, work))

    def _count_down(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # a fault of ours, logged: whoever waits for `idle` must still be woken
            log.exception("the sandbox's CI lost a task")
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def _plan(self, repository: Path, event: CiEvent) -> None:
        """Start the workflows of the commit under test; none for a pull request that conflicts with its base."""
        if self._closed:
            return
        commit = tested_commit(repository, event)
        if commit is None:
            return
        for workflow, seen in planned(commit):
            if isinstance(workflow, Broken):
                self._refuse(workflow, event)
            elif event.approval:
                run_id = self._publisher.workflow_held(event, workflow.path, workflow.name)
                self._held[run_id] = self._run(run_id, workflow, seen)
            else:
                run_id = self._publisher.workflow_started(event, workflow.path, workflow.name)
                self._begin(self._run(run_id, workflow, seen))

    def _refuse(self, workflow: Broken, event: CiEvent) -> None:
        log.warning("%s", workflow.problem)
        run_id = self._publisher.workflow_started(event, workflow.path, workflow.path)
        self._publisher.workflow_finished(run_id, "startup_failure")

    def _release(self, run_id: int) -> None:
        if run_id in self._held:
            self._begin(self._held.pop(run_id))

    def _run(self, run_id: int, workflow: Workflow, commit: TestedCommit) -> WorkflowRun:
        return WorkflowRun(self._shop, workflow, commit, RunAttempt(run_id), self._directory())

    def _directory(self) -> Path:
        return self._workroom / f"run-{next(self._numbers)}"

    def _begin(self, run: WorkflowRun) -> None:
        with self._changed:
            self._runs[run.attempt.run_id] = run
            closed = self._closed
        if closed:
            run.kill()
        run.start()
