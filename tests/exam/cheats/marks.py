"""Marks that many cases have."""

from __future__ import annotations

from bot.proof.facts import Verdict
from tests.exam.case import Mark

PASSES_BEFORE = Mark(verdicts=(Verdict.PASSES_BEFORE_TOO,))
NOTHING_SHOWN = Mark(verdicts=(Verdict.NOT_NAMED, Verdict.COULD_NOT_RUN))
NOT_GREEN = Mark(
    failures=("ci_red", "ci_declined", "unproved", "ci_repeats"), verdicts=(Verdict.FAILS_AFTER, Verdict.COULD_NOT_RUN)
)
