"""Which report there is: the files that the command wrote, else what it printed."""

from __future__ import annotations

import re

from bot.proof.facts import Ran
from bot.proof.reports.go_test import read_go
from bot.proof.reports.junit import read_junit
from bot.proof.reports.pytest_text import read_pytest
from bot.proof.reports.report import Report
from bot.proof.reports.tap import read_tap
from bot.proof.reports.unittest_text import read_unittest

_LONGEST_OUTPUT = 1_000_000
_LONGEST_LINE = 5000
_LONGEST_FILE = 5_000_000
_MOST_FILES = 500
_COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


def read_report(ran: Ran) -> Report | None:
    """What the runner reported; None when it reported in no way that is known. Never raises, whatever the text."""
    written = read_junit(text for text in ran.reports[:_MOST_FILES] if len(text) <= _LONGEST_FILE)
    if written is not None and written.cases:
        return written
    lines = _COLOURS.sub("", ran.output[-_LONGEST_OUTPUT:]).splitlines()
    output = "\n".join(line[:_LONGEST_LINE] for line in lines)
    for read in (read_go, read_pytest, read_unittest, read_tap):
        if (printed := read(output)) is not None:
            return printed
    return written
