"""A job's log made readable and short: bytes as they arrive in, an excerpt out, with bounded memory however long the
log is.

`read_lines` normalises; `excerpt` keeps what a Repair needs: the surroundings of the first and of the last error
markers, and the tail.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

READ_LIMIT = 64 * 1024 * 1024
"""Bytes of a log that are read at most."""
EXCERPT_LIMIT = 12_000
"""Bytes of an excerpt at most, in UTF-8."""
LINE_LIMIT = 600
"""Characters of a line that are kept."""
TOO_LONG = f"[the log is longer than {READ_LIMIT // 1024 // 1024} MB; the rest was not read]"

_BUFFER_LIMIT = 64 * 1024
_BEFORE, _AFTER, _BEFORE_FIRST = 25, 8, 5
_REGIONS, _REGION_LINES = 24, 80
_TAIL_LINES = 60
_TAIL_LIMIT = 2_500
_FIRST_LIMIT = 3_000
_GAP_LIMIT = 40

_TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufeff]")
_MARKER = re.compile(
    r"^##\[error\]"
    r"|\bTraceback \(most recent call last\)"
    r"|\b(?:FAILED|FAILURES|FATAL|AssertionError|panicked at|Segmentation fault|npm ERR!)"
    r"|\b(?:[A-Z]\w*(?:Error|Exception)|[Ee]rror(?:\[\w+\])?|ERROR|fatal|FAIL|✗|✘)\s*:"
    r"|^\s*(?:not ok\b|E {3}\S|--- FAIL)"
)
_STEP = "##[group]Run "


def read_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a log: no byte order marks, time stamps, colours or redrawn progress; invalid UTF-8 replaced; long
    lines cut.

    Reads `READ_LIMIT` bytes at most, and says so in a last line when there are more.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    read = 0
    buffer = ""
    for chunk in chunks:
        part = chunk[: READ_LIMIT - read]
        read += len(part)
        *lines, buffer = (buffer + decoder.decode(part)).split("\n")
        yield from map(clean, lines)
        buffer = _held(buffer)
        if len(part) < len(chunk):
            yield clean(buffer)
            yield TOO_LONG
            return
    buffer += decoder.decode(b"", final=True)
    if buffer:
        yield clean(buffer)


def _held(line: str) -> str:
    """As much of an unfinished line as can matter: what is redrawn goes, and so does the inside of an endless one."""
    if len(line) <= _BUFFER_LIMIT:
        return line
    drawn = line[line.rfind("\r", 0, -1) + 1 :]
    return drawn if len(drawn) <= _BUFFER_LIMIT else drawn[:LINE_LIMIT] + drawn[-LINE_LIMIT:]


def clean(line: str) -> str:
    """One line as a person would have seen it."""
    line = _ESCAPES.sub("", _TIMESTAMP.sub("", line.lstrip("\ufeff")))
    drawn = [part for part in line.split("\r") if part.strip()]
    text = _CONTROLS.sub("", _TIMESTAMP.sub("", drawn[-1]) if drawn else "").rstrip()
    return text if len(text) <= LINE_LIMIT else f"{text[: LINE_LIMIT - 100]} […] {text[-100:]}"


@dataclass(slots=True)
class _Region:
    """Numbered lines around error markers that lie close together."""

    marker: int
    """Number of the line with its first marker."""
    lines: list[tuple[int, str]]
    until: int = 0
    """Number of the last line that still belongs to it."""


def excerpt(lines: Iterable[str], limit: int = EXCERPT_LIMIT) -> str:
    """What matters of a log, in its order, at most `limit` bytes: around the last error markers, around the first, and
    the tail.

    What is left out is said where it is left out; the command of the step in which the last marker stands comes first.
    "" for an empty log.
    """
    before: deque[tuple[int, str]] = deque(maxlen=_BEFORE)
    tail: deque[tuple[int, str]] = deque(maxlen=_TAIL_LINES)
    first: _Region | None = None
    regions: deque[_Region] = deque(maxlen=_REGIONS)
    command = step = ""
    for number, line in enumerate(lines):
        if line == "##[endgroup]":
            continue
        if line.startswith(_STEP):
            command = line
        tail.append((number, line))
        open_region = regions[-1] if regions and number <= regions[-1].until else None
        if _MARKER.search(line):
            step = command
            if open_region is None:
                open_region = _Region(number, list(before))
                regions.append(open_region)
                first = first or open_region
            open_region.until = min(number + _AFTER, open_region.marker + _REGION_LINES)
        if open_region is not None:
            open_region.lines.append((number, line))
        before.append((number, line))
    return _assemble(step or command, first, regions, tail, limit)


def _assemble(
    command: str, first: _Region | None, regions: deque[_Region], tail: deque[tuple[int, str]], limit: int
) -> str:
    """The most telling lines that fit, in their order."""
    chosen: dict[int, str] = {}
    budget = limit - _size(command) - _GAP_LIMIT
    budget -= _take(chosen, reversed(tail), min(_TAIL_LIMIT if regions else budget, budget))
    if first is not None:
        told = [line for line in first.lines if line[0] >= first.marker - _BEFORE_FIRST]
        budget -= _take(chosen, told, min(_FIRST_LIMIT, budget))
    for region in reversed(regions):
        budget -= _take(chosen, reversed(region.lines), budget)
    text, last = ([command] if command and command not in chosen.values() else []), -1
    for number in sorted(chosen):
        if number > last + 1:
            text.append(f"[… {number - last - 1} lines left out …]")
        text.append(chosen[number])
        last = number
    return "\n".join(text).strip("\n")


def _take(chosen: dict[int, str], lines: Iterable[tuple[int, str]], budget: int) -> int:
    """Add lines to `chosen` while they fit; the bytes that were used, with room for saying that something before was
    left out.
    """
    used = 0
    for number, line in lines:
        if number in chosen:
            continue
        cost = _size(line) + (0 if number - 1 in chosen or number + 1 in chosen else _GAP_LIMIT)
        if used + cost > budget:
            break
        chosen[number] = line
        used += cost
    return used


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1
