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


class Shape(Struct, gc=False):
    """A part of a line: a tree, in which the garbage collector need not look for cycles.

    Only what the CLI was seen to leave null, or what the model writes, can be None; a null elsewhere has another shape.
    """


class Given(Shape):
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


class Block(Shape):
    """One block of a message's content, of any type."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: Given | None = None
    tool_use_id: str = ""


class Message(Shape):
    """What the model said, or was told."""

    content: str | list[Block] = ""


class Answer(Shape):
    """A tool's answer, as the CLI keeps it beside the message."""

    background_task: str = field(name="backgroundTaskId", default="")
    is_async: bool = field(name="isAsync", default=False)
    agent: str = field(name="agentId", default="")


class Origin(Shape):
    """What opened a Turn."""

    kind: str = ""


class Usage(Shape):
    """What one model cost."""

    cost_usd: Money = field(name="costUSD", default=0.0)


class Denial(Shape):
    """A tool call that was not allowed."""

    tool_name: str = ""


class Patch(Shape):
    """What changes of a task."""

    status: str | None = None
    is_backgrounded: bool | None = None


class Listed(Shape):
    """A task of the level."""

    task_id: str = ""
    run_id: str = ""
    description: str = ""
    task_type: str = ""
    ambient: bool = False


class LimitInfo(Shape):
    """The state of a usage limit."""

    status: str = ""
    resets_at: Whole | None = field(name="resetsAt", default=None)


class Assistant(Shape, tag="assistant"):
    """The model speaks or calls a tool."""

    message: Message | None = None
    parent_tool_use_id: str | None = None
    error: str = ""


class User(Shape, tag="user"):
    """The model is answered."""

    message: Message | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: Answer | str | list[object] | None = None


class Result(Shape, tag="result"):
    """A Turn closes."""

    subtype: str = ""
    is_error: bool = False
    api_error_status: Whole | None = None
    num_turns: Whole = 0
    result: str = ""
    stop_reason: str | None = None
    session_id: str = ""
    total_cost_usd: Money = 0.0
    permission_denials: tuple[Denial, ...] = ()
    terminal_reason: str = ""
    origin: Origin | None = None
    model_usage_since_last_result: dict[str, Usage] | None = None
    errors: tuple[str, ...] = ()
    uuid: str = ""


class System(Shape, tag="system"):
    """All that is said of the conversation; which fields there are depends on `subtype`."""

    subtype: str = ""
    session_id: str = ""
    model: str = ""
    claude_code_version: str = ""
    uuid: str = ""

    task_id: str = ""
    run_id: str = ""
    tool_use_id: str = ""
    description: str = ""
    task_type: str = ""
    is_backgrounded: bool | None = None
    spawn_depth: Whole = 0
    owned_by_subagent: bool = False
    ambient: bool = False
    status: str = ""
    patch: Patch | None = None
    tasks: tuple[Listed, ...] = ()

    attempt: Whole = 0
    error_status: Whole | None = None
    error: str = ""


class RateLimitEvent(Shape, tag="rate_limit_event"):
    """A usage limit is told of."""

    rate_limit_info: LimitInfo | None = None


class StreamEvent(Shape, tag="stream_event"):
    """A part of a message."""


class CommandLifecycle(Shape, tag="command_lifecycle"):
    """How a message of ours fares."""


class ControlRequest(Shape, tag="control_request"):
    """What the CLI asks of its host."""


class ControlCancelRequest(Shape, tag="control_cancel_request"):
    """What it no longer asks."""


class ControlResponse(Shape, tag="control_response"):
    """The answer to a request of ours."""


class KeepAlive(Shape, tag="keep_alive"):
    """Nothing but a sign of life."""


class Unknown(Shape, tag=""):
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
    fitted = {each.name: _fitted(each.type, data[each.encode_name]) for each in known}
    return shape(**{name: value for name, value in fitted.items() if value is not None})


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
        case list() if kind in {list, tuple}:
            fitted = (_fitted(get_args(shape)[0], item) for item in value)
            return kind(item for item in fitted if item is not None)
        case str() if kind is str:
            return value.encode("utf-8", errors="replace").decode()  # half a surrogate pair can be in an escape
        case bool():
            return value if kind is bool else None
        case int() | float() if shape in (Whole, Money) and abs(value) <= _HUGE:
            return int(value) if shape is Whole else float(value)
    return None
