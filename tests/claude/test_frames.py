"""Lines → Frames: noise, shapes of both CLI generations, and nothing that raises."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.claude.facts import Facts
from bot.claude.fold import fold
from bot.claude.frames import ASIDE, ApiRetry, Assistant, Batch, Ignored, Init, RateLimit, Result, TaskStarted
from bot.claude.lines import parse, parse_lines, parse_loosely
from bot.claude.shapes import decode
from bot.claude.verdict import Ended, judge
from tests.claude.stream import init, result, system

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
TYPES = ["system", "assistant", "user", "result", "rate_limit_event", "stream_event", "other"]
SUBTYPES = ["init", "task_started", "task_updated", "task_notification", "background_tasks_changed", "api_retry"]
KEYS = [
    "task_id",
    "tool_use_id",
    "run_id",
    "message",
    "content",
    "patch",
    "tasks",
    "origin",
    "num_turns",
    "is_error",
    "errors",
    "result",
    "total_cost_usd",
    "permission_denials",
    "parent_tool_use_id",
    "rate_limit_info",
    "model_usage_since_last_result",
    "api_error_status",
    "tool_use_result",
    "status",
    "error",
    "terminal_reason",
    "spawn_depth",
    "is_backgrounded",
    "uuid",
    "session_id",
]
VALUES = [
    *("x", "killed", "completed", {"status": "killed"}, {"status": 7}, 2**70, -1, 1.5, True, [{"task_id": "x"}, 7, {}]),
    *({"kind": "task-notification"}, {"kind": []}, {"m": {"costUSD": 1}, "n": {"costUSD": "1"}, "o": 7}),
    *({"backgroundTaskId": "x"}, {"isAsync": True, "agentId": "x"}, {"isAsync": 1, "agentId": 2}, [{"tool_name": "x"}]),
    {"content": [{"type": "text", "text": "a"}, "b", {"type": "text", "text": None}, {"type": ["text"]}]},
    {"content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": 7, "run_in_background": True}}]},
    {"content": [{"type": "tool_use", "id": 7, "input": [], "name": {}}, {"type": "tool_result", "tool_use_id": "c"}]},
]
FRAME = st.builds(
    lambda kind, subtype, rest: {**rest, "type": kind, "subtype": subtype},
    st.sampled_from(TYPES),
    st.sampled_from(SUBTYPES) | JSON,
    st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(VALUES), max_size=6),
)
LINES = st.lists(st.binary(max_size=40) | (JSON | FRAME).map(msgspec.json.encode), max_size=12)


@given(LINES)
def test_no_stream_raises(lines: list[bytes]) -> None:
    """Whatever a stream holds, it is parsed, folded and judged."""
    facts = Facts()
    for line in lines:
        facts = fold(facts, parse(line))
    judge("implement", facts, Ended(0), resumed=False)


@given(LINES)
def test_lines_are_read_alike_fast_and_slowly_together_and_one_by_one(lines: list[bytes]) -> None:
    """Whatever a line holds, and whatever is around it, it gives the one Frame that the slow way of reading gives."""
    stream = b"\n".join(lines)
    slowly = [parse_loosely(line) for line in stream.split(b"\n")]

    assert parse_lines(stream) == [parse(line) for line in stream.split(b"\n")] == slowly


def test_recorded_lines_are_read_alike_fast_and_slowly() -> None:
    """No line of any CLI version needs the slow way, or gives another Frame by it."""
    recordings = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
    streams = [recording.read_bytes() for recording in recordings]
    lines = [line for stream in streams for line in stream.split(b"\n")]

    slowly = [parse_loosely(line) for line in lines]

    assert [parse(line) for line in lines] == slowly
    assert [frame for stream in streams for frame in parse_lines(stream)] == slowly
    for line, frame in zip(lines, slowly, strict=True):
        if not isinstance(frame, Ignored):
            decode(line)


@pytest.mark.parametrize("noise", [b"", b"{}", b"[]", b"}", b'{"type":"keep_alive"}{"type":"keep_alive"}', b'{"type":'])
def test_noise_costs_no_frame_beside_it(noise: bytes) -> None:
    """A line is a line: what is blank, torn, doubled or no frame makes nothing else of the lines around it."""
    before, after = init()[0], result("fine")[0]
    assert isinstance(before, bytes)
    assert isinstance(after, bytes)

    first, *between, last = parse_lines(b"\n".join([before, noise, noise, b'"user"}', after]))

    assert isinstance(first, Init)
    assert isinstance(last, Result)
    assert len(between) == 3
    assert all(isinstance(frame, Ignored) for frame in between)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"Now using node v22", "not JSON"),
        (b'{"type":"result","subtype":"succ', "not JSON"),
        (b"\xff\xfe\x80", "not JSON"),
        (b"  ", "blank line"),
        (b'"a bare string"', "not an object"),
        (b"[1,2]", "not an object"),
        (b'{"type":"something_from_2031"}', "unknown type"),
        (b'{"type":"system","subtype":"something_from_2031"}', "unknown type"),
        (b'{"type":["system"],"subtype":{}}', "unknown type"),
    ],
)
def test_noise_is_ignored_and_says_why(line: bytes, why: str) -> None:
    """A line that is no frame is ignored with its reason."""
    assert parse(line) == Ignored(why)


def test_what_is_known_and_decides_nothing_is_not_counted_as_noise() -> None:
    """Progress of a task, parts of a message and answers to our requests are known."""
    assert parse(system("task_progress")) is ASIDE
    assert parse(b'{"type":"stream_event","event":{}}') is ASIDE
    assert parse(b'{"type":"control_response"}') is ASIDE


def test_a_byte_order_mark_and_invalid_utf8_cost_no_frame() -> None:
    """A frame behind a byte order mark, or with a broken character in it, still counts."""
    assert isinstance(parse(b"\xef\xbb\xbf" + init()[0]), Init)  # type: ignore[operator]  # `init` holds bytes
    said = parse(b'{"type":"assistant","message":{"content":[{"type":"text","text":"a\xffb"}]}}')
    assert isinstance(said, Assistant)
    assert said.text == "a\ufffdb"
    halved = parse(b'{"type":"assistant","message":{"content":"a\\ud800b"}}')
    assert isinstance(halved, Assistant)
    assert halved.text == "a?b"


def test_an_array_of_frames_on_one_line_is_all_of_them() -> None:
    """The array that `--output-format json` prints is folded like the stream it stands for."""
    batch = parse(b"[" + init()[0] + b"," + result("fine")[0] + b"]")  # type: ignore[operator]
    assert isinstance(batch, Batch)
    assert fold(Facts(), batch).words == "fine"


def test_text_can_be_a_string_or_blocks() -> None:
    """A message's content is a plain string or a list of blocks."""
    said = parse(b'{"type":"assistant","message":{"content":"plain"},"session_id":"S1"}')
    assert isinstance(said, Assistant)
    assert said.text == "plain"


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (
            b'{"type":"system","subtype":"api_retry","attempt":2,"error_status":529,"error":"overloaded"}',
            ApiRetry(2, 529, "overloaded"),
        ),
        (
            b'{"type":"system","subtype":"api_retry","attempt":1,"error_status":null,"error":"unknown"}',
            ApiRetry(1, None, "connection"),
        ),
        (
            b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795968000}}',
            RateLimit("rejected", 1795968000),
        ),
        (
            b'{"subtype":"task_started","task_id":"b1","type":"system","spawn_depth":2,"is_backgrounded":true}',
            TaskStarted("b1", "", "", "", "", True, True, False),
        ),
    ],
)
def test_fields_are_read_whatever_their_order(line: bytes, frame: object) -> None:
    """Each known frame gives its fields."""
    assert parse(line) == frame


def test_an_error_subtype_is_an_error_even_where_the_flag_is_missing() -> None:
    """A result of an error subtype is an error; so is one of subtype `success` with the flag."""
    without = parse(b'{"type":"result","subtype":"error_max_turns","num_turns":3}')
    flagged = parse(b'{"type":"result","subtype":"success","is_error":true,"num_turns":1e99}')
    assert isinstance(without, Result)
    assert isinstance(flagged, Result)
    assert without.is_error
    assert flagged.is_error
