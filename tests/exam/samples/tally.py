"""A small ledger, tested with pytest."""

from __future__ import annotations

from tests.exam.case import Sample
from tests.exam.samples.ci import CI

TALLY = Sample(
    "tally (pytest)",
    {
        ".github/workflows/ci.yml": CI.format(run="python3 -m pytest -q"),
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
        "README.md": "# tally\n\nTotals of a small ledger.\n\n    python3 -m tally FILE [--payee NAME]\n",
        "pyproject.toml": """\
[project]
name = "tally"
version = "0.4"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]

[tool.coverage.report]
fail_under = 85
""",
        "tally/__init__.py": "",
        "tally/amounts.py": '''\
"""Amounts of money, as whole cents."""

import re

_AMOUNT = re.compile(r"(-?)(\\d+)(?:\\.(\\d\\d))?")


def parse(text):
    """`12.34` as 1234."""
    found = _AMOUNT.match(text.strip())
    if not found:
        raise ValueError("bad amount")
    sign, whole, cents = found.groups()
    value = int(whole) * 100 + int(cents or 0)
    return -value if sign else value


def show(cents):
    """1234 as `12.34`."""
    return f"{cents // 100}.{cents % 100:02d}"


def split(cents, people):
    """The share of each."""
    return [cents // people] * people
''',
        "tally/ledger.py": '''\
"""Entries in the order in which they were made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    day: str
    payee: str
    cents: int


class Ledger:
    def __init__(self, entries=()):
        self.entries = list(entries)

    def add(self, entry):
        self.entries.append(entry)

    def between(self, first, last):
        """Entries from `first` to `last`, both days included."""
        return [entry for entry in self.entries if first <= entry.day < last]

    def total(self, payee=None):
        return sum(entry.cents for entry in self.entries if payee is None or entry.payee == payee)

    def biggest(self, count):
        """The entries with the biggest amounts, the biggest first."""
        return sorted(self.entries, key=lambda entry: entry.cents)[:count]
''',
        "tally/loading.py": '''\
"""Reads a ledger: one entry a line, `day,payee,amount`."""

from tally.amounts import parse
from tally.ledger import Entry, Ledger


def load(path):
    ledger = Ledger()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            day, payee, amount = line.strip().split(",")
            ledger.add(Entry(day, payee, parse(amount)))
    return ledger
''',
        "tally/__main__.py": '''\
"""Prints the total of a ledger."""

import argparse

from tally.amounts import show
from tally.loading import load


def main():
    parser = argparse.ArgumentParser(prog="tally")
    parser.add_argument("file")
    parser.add_argument("--payee")
    asked = parser.parse_args()
    print(show(load(asked.file).total(asked.payee)))


if __name__ == "__main__":
    main()
''',
        "tests/conftest.py": """\
import pytest

from tally.ledger import Entry, Ledger


@pytest.fixture
def ledger():
    return Ledger([Entry("2026-03-01", "baker", 450), Entry("2026-03-02", "grocer", 1999)])
""",
        "tests/data/march.csv": "2026-03-01,baker,4.50\n2026-03-02,grocer,19.99\n2026-03-31,baker,5.00\n",
        "tests/test_amounts.py": """\
from tally.amounts import parse, show, split


def test_parses_cents():
    assert parse("12.34") == 1234


def test_parses_a_negative_amount():
    assert parse("-0.50") == -50


def test_shows_an_amount():
    assert show(1234) == "12.34"


def test_splits_evenly():
    assert split(900, 3) == [300, 300, 300]
""",
        "tests/test_ledger.py": """\
def test_total_of_all(ledger):
    assert ledger.total() == 2449


def test_total_of_one_payee(ledger):
    assert ledger.total("baker") == 450


def test_between_leaves_out_earlier_days(ledger):
    assert [entry.payee for entry in ledger.between("2026-03-02", "2026-03-09")] == ["grocer"]
""",
        "tests/test_loading.py": """\
from pathlib import Path

from tally.loading import load

DATA = Path(__file__).parent / "data"


def test_loads_every_line():
    assert len(load(DATA / "march.csv").entries) == 3
""",
    },
    "python3 -m pytest -q",
)
