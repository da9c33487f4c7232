"""The shape of a line of the CLI's stdout, as far as a supervisor reads it; all else in a line is skipped unread.

`type` need not come first, and every other field can be missing. `decode` is fast and wants each field as it is written
here; `decode_loosely` takes what fits and leaves the rest out.
"""

from __future__ import annotations

import json
from types import UnionType
from typing import Annotated, Any, NoReturn, TypeVar, Union, get_args, get_origin

from msgspec import Meta, Struct, field
from msgspec.json import Decoder
from msgspec.structs import fields

_HUGE = 2**53
Whole = Annotated[int, Meta(ge=-_HUGE, le=_HUGE)]
"""No number that means anything is larger."""
Money = Annotated[float, Meta(ge=-_HUGE, le=_HUGE)]


class Given(Struct):
    """What a tool was given: what tells people what it does, in the order of preference."""

    description: str | None = None
    command: str | None = None
    file_path: str | None = None
    path: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None
    prompt: str | None = None
    run_in_background: bool | None = None


class Block(Struct):
    """One block of a message's content, of any type."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Given | None = None
    tool_use_id: str | None = None


class Message(Struct):
    """What the model said, or was told."""

    content: str | list[Block] | None = None


class Answer(Struct):
    """A tool's answer, as the CLI keeps it beside the message."""

    background_task: str | None = field(name="backgroundTaskId", default=None)
    is_async: bool | None = field(name="isAsync", default=None)
    agent: str | None = field(name="agentId", default=None)


class Origin(Struct):
    """What opened a Turn."""

    kind: str | None = None


class Usage(Struct):
    """What one model cost."""

    cost_usd: Money | None = field(name="costUSD", default=None)


class Denial(Struct):
    """A tool call that was not allowed."""

    tool_name: str | None = None


class Patch(Struct):
    """What changes of a task."""

    status: str | None = None
    is_backgrounded: bool | None = None


class Listed(Struct):
    """A task of the level."""

    task_id: str | None = None
    run_id: str | None = None
    description: str | None = None
    task_type: str | None = None
    ambient: bool | None = None


class LimitInfo(Struct):
    """The state of a usage limit."""

    status: str | None = None
    resets_at: Whole | None = field(name="resetsAt", default=None)


class Assistant(Struct, tag="assistant"):
    """The model speaks or calls a tool."""

    message: Message | None = None
    parent_tool_use_id: str | None = None
    error: str | None = None


class User(Struct, tag="user"):
    """The model is answered."""

    message: Message | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: Answer | str | list[object] | None = None


class Result(Struct, tag="result"):
    """A Turn closes."""

    subtype: str | None = None
    is_error: bool | None = None
    api_error_status: Whole | None = None
    num_turns: Whole | None = None
    result: str | None = None
    stop_reason: str | None = None
    session_id: str | None = None
    total_cost_usd: Money | None = None
    permission_denials: list[Denial] | None = None
    terminal_reason: str | None = None
    origin: Origin | None = None
    model_usage_since_last_result: dict[str, Usage] | None = None
    errors: list[str] | None = None
    uuid: str | None = None


class System(Struct, tag="system"):
    """All that is said of the conversation; which fields there are depends on `subtype`."""

    subtype: str | None = None
    session_id: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    uuid: str | None = None

    task_id: str | None = None
    run_id: str | None = None
    tool_use_id: str | None = None
    description: str | None = None
    task_type: str | None = None
    is_backgrounded: bool | None = None
    spawn_depth: Whole | None = None
    owned_by_subagent: bool | None = None
    ambient: bool | None = None
    status: str | None = None
    patch: Patch | None = None
    tasks: list[Listed] | None = None

    attempt: Whole | None = None
    error_status: Whole | None = None
    error: str | None = None


class RateLimitEvent(Struct, tag="rate_limit_event"):
    """A usage limit is told of."""

    rate_limit_info: LimitInfo | None = None


class StreamEvent(Struct, tag="stream_event"):
    """A part of a message."""


class CommandLifecycle(Struct, tag="command_lifecycle"):
    """How a message of ours fares."""


class ControlRequest(Struct, tag="control_request"):
    """What the CLI asks of its host."""


class ControlCancelRequest(Struct, tag="control_cancel_request"):
    """What it no longer asks."""


class ControlResponse(Struct, tag="control_response"):
    """The answer to a request of ours."""


class KeepAlive(Struct, tag="keep_alive"):
    """Nothing but a sign of life."""


class Unknown(Struct, tag=""):
    """A line of a type that is not known."""


Passing = StreamEvent | CommandLifecycle | ControlRequest | ControlCancelRequest | ControlResponse | KeepAlive
Line = Assistant | User | Result | System | RateLimitEvent | Passing | Unknown


_DECODER = Decoder(Line)
decode = _DECODER.decode
"""The line as it is. Raises `ValueError` for noise, unknown types and other shapes, `RecursionError` for deep nests."""
decode_lines = _DECODER.decode_lines
"""The same for one object after another, whatever white space is between and within them."""
_SHAPES: dict[object, type[Line]] = {shape.__struct_config__.tag: shape for shape in get_args(Line)}


def decode_loosely(line: bytes) -> Line | list[Line]:
    """As much of the line as has its shape; a list for an array of objects, an empty one for any other JSON value.

    Raises `ValueError` or `RecursionError` for what is no JSON.
    """
    text = line.decode("utf-8", errors="replace").lstrip("\ufeff")
    data = json.loads(text, parse_constant=_refuse)
    if isinstance(data, dict):
        return _line(data)
    if isinstance(data, list) and all(isinstance(item, dict) for item in data):
        return [_line(item) for item in data]
    return []


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _line(data: dict[str, Any]) -> Line:
    kind = data.get("type")
    return _loosely(_SHAPES.get(kind, Unknown) if isinstance(kind, str) else Unknown, data)


S = TypeVar("S", bound=Struct)


def _loosely(shape: type[S], data: dict[str, Any]) -> S:
    known = [each for each in fields(shape) if each.encode_name in data]
    return shape(**{each.name: _fitted(each.type, data[each.encode_name]) for each in known})


def _fitted(wanted: Any, value: Any) -> Any:
    """`value`, or what of it is as `wanted`; None where nothing is."""
    shapes = get_args(wanted) if get_origin(wanted) in {Union, UnionType} else (wanted,)
    return next((found for shape in shapes if (found := _as(shape, value)) is not None), None)


def _as(shape: Any, value: Any) -> Any:
    kind = get_origin(shape) or shape
    match value:
        case dict() if kind is dict:
            items = {key: _fitted(get_args(shape)[1], item) for key, item in value.items()}
            return {key: item for key, item in items.items() if item is not None}
        case dict() if isinstance(kind, type) and issubclass(kind, Struct):
            return _loosely(kind, value)
        case list() if kind is list:
            fitted = (_fitted(get_args(shape)[0], item) for item in value)
            return [item for item in fitted if item is not None]
        case str() if kind is str:
            return value.encode("utf-8", errors="replace").decode()  # half a surrogate pair can be in an escape
        case bool():
            return value if kind is bool else None
        case int() | float() if shape in (Whole, Money) and abs(value) <= _HUGE:
            return int(value) if shape is Whole else float(value)
    return None
