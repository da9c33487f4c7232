"""What a sweep does about a Run that is not over: a table over the Record and what is around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.record import FailureEntry, JobEntry, Outcome, Record, RepairEntry, Trigger, WaitsFor
from bot.sweeping import Around, Due, due

BEFORE, NOW, LATER = (f"2026-05-01T{hour}:00:00.000+00:00" for hour in (11, 12, 13))
A, B = "a" * 40, "b" * 40
TRIGGER = Trigger("acme/widget", 7, "t", "b", "nightjar", "alice", BEFORE, "42", 1, "https://x")
JOB = JobEntry("42", 1, "https://x", "nightjar.yml", BEFORE)
CLAIMED = Record(
    trigger=TRIGGER, base="main", branch="nightjar/issue-7", max_repairs=2, jobs=(JOB,), claimed=True, placed=True
)
WATCHING = replace(CLAIMED, implemented=True, base_commit=A, round_base=A, head=B, pushed=B)
REPAIRING = replace(WATCHING, head=B, repairs=(RepairEntry(1, ("test",), before=B),))
PAUSED_REPAIR = replace(WATCHING, repairs=(RepairEntry(1, ("test",), before=B, interrupted=True),))
LOST_ONCE = replace(WATCHING, jobs=(JOB, JOB))


def parked(what: WaitsFor, until: str = "") -> Record:
    """A Run that waits."""
    return WATCHING.parked_for(what, BEFORE, until)


@pytest.mark.parametrize(
    ("record", "around", "what"),
    [
        (parked(WaitsFor.CI, LATER), Around(NOW, 0), Due.NOTHING),
        (parked(WaitsFor.CI, LATER), Around(NOW, 0, ci_runs=False), Due.TAKE_UP),
        (parked(WaitsFor.CI, NOW), Around(NOW, 0), Due.TAKE_UP),
        (parked(WaitsFor.USAGE_LIMIT, LATER), Around(NOW, 9e9), Due.NOTHING),
        (parked(WaitsFor.USAGE_LIMIT, BEFORE), Around(NOW, 0), Due.TAKE_UP),
        (parked(WaitsFor.RUNNER), Around(NOW, 599), Due.NOTHING),
        (parked(WaitsFor.RUNNER), Around(NOW, 600), Due.TAKE_UP),
        (parked(WaitsFor.UNPAUSED), Around(NOW, 0, paused=True), Due.NOTHING),
        (parked(WaitsFor.UNPAUSED), Around(NOW, 0), Due.TAKE_UP),
        (parked(WaitsFor.SLOT), Around(NOW, 9e9), Due.NOTHING),
    ],
)
def test_a_run_that_waits(record: Record, around: Around, what: Due) -> None:
    """It is taken up when what it waits for has come, or its time."""
    assert due(record, around) is what


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (CLAIMED, Due.END),
        (replace(CLAIMED, claimed=False), Due.END),
        (WATCHING, Due.TAKE_UP),
        (REPAIRING, Due.END),
        (PAUSED_REPAIR, Due.TAKE_UP),
        (replace(WATCHING, conflicts=("a.txt",)), Due.END),
        (replace(WATCHING, outcome=Outcome.READY), Due.END),
        (replace(WATCHING, failure=FailureEntry("ci_red", "red")), Due.END),
        (LOST_ONCE, Due.END),
        (replace(LOST_ONCE, jobs=(replace(JOB, ended=NOW), JOB)), Due.TAKE_UP),
    ],
)
def test_a_run_whose_job_is_over(record: Record, what: Due) -> None:
    """Between Sessions nothing is lost, and it goes on; in a Session, or when jobs keep dying under it, it is ended."""
    assert due(record, Around(NOW, 0, conclusion="failure")) is what
    assert due(record, Around(NOW, 0)) is Due.NOTHING
