"""Whose turn it is: of all Runs that are not over, which may work, which wait, and which is next. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.record import Record, WaitsFor


def turn(record: Record) -> tuple[str, int]:
    """What Runs are ordered by: when they were asked for; issues labelled in the same second by their number."""
    return record.trigger.asked_at, record.trigger.issue


def free_slot(record: Record, others: Sequence[Record], taken: Collection[int], at_most: int) -> int:
    """The first free one of `at_most` slots for this Run; 0 when all are taken or a Run that asked earlier waits."""
    if record.slot:
        return record.slot
    if ahead(record, others):
        return 0
    return next((slot for slot in range(1, at_most + 1) if slot not in taken), 0)


def next_in_turn(others: Sequence[Record], taken: Collection[int], at_most: int) -> tuple[Record, ...]:
    """The queued Runs that can be taken up now, the oldest first: as many as there are free slots."""
    return in_line(others)[: free_slots(taken, at_most)]


def in_line(others: Sequence[Record]) -> tuple[Record, ...]:
    """The queued Runs, the oldest first."""
    return tuple(sorted((other for other in others if other.state == "queued"), key=turn))


def free_slots(taken: Collection[int], at_most: int) -> int:
    """How many of `at_most` slots no Run has."""
    return sum(slot not in taken for slot in range(1, at_most + 1))


def ahead(record: Record, others: Sequence[Record]) -> int:
    """How many Runs without a slot have their turn before this one: queued, or taken up just now."""
    return sum(_wants_a_slot(other) and turn(other) < turn(record) for other in others)


def _wants_a_slot(record: Record) -> bool:
    return record.state == "queued" or (record.state == "working" and not record.slot)


def usage_limited_until(others: Sequence[Record], now: str) -> str:
    """The reset that another Run waits for, as far as it lies after `now`; "" when no usage limit is known. ISO 8601,
    UTC.
    """
    known = [other.parked.until for other in others if other.parked and other.parked.waits_for is WaitsFor.USAGE_LIMIT]
    return max((until for until in known if until > now), default="")
