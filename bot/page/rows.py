"""The timeline as rows of a table: what, when, how long, and where its bar is drawn. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.report import words
from bot.report.timeline import Look, Section, Timeline

_THINNEST = 0.5
"""Per cent of the width that the shortest bar has."""
_CLASSES = {Look.PLAIN: "well", Look.GREY: "idle", Look.GOING_ON: "now", Look.RED: "ill"}


@dataclass(frozen=True, slots=True)
class Row:
    """One bar. `left` and `width` in per cent of the whole time; `look` is a class of the style sheet."""

    text: str
    look: str
    began: datetime
    seconds: float
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Rows:
    """Those of one section of the timeline; `left_out` are older."""

    name: str
    rows: Sequence[Row]
    left_out: int


def rows_of(timeline: Timeline) -> tuple[Rows, ...]:
    """Section by section."""
    bars = [bar for section in timeline.sections for bar in section.bars]
    if not bars:
        return ()
    begin, end = min(bar.began for bar in bars), max(bar.ended for bar in bars)
    return tuple(_section(section, begin, end - begin) for section in timeline.sections)


def _section(section: Section, begin: datetime, span: timedelta) -> Rows:
    whole = max(1.0, span.total_seconds())
    rows = []
    for bar in section.bars:
        seconds = (bar.ended - bar.began).total_seconds()
        width = max(_THINNEST, 100 * seconds / whole)
        left = min(100 * (bar.began - begin).total_seconds() / whole, 100 - width)
        text = bar.text.replace(f", {words.lasted(seconds)}", "", 1)  # it has a column of its own
        rows.append(Row(text, _CLASSES[bar.look], bar.began, seconds, round(left, 2), round(width, 2)))
    return Rows(section.name, rows, section.left_out)
