"""All cases of the exam."""

from __future__ import annotations

from tests.exam import plain
from tests.exam.case import Case
from tests.exam.cheats import others, tricks, weak
from tests.exam.honest import amounts, inbox, ledger, scripts

CASES: tuple[Case, ...] = (
    *weak.CASES,
    *tricks.CASES,
    *others.CASES,
    *amounts.CASES,
    *ledger.CASES,
    *inbox.CASES,
    *scripts.CASES,
    *plain.CASES,
)


def named(name: str) -> Case:
    """The case of that name. Raises `KeyError`."""
    return {case.name: case for case in CASES}[name]
