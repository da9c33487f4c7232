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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from select import select
from typing import Any

from bot.clock import Clock, Deadline

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
class Until:
    """Do nothing until this machine's monotonic clock, which all processes share, shows `at`."""

    at: float


@dataclass(frozen=True, slots=True)
class Race:
    """Play `heard` if `message` (as in `Await`) comes within real `seconds`, else `missed`."""

    message: str
    seconds: float
    heard: Sequence[Step]
    missed: Sequence[Step]


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


Step = Say | Write | Pause | Until | Race | Await | Ignore | Spawn | Die | Exit
_STEPS: Mapping[str, type[Step]] = {
    kind.__name__: kind for kind in (Say, Write, Pause, Until, Race, Await, Ignore, Spawn, Die, Exit)
}


@dataclass(slots=True)
class _Pipes:
    """What was printed and what is heard."""

    frames: int = 0
    """Numbers them: every one has a `uuid` of its own."""
    unread: bytes = b""
    closed: bool = False

    def heard(self, until: Deadline | None = None) -> str:
        """The kind of the next message on stdin; `close` at its end, "" when `until` passes first."""
        while b"\n" not in self.unread:
            if self.closed or not select([0], [], [], until.left() if until else None)[0]:
                return "close" if self.closed else ""
            chunk = os.read(0, 1 << 16)
            self.unread += chunk
            self.closed = not chunk
        line, _, self.unread = self.unread.partition(b"\n")
        message = json.loads(line)
        return str(message["request"]["subtype"] if message["type"] == "control_request" else message["type"])

    def wait_for(self, message: str, until: Deadline | None = None) -> bool:
        """Pass over others; whether `message` came before the end of stdin and `until`."""
        while (kind := self.heard(until)) not in (message, "close", ""):
            pass
        return kind == message


def install(folder: Path, *processes: Sequence[Step]) -> Path:
    """Write the script and the executable that plays it into `folder`; the executable's path."""
    script = folder / "player.json"
    script.write_text(json.dumps([_plain(steps) for steps in processes]), encoding="utf-8")
    executable = folder / "claude"
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-m", "bot.sandbox.player", str(script)]
    executable.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(root))} exec {shlex.join(words)} "$@"\n', encoding="utf-8"
    )
    executable.chmod(0o755)
    return executable


def _plain(steps: Sequence[Step]) -> list[dict[str, Any]]:
    plain = []
    for step in steps:
        values = asdict(step)
        if isinstance(step, Race):
            values.update(heard=_plain(step.heard), missed=_plain(step.missed))
        plain.append({type(step).__name__: values})
    return plain


def _steps(plain: Sequence[Mapping[str, Any]]) -> list[Step]:
    steps: list[Step] = []
    for (name, values), *_ in (item.items() for item in plain):
        step = _STEPS[name](**values)
        if isinstance(step, Race):
            step = replace(step, heard=_steps(values["heard"]), missed=_steps(values["missed"]))
        steps.append(step)
    return steps


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
    code = _play_all(_steps(processes[min(number, len(processes) - 1)]), _Pipes())
    return 0 if code is None else code


def _play_all(steps: Sequence[Step], pipes: _Pipes) -> int | None:
    """The exit code, where a step says one."""
    for step in steps:
        code = _play(step, pipes)
        if code is not None:
            return code
    return None


def _play(step: Step, pipes: _Pipes) -> int | None:
    match step:
        case Say(frame):
            pipes.frames += 1
            whole = {**frame, "session_id": SESSION, "uuid": f"{os.getpid()}-{pipes.frames}"}
            _print(json.dumps(whole) + "\n", 1)
        case Write(text, times, to_stderr):
            _print(text * times, 2 if to_stderr else 1)
        case Pause(seconds):
            Clock.pause(seconds)
        case Until(at):
            Clock.pause(max(0.0, at - Clock.now()))
        case Race(message, seconds, heard, missed):
            came = pipes.wait_for(message, Clock.reaction(message, seconds))
            return _play_all(heard if came else missed, pipes)
        case Await(message):
            pipes.wait_for(message)
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


def text(said: str, *, error: str = "") -> Say:
    """The root says something, or the CLI for it: then `error` is the class of an API failure."""
    message = {"content": [{"type": "text", "text": said}]}
    failed = {"error": error} if error else {}
    return Say({"type": "assistant", "message": message, "parent_tool_use_id": None, **failed})


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
