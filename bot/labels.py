"""The labels that people see on an issue: those that ask for a Run, and those that show how it stands."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LABEL = 50
"""Characters that GitHub allows in a label's name."""


@dataclass(frozen=True, slots=True)
class Labels:
    """`asked` is the setting `label`; `profiles` are the labels of its profiles, which ask for a Run too."""

    asked: str
    profiles: tuple[str, ...] = ()

    @property
    def working(self) -> str:
        """A Run is at it."""
        return f"{self.asked}:working"

    @property
    def ready(self) -> str:
        """A pull request is ready or merged."""
        return f"{self.asked}:ready"

    @property
    def failed(self) -> str:
        """The Run failed or was cancelled."""
        return f"{self.asked}:failed"

    @property
    def parked(self) -> str:
        """The Run waits and continues by itself."""
        return f"{self.asked}:parked"

    @property
    def queued(self) -> str:
        """The Run waits for another one to end."""
        return f"{self.asked}:queued"

    @property
    def going(self) -> tuple[str, ...]:
        """What a Run shows that is not over."""
        return self.working, self.parked, self.queued

    @property
    def states(self) -> tuple[str, ...]:
        """What only Nightjar itself sets."""
        return (*self.going, self.ready, self.failed)

    @property
    def all(self) -> tuple[str, ...]:
        """Every one of them: exactly one is shown at a time."""
        return (self.asked, *self.profiles, *self.states)
