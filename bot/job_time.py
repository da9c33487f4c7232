"""`bot.ports.Time`: time as a Run's job has it, its planned seconds sped up by the clock's scale."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.clock import Clock, Deadline


class JobTime:
    """The time of one job."""

    def __init__(self, clock: Clock, deadline: Deadline) -> None:
        """`deadline`: the job's `run-timeout-minutes`."""
        self._clock = clock
        self._deadline = deadline

    def now(self) -> str:
        """ISO 8601, UTC."""
        return self._text(self._clock.today())

    def after(self, seconds: float) -> str:
        """The moment that many planned seconds from now. ISO 8601, UTC."""
        return self._text(self._clock.today() + timedelta(seconds=seconds / self._clock.scale))

    def since(self, moment: str) -> float:
        """Planned seconds since then; 0 for "". Moments come from other machines: never less than 0."""
        if not moment:
            return 0.0
        passed = self._clock.today() - datetime.fromisoformat(moment)
        return max(0.0, passed.total_seconds() * self._clock.scale)

    def minutes_left(self) -> float:
        """Planned minutes until the deadline."""
        return self._deadline.left() * self._clock.scale / 60

    @staticmethod
    def _text(moment: datetime) -> str:
        """Of one form, so that texts compare as moments do."""
        return moment.isoformat(timespec="milliseconds")
