"""Runs one command of the project's, confined, to its end: bounded in time and in memory, and nothing of it is left.

It runs under a guard of its own (`bot.claude.guard_process`), so that what it leaves running, however far that has
detached itself, ends with it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.claude.descendants import end_marked
from bot.claude.guard_process import GuardedChild, Start
from bot.claude.process import CHUNK_BYTES, MARK_VARIABLE, PIPE_BYTES, wide_pipe
from bot.clock import Clock, Deadline
from bot.isolation.rules import UNCONFINED, Confinement

KEPT_FIRST, KEPT_LAST = 8 * 1024, 24 * 1024
"""Bytes that are kept of the beginning and of the end of what a command prints."""
_TERM_SECONDS, _KILL_SECONDS = 1.5, 2.0
"""Real seconds from SIGTERM to SIGKILL, and from there to the guard's leave."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run, what they see, and how they are confined."""

    folder: Path
    environment: Mapping[str, str]
    confinement: Confinement = UNCONFINED


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int | None
    """Negative for a signal; None when it was stopped because its time was over."""
    seconds: float
    output: str
    """Both streams as they came, bounded in the middle."""


class Excerpt:
    """The beginning and the end of what is printed, whole lines where there are any, in memory of a fixed size."""

    def __init__(self) -> None:
        """Nothing was printed yet."""
        self._first = bytearray()
        self._last = bytearray()
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """More was printed."""
        room = KEPT_FIRST - len(self._first)
        self._first += chunk[:room]
        self._last += chunk[room:]
        self._size += len(chunk)
        if len(self._last) > 2 * KEPT_LAST:
            del self._last[:-KEPT_LAST]

    def text(self) -> str:
        """What is kept of it; what is no UTF-8 is replaced."""
        first, last = bytes(self._first), bytes(self._last[-KEPT_LAST:])
        if len(first) + len(last) == self._size:
            return (first + last).decode(errors="replace")
        first = first[: first.rfind(b"\n") + 1] or first + b"\n"
        last = last.partition(b"\n")[2] or last
        gap = f"[… {self._size - len(first) - len(last)} bytes left out …]\n"
        return first.decode(errors="replace") + gap + last.decode(errors="replace")


def run_script(script: str, place: Place, clock: Clock, limit: Deadline, *, options: tuple[str, ...] = ()) -> Ended:
    """Run `script` with bash and these `options` of it until it ends or `limit` has passed. Raises `Cancelled`,
    `OSError` when there is no bash or no such folder.
    """
    clock.cancel.check()
    bash = shutil.which("bash", path=place.environment.get("PATH")) or "/bin/bash"
    with contextlib.closing(_Command((bash, *options, "-c", script), place, clock)) as command:
        return command.follow(limit)


class _Command:
    """A running command."""

    def __init__(self, argv: tuple[str, ...], place: Place, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.now()
        self._mark = secrets.token_hex(8)
        self._excerpt = Excerpt()
        confined, env = place.confinement.command(argv, {**place.environment, MARK_VARIABLE: self._mark})
        self._printed, theirs = wide_pipe()
        os.set_blocking(self._printed, False)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        streams = (nothing, theirs, os.dup(theirs))
        try:
            self._child = GuardedChild(Start(confined, place.folder, env, streams))
        except OSError:
            os.close(self._printed)
            raise
        finally:
            for stream in streams:
                os.close(stream)
        self._selector = selectors.DefaultSelector()
        for file, name in ((self._printed, "printed"), (self._child.status, "status"), (clock.cancel.fd, "cancel")):
            self._selector.register(file, selectors.EVENT_READ, name)

    def follow(self, limit: Deadline) -> Ended:
        """Read what it prints until it ends or `limit` has passed. Raises `Cancelled`."""
        self._look_until(limit)
        if not self._child.ended:
            seconds = self._clock.now() - self._started
            self._end()
            return Ended(None, seconds, self._excerpt.text())
        seconds = self._clock.now() - self._started
        self._read(PIPE_BYTES)  # all that it wrote is in the pipe; what something it has left there adds is not its
        code = self._child.exit_code
        return Ended(-signal.SIGKILL if code is None else code, seconds, self._excerpt.text())

    def _look_until(self, limit: Deadline) -> None:
        while not (self._child.ended or limit.passed()):
            ready = {key.data for key, _ in self._clock.select(self._selector, limit)}
            self._clock.cancel.check()
            if "printed" in ready:
                self._read(CHUNK_BYTES)
            if "status" in ready:
                self._child.look()

    def _read(self, most: int) -> None:
        """What the pipe has, up to `most` bytes."""
        with contextlib.suppress(BlockingIOError):
            while most > 0:
                chunk = os.read(self._printed, min(most, CHUNK_BYTES))
                if not chunk:
                    self._forget(self._printed)
                    return
                most -= len(chunk)
                self._excerpt.feed(chunk)

    def _forget(self, file: int) -> None:
        if file in self._selector.get_map():
            self._selector.unregister(file)

    def _end(self) -> None:
        """SIGTERM, then SIGKILL to it and all below it, each bounded."""
        self._forget(self._clock.cancel.fd)
        if not (self._child.alone or self._child.over):
            self._child.terminate()
            self._drain("the end after SIGTERM", _TERM_SECONDS, alone=True)
        self._child.kill_all()
        self._drain("the end after SIGKILL", _KILL_SECONDS, alone=False)

    def _drain(self, name: str, seconds: float, *, alone: bool) -> None:
        """Keep reading meanwhile: what is blocked on a full pipe would not end on SIGTERM."""
        limit = self._clock.reaction(name, seconds)
        while not (self._child.over or (alone and self._child.alone) or limit.passed()):
            ready = {key.data for key, _ in self._clock.select(self._selector, limit)}
            if "printed" in ready:
                self._read(CHUNK_BYTES)
            if "status" in ready:
                self._child.look()

    def close(self) -> None:
        """End what still runs, and give the files back."""
        self._end()
        self._child.close()
        if not self._child.alone:  # its guard was killed
            end_marked(f"{MARK_VARIABLE}={self._mark}", self._clock, _KILL_SECONDS)
        self._selector.close()
        os.close(self._printed)
