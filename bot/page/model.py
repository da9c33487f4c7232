"""What the Run page shows of a Run beside its Record: the Sessions' transcripts, what Repairs were given and made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.claude.told import Transcript
from bot.record import Record, RepairEntry, SessionEntry
from bot.report.terminal import Save


@dataclass(frozen=True, slots=True)
class SessionTold:
    """One process of a Session. One of `entry` and `transcript` is there: a killed process left no entry."""

    name: str
    entry: SessionEntry | None
    transcript: Transcript | None
    file: str
    """Name of the transcript, in the logs folder."""
    size: int = 0
    """Bytes of the transcript."""


@dataclass(frozen=True, slots=True)
class RepairTold:
    """One Repair. `evidence` and `diff` are "" where they are not to be had."""

    entry: RepairEntry
    evidence: str
    diff: str


@dataclass(frozen=True, slots=True)
class Told:
    """All that is told of a Run."""

    record: Record
    sessions: Sequence[SessionTold]
    repairs: Sequence[RepairTold]
    saves: Sequence[Save] = ()
    """Its journal, newest first."""
