"""The processes of one job: a step's script with its output read line by line, and an end that leaves none of them
alive.

A step runs in a process group of its own. What it leaves behind goes on until the job ends, as on a runner (a server
started with `&` is there for the next step), and is then found by the variable that every process of the job inherits,
even when it left the group.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.clock import Deadline

TRACKING_VARIABLE = "RUNNER_TRACKING_ID"
LONGEST_READ = 64 * 1024
DRAIN_SECONDS = 1.0
"""How long the output of a step that has exited is waited for, when a process it left behind keeps it open."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step's script ended; `code` is its exit code (128 + signal when a signal ended it)."""

    code: int
    timed_out: bool
    cancelled: bool


@dataclass(slots=True)
class JobProcesses:
    """Everything one job has started."""

    tracking_id: str = field(default_factory=lambda: f"github_{uuid.uuid4()}")
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _groups: list[int] = field(default_factory=list)
    _readers: list[threading.Thread] = field(default_factory=list)
    _cancelled: bool = False

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called: nothing starts any more."""
        return self._cancelled

    def run(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, deadline: Deadline, sink: Callable[[bytes], None]
    ) -> Ended:
        """Run a step's script until it exits or `deadline` has passed; each line of its output goes to `sink`. Raises
        `OSError`.
        """
        with self._lock:
            if self._cancelled:
                return Ended(128 + signal.SIGKILL, timed_out=False, cancelled=True)
            child = subprocess.Popen(
                argv,
                env={**env, TRACKING_VARIABLE: self.tracking_id},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._groups.append(child.pid)
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
        reader.join(DRAIN_SECONDS)
        code = child.returncode if child.returncode >= 0 else 128 - child.returncode
        return Ended(code, timed_out, self._cancelled)

    def cancel(self) -> None:
        """Kill what runs now and let nothing start. Safe from any thread."""
        with self._lock:
            self._cancelled = True
            for group in self._groups:
                _kill_group(group)

    def end(self) -> None:
        """Kill every process that is left of the job, whatever group it moved to, and wait for the readers."""
        with self._lock:
            for group in self._groups:
                _kill_group(group)
        marker = f"{TRACKING_VARIABLE}={self.tracking_id}".encode()
        while stray := _carriers(marker):
            for pid in stray:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for reader in self._readers:
            reader.join(DRAIN_SECONDS)


def _read_lines(stream: IO[bytes], sink: Callable[[bytes], None]) -> None:
    """Hand on lines until the last writer has closed; a line without end comes in pieces."""
    with stream:
        while line := stream.readline(LONGEST_READ):
            sink(line)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _carriers(marker: bytes) -> list[int]:
    """Living processes whose environment holds `marker`; none where there is no /proc. (A zombie's environment reads as
    empty.)
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if marker in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
    return found
