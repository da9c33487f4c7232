"""Scripts: what can be written, and what is said about one that cannot be played."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.model import BadScript, Call, Conversation, Fault, Reply, Script
from bot.sandbox.model.script import STOP_REASONS

WHOLE = Script(
    conversations=(
        Conversation(
            "implement",
            (
                Fault(status=529, times=2, headers={"retry-after": "1"}),
                Reply("I look around.", (Call("Bash", {"command": "ls", "timeout": 5}),), delay_seconds=0.5),
                Fault(cut_after_events=4),
                Fault(drop_connection=True),
                Fault(stall_seconds=2.5, text="half"),
                Reply("Schluß 🎉", stop_reason="max_tokens", input_tokens=3, output_tokens=4, times=2),
            ),
        ),
        Conversation("repair", (Reply(),), when="CI is red"),
    ),
    agents=(Conversation("reader", (Reply("read"),), when="read the code"),),
)


def test_a_script_comes_back_from_its_json_as_it_was() -> None:
    """Writing a script as JSON and reading it loses nothing."""
    assert Script.from_json(WHOLE.to_json()) == WHOLE


def test_json_leaves_out_what_is_usual() -> None:
    """A script written as JSON is as short as a person would write it."""
    script = Script((Conversation("a", (Reply("Hi"), Fault(status=500))),))
    replies = [{"text": "Hi"}, {"fault": {"status": 500}}]
    assert json.loads(script.to_json()) == {"conversations": [{"name": "a", "replies": replies}]}


def script_with(reply: str) -> str:
    return '{"conversations": [{"name": "a", "replies": [{"text": "x"}, ' + reply + "]}]}"


CHOICES = "status, drop_connection, cut_after_events or stall_seconds"
SECOND = "conversations[0].replies[1]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the script is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, "the script is not JSON that can be read: it is nested too deeply"),
        ("[]", "the script: must be an object, not []"),
        ("{}", "conversations: is missing"),
        ('{"conversations": []}', "conversations: must hold at least one conversation"),
        ('{"conversation": []}', "conversation: is not known here (allowed: conversations, agents)"),
        ('{"conversations": [{"name": "a", "replies": []}]}', "conversations[0].replies: must hold at least one reply"),
        (
            '{"conversations": [{"name": "a", "replies": [{}]}], "agents": [{"name": "b", "replies": [{}]}]}',
            "agents[0].when: is needed: a text that the sub-agent's prompt contains",
        ),
        (script_with('"hello"'), f'{SECOND}: must be an object, not "hello"'),
        (script_with('{"text": 5}'), f"{SECOND}.text: must be a text, not 5"),
        (script_with('{"calls": [{"input": {}}]}'), f"{SECOND}.calls[0].name: is missing"),
        (script_with('{"calls": [{"name": 1}]}'), f"{SECOND}.calls[0].name: must be a text, not 1"),
        (script_with('{"calls": [{"name": ""}]}'), f"{SECOND}.calls[0].name: must not be empty"),
        (
            script_with('{"calls": [{"name": "Bash", "input": "ls"}]}'),
            f'{SECOND}.calls[0].input: must be an object, not "ls"',
        ),
        (script_with('{"calls": {}}'), f"{SECOND}.calls: must be a list, not {{}}"),
        (script_with('{"times": 0}'), f"{SECOND}.times: must be at least 1, not 0"),
        (script_with('{"times": true}'), f"{SECOND}.times: must be a whole number, not true"),
        (script_with('{"delay_seconds": -1}'), f"{SECOND}.delay_seconds: must be from 0 to 86400, not -1"),
        (script_with('{"delay_seconds": NaN}'), f"{SECOND}.delay_seconds: must be from 0 to 86400, not NaN"),
        (
            script_with('{"stop_reason": "bored"}'),
            f"{SECOND}.stop_reason: must be one of {', '.join(STOP_REASONS)}, not 'bored'",
        ),
        (script_with('{"fault": {"status": 200}}'), f"{SECOND}.fault.status: must be from 400 to 599, not 200"),
        (
            script_with('{"fault": {}}'),
            f"{SECOND}.fault: a fault needs exactly one of {CHOICES}, not 0 of them",
        ),
        (
            script_with('{"fault": {"status": 418}}'),
            f"{SECOND}.fault.error_type: is needed with status 418 (none is usual for it)",
        ),
        (
            script_with('{"fault": {"status": 429, "headers": {"retry-after": 5}}}'),
            f"{SECOND}.fault.headers.retry-after: must be a text, not 5",
        ),
        (
            script_with('{"fault": {"status": 429, "headers": {"a": "b\\r\\nc: d"}}}'),
            f"{SECOND}.fault.headers.a: must be a header name with a one-line ASCII value",
        ),
        (
            script_with('{"fault": {"status": 500}, "text": "x"}'),
            f"{SECOND}.text: cannot stand beside a fault (put it inside)",
        ),
    ],
)
def test_a_script_that_cannot_be_played_is_refused_in_one_line(text: str, message: str) -> None:
    """The line names the place, what is there and what is allowed."""
    with pytest.raises(BadScript) as refused:
        Script.from_json(text)
    assert str(refused.value) == message


KEYS = st.sampled_from([field.name for kind in (Script, Conversation, Reply, Fault, Call) for field in fields(kind)])
LEAVES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400) | st.just({"fault": {}})
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@settings(max_examples=150, deadline=None)
@given(reply=st.dictionaries(KEYS | st.just("fault"), VALUES, max_size=4))
def test_any_json_is_either_a_script_or_refused_in_one_line(reply: dict[str, object]) -> None:
    """No value whatever, in any place, makes another error than the one that names it."""
    text = json.dumps({"conversations": [{"name": "a", "replies": [reply]}]})
    try:
        script = Script.from_json(text)
    except BadScript as error:
        line = str(error)
    else:
        line = "conversations[0].replies[0]: played"
        assert Script.from_json(script.to_json()).to_json() == script.to_json()
    assert line.startswith("conversations[0].replies[0]")
    assert "\n" not in line


def test_a_long_wrong_value_is_cut_in_the_message() -> None:
    """A wrong value of any size still makes one short line."""
    with pytest.raises(BadScript) as refused:
        Script.from_json(script_with(json.dumps({"calls": "x" * 5000})))
    assert len(str(refused.value)) < 120


def test_a_script_made_in_python_is_held_to_the_same_rules() -> None:
    """What JSON may not say, Python may not either."""
    with pytest.raises(BadScript, match=r"^times: must be at least 1, not 0$"):
        Reply("x", times=0)
