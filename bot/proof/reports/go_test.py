"""What `go test` prints, with `-json` and without."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable

from bot.proof.reports.report import LONGEST_MESSAGE, Report, Sorting

_TEST = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_PACKAGE = re.compile(
    r"^(ok|FAIL)\s+([\w./~@-]+)(?=\s+(?:\(cached\)|[\d.]+s|\[))(?:\s+(?:\(cached\)|[\d.]+s))?"
    r"(?:\s+coverage:[^\[]*)?(?:\s+\[(.+)\])?$"
)
_COMPILED = re.compile(r"^# ([\w./~@-]+)")


class _Reader:
    """Follows the text, the JSON events having been turned into it; a test's outcome is known once, from either."""

    def __init__(self) -> None:
        self.seen = False
        self._outcomes: dict[tuple[str, str], str] = {}
        self._said: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._packages: dict[str, tuple[str, str]] = {}
        self._built: dict[str, list[str]] = defaultdict(list)
        self._building = ""
        self._open: list[str] = []
        self._lines: list[str] = []

    def event(self, event: dict[str, object]) -> None:
        """One line of `-json`: of a test, a package or a build."""
        self.seen = True
        action, package, test = (str(event.get(key, "")) for key in ("Action", "Package", "Test"))
        output = str(event.get("Output", ""))
        if action == "build-output":
            self._built[str(event.get("ImportPath", "")).partition(" ")[0]].append(output)
        elif test and action in ("pass", "fail", "skip"):
            self._outcomes[package, test] = action
        elif test and action == "output":
            self._said[package, test].append(output)
        elif action == "output":
            if match := _PACKAGE.match(output.strip()):
                self._packages[package] = (match[1], match[3] or "")
            self._said[package, ""].append(output)
        elif action in ("pass", "fail") and package:
            self._packages.setdefault(package, ("ok" if action == "pass" else "FAIL", ""))

    def text(self, line: str) -> None:
        """One line of plain text: tests are named before the package that they are in."""
        if match := _PACKAGE.match(line):
            self.seen = True
            self._end_package(match[1], match[2], match[3] or "")
        elif match := _TEST.match(line):
            self.seen = True
            self._open.append(match[2])
            self._outcomes["", match[2]] = match[1].lower()
        elif match := _COMPILED.match(line):
            self._building = match[1]
        elif self._building:
            self._built[self._building].append(f"{line}\n")
        if self._open:
            self._said["", self._open[-1]].append(f"{line}\n")
        self._lines.append(f"{line}\n")

    def _end_package(self, word: str, package: str, note: str) -> None:
        self._packages[package] = (word, note)
        for test in self._open:
            if ("", test) in self._outcomes:
                self._outcomes[package, test] = self._outcomes.pop(("", test))
                self._said[package, test] = self._said.pop(("", test), [])
        self._said[package, ""] += self._lines
        self._open, self._lines, self._building = [], [], ""

    def report(self) -> Report | None:
        if not self.seen:
            return None
        found = Sorting()
        parents = {(package, test[:at]) for package, test in self._outcomes for at in _slashes(test)}
        for (package, test), outcome in self._outcomes.items():
            if (package, test) not in parents:
                where = {"pass": found.passed, "fail": found.failed}.get(outcome, found.skipped)
                found.add(where, test, package, _joined(self._said[package, test]) if outcome == "fail" else "")
        for package, (word, note) in self._packages.items():
            self._package(found, package, word, note)
        return found.report("go test")

    def _package(self, found: Sorting, package: str, word: str, note: str) -> None:
        """What a package tells beyond its tests: that it was not built, or how it ended without naming any."""
        named = any(one == package for one, _ in self._outcomes)
        broken = any(one == package and outcome == "fail" for (one, _), outcome in self._outcomes.items())
        if note == "build failed":
            built = self._built.get(package) or self._built.get(f"{package}_test") or self._all_built()
            found.add(found.not_loaded, package, package, _joined(built))
        elif note == "setup failed":
            found.add(found.errors, package, package, _joined(self._said[package, ""] or self._all_built()))
        elif word == "FAIL" and not broken:
            found.add(found.failed, "", package, _joined(self._said[package, ""]))
        elif word == "ok" and not named and "no test" not in note:
            found.add(found.passed, "", package)

    def _all_built(self) -> list[str]:
        return [line for lines in self._built.values() for line in lines]


def _slashes(test: str) -> Iterable[int]:
    return (at for at, letter in enumerate(test[:300]) if letter == "/")


def _joined(parts: list[str]) -> str:
    return "".join(parts)[:LONGEST_MESSAGE]


def read_go(output: str) -> Report | None:
    """What `go test` tells in `output`; None when it is not there."""
    reader = _Reader()
    for line in output.splitlines():
        event = _event(line)
        if event is None:
            reader.text(line)
        else:
            reader.event(event)
    return reader.report()


def _event(line: str) -> dict[str, object] | None:
    if not line.startswith('{"'):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    of_go = isinstance(event, dict) and "Action" in event and ("Package" in event or "ImportPath" in event)
    return event if of_go else None
