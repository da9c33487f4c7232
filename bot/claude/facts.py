"""What is known of one CLI process, folded from its Frames and from what we ourselves asked of it. Pure: no clock, no
I/O.

The rules about background work that this fold keeps:

* The Roster is what runs in the background. A level replaces it; `task_started` adds to it, but for a foreground
  command only once it was moved to the background; where the CLI does not say (2.1.197), only once the tool's answer
  or its own input showed the background.
* A Wake turn is owed when a root task ended and the root has neither opened a Turn for it nor spoken since. An empty
  level cancels nothing.
* Only root-owned tasks wake the root; a nested task (a sub-agent's own) can be lost all the same.
* A loss is absorbed only by a root `assistant` frame after it, followed by a result that is no error; what we
  stopped is never absorbed.
* A failed Turn on a live process keeps the Roster and what is owed: the level is only sent on change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import islice
from typing import Any

from bot.claude.frames import (
    NOT_JSON,
    TERMINAL_GOOD,
    TERMINAL_KILLED,
    ApiRetry,
    Assistant,
    Batch,
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
_TASKS_KEPT = 256
"""Tasks that are remembered: a task that ended so long ago is not told of again, and the memory of a long stream is
bounded.
"""
_TURN_FRAMES_KEPT = 64


class Opener(Enum):
    """What opened the present Turn."""

    PROMPT = auto()
    """One of our own messages."""
    TASK_END = auto()
    """The end of a background task: a Wake turn that was owed."""
    ITSELF = auto()
    """Neither: a line that a Monitor printed, or a schedule."""


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
    def killed_by_us(self) -> bool:
        """It ran until our own `stop_task` ended it: nothing that is said afterwards makes that good."""
        return self.stopped_by_us and self.life is Life.KILLED

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


@dataclass(frozen=True)  # no slots: `_with` copies the dict, several times as fast as `replace`
class Facts:
    """Everything a supervisor or a verdict may ask about one process."""

    session_id: str = ""
    cli_version: str = ""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    owed: Mapping[str, bool] = field(default_factory=dict)
    """Ids of root tasks whose Wake turn has not come → whether they ended within a Turn (then the root's next words
    answer for it).
    """
    lost: Mapping[str, bool] = field(default_factory=dict)
    """Ids of tasks that were killed and not absorbed, in order → whether the root has spoken since."""
    background_asked: frozenset[str] = frozenset()
    """Tool calls that asked for the background in their own input."""
    nested_calls: frozenset[str] = frozenset()
    """Tool calls of sub-agents: those that have no answer yet, and those that asked for the background."""
    open_tools: Mapping[str, str] = field(default_factory=dict)
    """The root's tool calls without an answer yet, id → what they do. A sub-agent's are covered by its own call or the
    Roster.
    """
    turn_frames: tuple[str, ...] = ()
    """Ids of the last frames that opened or closed a Turn: what is told twice counts once."""
    begun: bool = False
    """An `init` has come."""
    unanswered: int = 0
    """Our own messages whose Turn has not opened."""
    in_turn: bool = False
    unclosed: int = 0
    """Turns opened and not closed: two at once where a result is held back."""
    opener: Opener = Opener.PROMPT
    turns: int = 0
    wake_turns: int = 0
    work_turns: int = 0
    """Turns, less those that nothing but a line of output opened: a Hold is counted from the end of the last one."""
    last: Result | None = None
    api_error: str = ""
    """The CLI's class of the last API failure in the present or last Turn since the model last spoke, or ""."""
    words: str = ""
    """The root's last words."""
    cost_usd: float = 0.0
    denied_tools: tuple[str, ...] = ()
    resets_at: int | None = None
    """When the usage limit ends, seconds since the epoch, where a field says so."""
    refused_auth: bool = False
    """A first `api_retry` said that the credential was refused."""
    torn: bool = False
    """The last line was not JSON."""
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
    if step is not None:
        facts = step(facts, event)
    return _with(facts, torn=False) if facts.torn and not isinstance(event, Ignored) else facts


def fold_all(events: Iterable[Event], facts: Facts | None = None) -> Facts:
    """The facts after all `events`."""
    facts = Facts() if facts is None else facts
    for event in events:
        facts = fold(facts, event)
    return facts


def _with(facts: Facts, **changes: object) -> Facts:
    new = object.__new__(Facts)
    new.__dict__.update(facts.__dict__, **changes)
    return new


def _batch(facts: Facts, batch: Batch) -> Facts:
    return fold_all(batch.frames, facts)


def _prompt_sent(facts: Facts, _: PromptSent) -> Facts:
    return _with(facts, unanswered=facts.unanswered + 1)


def _stop_asked(facts: Facts, asked: StopAsked) -> Facts:
    task = facts.tasks.get(asked.task_id)
    if task is None or task.life is not Life.RUNNING:
        return facts
    return _with_task(facts, replace(task, stopped_by_us=True))


# ── Turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _init(facts: Facts, frame: Init) -> Facts:
    if frame.uuid and frame.uuid in facts.turn_frames:
        return facts
    opener = Opener.PROMPT if facts.unanswered else Opener.TASK_END if facts.owed else Opener.ITSELF
    ours = opener is Opener.PROMPT
    return _with(
        facts,
        session_id=frame.session_id or facts.session_id,
        cli_version=frame.cli_version or facts.cli_version,
        turn_frames=_remember(facts, frame.uuid),
        begun=True,
        in_turn=True,
        unclosed=facts.unclosed + 1,
        opener=opener,
        unanswered=facts.unanswered - 1 if ours else 0,
        wake_turns=facts.wake_turns + (not ours),
        owed=facts.owed if ours else {},
        api_error="",
    )


def _remember(facts: Facts, uuid: str) -> tuple[str, ...]:
    return (*facts.turn_frames[-_TURN_FRAMES_KEPT:], uuid) if uuid else facts.turn_frames


def _assistant(facts: Facts, frame: Assistant) -> Facts:
    if frame.tool_uses:
        facts = _tools_opened(facts, frame)
    if frame.parent:
        return facts
    if frame.error:
        return _with(facts, api_error=frame.error)
    return _with(
        facts,
        in_turn=True,
        api_error="",
        owed={task_id: within for task_id, within in facts.owed.items() if not within} if facts.owed else facts.owed,
        lost=dict.fromkeys(facts.lost, True) if facts.lost else facts.lost,
        words=frame.text or facts.words,
    )


def _tools_opened(facts: Facts, frame: Assistant) -> Facts:
    asked = frozenset(use.id for use in frame.tool_uses if use.asks_background)
    if asked:
        facts = _with(facts, background_asked=facts.background_asked | asked)
    if frame.parent:
        return _with(facts, nested_calls=facts.nested_calls | {use.id for use in frame.tool_uses})
    about = {use.id: f"{use.name}: {use.about}" if use.about else use.name for use in frame.tool_uses if use.id}
    return _with(facts, open_tools={**facts.open_tools, **about})


def _user(facts: Facts, frame: User) -> Facts:
    if not frame.results:
        return facts
    answered = {result.tool_use_id for result in frame.results}
    if frame.parent:
        facts = _with(facts, nested_calls=facts.nested_calls - (answered - facts.background_asked))
    elif facts.open_tools:
        left = {use: about for use, about in facts.open_tools.items() if use not in answered}
        facts = _with(facts, open_tools=left)
    for result in frame.results:
        if result.background_task:
            known = facts.tasks.get(result.background_task, Task(result.background_task))
            nested = known.nested or bool(frame.parent)
            call = known.tool_use_id or result.tool_use_id
            facts = _with_task(facts, replace(known, tool_use_id=call, background=True, nested=nested))
    return facts


def _result(facts: Facts, frame: Result) -> Facts:
    if frame.uuid and frame.uuid in facts.turn_frames:
        return facts
    closed = {
        "in_turn": False,
        "unclosed": max(facts.unclosed - 1, 0),
        "turn_frames": _remember(facts, frame.uuid),
    }
    if frame.is_debris:
        ours = facts.in_turn and facts.opener is Opener.PROMPT
        return _with(facts, unanswered=facts.unanswered + ours, **closed)
    since = frame.cost_since_usd
    lost = facts.lost if frame.is_error or not facts.lost else _not_absorbed(facts)
    owed = {} if frame.woken else facts.owed
    return _with(
        facts,
        session_id=facts.session_id or frame.session_id,
        turns=facts.turns + 1,
        work_turns=facts.work_turns + (facts.opener is not Opener.ITSELF),
        last=frame,
        owed=owed,
        lost=lost,
        tasks=_without_old(facts.tasks, owed, lost) if len(facts.tasks) > _TASKS_KEPT else facts.tasks,
        words=frame.text or facts.words,
        cost_usd=max(facts.cost_usd, frame.cost_total_usd) if since is None else facts.cost_usd + since,
        denied_tools=(*facts.denied_tools, *frame.denied_tools),
        open_tools={} if frame.is_error else facts.open_tools,
        **closed,
    )


def _not_absorbed(facts: Facts) -> Mapping[str, bool]:
    return {task: said for task, said in facts.lost.items() if not said or facts.tasks[task].killed_by_us}


def _without_old(tasks: Mapping[str, Task], *needed: Mapping[str, bool]) -> Mapping[str, Task]:
    ended = (
        id for id, task in tasks.items() if task.life is not Life.RUNNING and not any(id in some for some in needed)
    )
    old = set(islice(ended, len(tasks) - _TASKS_KEPT))
    return {id: task for id, task in tasks.items() if id not in old}


# ── Tasks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_task(facts: Facts, task: Task) -> Facts:
    return _with(facts, tasks={**facts.tasks, task.id: task})


def _running(facts: Facts, task_id: str, run_id: str) -> tuple[Facts, Task] | None:
    """The task as it starts or is listed; None when this run of it has ended. An agent can be started again with a new
    run id (2.1.332).
    """
    known = facts.tasks.get(task_id)
    if known is None:
        return facts, Task(task_id, run_id=run_id)
    if known.life is Life.RUNNING:
        return facts, replace(known, run_id=run_id or known.run_id)
    if run_id in {"", known.run_id}:
        return None
    taken_up = {task: said for task, said in facts.lost.items() if task != task_id}
    return _with(facts, lost=taken_up), replace(known, run_id=run_id, life=Life.RUNNING, stopped_by_us=False)


def _task_started(facts: Facts, frame: TaskStarted) -> Facts:
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


def _level(facts: Facts, frame: Level) -> Facts:
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


def _task_updated(facts: Facts, frame: TaskUpdated) -> Facts:
    task = facts.tasks.get(frame.task_id)
    if task is None:
        return facts
    if frame.backgrounded and not task.background:
        facts = _with_task(facts, replace(task, background=True))
    return _ended(facts, frame.task_id, frame.run_id, frame.status)


def _task_notification(facts: Facts, frame: TaskNotification) -> Facts:
    return _ended(facts, frame.task_id, frame.run_id, frame.status)


def _ended(facts: Facts, task_id: str, run_id: str, status: str | None) -> Facts:
    task = facts.tasks.get(task_id)
    if task is None or task.life is Life.KILLED or (run_id and task.run_id not in {"", run_id}):
        return facts
    # What we asked to be stopped is lost, whatever is said of it: a killed command can be reported as completed
    # (measured).
    lost = status in TERMINAL_KILLED or (status in TERMINAL_GOOD and task.stopped_by_us)
    if lost and task.counts and task_id not in facts.lost:
        facts = _with(facts, lost={**facts.lost, task_id: False})
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
    return _with(facts, owed={**facts.owed, task.id: facts.in_turn}) if owes else facts


# ── The rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _api_retry(facts: Facts, frame: ApiRetry) -> Facts:
    refused = frame.error == "authentication_failed"
    return _with(facts, api_error=frame.error or facts.api_error, refused_auth=facts.refused_auth or refused)


def _rate_limit(facts: Facts, frame: RateLimit) -> Facts:
    return _with(facts, resets_at=frame.resets_at) if frame.status == "rejected" and frame.resets_at else facts


def _ignored(facts: Facts, frame: Ignored) -> Facts:
    counted = {**facts.ignored, frame.why: facts.ignored.get(frame.why, 0) + 1}
    return _with(facts, ignored=counted, torn=frame.why == NOT_JSON)


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
    Batch: _batch,
}
