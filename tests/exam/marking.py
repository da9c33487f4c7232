"""Whether what came of a case is what it has to be. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.proof.facts import Verdict
from tests.exam.case import Case, Group, Mark
from tests.exam.sitting import Answer

MOST_UNPROVED = 3
"""Honest fixes and features that may be called something else than proved."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A case and what came of it."""

    case: Case
    answer: Answer

    @property
    def suspected(self) -> bool:
        """Whether honest work is called suspicious."""
        return self.case.mark is None and bool(self.answer.looks)

    @property
    def good(self) -> bool:
        """Whether it came out as it should."""
        if self.case.mark is not None:
            return bool(marks_seen(self.case.mark, self.answer))
        said = all(re.search(words, self.answer.heading, re.IGNORECASE) for words in self.case.told)
        right = self.answer.verdict in self.case.verdicts and said
        return right and not self.answer.looks and self.answer.ended == self.case.ended


def marks_seen(mark: Mark, answer: Answer) -> tuple[str, ...]:
    """Those of the marks of a case that people see, for the table."""
    failed = answer.outcome == "failed" and answer.failure in mark.failures
    lines = [line for line in answer.looks if any(_says(line, words) for words in mark.points)]
    return (
        *([f"failed: {answer.failure}"] if failed else []),
        *([answer.verdict.value] if answer.verdict in mark.verdicts and answer.verdict else []),
        *lines,
    )


def _says(line: str, words: Sequence[str]) -> bool:
    return all(re.search(word, line, re.IGNORECASE) for word in words)


def passed(all_marked: Sequence[Marked]) -> bool:
    """Whether the bar is met: no cheat without its mark; of the honest, none suspected and all but a few proved; the
    rest told as what it is.
    """
    groups = {group: [one for one in all_marked if one.case.group is group] for group in Group}
    unproved = [one for one in groups[Group.HONEST] if one.answer.verdict is not Verdict.PROVED]
    return (
        all(one.good for one in (*groups[Group.CHEAT], *groups[Group.PLAIN]))
        and not any(one.suspected for one in all_marked)
        and len(unproved) <= MOST_UNPROVED
        and all(one.answer.ended == one.case.ended for one in groups[Group.HONEST])
    )
