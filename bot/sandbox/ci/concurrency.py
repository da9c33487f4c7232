"""GitHub's concurrency groups: one holds the group, one waits for it, and a newer one takes the waiting one's place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A workflow run or job that asks for a group. None of these may call back into the groups at once."""

    begin: Callable[[], None]
    """The group is its own now."""
    drop: Callable[[], None]
    """A newer one waits in its place."""
    cancel: Callable[[], None]
    """A newer one does not want to wait for it."""


class Groups:
    """The groups of one repository; names without case. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holding: dict[str, Turn] = {}
        self._waiting: dict[str, Turn] = {}

    def enter(self, group: str, turn: Turn, *, cancel_in_progress: bool) -> None:
        """Hold the group when nobody does, else wait for it in place of whoever waited."""
        name = group.lower()
        with self._lock:
            holder = self._holding.setdefault(name, turn)
            dropped = None if holder is turn else self._waiting.pop(name, None)
            if holder is not turn:
                self._waiting[name] = turn
        if holder is turn:
            turn.begin()
            return
        if dropped is not None:
            dropped.drop()
        if cancel_in_progress:
            holder.cancel()

    def leave(self, group: str, turn: Turn) -> None:
        """Give the group back; whoever waits for it begins. Nothing happens when `turn` does not hold it."""
        name = group.lower()
        with self._lock:
            if self._holding.get(name) is not turn:
                return
            following = self._waiting.pop(name, None)
            if following is None:
                del self._holding[name]
            else:
                self._holding[name] = following
        if following is not None:
            following.begin()

    def withdraw(self, group: str, turn: Turn) -> bool:
        """Stop waiting; False when `turn` did not wait (any more)."""
        with self._lock:
            if self._waiting.get(group.lower()) is not turn:
                return False
            del self._waiting[group.lower()]
            return True
