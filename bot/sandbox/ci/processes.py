"""The processes of one job: a step's script with its output read line by line, and an end that leaves none of them
alive.

A step runs in a process group of its own. What it leaves behind goes on until the job ends, as on a runner (a server
started with `&` is there for the next step). It is then found, even when it left the group: by the variable that
every process of the job inherits, or, where a step keeps that from what it starts, by the job's directory, in which
it works or of which its environment tells.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.clock import Deadline

TRACKING_VARIABLE = "RUNNER_TRACKING_ID"
LONGEST_READ = 64 * 1024
DRAIN_SECONDS = 1.0
"""How long the output of a step that has exited is waited for, when a process it left behind keeps it open."""
CANCEL_LADDER = ((signal.SIGINT, 7.5), (signal.SIGTERM, 2.5))
"""What the step's own process gets when its job is cancelled, and the seconds it then has; after these the step's whole
tree is killed (docs.github.com, "Workflow cancellation").
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step's script ended; `code` is its exit code (128 + signal when a signal ended it)."""

    code: int
    timed_out: bool
    cancelled: bool


@dataclass(frozen=True, slots=True)
class Start:
    """What to run: `unhindered` goes on when the job is cancelled (`if: always()`)."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    unhindered: bool = False


@dataclass(slots=True)
class JobProcesses:
    """Everything one job has started."""

    tracking_id: str = field(default_factory=lambda: f"github_{uuid.uuid4()}")
    root: Path | None = None
    """The job's directory, once it has one."""
    killed: bool = False
    """Whether `kill` was called: nothing starts any more."""
    interrupted: bool = False
    """Whether `interrupt` was called: what starts now must want to."""
    lost: bool = False
    """Whether the machine is gone."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _groups: list[int] = field(default_factory=list)
    _readers: list[threading.Thread] = field(default_factory=list)
    _step: subprocess.Popen[bytes] | None = None
    _stopped: int = 0  # process id of the step that a cancel hit

    @property
    def cancelled(self) -> bool:
        """Whether the job was stopped from outside, in either way."""
        return self.killed or self.interrupted

    def run(self, start: Start, deadline: Deadline, sink: Callable[[bytes], None]) -> Ended:
        """Run a step's script until it exits or `deadline` has passed; each line of its output goes to `sink`. Raises
        `OSError`.
        """
        with self._lock:
            if self.killed or (self.interrupted and not start.unhindered):
                return Ended(128 + signal.SIGKILL, timed_out=False, cancelled=True)
            child = subprocess.Popen(
                start.argv,
                env={**start.env, TRACKING_VARIABLE: self.tracking_id},
                cwd=start.cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._groups.append(child.pid)
            self._step = None if start.unhindered else child
        assert child.stdout is not None
        reader = threading.Thread(target=_read_lines, args=(child.stdout, sink), name="ci-output", daemon=True)
        self._readers.append(reader)
        reader.start()
        timed_out = False
        try:
            child.wait(deadline.left())
        except subprocess.TimeoutExpired:
            timed_out = True
            _kill_group(child.pid)
            child.wait()
        with self._lock:
            self._step = None
        reader.join(DRAIN_SECONDS)
        code = child.returncode if child.returncode >= 0 else 128 - child.returncode
        return Ended(code, timed_out, self._hit(child.pid))

    def _hit(self, step: int) -> bool:
        """Whether a cancel or a kill ended this step."""
        return self.killed or self._stopped == step

    def kill(self) -> None:
        """Kill what runs now and let nothing start. Safe from any thread."""
        with self._lock:
            self.killed = True
            for group in self._groups:
                _kill_group(group)

    def interrupt(self) -> None:
        """Cancel as a runner does: the step's own process is asked to stop, then told to, then killed with its tree;
        steps that want to run all the same do. Returns at once. Safe from any thread.
        """
        with self._lock:
            if self.cancelled:
                return
            self.interrupted = True
            step = self._step
            self._stopped = step.pid if step else 0
        if step is not None:
            threading.Thread(target=_stop, args=(step,), name="ci-cancel", daemon=True).start()

    def lose(self) -> None:
        """The machine goes away with all that runs on it. Safe from any thread."""
        self.lost = True
        self.kill()
        self._sweep()

    def end(self) -> None:
        """Kill every process that is left of the job, whatever group it moved to, and wait for the readers."""
        with self._lock:
            for group in self._groups:
                _kill_group(group)
        self._sweep()
        for reader in self._readers:
            reader.join(DRAIN_SECONDS)

    def _sweep(self) -> None:
        marks = [f"{TRACKING_VARIABLE}={self.tracking_id}".encode()]
        if self.root is not None:
            marks.append(os.fsencode(self.root) + b"/")
        while stray := _carriers(marks):
            for pid in stray:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _read_lines(stream: IO[bytes], sink: Callable[[bytes], None]) -> None:
    """Hand on lines until the last writer has closed; a line without end comes in pieces."""
    with stream:
        while line := stream.readline(LONGEST_READ):
            sink(line)


def _stop(step: subprocess.Popen[bytes]) -> None:
    """Climb the ladder until the step has ended."""
    for number, seconds in CANCEL_LADDER:
        step.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            step.wait(seconds)
            return
    for pid in _tree(step.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _kill_group(step.pid)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _tree(root: int) -> list[int]:
    """A process and all that it and they have started, as far as they are still theirs."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(entry.parent.name), int(entry.read_text("utf-8", "replace").rpartition(")")[2].split()[1])


def _carriers(marks: Sequence[bytes]) -> list[int]:
    """Living processes whose environment or working directory has one of `marks` in it; none where there is no /proc.
    (A zombie's environment reads as empty, and it has no directory.)
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (entry / "environ").read_bytes() + os.fsencode((entry / "cwd").readlink()) + b"/"
            if any(mark in told for mark in marks):
                found.append(int(entry.name))
    return found
