"""What a supervised Session is waiting for, chosen from the facts alone; and how long each wait may last. Pure.

Every wait has a name and a limit, and one thing that happens when the limit has passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from bot.claude.facts import Facts


class Wait(Enum):
    """What is being waited for."""

    START = auto()
    """The first frame."""
    TURN = auto()
    """The next frame of an open Turn."""
    TOOL = auto()
    """The next frame while a tool runs: the tool's own limit counts."""
    HOLD = auto()
    """The end of background work: stdin stays open."""
    STOPPING = auto()
    """The end of background tasks that we asked the CLI to stop."""
    WAKE = auto()
    """A Wake turn that is owed."""
    TOOL_ANSWER = auto()
    """The answer to a tool call that a closed Turn left open."""
    SETTLE = auto()
    """Whether anything more comes of background work that is over."""
    NOTHING = auto()
    """The Session is over: close."""
    LEAVE = auto()
    """The process's own exit after its stdin was closed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each wait may last, in planned seconds for `turn`, `hold` and `session`; real seconds where the CLI has
    to react.
    """

    turn: float = 15 * 60
    hold: float = 20 * 60
    nudge: float = 2 * 60
    """Planned seconds of silence in a Hold before the one Nudge; 0: never."""
    nudged_hold: float = 5 * 60
    """What a Hold shrinks to after the Nudge."""
    session: float = 60 * 60
    start: float = 60
    stopping: float = 10
    wake: float = 45
    tool_answer: float = 5 * 60
    settle: float = 3
    leave: float = 4

    @property
    def bash(self) -> float:
        """The longest foreground command that a Session may ask for."""
        return self.session

    @property
    def tool(self) -> float:
        """Silence allowed while a tool runs: the longest command, and a margin."""
        return max(self.turn, self.bash + 60)


PLANNED = frozenset({Wait.TURN, Wait.TOOL, Wait.HOLD})
"""Waits whose limit is Nightjar's own plan; the others are the CLI's time to react, which no time scale touches."""

KEPT = frozenset({Wait.HOLD, Wait.STOPPING})
"""Waits that a Turn in between does not begin anew: a Monitor opens one for each line that it prints."""


def waiting_for(facts: Facts, *, closed: bool, stopped: bool) -> Wait:
    """The present wait. `closed`: our stdin is closed; `stopped`: we asked for the background tasks to be stopped."""
    if facts.in_turn:
        return Wait.TOOL if facts.open_tools else Wait.TURN
    if closed:
        return Wait.LEAVE
    if facts.last is None and not facts.begun:
        return Wait.START
    if facts.unanswered:
        return Wait.TURN
    if facts.roster:
        asked = stopped and all(task.stopped_by_us for task in facts.roster)
        return Wait.STOPPING if asked else Wait.HOLD
    if facts.owed:
        return Wait.WAKE
    if facts.open_tools:
        return Wait.TOOL_ANSWER
    failed = facts.last is not None and facts.last.is_error
    return Wait.SETTLE if facts.had_background and not failed else Wait.NOTHING


def limit_of(wait: Wait, limits: Limits) -> float:
    """Seconds that `wait` may last."""
    return {
        Wait.START: limits.start,
        Wait.TURN: limits.turn,
        Wait.TOOL: limits.tool,
        Wait.HOLD: limits.hold,
        Wait.STOPPING: limits.stopping,
        Wait.WAKE: limits.wake,
        Wait.TOOL_ANSWER: limits.tool_answer,
        Wait.SETTLE: limits.settle,
        Wait.NOTHING: 0.0,
        Wait.LEAVE: limits.leave,
    }[wait]


def mark(wait: Wait, facts: Facts, lines: int) -> object:
    """What must change for the wait to begin anew: any line within a Turn; a newly owed Wake turn; other
    tasks that are being stopped; for a Hold only the end of a Turn that was more than the answer to a line of output.
    """
    match wait:
        case Wait.TURN | Wait.TOOL | Wait.SETTLE:
            return wait, lines
        case Wait.HOLD:
            return wait, facts.work_turns
        case Wait.WAKE:
            return wait, frozenset(facts.owed)
        case Wait.STOPPING:
            return wait, frozenset(task.id for task in facts.roster)
        case _:
            return wait
