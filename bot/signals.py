"""SIGINT and SIGTERM in a command of a job: what runs is asked to stop, and soon after that the process is gone.

Most of what a Run waits for hears of it at once. What does not (an answer of GitHub's, a push, an installation) is left
behind: the process ends in the middle of it, with everything that it has started. The Record on the runner is whole at
any moment, so that `nightjar finish`, which runs after a cancel too, completes what was cut short.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from bot.cancel import Cancel
from bot.claude.descendants import end_descendants
from bot.clock import Clock

CANCELLED = 130
"""The exit code of a command that was asked to stop."""
PROMPTLY = 3.8
"""Real seconds from the first signal to the last moment, where a step follows that completes the ending. A hosted
runner sends SIGINT, SIGTERM after 7.5 s, and kills after 10 s; stopping a Session takes up to 2.5 s.
"""
AT_LEISURE = 60.0
"""The same where the command has to tell the end itself: at a terminal, or as the step that others leave it to."""
_KILL_SECONDS = 0.4


@contextmanager
def on_signals(*, finish_follows: bool) -> Iterator[Cancel]:
    """A `Cancel` that both signals ask for. The handlers from before come back afterwards, unless the command was asked
    to stop: then it is leaving, and more signals change nothing.
    """
    cancel = Cancel()
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if not asked:
            signal.setitimer(signal.ITIMER_REAL, PROMPTLY if finish_follows else AT_LEISURE)
        asked = True
        cancel.request()

    alarm = signal.signal(signal.SIGALRM, _leave)
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        for number, handler in before.items():
            if not asked:
                signal.signal(number, handler)
        cancel.close()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """The time is up: end whatever was started, and go."""
    os.write(1, b"Nightjar was asked to stop and leaves in the middle of something that did not end in time.\n")
    end_descendants(Clock(), 0.0, _KILL_SECONDS)
    os._exit(CANCELLED)
