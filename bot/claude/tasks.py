"""The steps of the fold that are about tasks: the Roster, the Wake turns owed for their ends, and the losses."""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from bot.claude.facts import Facts, Life, StopAsked, Task
from bot.claude.frames import (
    TERMINAL_GOOD,
    TERMINAL_KILLED,
    Level,
    LevelTask,
    TaskNotification,
    TaskStarted,
    TaskUpdated,
    ToolResult,
)

AGENT = "local_agent"
_TASKS_KEPT = 64
"""Tasks that are remembered: a task that ended so long ago is not told of again, and the memory of a long stream is
bounded.
"""


def _with_task(facts: Facts, task: Task) -> Facts:
    return replace(facts, tasks={**facts.tasks, task.id: task})


def _running(facts: Facts, task_id: str, run_id: str) -> tuple[Facts, Task] | None:
    """The task as it starts or is listed; None when this run of it has ended. An agent can be started again with a new
    run id (2.1.332).
    """
    known = facts.tasks.get(task_id)
    if known is None:
        return facts, Task(task_id, run_id=run_id)
    if known.life is Life.RUNNING:
        return facts, known if run_id in {"", known.run_id} else replace(known, run_id=run_id)
    if run_id in {"", known.run_id}:
        return None
    taken_up = {task: said for task, said in facts.lost.items() if task != task_id}
    return replace(facts, lost=taken_up), replace(known, run_id=run_id, life=Life.RUNNING, stopped_by_us=False)


def task_started(facts: Facts, frame: TaskStarted) -> Facts:
    """A task starts, in the foreground or the background."""
    running = _running(facts, frame.task_id, frame.run_id)
    if running is None:
        return facts
    facts, task = running
    said = frame.backgrounded
    asked = frame.tool_use_id in facts.background_asked if said is None else said
    task = replace(
        task,
        tool_use_id=frame.tool_use_id or task.tool_use_id,
        description=frame.description or task.description,
        kind=frame.kind or task.kind,
        background=task.background or asked,
        nested=task.nested or frame.nested or frame.tool_use_id in facts.nested_calls,
        ambient=task.ambient or frame.ambient,
    )
    return _with_task(facts, task)


def level(facts: Facts, frame: Level) -> Facts:
    """The whole set of background tasks."""
    for listed in frame.tasks:
        facts = _listed(facts, listed)
    alive = {listed.task_id for listed in frame.tasks}
    for task in facts.roster:
        if task.id not in alive:
            facts = _moved(facts, task, Life.GONE)
    return facts


def _listed(facts: Facts, listed: LevelTask) -> Facts:
    running = _running(facts, listed.task_id, listed.run_id)
    if running is None:
        return facts
    facts, task = running
    task = replace(
        task,
        description=task.description or listed.description,
        kind=task.kind or listed.kind,
        background=True,
        ambient=task.ambient or listed.ambient,
    )
    return _with_task(facts, task)


def task_updated(facts: Facts, frame: TaskUpdated) -> Facts:
    """Something about a task changes."""
    task = facts.tasks.get(frame.task_id)
    if task is None:
        return facts
    if frame.backgrounded and not task.background:
        facts = _with_task(facts, replace(task, background=True))
    return _ended(facts, frame.task_id, frame.run_id, frame.status)


def task_notification(facts: Facts, frame: TaskNotification) -> Facts:
    """A task has ended."""
    return _ended(facts, frame.task_id, frame.run_id, frame.status)


def _ended(facts: Facts, task_id: str, run_id: str, status: str | None) -> Facts:
    task = facts.tasks.get(task_id)
    if task is None or task.life is Life.KILLED or (run_id and task.run_id not in {"", run_id}):
        return facts
    # What we asked to be stopped is lost, whatever is said of it: a killed command can be reported as completed
    # (measured).
    lost = status in TERMINAL_KILLED or (status in TERMINAL_GOOD and task.stopped_by_us)
    if lost and task.counts and task_id not in facts.lost:
        facts = replace(facts, lost={**facts.lost, task_id: False})
    if status in TERMINAL_KILLED:
        return _moved(facts, task, Life.KILLED)
    if status in TERMINAL_GOOD and task.life is not Life.ENDED:
        return _moved(facts, task, Life.ENDED)
    return facts


def _moved(facts: Facts, task: Task, life: Life) -> Facts:
    owes = (
        task.life is Life.RUNNING
        and task.counts
        and not task.nested
        and not (task.stopped_by_us and task.kind != AGENT)  # a Bash that we stopped wakes nobody, an agent does
    )
    facts = _with_task(facts, replace(task, life=life))
    return replace(facts, owed={**facts.owed, task.id: facts.in_turn}) if owes else facts


def acknowledged(facts: Facts, answer: ToolResult, *, nested: bool) -> Facts:
    """A tool's answer says that its work goes on in the background; `nested`: a sub-agent was told."""
    known = facts.tasks.get(answer.background_task, Task(answer.background_task))
    call = known.tool_use_id or answer.tool_use_id
    task = replace(known, tool_use_id=call, background=True, nested=known.nested or nested)
    return _with_task(facts, task)


def stop_asked(facts: Facts, asked: StopAsked) -> Facts:
    """We asked for a task to be stopped."""
    task = facts.tasks.get(asked.task_id)
    if task is None or task.life is not Life.RUNNING:
        return facts
    return _with_task(facts, replace(task, stopped_by_us=True))


def without_old(facts: Facts) -> Facts:
    """The same without the oldest of the tasks that have ended and that nothing depends on, where there are many."""
    if len(facts.tasks) <= _TASKS_KEPT:
        return facts
    needed = facts.owed.keys() | facts.lost.keys()
    ended = (id for id, task in facts.tasks.items() if task.life is not Life.RUNNING and id not in needed)
    old = set(islice(ended, len(facts.tasks) - _TASKS_KEPT))
    return replace(facts, tasks={id: task for id, task in facts.tasks.items() if id not in old})
