"""What a line of the CLI's stdout says in full: the blocks of a message, as a person would read them.

`bot.claude.shapes` reads what is decided by; this is what is shown, and read for nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec.json import decode

_ABOUT = 200
_TITLES = ("description", "file_path", "path", "pattern", "url", "query", "command")
_NO_NEWS = frozenset({"command", "description", "run_in_background", "timeout"})


@dataclass(frozen=True, slots=True)
class Block:
    """One block. `id` is that of the tool call, which a `tool_result` answers."""

    kind: str
    """`text`, `thinking`, `tool_use`, `tool_result`, or another of the API's."""
    text: str = ""
    """What was said, given to the tool, or answered by it."""
    id: str = ""
    name: str = ""
    about: str = ""
    failed: bool = False


def blocks_of(line: bytes) -> tuple[tuple[Block, ...], str]:
    """The blocks of one line and the time that it tells, in ISO 8601; () and "" where it has none. Never raises."""
    found = _object(line)
    message = found.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = tuple(_block(part) for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ()
    return blocks, _text(found.get("timestamp"))


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = decode(line)
    except (ValueError, RecursionError):
        try:
            found = json.loads(line.decode("utf-8", errors="replace").lstrip("\ufeff"))
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}


def _block(part: dict[str, Any]) -> Block:
    kind = _text(part.get("type"))
    if kind == "thinking":
        return Block(kind, _text(part.get("thinking")))
    if kind == "tool_use":
        given = part.get("input")
        inputs = given if isinstance(given, dict) else {}
        about = next((text for title in _TITLES if (text := _text(inputs.get(title)))), "")
        title = about.strip().partition("\n")[0][:_ABOUT]
        return Block(kind, _given(inputs), _text(part.get("id")), _text(part.get("name")), title)
    if kind == "tool_result":
        answer = "\n".join(_answers(part.get("content")))
        return Block(kind, answer, _text(part.get("tool_use_id")), failed=part.get("is_error") is True)
    return Block(kind, _text(part.get("text")))


def _given(inputs: dict[str, Any]) -> str:
    """A command as it is, and of any other tool each input under its name."""
    command = _text(inputs.get("command"))
    if command and inputs.keys() <= _NO_NEWS:
        return command
    return "\n".join(f"{name}:{_under(value)}" for name, value in inputs.items())


def _under(value: object) -> str:
    if not isinstance(value, str):
        return f" {json.dumps(value, ensure_ascii=False)}"
    return f"\n{value}" if "\n" in value else f" {value}"


def _answers(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        kind = _text(part.get("type")) if isinstance(part, dict) else ""
        if kind:
            yield _text(part.get("text")) if kind == "text" else f"[{kind}]"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
