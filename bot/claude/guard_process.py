"""A guard between this process and one child: nothing that the child starts outlives the guard, and the guard does not
outlive this process.

The guard is forked, so it costs milliseconds and no second interpreter. It is the child's parent and a subreaper:
whatever detaches itself below becomes the guard's own child, so "no child left" (one system call) means "no descendant
left". It holds a pipe from this process; when that ends, by `kill_all` or because this process died, even of SIGKILL,
it kills everything below it in rounds and leaves.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.claude.descendants import adopt_orphans, descendants, reap, send
from bot.clock import Clock, Deadline

_ROUNDS_SECONDS = 8.0
"""For a process that the kernel cannot end at once (one that waits for a disk): the guard leaves all the same."""
_LOOK_SECONDS = 0.02
_TERMINATE = b"T"
_DEFAULTED = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP),
    *(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD),
)
_HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Start:
    """What to run: `argv[0]` is a path; `streams` are the child's ends of stdin, stdout and stderr."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    streams: tuple[int, int, int]


class GuardedChild:
    """A running child under its guard. `status` is readable when something about it has changed: then call `look`."""

    def __init__(self, start: Start) -> None:
        """Start it, in a session of its own. Raises `OSError` when it cannot be run."""
        self.exit_code: int | None = None
        """Negative for death by that signal; None while the child runs, and when its guard was killed."""
        self.ended = False
        """The child has ended, or is out of reach because its guard was killed."""
        self.alone = False
        """The child and everything below it have ended."""
        self.over = False
        """The guard has left. Something may be left behind unless `alone`."""
        self.pid = 0
        self._error = 0
        self._unread = b""
        self.status, theirs = os.pipe2(os.O_CLOEXEC)
        control, self._control = os.pipe2(os.O_CLOEXEC)
        try:
            self._guard = _forked(start, control, theirs)
        finally:
            os.close(theirs)
            os.close(control)
        os.set_blocking(self.status, False)
        self._hear_of_the_start()
        if not self.pid:
            self.close()
            raise OSError(
                self._error, os.strerror(self._error) if self._error else "its guard said nothing", start.argv[0]
            )

    def _hear_of_the_start(self) -> None:
        limit = Clock.reaction("the start of the child", _START_SECONDS)
        with selectors.DefaultSelector() as selector:
            selector.register(self.status, selectors.EVENT_READ)
            while not (self.pid or self.over or limit.passed()):
                Clock.select(selector, limit)
                self.look()

    def look(self) -> None:
        """Take in what the guard has said."""
        try:
            said = os.read(self.status, 4096)
        except BlockingIOError:
            return
        if not said:
            self.over = self.ended = True
            return
        *lines, self._unread = (self._unread + said).split(b"\n")
        for line in lines:
            word, _, number = line.decode().partition(" ")
            match word:
                case "started":
                    self.pid = int(number)
                case "failed":
                    self._error = int(number)
                case "exited":
                    self.ended, self.exit_code = True, int(number)
                case "alone":
                    self.alone = True

    def terminate(self) -> None:
        """SIGTERM to the child and everything below it."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, _TERMINATE)

    def kill_all(self) -> None:
        """SIGKILL to the child and everything below it, in rounds; then the guard leaves. Idempotent."""
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def close(self) -> None:
        """Give everything back; a guard that has not left by itself is killed."""
        self.kill_all()
        if not self.over:
            send(signal.SIGKILL, (self._guard,))
        if self.status >= 0:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._guard, 0)
            os.close(self.status)
            self.status = -1


def _forked(start: Start, control: int, status: int) -> int:
    # Held back for good in the guard: it would run this process's handlers, and it has to outlive this process.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # threads are gone in the guard, which takes no lock of theirs
            guard = os.fork()
        if guard == 0:
            _guard(start, control, status)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return guard


def _guard(start: Start, control: int, status: int) -> None:
    """The guard's whole life; never returns."""
    code = 1
    try:
        gc.disable()
        _settle(start, control, status)
        child = _spawned(start, status)
        if child:
            _watch(child, control, status)
        code = 0
    finally:
        os._exit(code)


def _settle(start: Start, control: int, status: int) -> None:
    """Cut every tie to the process that it was copied from but the two pipes."""
    signal.set_wakeup_fd(-1)
    os.setsid()
    adopt_orphans()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    low = 3
    for kept in sorted({control, status, *start.streams}):
        os.closerange(low, kept)
        low = kept + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def _nothing(_number: int, _frame: object) -> None:
    pass


def _spawned(start: Start, status: int) -> int:
    """The child's id; 0 when it could not be run."""
    try:
        os.chdir(start.cwd)
        actions = [(os.POSIX_SPAWN_DUP2, ours, number) for number, ours in enumerate(start.streams)]
        child = os.posix_spawn(
            start.argv[0],
            list(start.argv),
            dict(start.env),
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=_DEFAULTED,
        )
    except OSError as error:
        _say(status, f"failed {error.errno}")
        return 0
    for ours in start.streams:
        os.close(ours)
    _say(status, f"started {child}")
    return child


def _watch(child: int, control: int, status: int) -> None:
    """Collect the dead, pass SIGTERM on, and kill all that is left once the other end of `control` is closed."""
    ended, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    selector.register(ended, selectors.EVENT_READ)
    selector.register(control, selectors.EVENT_READ)
    limit: Deadline | None = None
    while _collected(child, status) and not (limit and limit.passed()):
        if limit:
            send(signal.SIGKILL, descendants(os.getpid()))
        look = Clock.reaction("the next round", _LOOK_SECONDS) if limit else None
        ready = {key.fd for key, _ in Clock.select(selector, look)}
        if ended in ready:
            os.read(ended, 4096)
        if control in ready:
            if os.read(control, 1) == _TERMINATE:
                send(signal.SIGTERM, descendants(os.getpid()))
            else:
                selector.unregister(control)
                limit = Clock.reaction("the last rounds", _ROUNDS_SECONDS)


def _collected(child: int, status: int) -> bool:
    """Whether anything is left after the dead have been collected and told of."""
    codes, left = reap()
    if child in codes:
        _say(status, f"exited {codes[child]}")
    if not left:
        _say(status, "alone")
    return left


def _say(status: int, line: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(status, f"{line}\n".encode())
