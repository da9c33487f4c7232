"""One line of the CLI's stdout → one Frame. Every difference between CLI versions is dealt with here and nowhere else.

The stream is newline-delimited JSON whose key order is not stable, and newer CLIs add types, subtypes and keys. Shapes
measured with CLI 2.1.197 to 2.1.332; 2.1.197 can cut its last line when it exits, so a torn line is noise too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from bot.claude import shapes
from bot.claude.frames import (
    ASIDE,
    NOT_JSON,
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
    ToolResult,
    ToolUse,
    User,
)
from bot.claude.shapes import Answer, Block, Given, LimitInfo, Patch, decode, decode_lines, decode_loosely

_WORDS_LIMIT = 100_000
_ABOUT_LIMIT = 200
_NOTHING_GIVEN = Given()


def parse(line: bytes) -> Frame:
    """The Frame in one line (with or without its newline). Never raises."""
    try:
        said = decode(line)
    except (ValueError, RecursionError):  # rare: noise, or a line of which something has another shape
        return parse_loosely(line)
    return _READERS[type(said)](said)


def parse_lines(piece: bytes) -> list[Frame]:
    """The Frames in one or more whole lines, one for each. Never raises."""
    try:
        said = decode_lines(piece)
    except (ValueError, RecursionError):
        said = []
    if len(said) != _objects(piece):  # noise among them
        return [parse(line) for line in piece.split(b"\n")]
    return [_READERS[type(line)](line) for line in said]


def _objects(piece: bytes) -> int:
    """The number of lines, where each may be an object by its ends; else -1."""
    find, count, end = piece.find, 1, -1
    while (end := find(b"\n", end + 1)) >= 0:
        if piece[end - 1 : end + 2] != b"}\n{":
            return -1
        count += 1
    return count


def parse_loosely(line: bytes) -> Frame:
    """The same by the slow way, which forgives all that can be forgiven: an array of frames, a byte order mark, broken
    characters, fields of another shape.
    """
    if not line.strip():
        return Ignored("blank line")
    try:
        found = decode_loosely(line)
    except (ValueError, RecursionError):
        return Ignored(NOT_JSON)
    if isinstance(found, list):
        return Batch(tuple(_READERS[type(each)](each) for each in found)) if found else Ignored("not an object")
    return _READERS[type(found)](found)


def _passing(_: shapes.Passing) -> Frame:
    return ASIDE


def _unknown(_: shapes.Unknown) -> Frame:
    return Ignored("unknown type")


def _system(line: shapes.System) -> Frame:
    reader = _SYSTEM.get(line.subtype)
    if reader is None:
        return ASIDE if line.subtype in _ASIDES else Ignored("unknown type")
    return reader(line)


def _init(line: shapes.System) -> Frame:
    return Init(line.session_id, line.claude_code_version, line.model, line.uuid)


def _blocks(line: shapes.Assistant | shapes.User) -> list[Block]:
    content = line.message.content if line.message else []
    return [Block("text", content)] if isinstance(content, str) else content


def _assistant(line: shapes.Assistant) -> Frame:
    text = ""
    uses: tuple[ToolUse, ...] = ()
    for block in _blocks(line):
        if block.type == "text":
            text += block.text
        elif block.type == "tool_use":
            uses += (_tool_use(block),)
    return Assistant(line.parent_tool_use_id or "", text[:_WORDS_LIMIT], uses, line.error)


def _tool_use(block: Block) -> ToolUse:
    given = block.input or _NOTHING_GIVEN
    what = given.description or given.command or given.file_path or given.path
    about = what or given.pattern or given.url or given.query or given.prompt or ""
    return ToolUse(block.id, block.name, given.run_in_background is True, about[:_ABOUT_LIMIT])


def _user(line: shapes.User) -> Frame:
    answer = line.tool_use_result
    task = ""
    if isinstance(answer, Answer):
        task = answer.background_task or (answer.agent if answer.is_async else "")
    results: tuple[ToolResult, ...] = ()
    for block in _blocks(line):
        if block.type == "tool_result":
            results += (ToolResult(block.tool_use_id, task),)
    return User(line.parent_tool_use_id or "", results)


def _result(line: shapes.Result) -> Frame:
    since, denials = line.model_usage_since_last_result, line.permission_denials
    return Result(
        subtype=line.subtype,
        is_error=line.is_error or line.subtype.startswith("error"),
        api_status=line.api_error_status,
        terminal_reason=line.terminal_reason,
        stop_reason=line.stop_reason or "",
        turns=line.num_turns,
        text=line.result[:_WORDS_LIMIT],
        errors=line.errors,
        woken=line.origin is not None and line.origin.kind == "task-notification",
        cost_total_usd=line.total_cost_usd,
        cost_since_usd=None if since is None else sum([usage.cost_usd for usage in since.values()]),
        denied_tools=tuple([denial.tool_name for denial in denials]) if denials else (),
        session_id=line.session_id,
        uuid=line.uuid,
    )


def _task_started(line: shapes.System) -> Frame:
    if not line.task_id:
        return Ignored("task without an id")
    return TaskStarted(
        task_id=line.task_id,
        run_id=line.run_id,
        tool_use_id=line.tool_use_id,
        description=line.description,
        kind=line.task_type,
        backgrounded=line.is_backgrounded,
        nested=line.spawn_depth > 1 or line.owned_by_subagent,
        ambient=line.ambient,
    )


def _task_updated(line: shapes.System) -> Frame:
    patch = line.patch or Patch()
    return TaskUpdated(line.task_id, line.run_id, patch.status, patch.is_backgrounded)


def _task_notification(line: shapes.System) -> Frame:
    return TaskNotification(line.task_id, line.run_id, line.status)


def _level(line: shapes.System) -> Frame:
    tasks = [
        LevelTask(listed.task_id, listed.run_id, listed.description, listed.task_type, listed.ambient)
        for listed in line.tasks
        if listed.task_id
    ]
    return Level(tuple(tasks))


def _api_retry(line: shapes.System) -> Frame:
    unanswered = line.error in {"", "unknown"} and line.error_status is None
    return ApiRetry(line.attempt, line.error_status, "connection" if unanswered else line.error)


def _rate_limit(line: shapes.RateLimitEvent) -> Frame:
    info = line.rate_limit_info or LimitInfo()
    return RateLimit(info.status, info.resets_at)


_ASIDES = frozenset(
    [
        "compact_boundary",
        "hook_progress",
        "hook_response",
        "hook_started",
        "model_fallback",
        "model_refusal_no_fallback",
        "notification",
        "session_state_changed",
        "status",
        "task_progress",
        "thinking_tokens",
        "ui_invalidate",
    ]
)
_SYSTEM: dict[str, Callable[[shapes.System], Frame]] = {
    "init": _init,
    "task_started": _task_started,
    "task_updated": _task_updated,
    "task_notification": _task_notification,
    "background_tasks_changed": _level,
    "api_retry": _api_retry,
}
_READERS: dict[type, Callable[[Any], Frame]] = {
    shapes.Assistant: _assistant,
    shapes.User: _user,
    shapes.Result: _result,
    shapes.System: _system,
    shapes.RateLimitEvent: _rate_limit,
    shapes.Unknown: _unknown,
    **dict.fromkeys(get_args(shapes.Passing), _passing),
}
