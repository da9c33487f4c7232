"""What one line of the CLI's stdout can say: the Frames that a supervisor decides by.

They are read from lines by `bot.claude.lines`. What is not known is `Ignored` with a reason, never an error; what is
known and of no matter to a supervisor is an `Aside`.
"""

from __future__ import annotations

from msgspec import Struct


class Tree(Struct, frozen=True, gc=False):
    """Data in which no cycle can be, so that the garbage collector need not look for one."""


TERMINAL_GOOD = frozenset({"completed", "failed"})
TERMINAL_KILLED = frozenset({"killed", "stopped"})
"""`task_notification` says `stopped` for what `task_updated` calls `killed`."""


class Init(Tree, frozen=True):
    """`system/init`: a Turn opens, ours or one the CLI starts itself."""

    session_id: str
    cli_version: str
    model: str
    uuid: str = ""


class ToolUse(Tree, frozen=True):
    """A tool call that the model asked for."""

    id: str
    name: str
    asks_background: bool
    about: str
    """The command, path or description it was given, for progress lines; bounded to 200 characters."""


class Assistant(Tree, frozen=True):
    """`assistant`: one finished content block. `parent` is "" for the root, else the tool call of the sub-agent that
    owns the frame.
    """

    parent: str
    text: str
    tool_uses: tuple[ToolUse, ...]
    error: str
    """The CLI's own class of an API failure (`rate_limit`, `server_error`, …), or ""."""


class ToolResult(Tree, frozen=True):
    """The answer to a tool call; `background_task` is the task it acknowledges as running in the background, or ""."""

    tool_use_id: str
    background_task: str


class User(Tree, frozen=True):
    """`user`: tool results going back to the model."""

    parent: str
    results: tuple[ToolResult, ...]


class Result(Tree, frozen=True):
    """`result`: a Turn closes."""

    subtype: str
    is_error: bool
    api_status: int | None
    terminal_reason: str
    stop_reason: str
    turns: int
    text: str
    errors: tuple[str, ...]
    woken: bool
    """The Turn was opened by the end of a background task."""
    cost_total_usd: float
    """Running total of the process."""
    cost_since_usd: float | None
    """What this Turn cost, where the CLI says so (newer ones)."""
    denied_tools: tuple[str, ...]
    session_id: str
    uuid: str = ""

    @property
    def is_debris(self) -> bool:
        """A resumed process first closes a Turn that never was (measured with both generations)."""
        return self.woken and self.turns == 0


class TaskStarted(Tree, frozen=True):
    """`system/task_started`. Not only for background tasks: a foreground command of over 3 s sends it too."""

    task_id: str
    run_id: str
    tool_use_id: str
    description: str
    kind: str
    backgrounded: bool | None
    """None where the CLI does not say (2.1.197)."""
    nested: bool
    ambient: bool


class TaskUpdated(Tree, frozen=True):
    """`system/task_updated`: a patch; `status` or `backgrounded` is None when the patch leaves it alone."""

    task_id: str
    run_id: str
    status: str | None
    backgrounded: bool | None


class TaskNotification(Tree, frozen=True):
    """`system/task_notification`: a task ended, told to the model."""

    task_id: str
    run_id: str
    status: str


class LevelTask(Tree, frozen=True):
    """One task of the level."""

    task_id: str
    run_id: str
    description: str
    kind: str
    ambient: bool


class Level(Tree, frozen=True):
    """`system/background_tasks_changed`: the whole set of background tasks, on change only; 2.1.211 and newer."""

    tasks: tuple[LevelTask, ...]


class ApiRetry(Tree, frozen=True):
    """`system/api_retry`: the CLI tries a model request again by itself."""

    attempt: int
    status: int | None
    error: str
    """The CLI's class; "connection" where it has none and no answer came at all."""


class RateLimit(Tree, frozen=True):
    """`rate_limit_event`: sent with an OAuth token only. `resets_at` is seconds since the epoch."""

    status: str
    resets_at: int | None


class Aside(Tree, frozen=True):
    """A line whose type is known and that decides nothing."""


class Batch(Tree, frozen=True):
    """A line that holds an array of frames, as `--output-format json` writes them."""

    frames: tuple[Frame, ...]


class Ignored(Tree, frozen=True):
    """A line that says nothing to a supervisor, and why."""

    why: str


NOT_JSON = "not JSON"

Frame = (
    Init
    | Assistant
    | User
    | Result
    | TaskStarted
    | TaskUpdated
    | TaskNotification
    | Level
    | ApiRetry
    | RateLimit
    | Aside
    | Batch
    | Ignored
)

ASIDE = Aside()
