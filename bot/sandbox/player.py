"""A `claude` that plays a script of frames, for what the real one cannot be made to do on cue.

`install` writes an executable that is used through `claude-path`. Its n-th start plays the n-th process of the script
(the last one again after that): frames, pauses, signals to itself, reactions to stdin, and grandchildren. It answers
`--version` like the CLI.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.clock import Clock

VERSION = "2.1.332 (frame player)"
SESSION = "5e551017-0000-4000-8000-000000000001"


@dataclass(frozen=True, slots=True)
class Say:
    """Print a frame; `session_id` and `uuid` are added."""

    frame: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Write:
    """Print `text` as it stands, `times` times: noise, a torn line, a huge one."""

    text: str
    times: int = 1
    to_stderr: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing for real `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for a message on stdin: `user`, `stop_task`, `interrupt`, or `close` for its end. Others are passed over."""

    message: str


@dataclass(frozen=True, slots=True)
class Ignore:
    """Ignore these signals from now on (`SIGINT`, `SIGTERM`)."""

    signals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a grandchild of `seconds`: in a session of its own, or ignoring SIGTERM, or holding stdout and stderr."""

    seconds: float
    own_session: bool = True
    ignores_term: bool = False
    holds_pipe: bool = False


@dataclass(frozen=True, slots=True)
class Die:
    """Send `signal` to itself."""

    signal: str


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave with `code`; the end of a script leaves with 0."""

    code: int


Step = Say | Write | Pause | Await | Ignore | Spawn | Die | Exit
_STEPS: Mapping[str, type[Step]] = {
    kind.__name__: kind for kind in (Say, Write, Pause, Await, Ignore, Spawn, Die, Exit)
}


@dataclass(slots=True)
class _Printed:
    """Numbers the frames: every one has a `uuid` of its own."""

    frames: int = 0


def install(folder: Path, *processes: Sequence[Step]) -> Path:
    """Write the script and the executable that plays it into `folder`; the executable's path."""
    script = folder / "player.json"
    plain = [[{type(step).__name__: asdict(step)} for step in steps] for steps in processes]
    script.write_text(json.dumps(plain), encoding="utf-8")
    executable = folder / "claude"
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-m", "bot.sandbox.player", str(script)]
    executable.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(root))} exec {shlex.join(words)} "$@"\n', encoding="utf-8"
    )
    executable.chmod(0o755)
    return executable


def main(arguments: Sequence[str]) -> int:
    """Play the next process of the script; its exit code."""
    script = Path(arguments[0])
    if "--version" in arguments:
        print(VERSION)
        return 0
    processes = json.loads(script.read_text(encoding="utf-8"))
    with script.with_suffix(".started").open("ab") as started:
        number = started.tell()
        started.write(b".")
    printed = _Printed()
    for step in processes[min(number, len(processes) - 1)]:
        ((name, values),) = step.items()
        code = _play(_STEPS[name](**values), printed)
        if code is not None:
            return code
    return 0


def _play(step: Step, printed: _Printed) -> int | None:
    match step:
        case Say(frame):
            printed.frames += 1
            whole = {**frame, "session_id": SESSION, "uuid": f"{os.getpid()}-{printed.frames}"}
            _print(json.dumps(whole) + "\n", 1)
        case Write(text, times, to_stderr):
            _print(text * times, 2 if to_stderr else 1)
        case Pause(seconds):
            Clock.pause(seconds)
        case Await(message):
            _await(message)
        case Ignore(signals):
            for name in signals:
                signal.signal(signal.Signals[name], signal.SIG_IGN)
        case Spawn():
            _spawn(step)
        case Die(name):
            os.kill(os.getpid(), signal.Signals[name])
        case Exit(code):
            return code
    return None


def _print(text: str, file: int) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[os.write(file, left) :]


def _heard() -> str:
    """The kind of the next message on stdin; `close` at its end."""
    line = sys.stdin.buffer.readline()
    if not line:
        return "close"
    message = json.loads(line)
    return str(message["request"]["subtype"] if message["type"] == "control_request" else message["type"])


def _await(message: str) -> None:
    while _heard() not in (message, "close"):
        pass


def _spawn(step: Spawn) -> None:
    trap = "trap '' TERM INT HUP; " if step.ignores_term else ""
    out = None if step.holds_pipe else subprocess.DEVNULL
    line = f"{trap}sleep {step.seconds} & wait; wait"
    subprocess.Popen(
        ["/bin/bash", "-c", line],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        start_new_session=step.own_session,
    )


# ── frames: the keys of the recorded ones that mean something, and no others ─────────────────────────────────────────


def init() -> Say:
    """A Turn opens."""
    return Say({"type": "system", "subtype": "init", "claude_code_version": "2.1.332", "model": "claude-opus-4-8"})


def text(said: str) -> Say:
    """The root says something."""
    return Say(
        {"type": "assistant", "message": {"content": [{"type": "text", "text": said}]}, "parent_tool_use_id": None}
    )


def background(task: str) -> tuple[Say, ...]:
    """The root starts a background Bash: its call, the start, the acknowledgement."""
    asked = {"command": task, "description": task, "run_in_background": True}
    use = {"type": "tool_use", "id": f"toolu_{task}", "name": "Bash", "input": asked}
    answer = {"type": "tool_result", "tool_use_id": f"toolu_{task}", "content": "started", "is_error": False}
    return (
        Say({"type": "assistant", "message": {"content": [use]}, "parent_tool_use_id": None}),
        Say(
            {
                "type": "system",
                "subtype": "task_started",
                "task_id": task,
                "tool_use_id": f"toolu_{task}",
                "description": task,
                "task_type": "local_bash",
                "is_backgrounded": True,
            }
        ),
        level(task),
        Say(
            {
                "type": "user",
                "message": {"content": [answer]},
                "parent_tool_use_id": None,
                "tool_use_result": {"backgroundTaskId": task},
            }
        ),
    )


def level(*tasks: str) -> Say:
    """The whole set of background tasks."""
    listed = [{"task_id": task, "task_type": "local_bash", "description": task} for task in tasks]
    return Say({"type": "system", "subtype": "background_tasks_changed", "tasks": listed})


def updated(task: str, status: str) -> Say:
    """A task's status changed."""
    return Say({"type": "system", "subtype": "task_updated", "task_id": task, "patch": {"status": status}})


def notified(task: str, status: str) -> Say:
    """The model is told of a task's end."""
    return Say(
        {
            "type": "system",
            "subtype": "task_notification",
            "task_id": task,
            "tool_use_id": f"toolu_{task}",
            "status": status,
            "output_file": "",
            "summary": task,
        }
    )


def result(said: str, *, woken: bool = False, error: bool = False) -> Say:
    """A Turn closes."""
    origin = {"origin": {"kind": "task-notification"}} if woken else {}
    return Say(
        {
            "type": "result",
            "subtype": "success",
            "is_error": error,
            "num_turns": 1,
            "result": said,
            "total_cost_usd": 0.01,
            "terminal_reason": "completed",
            **origin,
        }
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
