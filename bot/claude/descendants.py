"""No process that a Session started survives it.

Each Bash command of the CLI runs in a session and process group of its own, so that neither the death of the CLI nor a signal to its group reaches
it (measured with 2.1.197 and 2.1.332). So this process becomes a subreaper: whatever is orphaned below it becomes its own child, and is found by
walking /proc from here. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections import defaultdict
from pathlib import Path

from bot.clock import Clock

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.02


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it. Raises `OSError` where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) was refused")


def descendants(root: int) -> tuple[int, ...]:
    """Ids of all processes below `root`, parents first; zombies are left out."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # A process can end between the listing and the read.
            with contextlib.suppress(OSError, ValueError):
                state, parent = _state_and_parent(entry)
                if state != "Z":
                    children[parent].append(int(entry.name))
    found: list[int] = []
    level = [root]
    while level:
        level = [child for parent in level for child in children[parent]]
        found.extend(level)
    return tuple(found)


def _state_and_parent(entry: Path) -> tuple[str, int]:
    # The command in parentheses can hold anything, spaces and parentheses included: read from the last one on.
    fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return fields[0], int(fields[1])


def end_descendants(clock: Clock, term_seconds: float, kill_seconds: float) -> bool:
    """End every process below this one: TERM, up to `term_seconds`, then KILL in rounds. Whether none is left.

    Rounds, because a process that is being killed can fork once more, and its orphans arrive here only when it is dead. Call it when the exit
    codes of this process's own children have been collected: it reaps whatever it finds.
    """
    for number, seconds in ((signal.SIGTERM, term_seconds), (signal.SIGKILL, kill_seconds)):
        limit = clock.reaction("the end of what the session started", seconds)
        signalled: set[int] = set()
        while (left := descendants(os.getpid())) and not limit.passed():
            for process in left:
                if number == signal.SIGKILL or process not in signalled:
                    signalled.add(process)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, number)
            _reap()
            clock.pause(_LOOK_SECONDS)
    _reap()
    return not descendants(os.getpid())


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
