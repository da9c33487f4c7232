"""What pytest prints, for when it wrote no XML."""

from __future__ import annotations

import re
from collections import defaultdict, deque

from bot.proof.reports.report import LONGEST_MESSAGE, Report, Sorting

_ENDING = re.compile(r"^=* ?((?:\d+ \w+(?: \w+)?, )*\d+ \w+|no tests ran)(?: in [\d.]+s.*)?(?: ?=+)?$")
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?|deselected|warnings?|subtests passed)")
_SUMMARY = re.compile(r"^(FAILED|ERROR) (\S.*)$")
_PROGRESS = re.compile(r"^(\S+\.\w+) ([.FEsxX]+)(?: +\[ *\d+%\])?$")
_TOLD = re.compile(r"^(\S+\.\w+)(::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")
_HEADING = re.compile(r"^_{3,} (.+?) _{3,}$")
_USAGE = re.compile(
    r"^ERROR: (?:usage: .*pytest|file or directory not found: |not found: |found no collectors|"
    r"Missing required plugins: |Error importing plugin |\S+\.(?:ini|toml|cfg)\b)",
    re.MULTILINE,
)
_CONFTEST = re.compile(r"^ImportError while loading conftest '.+'\.\n((\S+):\d+: (?:.*\n?)*)", re.MULTILINE)
_BROKEN = re.compile(r"^INTERNALERROR>", re.MULTILINE)
_SIGNS = re.compile(
    r"^=+ test session starts =+$|^=+ short test summary info =+$|^(?:=* ?)?no tests ran in |^=* ?(?:\d+ \w+, )*\d+ "
    r"(?:passed|failed|skipped|xfailed|xpassed|errors?|deselected|warnings?) in [\d.]+s",
    re.MULTILINE,
)
_AT_SETUP = re.compile(r"^ERROR at (?:setup|teardown) of ")


def read_pytest(output: str) -> Report | None:
    """What pytest's own text tells; None when it is not in `output`."""
    if not any(sign.search(output) for sign in (_SIGNS, _USAGE, _CONFTEST, _BROKEN)):
        return None
    lines = output.splitlines()
    found, messages = Sorting(), _sections(lines)
    for line in lines:
        if match := _SUMMARY.match(line):
            _broken(found, match[1], match[2], messages)
    if conftest := _CONFTEST.search(output):
        found.add(found.not_loaded, conftest[2], "", conftest[1])
    if not (found.failed or found.not_loaded or found.errors):
        _unsummed(found, messages)
    _well(found, lines)
    return found.report("pytest", unfinished=_unfinished(output))


def _sections(lines: list[str]) -> dict[str, deque[str]]:
    """The texts under the headings of failures, by heading, in their order."""
    found: dict[str, deque[str]] = defaultdict(deque)
    heading, text = "", list[str]()
    for line in [*lines, "=== end ==="]:
        match = _HEADING.match(line)
        if match or line.startswith("==="):
            if heading:
                found[heading].append("\n".join(text)[-LONGEST_MESSAGE:])
            heading, text = match[1] if match else "", []
        elif heading:
            text.append(line)
    return found


def _broken(found: Sorting, word: str, rest: str, messages: dict[str, deque[str]]) -> None:
    """One line of the summary: `FAILED path::name - message`, `ERROR path`, `ERROR path::name - message`."""
    node, _, said = rest.partition(" - ")
    path, _, inner = node.partition("::")
    if not re.search(r"\.\w+$", path):  # some other line that begins with this word
        return
    heading, headings = inner.replace("::", "."), list[str]()
    if word == "FAILED":
        where, headings = found.failed, [heading]
    elif inner:
        where, headings = found.errors, [f"ERROR at setup of {heading}", f"ERROR at teardown of {heading}"]
    else:
        where, headings = found.not_loaded, [f"ERROR collecting {path}"]
    texts = (messages[name].popleft() for name in headings if messages.get(name))
    found.add(where, node if inner else path, path, next(texts, said))


def _unsummed(found: Sorting, messages: dict[str, deque[str]]) -> None:
    """Failures known from their own texts alone: the summary was switched off."""
    for heading, texts in messages.items():
        for text in texts:
            at = re.search(r"^(\S+\.\w+):\d+: ", text, re.MULTILINE)
            file = at[1] if at else ""
            if heading.startswith("ERROR collecting "):
                path = heading.removeprefix("ERROR collecting ")
                found.add(found.not_loaded, path, path, text)
            elif _AT_SETUP.match(heading):
                found.add(found.errors, _AT_SETUP.sub("", heading), file, text)
            elif file:
                found.add(found.failed, heading, file, text)


def _well(found: Sorting, lines: list[str]) -> None:
    """The passed and skipped ones: by name where each has a line, else by file, else by number."""
    for line in lines:
        if match := _TOLD.match(line):
            where = {"PASSED": found.passed, "XPASS": found.passed, "SKIPPED": found.skipped, "XFAIL": found.skipped}
            if match[3] in where:
                found.add(where[match[3]], f"{match[1]}{match[2]}", match[1])
        elif match := _PROGRESS.match(line):
            for letter in match[2]:
                if letter in ".X":
                    found.add(found.passed, "", match[1])
                elif letter in "sx":
                    found.add(found.skipped, "", match[1])
    counts = _counts(lines)
    found.count(found.passed, counts["passed"] + counts["xpassed"] - len(found.passed))
    found.count(found.skipped, counts["skipped"] + counts["xfailed"] - len(found.skipped))
    if not (found.failed or found.not_loaded or found.errors):
        found.count(found.failed, counts["failed"])
        found.count(found.errors, counts["error"] + counts["errors"])


def _counts(lines: list[str]) -> dict[str, int]:
    """The numbers of the last line that counts."""
    counts: dict[str, int] = defaultdict(int)
    ending = next((line for line in reversed(lines[-50:]) if _ENDING.match(line[:300])), "")
    for number, thing in _COUNT.findall(ending):
        counts[thing] = int(number[:6])
    return counts


def _unfinished(output: str) -> str:
    if _BROKEN.search(output):
        return "pytest broke down"
    return "pytest did not accept the command" if _USAGE.search(output) else ""
