"""A Run for a terminal: plain text without colours, whatever strangers wrote, as wide as the terminal is."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from bot.guard.posting import plain_lines
from bot.record import Record
from bot.report.render import filled
from bot.report.timeline import timeline

_SAVES = 100
_MANY = 1000
_NARROWEST = 20
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Save:
    """One save of a Record: when, and what the Run was about to do. `at` is in UTC."""

    at: datetime
    said: str


def run_page(record: Record, saves: Sequence[Save], now: datetime, width: int) -> str:
    """The Run up to `now` (UTC). `saves`: its journal, newest first. `width`: in columns; 0 where lines may be long."""
    text = filled(
        "show.txt.j2",
        record=record,
        timeline=timeline(record, now, _MANY),
        saves=saves[:_SAVES],
        more=len(saves) > _SAVES,
        plain=plain,
    )
    return laid_out(text.strip("\n"), width)


def plain(text: str) -> str:
    """One line that a terminal only shows: no control characters, nothing invisible, no Markdown's links and quotes."""
    line = " ".join(_LINK.sub(r"\1", plain_lines(text)).replace("\\|", "|").replace("`", "").split())
    return "".join(char for char in line if unicodedata.category(char)[0] != "C")


def laid_out(text: str, width: int) -> str:
    """Cells, with tabs between them, in columns; lines that are too long, folded."""
    out: list[str] = []
    for in_columns, group in groupby(text.split("\n"), key=lambda line: "\t" in line):
        lines = list(group)
        out += _columns([line.split("\t") for line in lines], width) if in_columns else _folded(lines, width)
    return "\n".join(out) + "\n"


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(max(map(len, rows)))]
    aligned = ["  ".join(cell.ljust(widths[at]) for at, cell in enumerate(row)).rstrip() for row in rows]
    indent = widths[0] + 2
    if not width or all(len(line) <= width for line in aligned):
        return aligned
    if len(widths) == 2 and width - indent >= _NARROWEST:  # a name and a text: the text is folded beside the name
        return [part for line in aligned for part in _fold(line, width, indent)]
    return [part for row in rows for part in _folded(["  ".join(row)], width)]


def _folded(lines: Sequence[str], width: int) -> list[str]:
    return [part for line in lines for part in _fold(line, width, len(line) - len(line.lstrip()) + 2)]


def _fold(line: str, width: int, indent: int) -> list[str]:
    """A word that is too long, such as an address, stays whole."""
    if not width or len(line) <= width:
        return [line]
    return textwrap.wrap(
        line.strip(),
        max(width, _NARROWEST),
        initial_indent=line[: len(line) - len(line.lstrip())],
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
