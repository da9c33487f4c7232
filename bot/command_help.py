"""How `--help` of a command reads: prose as wide as the terminal is, and examples that can be copied."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from itertools import groupby

WIDEST = 120
_EXAMPLE = re.compile(r"(?P<command> +\S.*?)  +(?P<remark>\S.*)")
_BELOW = 6
"""Blanks before a remark that stands below its example."""
_OPTION = re.compile(r"\[-[^\]]*\]")
_BLANK = "\N{NO-BREAK SPACE}"


class CommandHelp(argparse.HelpFormatter):
    """Lines of a text that begin with a blank are examples: each stays a line, and only its remark, after two blanks,
    goes below it where both are too long. All others are prose, with an empty line between paragraphs.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, WIDEST) - 2)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        """Between options only, and so that each has room."""
        width, self._width = self._width, sys.maxsize
        line = super()._format_usage(usage, actions, groups, prefix).strip()
        self._width = width
        beside = len(f"usage: {self._prog} ")
        return f"{_wrapped(_OPTION.sub(_kept, line), width, beside if beside <= width // 2 else len('usage: '))}\n\n"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled: list[str] = []
        for kind, group in groupby(text.split("\n"), key=_kind):
            lines = list(group)
            if kind == "prose":
                filled.append(_wrapped(" ".join(lines), width))
            else:
                filled += [part for line in lines for part in _example(line, width)]
        return "\n".join(f"{indent}{line}" for line in filled)


def _kind(line: str) -> str:
    return "prose" if line[:1].strip() else "example" if line else ""


def _example(line: str, width: int) -> list[str]:
    found = _EXAMPLE.fullmatch(line)
    if len(line) <= width or found is None:
        return [line]
    remark = _wrapped(f"{' ' * _BELOW}{found['remark']}", width, _BELOW)
    return [found["command"], *remark.split("\n")]


def _kept(option: re.Match[str]) -> str:
    return option[0].replace(" ", _BLANK)


def _wrapped(line: str, width: int, indent: int = 0) -> str:
    """Folded at blanks; a word that is too long stays whole."""
    return textwrap.fill(
        line, max(width, 1), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    ).replace(_BLANK, " ")
