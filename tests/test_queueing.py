"""Whose turn it is among Runs that are not over: tables over Records alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.queueing import ahead, free_slot, next_in_turn, usage_limited_until
from bot.record import JobEntry, Outcome, Record, Trigger, WaitsFor

NOON = "2026-05-01T12:00:00.000+00:00"


def run(issue: int, second: int = 0) -> Record:
    """A Run on `issue`, asked for at that second."""
    asked = f"2026-05-01T10:00:{second:02}+00:00"
    trigger = Trigger("acme/widget", issue, "t", "b", "nightjar", "alice", asked, "42", 1, "https://x")
    job = JobEntry("42", 1, "https://x", "nightjar.yml", asked)
    return Record(trigger=trigger, base="main", branch=f"nightjar/issue-{issue}", max_repairs=5, jobs=(job,))


def queued(issue: int, second: int = 0) -> Record:
    """The same, waiting for its turn."""
    return run(issue, second).parked_for(WaitsFor.SLOT, NOON)


def limited(issue: int, until: str) -> Record:
    """The same, waiting for the usage limit's reset."""
    return run(issue).parked_for(WaitsFor.USAGE_LIMIT, NOON, until)


@pytest.mark.parametrize(
    ("others", "taken", "slot"),
    [
        ([], set(), 1),
        ([], {1}, 2),
        ([], {2}, 1),
        ([], {1, 2}, 0),
        ([replace(run(3, 1), slot=2)], {2}, 1),
        ([run(3, 1)], set(), 0),  # taken up just now, and about to take one
        ([replace(run(3, 1), outcome=Outcome.READY)], set(), 1),
        ([queued(3, 1)], set(), 0),
        ([queued(3, 9)], set(), 1),
        ([queued(3, 5)], set(), 0),  # the same second: the lower number
        ([queued(9, 5)], set(), 1),
        ([limited(3, NOON)], set(), 1),
    ],
)
def test_a_free_slot(others: list[Record], taken: set[int], slot: int) -> None:
    """The lowest that is free, unless a Run that asked earlier waits for one."""
    assert free_slot(run(7, 5), others, taken, 2) == slot


def test_a_slot_that_is_held_is_kept() -> None:
    """A Run that takes over from a lost one keeps its slot, whoever waits."""
    assert free_slot(replace(run(7, 5), slot=2), [queued(3, 1)], {1, 2}, 2) == 2


def test_next_in_turn() -> None:
    """As many as there are free slots, in the order in which they were asked for."""
    runs = [queued(5, 3), queued(4, 3), run(1), queued(9, 1), limited(2, NOON)]
    assert [one.trigger.issue for one in next_in_turn(runs, {2}, 3)] == [9, 4]
    assert [one.trigger.issue for one in next_in_turn(runs, set(), 9)] == [9, 4, 5]
    assert next_in_turn(runs, {1, 2, 3}, 3) == ()
    assert [one.trigger.issue for one in next_in_turn(runs, {4}, 1)] == [9]  # `max-working` was lowered meanwhile


def test_how_many_are_before_it() -> None:
    """Those that wait for their turn and asked earlier; not those that are at work or wait for something else."""
    others = [queued(1, 1), queued(8, 5), queued(9, 9), replace(run(2), slot=1), limited(3, NOON)]
    assert ahead(run(7, 5), others) == 1


def test_usage_limit_that_is_known() -> None:
    """The latest reset that still lies ahead, whichever Run met it."""
    later = "2026-05-01T13:00:00.000+00:00"
    assert usage_limited_until([run(1), queued(2)], NOON) == ""
    assert usage_limited_until([limited(1, NOON)], NOON) == ""
    assert usage_limited_until([limited(1, later), limited(2, NOON)], NOON) == later
