"""What the scripted model says: frozen types, and the same as JSON.

A Script is played, never interpreted: a Call is sent to the CLI as it stands. So a tool that the CLI offers only after
a look-up (with CLI 2.1.332: TaskStop, Monitor, WebFetch, Cron*) needs a reply that calls `ToolSearch` with
`{"query": "select:TaskStop"}` before the reply that calls it.

As JSON, objects have the fields below as keys, left-out keys have the defaults, and a Fault stands in a list of replies
as `{"fault": {…}}`:

    {"conversations": [{"name": "implement", "replies": [
        {"fault": {"status": 529}},
        {"text": "I look around.", "calls": [{"name": "Bash", "input": {"command": "ls"}}]},
        {"text": "Done."}]}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
LONGEST_SECONDS = 86_400
STOP_REASONS = ("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal")


class BadScript(ValueError):
    """A script that cannot be played; the message is one line: the place, what is there, what is allowed."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"{place}: {rule}" if place else rule)
        self.place = place
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: the tool's name and its input object, passed on unchecked."""

    name: str
    input: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require(bool(self.name), "name", "must not be empty")


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: a text block (none when `text` is empty), then one block a call.

    `delay_seconds` pass before the first byte, `pace_seconds` before each piece (200 characters) of a stream.
    `stop_reason` is worked out from the calls unless it is given. The reply is given `times` times in a row.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    delay_seconds: float = 0.0
    pace_seconds: float = 0.0
    stop_reason: str | None = None
    input_tokens: int = 1200
    output_tokens: int = 80
    times: int = 1

    def __post_init__(self) -> None:
        _seconds(delay_seconds=self.delay_seconds, pace_seconds=self.pace_seconds)
        _at_least(0, input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        _at_least(1, times=self.times)
        known = self.stop_reason is None or self.stop_reason in STOP_REASONS
        _require(known, "stop_reason", f"must be one of {', '.join(STOP_REASONS)}, not {self.stop_reason!r}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens in place of an answer; exactly one of four.

    * `status` (400 to 599): an error body; `error_type` is the usual one for the status unless given, `headers` are
      added (`retry-after`, `anthropic-ratelimit-unified-status`, …).
    * `drop_connection`: the connection is closed with no answer at all.
    * `cut_after_events`: a stream of `text` is broken off after that many events (0 to all of them: `message_start`,
      `content_block_start` and `ping` come before the first piece of text).
    * `stall_seconds`: after `message_start` nothing comes for that long, then the connection is closed.

    The last two answer a request that asked for no stream with a body that is broken off.
    """

    status: int | None = None
    error_type: str = ""
    message: str = "a scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    drop_connection: bool = False
    cut_after_events: int | None = None
    stall_seconds: float | None = None
    text: str = "An answer that is cut off before its end."
    delay_seconds: float = 0.0
    times: int = 1

    def __post_init__(self) -> None:
        given = [self.status, self.drop_connection or None, self.cut_after_events, self.stall_seconds]
        count = sum(choice is not None for choice in given)
        choices = "status, drop_connection, cut_after_events or stall_seconds"
        _require(count == 1, "", f"a fault needs exactly one of {choices}, not {count} of them")
        if self.status is not None:
            _require(400 <= self.status <= 599, "status", f"must be from 400 to 599, not {self.status}")
            typed = bool(self.error_type) or self.status in ERROR_TYPES
            _require(typed, "error_type", f"is needed with status {self.status} (none is usual for it)")
        _seconds(delay_seconds=self.delay_seconds, stall_seconds=self.stall_seconds or 0)
        _at_least(0, cut_after_events=self.cut_after_events or 0)
        _at_least(1, times=self.times)
        for name, value in self.headers.items():
            clean = re.fullmatch(r"[A-Za-z0-9-]+", name) and re.fullmatch(r"[ -~]*", value)
            _require(clean is not None, f"headers.{name}", "must be a header name with a one-line ASCII value")

    @property
    def kind_of_error(self) -> str:
        """The `error.type` of the body that goes with `status`."""
        return self.error_type or ERROR_TYPES.get(self.status or 0, "api_error")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The items that one session, or one sub-agent, gets in order.

    With `when` it waits for one whose first prompt contains that text.
    """

    name: str
    replies: tuple[Reply | Fault, ...]
    when: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.name), "name", "must not be empty")
        _require(bool(self.replies), "replies", "must hold at least one reply")


@dataclass(frozen=True, slots=True)
class Script:
    """All that a model will say: to sessions (`conversations`) and to their sub-agents (`agents`, each with `when`)."""

    conversations: tuple[Conversation, ...]
    agents: tuple[Conversation, ...] = ()

    def __post_init__(self) -> None:
        _require(bool(self.conversations), "conversations", "must hold at least one conversation")
        for index, agent in enumerate(self.agents):
            rule = "is needed: a text that the sub-agent's prompt contains"
            _require(bool(agent.when), f"agents[{index}].when", rule)

    @classmethod
    def from_json(cls, text: str) -> Script:
        """The script in a JSON text. Raises `BadScript`."""
        try:
            value = json.loads(text)
        except ValueError as error:
            raise BadScript("", f"the script is not JSON: {error}") from error
        except RecursionError as error:
            raise BadScript("", "the script is not JSON that can be read: it is nested too deeply") from error
        script = _read(cls, value, "")
        assert isinstance(script, cls)
        return script

    def to_json(self) -> str:
        """The script as JSON that `from_json` reads back to an equal one; defaults are left out."""
        return json.dumps(_plain(self), ensure_ascii=False, indent=2)


def _require(holds: bool, place: str, rule: str) -> None:
    if not holds:
        raise BadScript(place, rule)


def _at_least(minimum: int, **numbers: int) -> None:
    for name, number in numbers.items():
        _require(number >= minimum, name, f"must be at least {minimum}, not {number}")


def _seconds(**numbers: float) -> None:
    for name, number in numbers.items():
        _require(0 <= number <= LONGEST_SECONDS, name, f"must be from 0 to {LONGEST_SECONDS}, not {_shown(number)}")


# The dataclasses above are the schema: they are read and written by their own field types.

T = TypeVar("T")
_NAMES: Mapping[object, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _read(kind: Any, value: object, place: str) -> object:
    """`value` as `kind`. Raises `BadScript` that names the place."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_union(get_args(kind), value, place)
    if origin is tuple:
        items = _checked(list, "a list", value, place)
        return tuple(_read(get_args(kind)[0], item, f"{place}[{index}]") for index, item in enumerate(items))
    if origin is Mapping:
        members = _checked(dict, "an object", value, place)
        return {key: _read(get_args(kind)[1], member, _join(place, key)) for key, member in members.items()}
    if is_dataclass(kind):
        return _read_object(kind, value, place)
    if kind is object:
        return value
    if kind is float and type(value) is int:
        return value
    if type(value) is not kind:
        raise BadScript(place, f"must be {_NAMES[kind]}, not {_shown(value)}")
    return value


def _read_union(kinds: tuple[Any, ...], value: object, place: str) -> object:
    if Fault not in kinds:
        return None if value is None else _read(kinds[0], value, place)
    if isinstance(value, dict) and "fault" in value:
        extra = sorted(set(value) - {"fault"})
        if extra:
            raise BadScript(_join(place, extra[0]), "cannot stand beside a fault (put it inside)")
        return _read(Fault, value["fault"], _join(place, "fault"))
    return _read(Reply, value, place)


def _read_object(kind: Any, value: object, place: str) -> object:
    members = _checked(dict, "an object", value, place)
    hints = get_type_hints(kind)
    for key in members:
        if key not in hints:
            raise BadScript(_join(place, key), f"is not known here (allowed: {', '.join(hints)})")
    for member in fields(kind):
        if member.name not in members and member.default is MISSING and member.default_factory is MISSING:
            raise BadScript(_join(place, member.name), "is missing")
    read = {key: _read(hints[key], member, _join(place, key)) for key, member in members.items()}
    try:
        return kind(**read)
    except BadScript as error:
        raise BadScript(_join(place, error.place), error.rule) from None


def _checked(kind: type[T], name: str, value: object, place: str) -> T:
    if not isinstance(value, kind):
        raise BadScript(place or "the script", f"must be {name}, not {_shown(value)}")
    return value


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place and name else place or name


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _plain(value: Any) -> object:
    """`value` as what `json.dumps` takes."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return dict(value) if isinstance(value, Mapping) else value
    kept = {}
    for member in fields(value):
        default = member.default_factory() if member.default_factory is not MISSING else member.default
        item = getattr(value, member.name)
        if item != default:
            kept[member.name] = _plain(item)
    return {"fault": kept} if isinstance(value, Fault) else kept
