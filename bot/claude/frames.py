"""One line of the CLI's stdout → one Frame. Every difference between CLI versions is dealt with here and nowhere else.

The stream is newline-delimited JSON whose key order is not stable. What is not known is `Ignored` with a reason, never
an error: newer CLIs add types, subtypes and keys. What is known and of no matter to a supervisor is an `Aside`. Shapes
measured with CLI 2.1.197 to 2.1.332; 2.1.197 can cut its last line when it exits, so a torn line is noise too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

TERMINAL_GOOD = frozenset({"completed", "failed"})
TERMINAL_KILLED = frozenset({"killed", "stopped"})
"""`task_notification` says `stopped` for what `task_updated` calls `killed`."""


@dataclass(frozen=True, slots=True)
class Init:
    """`system/init`: a Turn opens, ours or one the CLI starts itself."""

    session_id: str
    cli_version: str
    model: str
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call that the model asked for."""

    id: str
    name: str
    asks_background: bool
    about: str
    """The command, path or description it was given, for progress lines; bounded to 200 characters."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """`assistant`: one finished content block. `parent` is "" for the root, else the tool call of the sub-agent that
    owns the frame.
    """

    parent: str
    text: str
    tool_uses: tuple[ToolUse, ...]
    error: str
    """The CLI's own class of an API failure (`rate_limit`, `server_error`, …), or ""."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a tool call; `background_task` is the task it acknowledges as running in the background, or ""."""

    tool_use_id: str
    background_task: str


@dataclass(frozen=True, slots=True)
class User:
    """`user`: tool results going back to the model."""

    parent: str
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class Result:
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


@dataclass(frozen=True, slots=True)
class TaskStarted:
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


@dataclass(frozen=True, slots=True)
class TaskUpdated:
    """`system/task_updated`: a patch; `status` or `backgrounded` is None when the patch leaves it alone."""

    task_id: str
    run_id: str
    status: str | None
    backgrounded: bool | None


@dataclass(frozen=True, slots=True)
class TaskNotification:
    """`system/task_notification`: a task ended, told to the model."""

    task_id: str
    run_id: str
    status: str


@dataclass(frozen=True, slots=True)
class LevelTask:
    """One task of the level."""

    task_id: str
    run_id: str
    description: str
    kind: str
    ambient: bool


@dataclass(frozen=True, slots=True)
class Level:
    """`system/background_tasks_changed`: the whole set of background tasks, on change only; 2.1.211 and newer."""

    tasks: tuple[LevelTask, ...]


@dataclass(frozen=True, slots=True)
class ApiRetry:
    """`system/api_retry`: the CLI tries a model request again by itself."""

    attempt: int
    status: int | None
    error: str
    """The CLI's class; "connection" where it has none and no answer came at all."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """`rate_limit_event`: sent with an OAuth token only. `resets_at` is seconds since the epoch."""

    status: str
    resets_at: int | None


@dataclass(frozen=True, slots=True)
class Aside:
    """A line whose type is known and that decides nothing."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A line that holds an array of frames, as `--output-format json` writes them."""

    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Ignored:
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

_ABOUT_KEYS = ("description", "command", "file_path", "path", "pattern", "url", "query", "prompt")
_ABOUT_LIMIT = 200
_WORDS_LIMIT = 100_000


def parse(line: bytes) -> Frame:
    """The Frame in one line (with or without its newline). Never raises."""
    if not line.strip():
        return Ignored("blank line")
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _parse_repaired(line)
    return _frame(data)


def _parse_repaired(line: bytes) -> Frame:
    # orjson refuses invalid UTF-8 and lone surrogates; a replaced character beats a lost frame.
    text = line.decode("utf-8", errors="replace").lstrip("\ufeff")
    try:
        return _frame(orjson.loads(text))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return Ignored(NOT_JSON)


def _frame(data: object) -> Frame:
    if isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        return Batch(tuple(_frame(item) for item in data))
    if not isinstance(data, dict):
        return Ignored("not an object")
    kind = _text(data.get("type"))
    name = _text(data.get("subtype")) if kind == "system" else kind
    reader = (_SYSTEM if kind == "system" else _TYPES).get(name)
    if reader is None:
        return ASIDE if name in _ASIDES else Ignored("unknown type")
    return reader(data)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _whole(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, float) and math.isfinite(value) else None


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _blocks(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = _object(data.get("message")).get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from _objects(content)


def _init(data: dict[str, Any]) -> Frame:
    return Init(
        session_id=_text(data.get("session_id")),
        cli_version=_text(data.get("claude_code_version")),
        model=_text(data.get("model")),
        uuid=_text(data.get("uuid")),
    )


def _assistant(data: dict[str, Any]) -> Frame:
    texts: list[str] = []
    uses: list[ToolUse] = []
    for block in _blocks(data):
        if block.get("type") == "text":
            texts.append(_text(block.get("text")))
        elif block.get("type") == "tool_use":
            uses.append(_tool_use(block))
    text = "".join(texts)[:_WORDS_LIMIT]
    return Assistant(_text(data.get("parent_tool_use_id")), text, tuple(uses), _text(data.get("error")))


def _tool_use(block: dict[str, Any]) -> ToolUse:
    given = _object(block.get("input"))
    about = next((_text(given[key]) for key in _ABOUT_KEYS if _text(given.get(key))), "")
    background = given.get("run_in_background") is True
    return ToolUse(_text(block.get("id")), _text(block.get("name")), background, about[:_ABOUT_LIMIT])


def _user(data: dict[str, Any]) -> Frame:
    answer = _object(data.get("tool_use_result"))
    task = _text(answer.get("backgroundTaskId"))
    if not task and answer.get("isAsync") is True:
        task = _text(answer.get("agentId"))
    results = [
        ToolResult(_text(block.get("tool_use_id")), task)
        for block in _blocks(data)
        if block.get("type") == "tool_result"
    ]
    return User(_text(data.get("parent_tool_use_id")), tuple(results))


def _result(data: dict[str, Any]) -> Frame:
    since = data.get("model_usage_since_last_result")
    errors = data.get("errors")
    subtype = _text(data.get("subtype"))
    return Result(
        subtype=subtype,
        is_error=data.get("is_error") is True or subtype.startswith("error"),
        api_status=_whole(data.get("api_error_status")),
        terminal_reason=_text(data.get("terminal_reason")),
        stop_reason=_text(data.get("stop_reason")),
        turns=_whole(data.get("num_turns")) or 0,
        text=_text(data.get("result"))[:_WORDS_LIMIT],
        errors=tuple(_text(item) for item in errors) if isinstance(errors, list) else (),
        woken=_object(data.get("origin")).get("kind") == "task-notification",
        cost_total_usd=_number(data.get("total_cost_usd")),
        cost_since_usd=sum(_number(_object(usage).get("costUSD")) for usage in since.values())
        if isinstance(since, dict)
        else None,
        denied_tools=tuple(_text(item.get("tool_name")) for item in _objects(data.get("permission_denials"))),
        session_id=_text(data.get("session_id")),
        uuid=_text(data.get("uuid")),
    )


def _task_started(data: dict[str, Any]) -> Frame:
    task = _text(data.get("task_id"))
    if not task:
        return Ignored("task without an id")
    return TaskStarted(
        task_id=task,
        run_id=_text(data.get("run_id")),
        tool_use_id=_text(data.get("tool_use_id")),
        description=_text(data.get("description")),
        kind=_text(data.get("task_type")),
        backgrounded=_flag(data.get("is_backgrounded")),
        nested=(_whole(data.get("spawn_depth")) or 0) > 1 or data.get("owned_by_subagent") is True,
        ambient=data.get("ambient") is True,
    )


def _task_updated(data: dict[str, Any]) -> Frame:
    patch = _object(data.get("patch"))
    status = patch.get("status")
    return TaskUpdated(
        _text(data.get("task_id")),
        _text(data.get("run_id")),
        status if isinstance(status, str) else None,
        _flag(patch.get("is_backgrounded")),
    )


def _task_notification(data: dict[str, Any]) -> Frame:
    return TaskNotification(_text(data.get("task_id")), _text(data.get("run_id")), _text(data.get("status")))


def _level(data: dict[str, Any]) -> Frame:
    tasks = [
        LevelTask(
            _text(item.get("task_id")),
            _text(item.get("run_id")),
            _text(item.get("description")),
            _text(item.get("task_type")),
            item.get("ambient") is True,
        )
        for item in _objects(data.get("tasks"))
        if _text(item.get("task_id"))
    ]
    return Level(tuple(tasks))


def _api_retry(data: dict[str, Any]) -> Frame:
    error, status = _text(data.get("error")), _whole(data.get("error_status"))
    unanswered = error in {"", "unknown"} and status is None
    return ApiRetry(_whole(data.get("attempt")) or 0, status, "connection" if unanswered else error)


def _rate_limit(data: dict[str, Any]) -> Frame:
    info = _object(data.get("rate_limit_info"))
    return RateLimit(_text(info.get("status")), _whole(info.get("resetsAt")))


ASIDE = Aside()
_ASIDES = frozenset(
    [
        "command_lifecycle",
        "compact_boundary",
        "control_cancel_request",
        "control_request",
        "control_response",
        "hook_progress",
        "hook_response",
        "hook_started",
        "keep_alive",
        "model_fallback",
        "model_refusal_no_fallback",
        "notification",
        "session_state_changed",
        "status",
        "stream_event",
        "task_progress",
        "thinking_tokens",
        "ui_invalidate",
    ]
)
_Reader = Callable[[dict[str, Any]], Frame]
_TYPES: dict[str, _Reader] = {
    "assistant": _assistant,
    "user": _user,
    "result": _result,
    "rate_limit_event": _rate_limit,
}
_SYSTEM: dict[str, _Reader] = {
    "init": _init,
    "task_started": _task_started,
    "task_updated": _task_updated,
    "task_notification": _task_notification,
    "background_tasks_changed": _level,
    "api_retry": _api_retry,
}
