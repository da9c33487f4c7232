"""What Python's unittest prints."""

from __future__ import annotations

import re

from bot.proof.reports.report import LONGEST_MESSAGE, Report, Sorting

_RAN = re.compile(r"^Ran (\d{1,6}) tests? in [\d.]+s$", re.MULTILINE)
_RULE = "=" * 70
_HEADING = re.compile(r"^(ERROR|FAIL|UNEXPECTED SUCCESS): (\S+)(?: \(([\w.<>]+)\))?")
_COUNT = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d{1,6})")
_TOLD = re.compile(r"^(\w+) \(([\w.]+)\)(.* \.\.\. (ok|skipped .*|expected failure))?$")
_OUTCOME = re.compile(r" \.\.\. (ok|skipped .*|expected failure)$")
_PREPARING = re.compile(r"^  File .*, in (?:async)?(?:setUp|setUpClass|setUpModule|asyncSetUp)$", re.MULTILINE)
_FRAME = re.compile(r"^  File .*$", re.MULTILINE)
_LOADER = "unittest.loader._FailedTest"


def read_unittest(output: str) -> Report | None:
    """What unittest tells of its last run in `output`; None when there is none."""
    if not (ran := list(_RAN.finditer(output))):
        return None
    found = Sorting()
    blocks = output[: ran[-1].start()].split(f"{_RULE}\n")
    for block in blocks[1:]:
        _broken(found, block)
    _well(found, blocks[0].splitlines())
    counts = {thing: int(number) for thing, number in _COUNT.findall(output[ran[-1].end() :][:500])}
    skipped = counts.get("skipped", 0) + counts.get("expected failures", 0)
    found.count(found.skipped, skipped - len(found.skipped))
    # A class or module that could not be prepared is told as an error, but not counted as run.
    not_run = sum(1 for case in found.errors if case.name.startswith(("setUpClass", "setUpModule")))
    broken = len(found.failed) + len(found.not_loaded) + len(found.errors) - not_run
    found.count(found.passed, int(ran[-1][1]) - broken - skipped - len(found.passed))
    return found.report("unittest")


def _broken(found: Sorting, block: str) -> None:
    """One failure or error: its heading, a rule, and the traceback."""
    heading = _HEADING.match(block)
    if not heading:
        return
    word, name, place = heading[1], heading[2], heading[3] or ""
    message = block[heading.end() :]
    if place.startswith(_LOADER):
        found.add(found.not_loaded, name, place.removeprefix(_LOADER).strip(".") or name, message)
        return
    # `tests.test_x.HalfTest.test_odd` since 3.11, `tests.test_x.HalfTest` before.
    full = place if place.endswith(f".{name}") else f"{place}.{name}"
    prepares = name in ("setUpClass", "setUpModule") or (word == "ERROR" and _first_is_preparing(message))
    found.add(found.errors if prepares else found.failed, name if prepares else full, place, message[-LONGEST_MESSAGE:])


def _first_is_preparing(message: str) -> bool:
    first = _FRAME.search(message)
    return first is not None and _PREPARING.match(message, first.start()) is not None


def _well(found: Sorting, lines: list[str]) -> None:
    """The names that `-v` tells: on one line with the outcome, or on the line before a docstring with it."""
    name, place = "", ""
    for line in lines:
        if match := _TOLD.match(line):
            name, place = match[1], match[2]
        if name and (outcome := _OUTCOME.search(line)):
            full = place if place.endswith(f".{name}") else f"{place}.{name}"
            found.add(found.passed if outcome[1] == "ok" else found.skipped, full, place)
            name = ""
