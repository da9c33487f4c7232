"""The wire format of the Messages API: a request's body to `ModelRequest`, a Reply to a message or to its events.

What the CLI sends (measured with CLI 2.1.197 and 2.1.332): the session id in a header and in `metadata.user_id`, items
of role `system` among the messages, and `tools: []` in requests that belong to no conversation. A sub-agent's requests
carry its id in a header (2.1.332).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from bot.sandbox.model.script import Reply

Kind = Literal["main", "agent", "side"]
KEPT_HEADERS = ("anthropic-beta", "anthropic-version", "user-agent", "x-app")
KEPT_PREFIX = "x-claude-code-"
SESSION_HEADER = "x-claude-code-session-id"
AGENT_HEADER = "x-claude-code-agent-id"
PIECE_CHARACTERS = 200


class BadRequest(ValueError):
    """A request body that is no Messages request; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request for an answer, as the scripted model understood it.

    `at` is monotonic seconds. `conversation` is the Conversation's name, "" for a side request or when the script had
    none left. `agent_id` is "" unless the CLI gives the sub-agent's. `first_text` is the text of the first user
    message, `prompt_text` that of the last one that has text, `tool_results` are the texts of the tool results in the
    last user message, `messages` is how many there are. `headers` hold no credential. `whole` is
    the body: all that the model would read, the CLI's own reminders and instruction files too.
    """

    at: float
    session_id: str
    kind: Kind
    streamed: bool
    model: str
    first_text: str
    prompt_text: str
    system_text: str
    messages: int
    tools: tuple[str, ...]
    tool_results: tuple[str, ...] = ()
    wants_json: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    agent_id: str = ""
    conversation: str = ""
    whole: str = field(default="", repr=False)


def parse_request(body: bytes, headers: Mapping[str, str], at: float) -> ModelRequest:
    """The request in `body`; `headers` have lower-case names. Raises `BadRequest`."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list) or not asked["messages"]:
        raise BadRequest("messages: must be a list of at least one message")
    messages = [message for message in asked["messages"] if isinstance(message, dict)]
    users = [message for message in messages if message.get("role") == "user"]
    texts = [text for text in map(_spoken, users) if text]
    tools = tuple(str(tool.get("name", "")) for tool in asked.get("tools") or () if isinstance(tool, dict))
    return ModelRequest(
        at=at,
        session_id=headers.get(SESSION_HEADER) or _session_in_metadata(asked.get("metadata")),
        kind="main" if tools else "side",
        streamed=asked.get("stream") is True,
        model=str(asked.get("model", "")),
        first_text=texts[0] if texts else "",
        prompt_text=texts[-1] if texts else "",
        system_text="\n".join(_texts(asked.get("system"))),
        messages=len(messages),
        tools=tools,
        tool_results=_results(users[-1]) if users else (),
        wants_json=_wants_json(asked.get("output_config")),
        headers=MappingProxyType({name: value for name, value in headers.items() if _is_kept(name)}),
        agent_id=headers.get(AGENT_HEADER, ""),
        whole=body.decode(errors="replace"),
    )


def estimated_tokens(body: bytes) -> int:
    """What counting the tokens of a request answers: a guess from its size."""
    return max(1, len(body) // 4)


def as_message(reply: Reply, model: str) -> dict[str, object]:
    """The whole answer as one JSON object, for a request that asked for no stream."""
    return {
        "id": _new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(reply),
        "stop_reason": _stop_reason(reply),
        "stop_sequence": None,
        "usage": _usage(reply, reply.output_tokens),
    }


def as_events(reply: Reply, model: str) -> Iterator[dict[str, object]]:
    """The answer as the events of a stream; each has its name as `type`."""
    message = as_message(reply, model)
    yield {
        "type": "message_start",
        "message": {**message, "content": [], "stop_reason": None, "usage": _usage(reply, 1)},
    }
    for index, block in enumerate(_blocks(reply)):
        yield {"type": "content_block_start", "index": index, "content_block": _opened(block)}
        if index == 0:
            yield {"type": "ping"}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": reply.output_tokens},
    }
    yield {"type": "message_stop"}


def as_sse(event: Mapping[str, object]) -> bytes:
    """One event in the framing of server-sent events."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def as_error(kind: str, message: str, request_id: str) -> dict[str, object]:
    """The body of an error."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def new_request_id() -> str:
    """An id for one request, as in the header `request-id`."""
    return _new_id("req")


def _new_id(prefix: str) -> str:
    # Random, not counted: a resumed session mixes ids of two servers, and the CLI takes equal ids for the same message.
    return f"{prefix}_{secrets.token_hex(12)}"


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": reply.text}] if reply.text else []
    calls = [{"type": "tool_use", "id": _new_id("toolu"), "name": c.name, "input": dict(c.input)} for c in reply.calls]
    return [*text, *calls]


def _opened(block: Mapping[str, Any]) -> dict[str, object]:
    return {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))
    else:
        whole = json.dumps(block["input"], ensure_ascii=False)
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(whole))


def _pieces(text: str) -> Iterator[str]:
    yield from (text[start : start + PIECE_CHARACTERS] for start in range(0, len(text), PIECE_CHARACTERS))


def _stop_reason(reply: Reply) -> str:
    return reply.stop_reason or ("tool_use" if reply.calls else "end_turn")


def _usage(reply: Reply, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": reply.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _texts(content: object) -> list[str]:
    """The texts in a message's content, a string or a list of blocks."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [str(block.get("text", "")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"]


def _spoken(message: Mapping[str, object]) -> str:
    """What a user message says, without the reminders that the CLI adds unless there is nothing else."""
    texts = [text for text in _texts(message.get("content")) if text]
    said = [text for text in texts if not text.lstrip().startswith("<system-reminder>")]
    return "\n".join(said or texts)


def _results(message: Mapping[str, object]) -> tuple[str, ...]:
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return tuple("\n".join(_texts(block.get("content"))) for block in blocks if block.get("type") == "tool_result")


def _wants_json(output: object) -> bool:
    shape = output.get("format") if isinstance(output, dict) else None
    return isinstance(shape, dict) and shape.get("type") == "json_schema"


def _session_in_metadata(metadata: object) -> str:
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    try:
        known = json.loads(user) if isinstance(user, str) else None
    except ValueError:
        return ""
    return str(known.get("session_id", "")) if isinstance(known, dict) else ""


def _is_kept(name: str) -> bool:
    return name in KEPT_HEADERS or name.startswith(KEPT_PREFIX)
