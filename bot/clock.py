"""The only place that waits.

Nightjar's own plans (poll intervals, retry pauses, the Hold limit) go through a `Clock`, whose `scale` divides every
planned wait so that a whole Run can be watched in seconds (`NIGHTJAR_TIME_SCALE`). What another program needs to react
(the CLI's start, a process that is asked to stop) cannot be sped up from here: those limits are made with `reaction`,
which no scale touches. Measured durations are always real.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.cancel import Cancel

SCALE_VARIABLE = "NIGHTJAR_TIME_SCALE"


class BadTimeScale(ValueError):
    """`NIGHTJAR_TIME_SCALE` is not a number above zero."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A named limit. `at` is real monotonic seconds; `seconds` is the limit as planned, for messages."""

    name: str
    seconds: float
    at: float

    def left(self) -> float:
        """Real seconds until the limit; 0.0 once it has passed."""
        return max(0.0, self.at - time.monotonic())

    def passed(self) -> bool:
        """Whether the limit has been reached."""
        return time.monotonic() >= self.at


class Clock:
    """Time as one Run sees it."""

    def __init__(self, scale: float = 1.0, cancel: Cancel | None = None) -> None:
        """`scale` > 0 divides every planned wait: 60 turns a planned minute into a real second. `cancel` cuts waits
        short.
        """
        if not scale > 0:
            raise BadTimeScale(f"{SCALE_VARIABLE} must be a number above 0, not {scale!r}")
        self.scale = scale
        self.cancel = Cancel() if cancel is None else cancel

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], cancel: Cancel | None = None) -> Clock:
        """The clock that the environment asks for. Raises `BadTimeScale`."""
        text = environ.get(SCALE_VARIABLE, "").strip() or "1"
        try:
            return cls(float(text), cancel)
        except ValueError as error:
            raise BadTimeScale(f"{SCALE_VARIABLE} must be a number above 0, not {text!r}") from error

    @staticmethod
    def now() -> float:
        """Real monotonic seconds, for measuring."""
        return time.monotonic()

    @staticmethod
    def today() -> datetime:
        """The date and time, in UTC, for people."""
        return datetime.now(UTC)

    def deadline(self, name: str, seconds: float) -> Deadline:
        """A limit on something Nightjar itself decides to wait for: `seconds` as planned, sped up by the scale."""
        return Deadline(name, seconds, time.monotonic() + seconds / self.scale)

    @staticmethod
    def reaction(name: str, seconds: float) -> Deadline:
        """A limit on how long another program may take to react: real `seconds`, whatever the scale."""
        return Deadline(name, seconds, time.monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait `seconds` as planned. Raises `Cancelled` as soon as the Run is to stop."""
        self.cancel.check()
        with selectors.DefaultSelector() as selector:
            selector.register(self.cancel.fd, selectors.EVENT_READ)
            selector.select(seconds / self.scale)
        self.cancel.check()

    @staticmethod
    def pause(seconds: float) -> None:
        """Wait real `seconds`: between two looks at what another program does."""
        time.sleep(seconds)

    @staticmethod
    def select(selector: selectors.BaseSelector, until: Deadline | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait until a registered file is ready or `until` has passed; the ready ones."""
        return selector.select(None if until is None else until.left())
