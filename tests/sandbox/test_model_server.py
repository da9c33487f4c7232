"""The scripted model seen by a plain HTTP client."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

import pytest

from bot.clock import Clock
from bot.sandbox.model import OVERRUN_TEXT, Call, Conversation, Fault, Reply, Script, ScriptedModel

TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
KEY = {"x-api-key": "k-1"}


def script(*replies: Reply | Fault, when: str = "") -> Script:
    return Script((Conversation("only", replies, when),))


def connect(model: ScriptedModel) -> HTTPConnection:
    return HTTPConnection(model.url.removeprefix("http://"), timeout=20)


def body(prompt: str = "hello", *, stream: bool = False, tools: object = TOOLS, session: str = "s-1") -> dict[str, Any]:
    return {
        "model": "claude-x",
        "stream": stream,
        "system": [{"type": "text", "text": "You are scripted."}],
        "metadata": {"user_id": json.dumps({"session_id": session})},
        "messages": [{"role": "user", "content": prompt}],
        "tools": tools,
    }


def send(connection: HTTPConnection, asked: object, headers: dict[str, str] | None = None) -> HTTPResponse:
    connection.request("POST", "/v1/messages?beta=true", json.dumps(asked), headers or {})
    return connection.getresponse()


def ask(model: ScriptedModel, asked: object, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """Status and JSON body of one request on a connection of its own."""
    connection = connect(model)
    try:
        answer = send(connection, asked, headers)
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def text_of(message: dict[str, Any]) -> str:
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def events_in(stream: bytes) -> list[dict[str, Any]]:
    events = []
    for frame in stream.decode().split("\n\n"):
        if frame:
            name, data = frame.split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert name == f"event: {event['type']}"
            events.append(event)
    return events


def test_an_answer_without_stream_is_one_message() -> None:
    """Text, tool calls, stop reason and usage come in one JSON object."""
    with ScriptedModel(script(Reply("I look.", (Call("Bash", {"command": "ls"}),)))) as model:
        status, message = ask(model, body())
    assert status == 200
    assert message["content"][0] == {"type": "text", "text": "I look."}
    call = message["content"][1]
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "Bash", {"command": "ls"})
    assert message["stop_reason"] == "tool_use"
    assert message["model"] == "claude-x"
    assert message["usage"]["input_tokens"] > 0
    assert message["usage"]["output_tokens"] > 0


def test_a_streamed_answer_comes_as_the_events_of_the_messages_api() -> None:
    """The events come in the API's order, and their pieces add up to the text and to the call's input."""
    long = "Grüße 🎉 " * 60
    with ScriptedModel(script(Reply(long, (Call("Bash", {"command": "é"}),), output_tokens=7))) as model:
        connection = connect(model)
        answer = send(connection, body(stream=True))
        events = events_in(answer.read())
        connection.close()
    assert answer.headers["content-type"].startswith("text/event-stream")
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    kinds = [event["type"] for event in events]
    assert [kind for n, kind in enumerate(kinds) if n == 0 or kinds[n - 1] != kind] == [
        "message_start",
        "content_block_start",
        "ping",
        *block[1:],
        *block,
        "message_delta",
        "message_stop",
    ]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == long
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas)) == {"command": "é"}
    assert sum("text" in delta for delta in deltas) > 1
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    assert events[-2]["usage"] == {"output_tokens": 7}


def test_each_new_session_takes_the_next_conversation_and_keeps_it() -> None:
    """Sessions are told apart by their ids, in the order in which they come; one does not move another's script."""
    plan = Script(tuple(Conversation(n, (Reply(f"{n}1"), Reply(f"{n}2", times=2))) for n in ("a", "b")))
    with ScriptedModel(plan) as model:
        order = ["s-1", "s-2", "s-1", "s-2", "s-2", "s-1", "s-1", "s-3"]
        said = [text_of(ask(model, body(session=session))[1]) for session in order]
        assert said == ["a1", "b1", "a2", "b2", "b2", "a2", OVERRUN_TEXT, OVERRUN_TEXT]
        assert model.overruns == 2
        assert [request.conversation for request in model.requests] == ["a", "b", "a", "b", "b", "a", "a", ""]


def test_a_conversation_with_when_goes_to_the_session_whose_prompt_has_it() -> None:
    """`when` comes before order, and a conversation that waits for its text is given to nobody else."""
    plan = Script((Conversation("plain", (Reply("plain"),)), Conversation("red", (Reply("red"),), when="CI is red")))
    with ScriptedModel(plan) as model:
        assert text_of(ask(model, body("CI is red: fix it", session="s-1"))[1]) == "red"
        assert text_of(ask(model, body("please begin", session="s-2"))[1]) == "plain"
        assert text_of(ask(model, body("CI is red: again", session="s-3"))[1]) == OVERRUN_TEXT


def test_a_sub_agent_of_a_cli_that_sends_no_agent_id_is_known_by_its_prompt() -> None:
    """The request that begins with the prompt of a played Agent call belongs to that agent, not to the session."""
    plan = Script(
        (Conversation("main", (Reply("go", (Call("Agent", {"prompt": "count the files"}),)), Reply("thanks"))),),
        agents=(Conversation("counter", (Reply("three"),), when="count"),),
    )
    with ScriptedModel(plan) as model:
        said = [text_of(ask(model, body(prompt))[1]) for prompt in ("begin", "count the files", "begin")]
        assert said == ["go", "three", "thanks"]
        assert [request.kind for request in model.requests] == ["main", "agent", "main"]


def test_a_request_without_tools_takes_nothing_from_the_script() -> None:
    """A side request gets a small answer of the shape it asks for."""
    with ScriptedModel(script(Reply("first"))) as model:
        side = body(tools=[]) | {"output_config": {"format": {"type": "json_schema"}}}
        assert "title" in json.loads(text_of(ask(model, side)[1]))
        assert text_of(ask(model, body(tools=[]))[1])
        assert text_of(ask(model, body())[1]) == "first"
        assert [request.kind for request in model.requests] == ["side", "side", "main"]


def test_a_request_is_kept_as_it_was_understood() -> None:
    """Prompts, tool results, tools and harmless headers are kept; a credential is not."""
    asked = body("ignored") | {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": "do"}],
            },
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "a.py"}]}]},
            {"role": "system", "content": "a system message between"},
        ],
    }
    headers = KEY | {
        "User-Agent": "claude-cli/2",
        "X-Claude-Code-Session-Id": "from-header",
        "Authorization": "Bearer k-2",
    }
    with ScriptedModel(script(Reply("ok"))) as model:
        ask(model, asked, headers)
        request = model.requests[0]
    assert (request.first_text, request.prompt_text, request.tool_results) == ("do", "do", ("a.py",))
    assert (request.session_id, request.messages, request.tools) == ("from-header", 4, ("Bash",))
    assert request.system_text == "You are scripted."
    assert request.headers["user-agent"] == "claude-cli/2"
    assert not {"k-1", "k-2", "Bearer k-2"} & set(request.headers.values())


@pytest.mark.parametrize(("headers", "status"), [(KEY, 200), ({"Authorization": "Bearer k-1"}, 200), ({}, 401)])
def test_a_key_is_asked_for(headers: dict[str, str], status: int) -> None:
    """The right key opens in either header; without it the answer is 401 and the script does not move."""
    with ScriptedModel(script(Reply("in")), api_key="k-1") as model:
        assert ask(model, body(), {"x-api-key": "another"})[1]["error"]["type"] == "authentication_error"
        assert ask(model, body(), headers)[0] == status
        assert len(model.requests) == (status == 200)


def test_a_fault_with_a_status_answers_with_its_error_and_headers_and_then_the_script_goes_on() -> None:
    """A retried request gets the next item."""
    fault = Fault(status=429, message="slow down", headers={"retry-after": "7"}, times=2)
    with ScriptedModel(script(fault, Reply("ok"))) as model:
        connection = connect(model)
        answers = [send(connection, body())]
        error = json.loads(answers[0].read())["error"]
        assert (answers[0].status, answers[0].headers["retry-after"]) == (429, "7")
        assert error == {"type": "rate_limit_error", "message": "slow down"}
        connection.close()
        assert [ask(model, body())[0] for _ in range(2)] == [429, 200]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fault", [Fault(drop_connection=True), Fault(cut_after_events=4), Fault(stall_seconds=0.1)])
def test_a_broken_off_answer_is_an_error_to_its_reader(fault: Fault, stream: bool) -> None:
    """Neither a dropped connection nor a cut or stalled stream can be taken for a whole answer."""
    with ScriptedModel(script(fault, Reply("ok"))) as model:
        connection = connect(model)
        with pytest.raises((HTTPException, ConnectionError)):
            send(connection, body(stream=stream)).read()
        connection.close()
        assert ask(model, body())[0] == 200


def test_a_cut_stream_holds_as_many_events_as_asked() -> None:
    """The reader has the beginning of the text when the stream breaks."""
    with ScriptedModel(script(Fault(cut_after_events=4, text="half a sentence"))) as model:
        connection = connect(model)
        answer = send(connection, body(stream=True))
        events = events_in(b"".join(answer.read1() for _ in range(4)))
        connection.close()
    assert [event["type"] for event in events][-1] == "content_block_delta"
    assert events[-1]["delta"]["text"] == "half a sentence"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/", 200),
        ("GET", "/", 200),
        ("GET", "/v1/models", 404),
        ("POST", "/v1/complete", 404),
        ("HEAD", "/x", 404),
    ],
)
def test_paths(method: str, path: str, status: int) -> None:
    """The root answers; what the API here lacks is a JSON 404 like the real one's."""
    with ScriptedModel(script(Reply("x"))) as model:
        connection = connect(model)
        connection.request(method, path, "{}" if method == "POST" else None)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
    assert answer.status == status
    if status == 404 and method != "HEAD":
        assert json.loads(text)["error"]["type"] == "not_found_error"


@pytest.mark.parametrize("bad", ["{", "[]", '{"messages": []}', '{"messages": "x"}', "[" * 100_000])
def test_a_body_that_is_no_request_is_refused(bad: str) -> None:
    """The answer is a 400 in the API's form, and the connection can be used again."""
    with ScriptedModel(script(Reply("x"))) as model:
        connection = connect(model)
        connection.request("POST", "/v1/messages", bad)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["type"]) == (400, "invalid_request_error")
        assert send(connection, body()).status == 200
        connection.close()


def test_tokens_are_counted_roughly() -> None:
    """A longer request has more tokens, and counting takes nothing from the script."""
    counts = []
    with ScriptedModel(script(Reply("x"))) as model:
        for prompt in ("a", "a" * 400):
            connection = connect(model)
            connection.request("POST", "/v1/messages/count_tokens?beta=true", json.dumps(body(prompt)))
            counts.append(json.loads(connection.getresponse().read())["input_tokens"])
            connection.close()
        assert model.requests == ()
    assert 0 < counts[0] < counts[1]


def test_many_streams_at_once_each_get_their_own_conversation() -> None:
    """64 sessions that stream at the same moment do not mix."""
    count = 64
    together = threading.Barrier(count)
    plan = Script(
        tuple(Conversation(f"c{n}", (Reply(f"<{n}>" * 500, delay_seconds=0.1),), f"#{n}#") for n in range(count))
    )

    def one(number: int) -> str:
        connection = connect(model)
        together.wait(20)
        try:
            events = events_in(send(connection, body(f"#{number}#", stream=True, session=f"s-{number}")).read())
        finally:
            connection.close()
        return "".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta")

    with ScriptedModel(plan) as model, ThreadPoolExecutor(count) as pool:
        assert list(pool.map(one, range(count))) == [f"<{n}>" * 500 for n in range(count)]
        assert model.overruns == 0


@pytest.mark.parametrize(
    "item", [Reply("x", delay_seconds=600), Reply("x", pace_seconds=600), Fault(stall_seconds=600)]
)
def test_closing_ends_waiting_requests_and_every_thread(item: Reply | Fault) -> None:
    """A request that waits for minutes ends when the model is closed, and so does an idle connection."""
    before = set(threading.enumerate())
    model = ScriptedModel(script(item)).start()
    waiting, idle = connect(model), connect(model)
    idle.request("HEAD", "/")
    idle.getresponse().read()
    waiting.request("POST", "/v1/messages", json.dumps(body(stream=True)))
    assert model.wait_for(lambda requests: len(requests) == 1, Clock.reaction("the request arrives", 20))
    began = Clock.now()
    model.close()
    model.close()
    assert Clock.now() - began < 5
    assert set(threading.enumerate()) == before
    with pytest.raises((HTTPException, ConnectionError)):
        waiting.getresponse().read()
    waiting.close()
    idle.close()


def test_delays_follow_the_clock() -> None:
    """A planned minute takes a fraction of a second on a clock that is sped up."""
    clock = Clock(scale=600)
    with ScriptedModel(script(Reply("x", delay_seconds=60)), clock=clock) as model:
        began = clock.now()
        assert ask(model, body())[0] == 200
        assert 0.09 < clock.now() - began < 5
    clock.cancel.close()
