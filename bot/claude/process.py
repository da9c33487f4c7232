"""One `claude` child process: bytes in, lines out, and a bounded end. It knows no Frame and decides nothing.

Prompts go in by stdin, never by argv (128 KiB is the limit of one argument, and `ps` shows it). stdout is written to
the transcript as it arrives. The CLI runs under a guard (`bot.claude.guard_process`): however the supervision ends,
nothing that was started here is left.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import secrets
import selectors
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from bot.claude.descendants import end_marked
from bot.claude.framing import LineFramer
from bot.claude.guard_process import GuardedChild, Start
from bot.claude.last_words import LastWords
from bot.clock import Clock, Deadline
from bot.isolation.rules import UNCONFINED, Confinement

MARK_VARIABLE = "NIGHTJAR_SESSION"
"""In the environment of everything a Session starts: how it is found should its guard be killed."""
PIPE_BYTES = 1024 * 1024
"""What a pipe of the CLI holds: as much as Linux lets a user ask for."""
CHUNK_BYTES = 96 * 1024
"""What is read at once: for 128 KiB and more, `malloc` would fetch new pages from the kernel again and again."""


@dataclass(frozen=True, slots=True)
class Graces:
    """Real seconds that each rung of the way out may take."""

    leave: float = 4.0
    """From the end of stdin to an exit of the CLI's own."""
    term: float = 4.0
    """From SIGTERM to the end of the CLI and all below it."""
    after: float = 1.0
    """The same for what a CLI left behind that has gone by itself."""
    kill: float = 4.0
    """From SIGKILL, in rounds, to the guard's leave."""


CALM = Graces()
FIRM = Graces(leave=0.0)
"""When waiting for it to leave by itself has had its time, or makes no sense."""
HASTY = Graces(leave=0.0, term=1.5, kill=1.0)
"""On cancel: a hosted runner kills the tree 10 s after its first signal."""


class ClaudeProcess:
    """A running CLI. Use as a context manager: however the block is left, the process and its descendants are gone."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        transcript: Path,
        clock: Clock,
        confinement: Confinement = UNCONFINED,
    ) -> None:
        """Start it, confined. Raises `OSError` when `argv[0]` cannot be run or the transcript cannot be written."""
        self._clock = clock
        self._mark = secrets.token_hex(8)
        self._framer = LineFramer()
        self._outbox = bytearray()
        self._last_words = LastWords()
        self.at_eof = False
        """Everything that the CLI wrote has been read."""
        self._transcript: IO[bytes] = transcript.open("ab", buffering=0)
        try:
            confined = confinement.command(argv, {**env, MARK_VARIABLE: self._mark})
            self._start(*confined, cwd)
        except OSError:
            self._transcript.close()
            raise
        self._selector = selectors.DefaultSelector()
        self._wake = clock.cancel.fd
        for file, name in (
            *((self._stdout, "stdout"), (self._stderr, "stderr")),
            *((self._child.status, "status"), (self._wake, "wake")),
        ):
            self._selector.register(file, selectors.EVENT_READ, name)

    def _start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        stdin, self._stdin = os.pipe2(os.O_CLOEXEC)
        self._stdout, stdout = wide_pipe()
        self._stderr, stderr = os.pipe2(os.O_CLOEXEC)
        ours, theirs = (self._stdin, self._stdout, self._stderr), (stdin, stdout, stderr)
        try:
            self._child = GuardedChild(Start(argv, cwd, env, theirs))
        except OSError:
            for pipe in ours:
                os.close(pipe)
            raise
        finally:
            for pipe in theirs:
                os.close(pipe)
        for pipe in ours:
            os.set_blocking(pipe, False)

    def __enter__(self) -> ClaudeProcess:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still runs, calmly after a good end and hastily after an exception."""
        self.end(CALM if kind is None else HASTY)

    @property
    def pid(self) -> int:
        """The CLI's process id."""
        return self._child.pid

    # ── in ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def send_prompt(self, text: str) -> None:
        """Write one user message."""
        self._send({"type": "user", "message": {"role": "user", "content": text}})

    def send_stop_task(self, task_id: str, request_id: str) -> None:
        """Ask the CLI to stop one background task."""
        request = {"subtype": "stop_task", "task_id": task_id}
        self._send({"type": "control_request", "request_id": request_id, "request": request})

    def _send(self, message: object) -> None:
        if self._stdin >= 0:
            self._outbox += msgspec.json.encode(message) + b"\n"
            self._flush()

    def _flush(self) -> None:
        """Write what the pipe takes, the rest when it is ready again: no deadlock with a CLI that is writing itself."""
        try:
            while self._outbox:
                written = os.write(self._stdin, self._outbox[:CHUNK_BYTES])
                del self._outbox[:written]
        except BlockingIOError:
            if self._stdin not in self._selector.get_map():
                self._selector.register(self._stdin, selectors.EVENT_WRITE, "stdin")
        except BrokenPipeError:
            self.close_stdin()  # nobody will read it: its exit, or its silence, says the rest
        else:
            self._forget(self._stdin)

    def close_stdin(self) -> None:
        """No more messages: the CLI ends when it has nothing left to do."""
        if self._stdin >= 0:
            self._forget(self._stdin)
            os.close(self._stdin)
            self._stdin = -1

    def _forget(self, file: int) -> None:
        if file in self._selector.get_map():
            self._selector.unregister(file)

    # ── out ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, until: Deadline) -> list[bytes]:
        """The lines that arrive before `until`, in pieces of one or more whole ones without the last newline.

        [] when none did, at EOF, or when the Run was cancelled.
        """
        if self._child.ended and not self.at_eof:  # it had ended by the time its start was heard of
            return self._read_the_last()
        lines: list[bytes] = []
        ready = {key.data for key, _ in self._clock.select(self._selector, until)}
        if "stdin" in ready:
            self._flush()
        if "stdout" in ready:
            lines += self._read_stdout()
        if "stderr" in ready:
            self._read_stderr()
        if "status" in ready:
            self._child.look()
            if self._child.over:
                self._forget(self._child.status)
            if self._child.ended:
                lines += self._read_the_last()
        return lines

    @property
    def mid_line(self) -> bool:
        """A line has begun to arrive and its end has not come."""
        return not self.at_eof and self._framer.open

    def _read_stdout(self) -> list[bytes]:
        chunk = _chunk(self._stdout)
        if chunk is None:
            return []
        if not chunk:
            self._forget(self._stdout)
            return self._finish()
        self._keep(chunk)
        return self._framer.feed(chunk)

    def _keep(self, chunk: bytes) -> None:
        if not self._transcript.closed:
            try:
                self._transcript.write(chunk)
            except OSError as error:
                self._transcript.close()  # a full disk ends the transcript, not the Session
                self._last_words.note(f"the transcript ends early: {error.strerror}")

    def _read_the_last(self) -> list[bytes]:
        """After the CLI's exit all that it wrote is in the pipe; what a grandchild with the pipe adds is not its."""
        lines: list[bytes] = []
        left = _waiting(self._stdout)
        while not self.at_eof and left > 0:
            chunk = os.read(self._stdout, min(left, CHUNK_BYTES))
            left -= len(chunk)
            self._keep(chunk)
            lines += self._framer.feed(chunk)
        self._read_stderr()
        self._forget(self._stdout)
        return lines + self._finish()

    def _finish(self) -> list[bytes]:
        if self.at_eof:
            return []
        self.at_eof = True
        return self._framer.rest()

    def _read_stderr(self) -> None:
        chunk = _chunk(self._stderr)
        if chunk is None:
            return
        if not chunk:
            self._forget(self._stderr)
        self._last_words.feed(chunk)

    @property
    def stderr_tail(self) -> str:
        """The last lines of stderr, at most 4 kB, no control characters: whoever shows them takes the secrets out."""
        return self._last_words.text

    @property
    def dropped_lines(self) -> int:
        """Lines over `MAX_LINE_BYTES`."""
        return self._framer.dropped

    @property
    def exit_code(self) -> int | None:
        """Negative for death by that signal; None while it runs, or when its guard was killed."""
        return self._child.exit_code

    # ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, graces: Graces = CALM) -> list[bytes]:
        """Close stdin and wait; then SIGTERM, then SIGKILL to the CLI and all below it, each bounded. Idempotent.

        The lines that came meanwhile, in pieces as `read` has them.
        """
        if self._child.status < 0:
            return []
        self._forget(self._wake)
        self.close_stdin()
        lines = self._drain("the exit", graces.leave, lambda: self._child.ended)
        if not (self._child.alone or self._child.over):
            self._child.terminate()
            seconds = graces.after if self._child.ended else graces.term
            lines += self._drain("the end after SIGTERM", seconds, lambda: self._child.alone)
        self._child.kill_all()
        lines += self._drain("the end after SIGKILL", graces.kill, lambda: self._child.over)
        self._child.close()
        if not self._child.alone:  # its guard was killed
            end_marked(f"{MARK_VARIABLE}={self._mark}", self._clock, graces.kill)
        self._close_files()
        return lines

    def _drain(self, name: str, seconds: float, done: Callable[[], bool]) -> list[bytes]:
        """Keep reading while it leaves: a CLI that is blocked on a full pipe would never end."""
        lines: list[bytes] = []
        limit = self._clock.reaction(name, seconds)
        while not (done() or self._child.over or limit.passed()):
            lines += self.read(limit)
        return lines

    def _close_files(self) -> None:
        self._transcript.close()
        self._selector.close()
        os.close(self._stdout)
        os.close(self._stderr)


def wide_pipe() -> tuple[int, int]:
    """A pipe, for reading and for writing, whose writer seldom has to wait."""
    read, write = os.pipe2(os.O_CLOEXEC)
    with contextlib.suppress(OSError):  # the user's pipes hold too much already: this one has the usual size
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return read, write


def _chunk(pipe: int) -> bytes | None:
    """What the pipe has; b"" at its end, None when there is nothing yet."""
    try:
        return os.read(pipe, CHUNK_BYTES)
    except BlockingIOError:
        return None


def _waiting(pipe: int) -> int:
    """The number of bytes in the pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
