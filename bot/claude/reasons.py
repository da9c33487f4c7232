"""The sentences in which a Session's bad ends are told: facts of that very Session, one sentence each, without the
closing full stop.
"""

from __future__ import annotations

from collections.abc import Sequence


def background_lost(kind: str, tasks: Sequence[str]) -> str:
    """Background work was killed, and its one Resume was used up or impossible."""
    return f"{kind} session ended while waiting on a background task ({'; '.join(tasks)}), which was killed"


def wake_lost(kind: str, tasks: Sequence[str]) -> str:
    """A background task ended and no Wake turn came."""
    return f"{kind} session was never woken although its background task ({'; '.join(tasks)}) had ended"


def with_losses(reason: str, tasks: Sequence[str]) -> str:
    """Another Failure, during which background work was lost as well."""
    return f"{reason}; a background task ({'; '.join(tasks)}) was killed with it" if tasks else reason


def resume_failed(kind: str, said: str) -> str:
    """`--resume` found no conversation."""
    return f"{kind} session could not be resumed after its background work was killed: {said or 'session not found'}"


def claude_start(said: str, exit_code: int | None) -> str:
    """The CLI ended before its first frame."""
    return f"the claude command ended before its first word (exit code {exit_code}): {said or 'it printed nothing'}"


def start_limit(seconds: float) -> str:
    """No first frame within the limit."""
    return f"the claude command said nothing for {seconds:.0f} s after its start"


def silent(kind: str, seconds: float, tool: str) -> str:
    """Nothing was heard within a Turn."""
    where = f" while running {tool}" if tool else ""
    return f"{kind} session printed nothing for {_minutes(seconds)}{where}"


def timeout(kind: str, seconds: float) -> str:
    """The Session's own limit passed."""
    return f"{kind} session was still running after its limit of {_minutes(seconds)}"


def run_time(kind: str) -> str:
    """The Run's limit passed while a Session ran."""
    return f"{kind} session was still running when the Run's own time was used up"


def died(kind: str, exit_code: int | None, *, torn: bool) -> str:
    """EOF within a Turn; `torn` when the last line was cut off."""
    cut = "; its last line was cut off" if torn else ""
    return f"{kind} session died in the middle of a turn ({_exit(exit_code)}){cut}"


def interrupted(kind: str) -> str:
    """A Turn was aborted from outside, and not by Nightjar."""
    return f"{kind} session was interrupted in the middle of a turn, and not by Nightjar"


def broken(kind: str, said: str) -> str:
    """A Turn closed with an error that no field explains."""
    return f"{kind} session ended a turn with an error of its own: {said or 'no explanation was given'}"


def cancelled(kind: str) -> str:
    """The Run was cancelled while the Session ran."""
    return f"{kind} session was ended because the Run was cancelled"


def runaway(kind: str, wakes: int) -> str:
    """More Wake turns than any honest task opens."""
    return f"{kind} session was woken {wakes} times by its own background tasks"


def api(kind: str, said: str) -> str:
    """The model's API refused, in the CLI's own words."""
    return f"{kind} session ended with an API error: {said or 'no explanation was given'}"


def usage_limit(kind: str, said: str, resets: str) -> str:
    """The usage limit was reached."""
    until = f"; the limit resets at {resets}" if resets else ""
    return f"{kind} session reached the usage limit{until}: {said or 'no explanation was given'}"


def max_turns(kind: str, turns: int) -> str:
    """The turn limit in `claude-args` was reached."""
    return f"{kind} session reached its turn limit after {turns} model turns"


def budget(kind: str) -> str:
    """The cost cap was reached."""
    return f"{kind} session used up what was left of the Run's cost cap"


def refused(kind: str, said: str) -> str:
    """The model refused."""
    return f"the model refused to go on in the {kind} session: {said or 'no explanation was given'}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _exit(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code < 0:
        return f"killed by signal {-code}"
    if code in {137, 139, 143}:
        return f"exit code {code}: killed by signal {code - 128}{', likely out of memory' if code == 137 else ''}"
    return f"exit code {code}"
