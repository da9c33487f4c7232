"""Finding and ending what a process started, however far it has detached itself. Linux only.

Each Bash command of the CLI runs in a session and process group of its own, so that neither the death of the CLI nor a
signal to its group reaches it (measured with 2.1.197 and 2.1.332). A subreaper becomes the parent of whatever is
orphaned below it, so that a walk of /proc from there finds all.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bot.clock import Clock

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.02


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it. Raises `OSError` where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) was refused")


def descendants(*roots: int) -> tuple[int, ...]:
    """Ids of all processes below `roots`, parents first; zombies are left out."""
    children: dict[int, list[int]] = defaultdict(list)
    for process in _processes():
        # A process can end between the listing and the read.
        with contextlib.suppress(OSError, ValueError):
            state, parent = _state_and_parent(process)
            if state != "Z":
                children[parent].append(process)
    found: list[int] = []
    level = list(roots)
    while level:
        level = [child for parent in level for child in children[parent]]
        found.extend(level)
    return tuple(found)


def marked(mark: str) -> tuple[int, ...]:
    """Ids of the processes whose environment holds `mark` (`NAME=value`), whoever their parent is; no zombies."""
    wanted = mark.encode()
    found: list[int] = []
    for process in _processes():
        with contextlib.suppress(OSError):
            if wanted in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                found.append(process)
    return tuple(found)


def _processes() -> Iterator[int]:
    yield from (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 (half the time of iterdir)


def _state_and_parent(process: int) -> tuple[str, int]:
    # The command in parentheses can hold anything, spaces and parentheses included: read from the last one on.
    fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return fields[0], int(fields[1])


def send(number: signal.Signals, processes: Iterable[int]) -> None:
    """Send the signal to each of `processes` that is still there and ours."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def end_descendants(clock: Clock, term_seconds: float, kill_seconds: float) -> bool:
    """End every process below this one: TERM, up to `term_seconds`, then KILL in rounds. Whether none is left.

    Call it when the exit codes of this process's own children have been collected: it reaps whatever it finds.
    """

    def below() -> tuple[int, ...]:
        return descendants(os.getpid())

    return _rounds(signal.SIGTERM, below, clock, term_seconds) or _rounds(signal.SIGKILL, below, clock, kill_seconds)


def end_marked(mark: str, clock: Clock, kill_seconds: float) -> bool:
    """KILL every process that carries `mark`, and all below them, in rounds. Whether none is left."""

    def found() -> tuple[int, ...]:
        roots = marked(mark)
        return (*roots, *descendants(*roots))

    return _rounds(signal.SIGKILL, found, clock, kill_seconds)


def _rounds(number: signal.Signals, find: Callable[[], tuple[int, ...]], clock: Clock, seconds: float) -> bool:
    """Signal what `find` finds until that is nothing or the time is over: a process that is being killed can fork once
    more, and its orphans arrive at a subreaper only when it is dead. TERM is sent once to each: handlers start once.
    """
    limit = clock.reaction("the end of what the session started", seconds)
    signalled: set[int] = set()
    while left := find():
        if limit.passed():
            return False
        send(number, left if number is signal.SIGKILL else set(left) - signalled)
        signalled.update(left)
        reap()
        clock.pause(_LOOK_SECONDS)
    reap()
    return True


def reap() -> tuple[dict[int, int], bool]:
    """Collect every child that has ended: id → exit code, negative for a signal; and whether there still is a child."""
    codes: dict[int, int] = {}
    try:
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        return codes, False
    return codes, True
