"""Whatever a process started is found and ended, however far it has detached itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.claude.descendants import descendants, end_marked, marked
from bot.clock import Clock


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A mark, and a shell that carries it, with a detached child that ignores SIGTERM."""
    script = "setsid bash -c 'trap \"\" TERM; echo up; while :; do sleep 1; done' & wait"
    env = {"PATH": os.environ["PATH"], "NIGHTJAR_TEST": tmp_path.name}
    with subprocess.Popen(["/bin/bash", "-c", script], env=env, stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"up\n"
        yield f"NIGHTJAR_TEST={tmp_path.name}", shell
        end_marked(f"NIGHTJAR_TEST={tmp_path.name}", Clock(), 5)


def test_descendants_are_found_across_sessions(stubborn: tuple[str, subprocess.Popen[bytes]]) -> None:
    """A child in a session of its own is below its parent all the same."""
    _, shell = stubborn
    assert len(descendants(shell.pid)) >= 1


def test_a_mark_finds_processes_whose_parent_is_gone(stubborn: tuple[str, subprocess.Popen[bytes]]) -> None:
    """An orphan keeps the environment that it was started with, and is ended by it."""
    mark, shell = stubborn
    shell.kill()
    shell.wait()
    assert len(marked(mark)) >= 1
    assert end_marked(mark, Clock(), 5)
    assert marked(mark) == ()
