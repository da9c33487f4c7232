"""One `claude` child process: bytes in, lines out, and a bounded end. It knows no Frame and decides nothing.

Prompts go in by stdin, never by argv (128 KiB is the limit of one argument, and `ps` shows it). stdout is written to the transcript as it arrives.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import orjson

from bot.claude.descendants import end_descendants
from bot.clock import Clock, Deadline

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is dropped (it stays in the transcript): the largest measured was 3 MB."""
_CHUNK = 1 << 16
_STDERR_LINES = 40
_AFTER_EXIT_SECONDS = 0.5
"""A grandchild can hold the pipe of a dead CLI: what the CLI itself wrote is in the pipe by now."""


@dataclass(frozen=True, slots=True)
class Graces:
    """Real seconds that each rung of the way out may take."""

    leave: float = 4.0
    term: float = 4.0
    kill: float = 4.0


CALM = Graces()
HASTY = Graces(leave=0.0, term=1.5, kill=1.0)
"""On cancel: a hosted runner kills the tree 10 s after its first signal."""


class LineFramer:
    """Bytes → lines, whatever the chunks; a line over `limit` bytes is dropped whole and counted."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        """`limit` in bytes."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.dropped = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that `chunk` completes, without their newline."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._add(piece)
            yield from self._take()
        self._add(rest)

    def rest(self) -> Iterator[bytes]:
        """What is left at EOF: a line without its newline, complete or torn."""
        if self._size:
            yield from self._take()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
        else:
            self._parts.clear()

    def _take(self) -> Iterator[bytes]:
        if self._size <= self._limit:
            yield b"".join(self._parts)
        else:
            self.dropped += 1
        self._parts.clear()
        self._size = 0


class ClaudeProcess:
    """A running CLI. Use as a context manager: however the block is left, the process and its descendants are gone."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], transcript: Path, clock: Clock
    ) -> None:
        """Start it. Raises `OSError` when `argv[0]` cannot be run."""
        self._clock = clock
        self._popen = subprocess.Popen(  # noqa: S603 (argv is built by `command.py`; no shell)
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._framer = LineFramer()
        self._outbox = bytearray()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stderr_rest = b""
        self._transcript: IO[bytes] = transcript.open("ab", buffering=0)
        self._selector = selectors.DefaultSelector()
        self._pidfd = os.pidfd_open(self._popen.pid)
        self._after_exit: Deadline | None = None
        self.at_eof = False
        stdin, stdout, stderr = self._pipes()
        for pipe in (stdin, stdout, stderr):
            os.set_blocking(pipe.fileno(), False)
        self._stdin: IO[bytes] | None = stdin
        self._selector.register(stdout, selectors.EVENT_READ, "stdout")
        self._selector.register(stderr, selectors.EVENT_READ, "stderr")
        self._selector.register(self._pidfd, selectors.EVENT_READ, "exit")
        self._wake = clock.cancel.fd
        self._selector.register(self._wake, selectors.EVENT_READ, "wake")

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        if any(pipe is None for pipe in pipes):
            raise OSError("the claude command was started without pipes")
        return pipes  # type: ignore[return-value]  # just checked

    def __enter__(self) -> ClaudeProcess:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End what still runs, calmly after a good end and hastily after an exception."""
        self.end(CALM if kind is None else HASTY)

    # ── in ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def send_prompt(self, text: str) -> None:
        """Write one user message."""
        self._send({"type": "user", "message": {"role": "user", "content": text}})

    def send_stop_task(self, task_id: str, request_id: str) -> None:
        """Ask the CLI to stop one background task."""
        request = {"subtype": "stop_task", "task_id": task_id}
        self._send({"type": "control_request", "request_id": request_id, "request": request})

    def _send(self, message: object) -> None:
        self._outbox += orjson.dumps(message) + b"\n"
        self._flush()

    def _flush(self) -> None:
        """Write what the pipe takes; the rest when it is ready again, so that a CLI that is writing itself never deadlocks with us."""
        if self._stdin is None:
            return
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            while self._outbox:
                written = os.write(self._stdin.fileno(), self._outbox[:_CHUNK])
                del self._outbox[:written]
        registered = self._stdin in self._selector.get_map()
        if self._outbox and not registered:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, "stdin")
        elif not self._outbox and registered:
            self._selector.unregister(self._stdin)

    def close_stdin(self) -> None:
        """No more messages: the CLI ends when it has nothing left to do."""
        if self._stdin is not None:
            if self._stdin in self._selector.get_map():
                self._selector.unregister(self._stdin)
            with contextlib.suppress(BrokenPipeError):
                self._stdin.close()
            self._stdin = None

    # ── out ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, until: Deadline | None) -> list[bytes]:
        """The complete lines that arrive before `until`; [] when nothing did, or at EOF, or when the Run was cancelled."""
        if self._after_exit is not None and (until is None or self._after_exit.at < until.at):
            until = self._after_exit
        lines: list[bytes] = []
        for key, _ in self._clock.select(self._selector, until):
            match key.data:
                case "stdout":
                    lines += self._read_stdout()
                case "stderr":
                    self._read_stderr()
                case "stdin":
                    self._flush()
                case "exit":
                    self._selector.unregister(self._pidfd)
                    self._after_exit = self._clock.reaction("the last output", _AFTER_EXIT_SECONDS)
        if self._after_exit is not None and self._after_exit.passed() and not lines:
            lines += self._finish()
        return lines

    def _read_stdout(self) -> list[bytes]:
        chunk = self._chunk(self._popen.stdout)
        if not chunk:
            self._selector.unregister(self._pipes()[1])
            return self._finish()
        self._transcript.write(chunk)
        return list(self._framer.feed(chunk))

    def _finish(self) -> list[bytes]:
        if self.at_eof:
            return []
        self.at_eof = True
        return list(self._framer.rest())

    def _read_stderr(self) -> None:
        chunk = self._chunk(self._popen.stderr)
        if not chunk:
            self._selector.unregister(self._pipes()[2])
        *lines, self._stderr_rest = (self._stderr_rest[-_CHUNK:] + chunk).split(b"\n")
        self._stderr.extend(line.decode("utf-8", errors="replace") for line in lines)

    @staticmethod
    def _chunk(pipe: IO[bytes] | None) -> bytes:
        try:
            return os.read(pipe.fileno(), _CHUNK) if pipe else b""
        except BlockingIOError:
            return b""

    @property
    def stderr_tail(self) -> str:
        """The last lines of stderr."""
        rest = self._stderr_rest.decode("utf-8", errors="replace")
        return "\n".join([*self._stderr, rest] if rest else self._stderr)

    @property
    def dropped_lines(self) -> int:
        """Lines over `MAX_LINE_BYTES`."""
        return self._framer.dropped

    # ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, graces: Graces = CALM) -> int | None:
        """Close stdin, then wait, TERM, KILL, each bounded; then every descendant. The exit code, negative for a signal. Idempotent."""
        if self._wake in (self._selector.get_map() or {}):
            self._selector.unregister(self._wake)
        self.close_stdin()
        code = self._wait(graces.leave) if self._popen.returncode is None else self._popen.returncode
        for stop, seconds in ((self._popen.terminate, graces.term), (self._popen.kill, graces.kill)):
            if code is None:
                stop()
                code = self._wait(seconds)
        end_descendants(self._clock, graces.term / 4, graces.kill)
        self._close_files()
        return code

    def _wait(self, seconds: float) -> int | None:
        """Keep draining while it leaves: a CLI that is blocked on a full pipe would never end."""
        limit = self._clock.reaction("the exit", seconds)
        while self._popen.poll() is None and not limit.passed():
            if self._selector.get_map() is not None and not self.at_eof:
                self.read(self._clock.reaction("a look", min(0.05, limit.left())))
            else:
                self._clock.pause(min(0.02, limit.left()))
        return self._popen.poll()

    def _close_files(self) -> None:
        if self._transcript.closed:
            return
        self._transcript.close()
        self._selector.close()
        os.close(self._pidfd)
        for pipe in self._pipes()[1:]:
            pipe.close()
