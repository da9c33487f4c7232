"""What is known of one CLI process, folded from its Frames and from what we ourselves asked of it. Pure: no clock, no I/O.

The rules about background work that this fold keeps:

* The Roster is what runs in the background. A level replaces it; `task_started` adds to it, but for a foreground command only once it was moved
  to the background; where the CLI does not say (2.1.197), only once the tool's answer or its own input showed the background.
* A Wake turn is owed when a root task ended and the root has neither opened a Turn for it nor spoken since. An empty level cancels nothing.
* Only root-owned tasks wake the root; a nested task (a sub-agent's own) can be lost all the same.
* A loss is absorbed only by a root `assistant` frame after it, followed by a result that is no error; what we stopped is never absorbed.
* A failed Turn on a live process keeps the Roster and what is owed: the level is only sent on change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from bot.claude.frames import (
    TERMINAL_GOOD,
    TERMINAL_KILLED,
    ApiRetry,
    Assistant,
    Frame,
    Ignored,
    Init,
    Level,
    LevelTask,
    RateLimit,
    Result,
    TaskNotification,
    TaskStarted,
    TaskUpdated,
    User,
)

AGENT = "local_agent"


class Life(Enum):
    """Where a task is in its life. `GONE` left the level and nobody has said yet how it ended."""

    RUNNING = auto()
    GONE = auto()
    ENDED = auto()
    KILLED = auto()


@dataclass(frozen=True, slots=True)
class Task:
    """One task that this process told of."""

    id: str
    run_id: str = ""
    tool_use_id: str = ""
    description: str = ""
    kind: str = ""
    background: bool = False
    """Known to run (or have run) in the background; a foreground command is a task too."""
    nested: bool = False
    ambient: bool = False
    life: Life = Life.RUNNING
    stopped_by_us: bool = False

    @property
    def counts(self) -> bool:
        """Whether its end matters to the Session."""
        return self.background and not self.ambient

    @property
    def name(self) -> str:
        """How people know it."""
        return self.description or self.id


@dataclass(frozen=True, slots=True)
class PromptSent:
    """We wrote a user message."""


@dataclass(frozen=True, slots=True)
class StopAsked:
    """We sent a `stop_task` for this task."""

    task_id: str


Event = Frame | PromptSent | StopAsked


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a supervisor or a verdict may ask about one process."""

    session_id: str = ""
    cli_version: str = ""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    owed: Mapping[str, bool] = field(default_factory=dict)
    """Ids of root tasks whose Wake turn has not come → whether they ended within a Turn (then the root's next words answer for it)."""
    lost: Mapping[str, bool] = field(default_factory=dict)
    """Ids of tasks that were killed and not absorbed, in order → whether the root has spoken since."""
    background_asked: frozenset[str] = frozenset()
    """Tool calls that asked for the background in their own input."""
    nested_calls: frozenset[str] = frozenset()
    """Tool calls made by a sub-agent."""
    open_tools: Mapping[str, str] = field(default_factory=dict)
    """Tool calls without an answer yet, id → what they do."""
    last_init: str = ""
    unanswered: int = 0
    """Our own messages whose Turn has not opened."""
    in_turn: bool = False
    turn_is_ours: bool = False
    turns: int = 0
    wake_turns: int = 0
    last: Result | None = None
    api_error: str = ""
    """The CLI's class of the last API failure in the present or last Turn, or ""."""
    words: str = ""
    """The root's last words."""
    cost_usd: float = 0.0
    denied_tools: tuple[str, ...] = ()
    resets_at: int | None = None
    """When the usage limit ends, seconds since the epoch, where a field says so."""
    refused_auth: bool = False
    ignored: Mapping[str, int] = field(default_factory=dict)
    """Lines that said nothing: reason → count."""

    @property
    def roster(self) -> tuple[Task, ...]:
        """The background tasks alive."""
        return tuple(task for task in self.tasks.values() if task.life is Life.RUNNING and task.counts)

    @property
    def pending(self) -> bool:
        """Whether background work is running or a Wake turn is owed."""
        return bool(self.owed or self.roster)

    @property
    def had_background(self) -> bool:
        """Whether a background task ever existed in this process."""
        return any(task.counts for task in self.tasks.values())

    @property
    def lost_tasks(self) -> tuple[Task, ...]:
        """Tasks that were killed and not absorbed, in the order of their ends."""
        return tuple(self.tasks[task_id] for task_id in self.lost)


def fold(facts: Facts, event: Event) -> Facts:
    """The facts after one more event."""
    step = _STEPS.get(type(event))
    return facts if step is None else step(facts, event)


def fold_all(events: Iterable[Event], facts: Facts | None = None) -> Facts:
    """The facts after all `events`."""
    facts = Facts() if facts is None else facts
    for event in events:
        facts = fold(facts, event)
    return facts


def _prompt_sent(facts: Facts, _: PromptSent) -> Facts:
    return replace(facts, unanswered=facts.unanswered + 1)


def _stop_asked(facts: Facts, asked: StopAsked) -> Facts:
    task = facts.tasks.get(asked.task_id)
    return facts if task is None else _with_task(facts, replace(task, stopped_by_us=True))


# ── Turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _init(facts: Facts, frame: Init) -> Facts:
    if frame.uuid and frame.uuid == facts.last_init:
        return facts
    ours = facts.unanswered > 0
    return replace(
        facts,
        session_id=frame.session_id or facts.session_id,
        cli_version=frame.cli_version or facts.cli_version,
        last_init=frame.uuid,
        in_turn=True,
        turn_is_ours=ours,
        unanswered=facts.unanswered - 1 if ours else 0,
        wake_turns=facts.wake_turns + (not ours),
        owed=facts.owed if ours else {},
        api_error="",
    )


def _assistant(facts: Facts, frame: Assistant) -> Facts:
    if frame.tool_uses:
        facts = _tools_opened(facts, frame)
    if frame.parent:
        return facts
    if frame.error:
        return replace(facts, api_error=frame.error)
    return replace(
        facts,
        in_turn=True,
        owed={task_id: within for task_id, within in facts.owed.items() if not within} if facts.owed else facts.owed,
        lost=dict.fromkeys(facts.lost, True) if facts.lost else facts.lost,
        words=frame.text or facts.words,
    )


def _tools_opened(facts: Facts, frame: Assistant) -> Facts:
    about = {use.id: f"{use.name}: {use.about}" if use.about else use.name for use in frame.tool_uses if use.id}
    asked = frozenset(use.id for use in frame.tool_uses if use.asks_background)
    return replace(
        facts,
        open_tools={**facts.open_tools, **about},
        background_asked=facts.background_asked | asked,
        nested_calls=facts.nested_calls | frozenset(about) if frame.parent else facts.nested_calls,
    )


def _user(facts: Facts, frame: User) -> Facts:
    answered = {result.tool_use_id for result in frame.results}
    facts = replace(facts, open_tools={use: about for use, about in facts.open_tools.items() if use not in answered})
    for result in frame.results:
        if result.background_task:
            known = facts.tasks.get(result.background_task, Task(result.background_task))
            nested = known.nested or bool(frame.parent)
            call = known.tool_use_id or result.tool_use_id
            facts = _with_task(facts, replace(known, tool_use_id=call, background=True, nested=nested))
    return facts


def _result(facts: Facts, frame: Result) -> Facts:
    if facts.last is not None and frame.uuid and frame.uuid == facts.last.uuid:
        return facts
    if frame.is_debris:
        return replace(facts, in_turn=False, unanswered=facts.unanswered + facts.turn_is_ours, turn_is_ours=False)
    since = frame.cost_since_usd
    return replace(
        facts,
        session_id=facts.session_id or frame.session_id,
        in_turn=False,
        turns=facts.turns + 1,
        last=frame,
        owed={} if frame.woken else facts.owed,
        lost=facts.lost if frame.is_error else _not_absorbed(facts),
        words=frame.text or facts.words,
        cost_usd=max(facts.cost_usd, frame.cost_total_usd) if since is None else facts.cost_usd + since,
        denied_tools=(*facts.denied_tools, *frame.denied_tools),
        open_tools={} if frame.is_error else facts.open_tools,
    )


def _not_absorbed(facts: Facts) -> Mapping[str, bool]:
    return {task: said for task, said in facts.lost.items() if not said or facts.tasks[task].stopped_by_us}


# ── Tasks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_task(facts: Facts, task: Task) -> Facts:
    return replace(facts, tasks={**facts.tasks, task.id: task})


def _task_started(facts: Facts, frame: TaskStarted) -> Facts:
    known = facts.tasks.get(frame.task_id, Task(frame.task_id, run_id=frame.run_id))
    if known.life is not Life.RUNNING and known.run_id == frame.run_id:
        return facts  # the start frame of a task that has already ended
    said = frame.backgrounded
    background = known.background or (frame.tool_use_id in facts.background_asked if said is None else said)
    task = replace(
        known,
        run_id=frame.run_id,
        tool_use_id=frame.tool_use_id or known.tool_use_id,
        description=frame.description or known.description,
        kind=frame.kind or known.kind,
        background=background,
        nested=known.nested or frame.nested or frame.tool_use_id in facts.nested_calls,
        ambient=known.ambient or frame.ambient,
        life=Life.RUNNING,
    )
    return _with_task(facts, task)


def _task_updated(facts: Facts, frame: TaskUpdated) -> Facts:
    task = facts.tasks.get(frame.task_id)
    if task is None:
        return facts
    if frame.backgrounded and not task.background:
        facts = _with_task(facts, replace(task, background=True))
    return _ended(facts, frame.task_id, frame.status)


def _task_notification(facts: Facts, frame: TaskNotification) -> Facts:
    return _ended(facts, frame.task_id, frame.status)


def _level(facts: Facts, frame: Level) -> Facts:
    for listed in frame.tasks:
        facts = _listed(facts, listed)
    alive = {listed.task_id for listed in frame.tasks}
    for task in facts.roster:
        if task.id not in alive:
            facts = _moved(facts, task, Life.GONE)
    return facts


def _listed(facts: Facts, listed: LevelTask) -> Facts:
    known = facts.tasks.get(listed.task_id, Task(listed.task_id, run_id=listed.run_id))
    if known.life is not Life.RUNNING and known.run_id == listed.run_id:
        return facts  # ended already: a level never brings it back; a new run_id does
    task = replace(
        known,
        run_id=listed.run_id,
        description=known.description or listed.description,
        kind=known.kind or listed.kind,
        background=True,
        ambient=known.ambient or listed.ambient,
        life=Life.RUNNING,
    )
    return _with_task(facts, task)


def _ended(facts: Facts, task_id: str, status: str | None) -> Facts:
    task = facts.tasks.get(task_id)
    if task is None or task.life is Life.KILLED:
        return facts
    if status in TERMINAL_KILLED:
        facts = _moved(facts, task, Life.KILLED)
        return replace(facts, lost={**facts.lost, task_id: False}) if task.counts else facts
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


# ── The rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _api_retry(facts: Facts, frame: ApiRetry) -> Facts:
    refused = frame.error == "authentication_failed"
    return replace(facts, api_error=frame.error or facts.api_error, refused_auth=facts.refused_auth or refused)


def _rate_limit(facts: Facts, frame: RateLimit) -> Facts:
    return replace(facts, resets_at=frame.resets_at) if frame.status == "rejected" and frame.resets_at else facts


def _ignored(facts: Facts, frame: Ignored) -> Facts:
    return replace(facts, ignored={**facts.ignored, frame.why: facts.ignored.get(frame.why, 0) + 1})


_STEPS: dict[type, Callable[[Facts, Any], Facts]] = {
    PromptSent: _prompt_sent,
    StopAsked: _stop_asked,
    Init: _init,
    Assistant: _assistant,
    User: _user,
    Result: _result,
    TaskStarted: _task_started,
    TaskUpdated: _task_updated,
    TaskNotification: _task_notification,
    Level: _level,
    ApiRetry: _api_retry,
    RateLimit: _rate_limit,
    Ignored: _ignored,
}
