"""One child process: everything it writes is read, and its end is bounded and leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from bot.claude.descendants import marked
from bot.claude.process import HASTY, ClaudeProcess
from bot.clock import Clock


class Shell:
    """Runs bash scripts in place of the CLI."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.transcript = folder / "transcript.jsonl"
        self.mark = f"NIGHTJAR_TEST={folder.name}"

    def start(self, script: str) -> ClaudeProcess:
        name, _, value = self.mark.partition("=")
        env = {"PATH": os.environ["PATH"], name: value}
        argv = ["/bin/bash", "-c", script]
        return ClaudeProcess(argv, cwd=Path("/"), env=env, transcript=self.transcript, clock=self.clock)

    def read_all(self, process: ClaudeProcess, seconds: float = 20) -> list[bytes]:
        limit = self.clock.reaction("all", seconds)
        lines: list[bytes] = []
        while not process.at_eof and not limit.passed():
            for piece in process.read(limit):
                lines += piece.split(b"\n")
        return lines


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_line_of_8_mib_arrives_whole_and_is_kept(shell: Shell) -> None:
    """Lines of any size are read, and the transcript holds the whole stream."""
    with shell.start("head -c 8388608 /dev/zero | tr '\\0' x; echo; echo after") as process:
        first, second = shell.read_all(process)
    assert (len(first), second) == (8 << 20, b"after")
    assert shell.transcript.stat().st_size == (8 << 20) + 7


def test_a_torn_last_line_is_handed_on(shell: Shell) -> None:
    """What was cut off at the exit is seen by whoever folds it."""
    with shell.start("echo whole; printf '{\"torn'") as process:
        assert shell.read_all(process) == [b"whole", b'{"torn']


def test_a_prompt_of_400_kb_and_a_cli_that_writes_first(shell: Shell) -> None:
    """A CLI that fills its stdout before it reads never deadlocks with a long prompt."""
    with shell.start("head -c 400000 /dev/zero | tr '\\0' x; echo; head -n 1 | sha256sum") as process:
        process.send_prompt("é" * 200_000)
        said = shell.read_all(process)
    sent = b'{"type":"user","message":{"role":"user","content":"' + "é".encode() * 200_000 + b'"}}\n'
    assert said[1].split()[0].decode() == hashlib.sha256(sent).hexdigest()


def test_a_cli_that_closes_its_stdin_is_still_read(shell: Shell) -> None:
    """A broken stdin pipe is no failure of its own, and costs no busy loop."""
    with shell.start("exec <&-; echo deaf; sleep 0.3; echo done") as process:
        lines = process.read(shell.clock.reaction("a line", 5))
        process.send_prompt("x" * 400_000)
        assert [*lines, *shell.read_all(process)] == [b"deaf", b"done"]


def test_stderr_is_kept_apart(shell: Shell) -> None:
    """The last lines of stderr are evidence, never frames."""
    with shell.start("for i in $(seq 100); do echo e$i >&2; done; echo out; exit 3") as process:
        assert shell.read_all(process) == [b"out"]
        process.end()
    assert process.exit_code == 3
    assert process.stderr_tail.splitlines()[-1] == "e100"
    assert len(process.stderr_tail.splitlines()) == 40


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", -9), ("kill -15 $$", -15)])
def test_the_exit_code_tells_a_signal_from_an_exit(shell: Shell, script: str, code: int) -> None:
    """Negative for death by that signal."""
    with shell.start(script) as process:
        shell.read_all(process)
        process.end()
    assert process.exit_code == code


def test_a_good_end_costs_no_pause(shell: Shell) -> None:
    """A CLI that leaves when its stdin is closed is over at once."""
    with shell.start("echo hi; cat > /dev/null") as process:
        process.read(shell.clock.reaction("hi", 5))
        began = shell.clock.now()
        process.end()
    assert shell.clock.now() - began < 0.5


def test_a_grandchild_that_holds_the_pipe_delays_nothing(shell: Shell) -> None:
    """EOF is when the CLI has gone, even while a detached grandchild keeps writing to its stdout; and it is ended."""
    with shell.start(
        "setsid bash -c 'trap \"\" TERM; while :; do echo noise; sleep 0.01; done' & echo mine; exit 0"
    ) as process:
        began = shell.clock.now()
        lines = shell.read_all(process)
        assert shell.clock.now() - began < 2
        process.end()
    assert b"mine" in lines
    assert process.exit_code == 0
    assert marked(shell.mark) == ()


def test_a_cancel_ends_stubborn_processes_within_3_seconds(shell: Shell) -> None:
    """A CLI and a detached grandchild that both ignore SIGTERM are gone, no zombie is left."""
    with shell.start("trap '' TERM INT; (setsid sleep 60 &); echo up; while :; do sleep 1; done") as process:
        process.read(shell.clock.reaction("up", 5))
        began = shell.clock.now()
        process.end(HASTY)
    assert shell.clock.now() - began < 3
    assert process.exit_code == -9
    assert marked(shell.mark) == ()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_killed_guard_leaves_nothing_behind(shell: Shell) -> None:
    """Should the guard itself be killed, what it guarded is found by its mark."""
    with shell.start("setsid sleep 60 & echo $PPID; wait") as process:
        (guard,) = process.read(shell.clock.reaction("the guard's id", 5))
        os.kill(int(guard), 9)
        process.end()
    assert process.exit_code is None
    assert marked(shell.mark) == ()


def test_a_command_that_is_not_there_says_so(shell: Shell) -> None:
    """The reason is the system's own, with the path."""
    with pytest.raises(FileNotFoundError, match="/nowhere/claude"):
        ClaudeProcess(["/nowhere/claude"], cwd=Path("/"), env={}, transcript=shell.transcript, clock=shell.clock)
