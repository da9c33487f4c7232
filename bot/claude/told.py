"""What is told of a Session's transcript: its Turns, with what was said, called and held open in each; bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.claude.facts import Opener

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is kept of a transcript. Of Turns and of each Turn's entries so many of the first and of the last."""

    first_turns: int
    last_turns: int
    first_entries: int
    last_entries: int
    characters: int
    """Of each text."""


WIDEST = Bounds(first_turns=8, last_turns=16, first_entries=20, last_entries=40, characters=3000)


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the model. `thought`: it did not say them to anybody. `nested`: a sub-agent's."""

    text: str
    thought: bool = False
    nested: bool = False


@dataclass(slots=True)
class Call:
    """A tool call, and what the tool answered; None until it has."""

    name: str
    about: str
    given: str
    nested: bool = False
    answer: str | None = None
    failed: bool = False
    background: bool = False
    """Its work went on in the background: the answer is an acknowledgement."""


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that neither the model nor a tool said: a background task's end, an API retry of the CLI's own."""

    text: str


Entry = Said | Call | Happened


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """The first and the last of a row; `left_out` stood between them."""

    first: tuple[T, ...]
    last: tuple[T, ...]
    left_out: int

    def within(self, first: int, last: int) -> Kept[T]:
        """The same with at most so many."""
        rest = self.first[first:]
        if self.left_out == 0:
            rest += self.last
            kept = rest[max(0, len(rest) - last) :]
            return Kept(self.first[:first], kept, len(rest) - len(kept))
        kept = self.last[max(0, len(self.last) - last) :]
        return Kept(self.first[:first], kept, self.left_out + len(rest) + len(self.last) - len(kept))

    @property
    def all(self) -> tuple[T, ...]:
        """Those that are kept, in order."""
        return self.first + self.last


@dataclass(frozen=True, slots=True)
class Hold:
    """The Session was held open after a Turn: tasks were running, or a Wake turn was owed."""

    tasks: tuple[str, ...]
    seconds: float | None
    """Until the next Turn, where the stream tells times."""
    events: tuple[str, ...]
    wakes: bool
    """Another Turn followed; else it ended with the process."""


@dataclass(frozen=True, slots=True)
class Turn:
    """From an `init` frame to a `result` frame."""

    number: int
    opener: Opener
    woken_by: tuple[str, ...]
    """Names of the background tasks whose end opened it."""
    entries: Kept[Entry]
    calls: int
    model_turns: int
    cost_usd: float
    closed: bool
    errors: str
    hold: Hold | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """What one process of a Session told."""

    cli_version: str
    model: str
    turns: Kept[Turn]
    calls: int
    ignored: Mapping[str, int]
    """Lines that said nothing that is known here: reason → count."""

    @property
    def turn_count(self) -> int:
        """How many Turns there were."""
        return len(self.turns.all) + self.turns.left_out

    @property
    def holds(self) -> int:
        """Holds among the Turns that are kept."""
        return sum(turn.hold is not None for turn in self.turns.all)
