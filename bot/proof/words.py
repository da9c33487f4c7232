"""Strangers' names made fit for a sentence: inert as Markdown, short, one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST = 120
_SHOWN = 3
_UNFIT = re.compile(r"[^ -~]|[`@<>|\\]")
_BRACKETS = str.maketrans("[]", "()")


def plain(name: str) -> str:
    """`name` in printable ASCII on one line, without what Markdown or GitHub would read something into."""
    line = " ".join(name.split())
    line = _UNFIT.sub("?", line[: _LONGEST + 1].translate(_BRACKETS)).strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def code(name: str) -> str:
    """`name` as code in Markdown."""
    return f"`{plain(name) or '?'}`"


def listed(names: Sequence[str]) -> str:
    """The first few of `names` as code, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(code(name) for name in names[:_SHOWN]) + more


def counted(number: int, thing: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
