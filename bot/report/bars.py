"""The words in a timeline's bars. Each begins with one of Nightjar's own."""

from __future__ import annotations

import re

from bot.guard import shorten
from bot.record import CiState, SessionEntry, WaitsFor
from bot.report import words

_LONGEST = 80


def diagram(text: str) -> str:
    """Words for a Mermaid diagram, whoever wrote them: one line of letters, digits and marks that mean nothing there.

    Mermaid's ways to escape differ between diagrams and versions, so that whatever may mean something is left out. A
    line must begin with a word of Nightjar's own: a stranger's could be one of Mermaid's.
    """
    return shorten(" ".join(re.sub(r"[^\w .,+/-]", " ", text).split()), _LONGEST, "end")


def job(number: int, seconds: float, *, lost: bool) -> str:
    """A job in the timeline."""
    return f"Job {number}, {'lost' if lost else words.lasted(seconds)}"


def waiting(waits_for: WaitsFor, seconds: float) -> str:
    """What is waited for without a runner, in the timeline."""
    return f"{'Queued' if waits_for is WaitsFor.SLOT else 'Parked'}, {words.WAITS[waits_for]}, {words.lasted(seconds)}"


def session(entry: SessionEntry) -> str:
    """A Session in the timeline."""
    return f"Session {entry.name}, {words.lasted(entry.seconds)}, {words.ENDED.get(entry.ended, 'unknown')}"


def ci(state: CiState, head: str, red: tuple[str, ...]) -> str:
    """What CI said of a commit, in the timeline."""
    return f"CI on {head[:10]} {words.CI_WORDS[state]}{', ' if red else ''}{', '.join(red[:3])}"
