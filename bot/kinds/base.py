"""What every kind of value has in common: how it reads, what it allows, and the same said as JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

Raw = str | tuple[str, ...] | Mapping[str, str]
Schema = dict[str, Any]
"""A JSON Schema, draft 7. It allows whatever `read` takes of a settings file; `read` may be stricter."""

BLANKS = " \t\r\n"
"""What may stand around a value and is no part of it. No more: these a schema's expressions know everywhere."""
PLAIN: Schema = {"type": ["string", "number", "boolean"]}
"""A YAML scalar with a value, whatever YAML makes of it."""

NOT_BLANK = r"[^ \t\r\n]"
"""A schema's `pattern` for a text in which there is something."""


class Kind(Protocol):
    """How one setting's value is read and described."""

    @property
    def allowed(self) -> str:
        """What may be given, to follow "give"."""

    @property
    def schema(self) -> Schema:
        """What the settings file may hold."""

    def read(self, raw: Raw) -> Any:
        """The value. Raises `ValueError` saying what is wrong with `raw`."""


def text_of(raw: Raw) -> str:
    """One text, as it was given. Raises `ValueError` for a list and a mapping."""
    if isinstance(raw, str):
        return raw
    raise ValueError("a list is not allowed" if isinstance(raw, tuple) else "a mapping is not allowed")


def refusal(text: str) -> ValueError:
    """The error about a value that is not allowed."""
    return ValueError(f"{shown(text)} is not allowed")


def shown(text: str) -> str:
    """What was given, quoted, in one line and short."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def either(words: tuple[str, ...]) -> str:
    """The words with commas and "or" between them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def whole(pattern: str) -> str:
    """A schema's `pattern` for all of a text, where a kind's own leaves the blanks around it aside."""
    return f"^[ \\t\\r\\n]*(?:{pattern})[ \\t\\r\\n]*$"


def word(words: tuple[str, ...]) -> str:
    """A schema's `pattern` for one of these words and nothing else."""
    return f"^(?:{'|'.join(re.escape(one) for one in words)})$"
