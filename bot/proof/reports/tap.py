"""The Test Anything Protocol, versions 12 to 14."""

from __future__ import annotations

import re

from bot.proof.reports.report import Report, Sorting
from bot.proof.words import counted, plain

_POINT = re.compile(r"^(not )?ok\b(?: +(\d+))?(?:\s+-)?\s*(.*)$")
_PLAN = re.compile(r"^1\.\.(\d{1,6})\s*(?:#\s*(.*))?$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(skip|todo)\b", re.IGNORECASE)
_BAIL = re.compile(r"^Bail out!\s*(.*)$", re.IGNORECASE)
_VERSION = re.compile(r"^TAP version 1[234]$")
_FILE = re.compile(r"[/\\][\w.-]+\.\w+$")
_CANNOT_LOAD = re.compile(
    r"Cannot find (?:module|package) '|does not provide an export named '|^#? *SyntaxError: ", re.M
)
_KEPT_LINES = 60


class _Reader:
    """Follows the lines; only points at the left edge count, the indented ones are inside of them."""

    def __init__(self) -> None:
        self.version = False
        self.planned: int | None = None
        self.points = 0
        self.numbered = False
        self.bail: str | None = None
        self._found = Sorting()
        self._before: list[str] = []
        self._point: tuple[str, bool, list[str]] | None = None

    def line(self, line: str) -> None:
        if point := _POINT.match(line):
            self._close()
            self.points += 1
            self.numbered = self.numbered or point[2] is not None
            self._point = (point[3], not point[1], self._before)
            self._before = []
        elif plan := _PLAN.match(line):
            self.planned = (self.planned or 0) + int(plan[1])
        elif (bail := _BAIL.match(line)) and self.bail is None:
            self.bail = bail[1]
        elif _VERSION.match(line):
            self.version = True
        else:
            self._detail(line)

    def _detail(self, line: str) -> None:
        """What is said about a point stands after it; what its subtests or its program say, before it."""
        yaml = line.startswith("  ") and not line.startswith("    # ")
        if self._point is not None and (yaml or line.startswith("#")):
            self._point[2].append(line)
            del self._point[2][:-_KEPT_LINES]
        if not yaml or line.startswith("    "):
            self._before.append(line)
            del self._before[:-_KEPT_LINES]

    def _close(self) -> None:
        if self._point is None:
            return
        (said, good, message), self._point = self._point, None
        directive = _DIRECTIVE.search(said)
        name = (said[: directive.start()] if directive else said).strip() or f"test {self.points}"
        skipped = directive is not None and (directive[1].lower() == "skip" or not good)
        whole_file = _FILE.search(name) is not None
        text = "\n".join(message)
        found = self._found
        if skipped:
            where = found.skipped
        elif good:
            where, text = found.passed, ""
        else:
            where = found.not_loaded if whole_file and _CANNOT_LOAD.search(text) else found.failed
        found.add(where, name, name if whole_file else "", text)

    def report(self) -> Report | None:
        self._close()
        # A line that begins with `ok` is no protocol yet.
        if not (self.numbered or self.version) and self.bail is None and self.planned is None:
            return None
        unfinished = "it bailed out" if self.bail is not None else ""
        if self.bail:
            unfinished += f": {plain(self.bail)}"
        short = ""
        if self.planned is not None and self.points < self.planned:
            short = f"{self.points} of {counted(self.planned, 'planned test')} ran"
        return self._found.report("TAP", unfinished=unfinished, short=short)


def read_tap(output: str) -> Report | None:
    """What the TAP in `output` tells; None without a numbered point, a version or a plan."""
    reader = _Reader()
    for line in output.splitlines():
        reader.line(line.rstrip())
    return reader.report()
