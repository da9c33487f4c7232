"""A Run that is asked to stop, wherever it is: gone within five seconds, nothing new begun, told by what follows it."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.sandbox.github import Act, Fault
from bot.settings import SETTINGS
from tests.matrix.promises import broken
from tests.matrix.theatre import FILES, Theatre, theatre
from tests.run.town import tiny_claude

SECONDS = 5.0
"""Real seconds that a runner's step may take to stop; the runner begins to kill after 10."""
PATIENCE = 60.0
STUBBORN = "(trap '' TERM INT; setsid sh -c 'trap \"\" TERM INT; while :; do sleep 1; done' &) ; "
CI_FILE = ".github/workflows/ci.yml"
PATIENT = {
    SETTINGS[name].variable: "600"
    for name in ("silence-timeout-minutes", "session-timeout-minutes", "ci-timeout-minutes")
}
SLOW = {CI_FILE: FILES[CI_FILE].replace("- run:", "- run: sleep 60\n      - run:")}


class Hang:
    """What a request of GitHub's does that gets no answer, until it is let go."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.over = threading.Event()

    def __call__(self) -> None:
        self.came.set()
        self.over.wait(PATIENCE)


@contextmanager
def hanging(stage: Theatre, method: str, path: str, nth: int = 1) -> Iterator[Hang]:
    """The `nth` such request hangs."""
    hang = Hang()
    stage.hub.faults.add(Fault(method, path, Act(hang), nth=nth))
    try:
        yield hang
    finally:
        hang.over.set()


def until(happened: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Wait for it while the step runs."""
    limit = Clock.reaction("a phase", PATIENCE)
    while not happened():
        assert running.poll() is None, running.communicate()[0]
        assert not limit.passed()
        Clock.pause(0.02)


def cancelled(stage: Theatre, running: subprocess.Popen[str]) -> None:
    """The runner's signals; the step ends in time, without a traceback, and asks nothing more of GitHub."""
    before = len(stage.hub.requests)
    began = Clock.now()
    running.send_signal(signal.SIGINT)
    Clock.pause(0.3)
    for number in (signal.SIGINT, signal.SIGTERM):
        running.send_signal(number)
    lived = stage.end(stage.jobs[-1], running)
    took = Clock.now() - began
    assert lived.exit_code == 130, lived.log
    assert took < SECONDS
    assert "Traceback" not in lived.log
    assert len(stage.hub.requests) - before <= 1  # one that was under way
    assert not stage.survivors()


def finished(stage: Theatre) -> str:
    """What `finish` tells on the issue; every promise holds."""
    lived = stage.play(stage.jobs[-1], "finish", status="cancelled")
    assert lived.exit_code == 0, lived.log
    assert list(broken(stage)) == []
    return stage.repository.comments(stage.issue)[-1].body


def test_in_a_session(tmp_path: Path) -> None:
    """The Session and all that it started are stopped; what it had not committed yet is on the branch afterwards."""
    with theatre(tmp_path / "stage") as stage:
        stage.claude = tiny_claude(tmp_path, f"{STUBBORN} right; echo '# more' >>calc.py; touch $word/at; gate never")
        running = stage.begin(stage.label(), extra=PATIENT)
        until((tmp_path / "word" / "at").exists, running)
        cancelled(stage, running)
        assert stage.repository.labels(stage.issue) == ("nightjar:working",)
        assert "ancelled" in finished(stage)
        assert "# more" in stage.repository.file("nightjar/issue-1", "calc.py")
        assert stage.repository.labels(stage.issue) == ("nightjar:failed",)


def test_while_it_watches_ci(tmp_path: Path) -> None:
    """The pull request is a draft, and the ending says that the Run was cancelled."""
    with theatre(tmp_path / "stage", SLOW) as stage:
        stage.claude = tiny_claude(tmp_path, "right")
        running = stage.begin(stage.label(), extra=PATIENT)
        until(lambda: any("/check-runs" in request.path for request in stage.hub.requests), running)
        cancelled(stage, running)
        assert "ancelled" in finished(stage)
        assert stage.repository.pull_requests()[0].draft


@pytest.mark.parametrize(
    ("method", "path", "nth"),
    [
        ("POST", r"/git-receive-pack$", 1),
        ("POST", r"/git-receive-pack$", 2),
        ("POST", r"/issues/\d+/comments$", 1),
        ("GET", r"/check-runs", 1),
        ("POST", r"/pulls$", 1),
    ],
)
def test_while_github_does_not_answer(tmp_path: Path, method: str, path: str, nth: int) -> None:
    """A push or a request that hangs is left behind; what it was for is told by `finish`."""
    with theatre(tmp_path / "stage") as stage, hanging(stage, method, path, nth) as hang:
        stage.claude = tiny_claude(tmp_path, "right")
        running = stage.begin(stage.label(), extra=PATIENT)
        until(hang.came.is_set, running)
        cancelled(stage, running)
        hang.over.set()
        assert "ancelled" in finished(stage)


def test_while_it_tells_its_end(tmp_path: Path) -> None:
    """An ending that hangs is left to `finish`: a Run that was ready is told as ready, once."""
    with theatre(tmp_path / "stage") as stage, hanging(stage, "POST", r"/issues/1/comments$", 2) as hang:
        stage.claude = tiny_claude(tmp_path, "right")
        running = stage.begin(stage.label(), extra=PATIENT)
        until(hang.came.is_set, running)
        cancelled(stage, running)
        hang.over.set()
        assert "ready for review" in finished(stage)


def test_at_a_terminal(tmp_path: Path) -> None:
    """Where no step follows, the command itself keeps the work and tells the end."""
    with theatre(tmp_path / "stage") as stage:
        stage.claude = tiny_claude(tmp_path, "right; touch $word/at; gate never")
        running = stage.begin(stage.label(), extra={**PATIENT, "GITHUB_ACTIONS": ""})
        until((tmp_path / "word" / "at").exists, running)
        running.send_signal(signal.SIGINT)
        Clock.pause(0.3)
        running.send_signal(signal.SIGINT)
        lived = stage.end(stage.jobs[-1], running)
        assert lived.exit_code == 130, lived.log
        assert "Traceback" not in lived.log
        assert "ancelled" in stage.repository.comments(stage.issue)[-1].body
        assert "def sub" in stage.repository.file("nightjar/issue-1", "calc.py")
        assert stage.repository.labels(stage.issue) == ("nightjar:failed",)
