"""How `--help` of a command reads: prose as wide as the terminal is, and examples that can be copied."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from itertools import groupby

WIDEST = 120
_EXAMPLE = re.compile(r"(?P<command> +\S.*?)  +(?P<remark>\S.*)")
_REMARK = " " * 6


class CommandHelp(argparse.HelpFormatter):
    """Lines of a text that begin with a blank are examples: each stays a line, and only its remark, after two blanks,
    goes below it where both are too long. All others are prose, with an empty line between paragraphs.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled: list[str] = []
        for kind, group in groupby(text.split("\n"), key=_kind):
            lines = list(group)
            if kind == "prose":
                filled += textwrap.wrap(" ".join(lines), max(width, 1), break_long_words=False, break_on_hyphens=False)
            else:
                filled += [part for line in lines for part in _example(line, width)]
        return "\n".join(f"{indent}{line}" for line in filled)


def _kind(line: str) -> str:
    return "prose" if line[:1].strip() else "example" if line else ""


def _example(line: str, width: int) -> list[str]:
    found = _EXAMPLE.fullmatch(line)
    if len(line) <= width or found is None:
        return [line]
    remark = textwrap.wrap(found["remark"], max(width - len(_REMARK), 1), break_long_words=False)
    return [found["command"], *(f"{_REMARK}{part}" for part in remark)]
