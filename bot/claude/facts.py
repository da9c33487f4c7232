"""What is known of one CLI process, its tasks and its Turns. How it comes to be known: `bot.claude.fold`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from bot.claude.frames import Frame, Result, Tree


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


class Task(Tree, frozen=True):
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


class PromptSent(Tree, frozen=True):
    """We wrote a user message."""


class StopAsked(Tree, frozen=True):
    """We sent a `stop_task` for this task."""

    task_id: str


Event = Frame | PromptSent | StopAsked


class Facts(Tree, frozen=True):
    """Everything a supervisor or a verdict may ask about one process."""

    session_id: str = ""
    cli_version: str = ""
    tasks: Mapping[str, Task] = {}
    owed: Mapping[str, bool] = {}
    """Ids of root tasks whose Wake turn has not come → whether they ended within a Turn (then the root's next words
    answer for it).
    """
    lost: Mapping[str, bool] = {}
    """Ids of tasks that were killed and not absorbed, in order → whether the root has spoken since."""
    background_asked: frozenset[str] = frozenset()
    """Tool calls that asked for the background in their own input."""
    nested_calls: frozenset[str] = frozenset()
    """Tool calls of sub-agents: those that have no answer yet, and those that asked for the background."""
    open_tools: Mapping[str, str] = {}
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
    ignored: Mapping[str, int] = {}
    """Lines that said nothing: reason → count."""

    @property
    def roster(self) -> tuple[Task, ...]:
        """The background tasks alive."""
        running = Life.RUNNING
        return tuple([task for task in self.tasks.values() if task.life is running and task.counts])

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
