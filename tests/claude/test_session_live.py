"""Sessions on the real `claude` CLI of both generations: nothing is lost silently, nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.claude.descendants import marked, send
from bot.claude.verdict import Decision
from bot.clock import Clock
from bot.sandbox.cli import bundled_claude
from bot.sandbox.model import Call, Conversation, Fault, Reply
from bot.signals import on_signals
from tests.claude.conftest import Desk, background, model

LOST = "implement session ended while waiting on a background task ({}), which was killed"


def test_a_job_that_ends_after_the_turn_wakes_the_session(desk: Desk, claude: Path) -> None:
    """The Session is held until the job is done, and its last words are those of the Wake turn."""
    with model(Reply("", (background("the tests", 1),)), Reply("I wait."), Reply("They passed.")) as server:
        played = desk.hold(claude, server.url)
    assert played.verdict.decision is Decision.DONE
    assert (desk.names, played.entry.words) == (["implement"], "They passed.")


def test_a_job_that_outlives_the_hold_is_lost_and_resumed_once(desk: Desk, claude: Path) -> None:
    """The job is stopped at the Hold limit; the Resume names it and ends well."""
    desk.limits = replace(desk.limits, hold=0.5, stopping=4)
    with model(Reply("", (background("the tests", 60),)), Reply("I wait."), Reply("Done here.", times=3)) as server:
        played = desk.hold(claude, server.url)
        assert server.requests[-1].prompt_text.endswith("resume: the tests")
    assert played.verdict.decision is Decision.DONE
    assert desk.names == ["implement", "implement-resume"]
    assert desk.entries[0].lost == ("the tests",)


def test_a_second_loss_fails_with_the_fixed_sentence(desk: Desk, claude: Path) -> None:
    """Background work that is lost again after the Resume is a Failure that names it."""
    desk.limits = replace(desk.limits, hold=0.5, stopping=4)
    with model(
        *(Reply("", (background("the tests", 60),)), Reply("I wait.")),
        *(Reply("", (background("the build", 60),)), Reply("I wait.")),
    ) as server:
        played = desk.hold(claude, server.url)
    assert played.verdict.decision is Decision.FAIL
    assert (played.verdict.failure, played.verdict.reason) == ("background_lost", LOST.format("the build"))
    assert desk.names == ["implement", "implement-resume"]


def test_only_the_job_that_was_lost_is_named(desk: Desk, claude: Path) -> None:
    """Of two jobs, the one that ended in time is not part of the loss."""
    desk.limits = replace(desk.limits, hold=1.5, stopping=4)
    jobs = (background("quick", 0.8), background("slow", 60))
    with model(Reply("", jobs), Reply("I wait."), Reply("Go on.", times=4)) as server:
        desk.hold(claude, server.url)
    assert desk.entries[0].lost == ("slow",)


def test_a_background_agent_wakes_the_session(desk: Desk, claude: Path) -> None:
    """A sub-agent in the background is held for like a job."""
    call = Call("Agent", {"description": "count", "prompt": "count the files", "run_in_background": True})
    agent = Conversation("counter", (Reply("three files", delay_seconds=1),), "count the files")
    with model(Reply("", (call,)), Reply("I wait."), Reply("It is three."), agents=(agent,)) as server:
        played = desk.hold(claude, server.url)
    assert (played.verdict.decision, played.entry.words) == (Decision.DONE, "It is three.")


def test_a_monitor_with_many_lines_is_watched_to_its_end(desk: Desk) -> None:
    """Each line wakes the Session, and so does the end of the Monitor; nothing is lost."""
    lines = "for i in 1 2 3 4; do echo line $i; python3 -c 'import time; time.sleep(0.4)'; done"
    with model(*watching(lines)) as server:
        played = desk.hold(bundled_claude(), server.url)
    assert (played.verdict.decision, desk.names) == (Decision.DONE, ["implement"])
    assert sum(line.endswith("the session was woken") for line in desk.said) >= 2


def test_a_monitor_that_never_ends_is_stopped_at_the_hold_limit(desk: Desk) -> None:
    """The lines that it prints do not lengthen the Hold."""
    desk.limits = replace(desk.limits, hold=2, stopping=4)
    at: dict[str, float] = {}
    desk.on_progress = lambda line: at.setdefault(line.split()[0], Clock.now())
    lines = "while :; do echo line; python3 -c 'import time; time.sleep(0.5)'; done"
    with model(*watching(lines)) as server:
        desk.hold(bundled_claude(), server.url)
    assert desk.entries[0].lost == ("the log",)
    assert 1.9 < at["stopping"] - at["the"] < 4


def test_a_nudge_settles_a_server(desk: Desk, claude: Path) -> None:
    """An idle held Session is asked once to settle its tasks, stops the server, and nothing is lost."""
    desk.limits = replace(desk.limits, nudge=0.5, hold=20)
    with model(
        *(Reply("", (background("dev server", 60),)), Reply("It runs.")),
        Reply("", (Call("ToolSearch", {"query": "select:TaskStop"}),)),
        Reply("", (Call("TaskStop", {"task_id": "TASK"}),)),
        Reply("The server is stopped."),
    ) as server:
        played = desk.hold(claude, server.url)
        assert sum(request.prompt_text.endswith("nudge: dev server") for request in server.requests) >= 1
    assert (played.verdict.decision, desk.names) == (Decision.DONE, ["implement"])
    assert played.entry.words == "The server is stopped."


def test_a_nudge_that_is_not_heeded_shortens_the_hold(desk: Desk) -> None:
    """After its one Nudge the Session is held for a shorter while, then its tasks are stopped and lost."""
    desk.limits = replace(desk.limits, nudge=0.3, hold=60, nudged_hold=0.4, stopping=4)
    with model(
        *(Reply("", (background("dev server", 60),)), Reply("It runs."), Reply("Let it run.")), Reply("Done.", times=3)
    ) as server:
        desk.hold(bundled_claude(), server.url)
    assert sum(line.startswith("asking the session to settle") for line in desk.said) == 1
    assert desk.entries[0].lost == ("dev server",)


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Fault(status=401, times=9), "claude_auth"),
        (
            Fault(
                status=429, headers={"anthropic-ratelimit-unified-status": "rejected", "retry-after": "3600"}, times=9
            ),
            "usage_limit",
        ),
    ],
)
def test_what_waiting_cannot_mend_is_not_retried(desk: Desk, claude: Path, fault: Fault, failure: str) -> None:
    """A refused key and a usage limit end the Session at once."""
    desk.retries = 3
    with model(fault) as server:
        played = desk.hold(claude, server.url)
    assert (played.verdict.failure, desk.names) == (failure, ["implement"])


def test_an_api_that_was_down_is_taken_up_again(desk: Desk, claude: Path) -> None:
    """Five 529s: the Session is resumed after growing waits, each with a log of its own, and ends well."""
    desk.clock, desk.retries = Clock(scale=200), 3
    with model(Fault(status=529, times=5), Reply("Done after all.")) as server:
        played = desk.hold(claude, server.url)
    assert (played.verdict.decision, played.entry.words) == (Decision.DONE, "Done after all.")
    assert desk.names == ["implement", "implement-retry-1", "implement-retry-2"]


def test_a_wake_turn_saves_a_turn_that_failed(desk: Desk, claude: Path) -> None:
    """A failed Turn keeps its background work, and the Wake turn ends the Session well."""
    with model(
        Reply("", (background("the tests", 3),)), Fault(status=502, error_type="api_error", times=2), Reply("Fine.")
    ) as server:
        played = desk.hold(claude, server.url)
    assert (played.verdict.decision, desk.names, played.entry.words) == (Decision.DONE, ["implement"], "Fine.")


def test_a_cli_that_is_killed_while_holding_is_resumed(desk: Desk, claude: Path) -> None:
    """Death by a signal that was not ours costs the one Resume, and leaves nothing running."""

    def kill(line: str) -> None:
        # Not at the end of the turn: 2.1.211 writes the conversation down lazily, and nothing else can be resumed.
        if line.startswith("asking the session to settle") and not desk.entries:
            send(signal.SIGKILL, filter(_is_claude, marked(f"NIGHTJAR_TEST={desk.folder.name}")))

    desk.limits = replace(desk.limits, nudge=1)
    desk.on_progress = kill
    with model(Reply("", (background("the tests", 60),)), Reply("I wait."), Reply("Done.", times=3)) as server:
        played = desk.hold(claude, server.url)
    assert played.verdict.decision is Decision.DONE
    assert desk.names == ["implement", "implement-resume"]


def test_the_turn_limit_fails(desk: Desk, claude: Path) -> None:
    """`--max-turns` is a Failure of its own."""
    desk.extra = ("--max-turns", "1")
    with model(Reply("", (Call("Bash", {"command": "true"}),), times=4)) as server:
        played = desk.hold(claude, server.url)
    assert played.verdict.failure == "max_turns"


def test_an_answer_of_3_mb_arrives_whole(desk: Desk, claude: Path) -> None:
    """Long lines are read like short ones."""
    with model(Reply("x" * 3_000_000)) as server:
        played = desk.hold(claude, server.url)
    assert played.verdict.decision is Decision.DONE
    assert len(played.entry.words) == 4000
    assert Path(played.entry.transcript).stat().st_size > 3_000_000


def test_a_cancelled_session_is_gone_within_3_seconds(desk: Desk, claude: Path) -> None:
    """SIGINT to us while a job ignores SIGTERM in the background: an end within 3 s, and no survivor."""
    asked: list[float] = []

    def cancel(line: str) -> None:
        if line.startswith("the turn is over"):
            asked.append(Clock.now())
            os.kill(os.getpid(), signal.SIGINT)

    desk.on_progress = cancel
    stubborn = "trap '' TERM INT; while :; do python3 -c 'import time; time.sleep(1)'; done"
    job = Call("Bash", {"command": stubborn, "run_in_background": True, "description": "stubborn"})
    with on_signals(finish_follows=False) as stop, model(Reply("", (job,)), Reply("I wait.")) as server:
        desk.clock = Clock(cancel=stop)
        played = desk.hold(claude, server.url)
    assert played.verdict.decision is Decision.CANCELLED
    assert Clock.now() - asked[0] < 3


def test_nothing_survives_our_own_sigkill(tmp_path: Path) -> None:
    """The supervising process is killed: its guard ends a detached job that ignores SIGTERM."""
    mark = f"NIGHTJAR_TEST={tmp_path.name}"
    job = "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done"
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bot.claude.process import ClaudeProcess; from bot.clock import Clock\n"
        "argv = ['/bin/bash', '-c', 'setsid bash -c \"$0\" & wait', sys.argv[1]]\n"
        "env = {'PATH': os.environ['PATH'], 'NIGHTJAR_TEST': sys.argv[2]}\n"
        "transcript = Path(sys.argv[3])\n"
        "p = ClaudeProcess(argv, cwd=Path('/'), env=env, transcript=transcript, clock=Clock())\n"
        "print(p.read(Clock.reaction('ready', 20)), flush=True)\n"
        "p.read(Clock.reaction('for ever', 60))\n"
    )
    words = [sys.executable, "-c", code, job, tmp_path.name, str(tmp_path / "t.jsonl")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as ours:
        assert ours.stdout is not None
        assert b"ready" in ours.stdout.readline()
        assert len(marked(mark)) >= 2
        ours.kill()
    limit = Clock.reaction("the guard", 5)
    while marked(mark) and not limit.passed():
        Clock.pause(0.02)
    assert marked(mark) == ()


def watching(command: str) -> tuple[Reply, ...]:
    """A model that watches the output of `command` (2.1.332 has the tool, and only when it is searched for)."""
    watch = {"description": "the log", "command": command, "timeout_ms": 3_600_000, "persistent": True}
    return (
        *(Reply("", (Call("ToolSearch", {"query": "select:Monitor"}),)), Reply("", (Call("Monitor", watch),))),
        *(Reply("I watch."), Reply("I see.", times=90)),
    )


def _is_claude(process: int) -> bool:
    try:
        return "_bundled/claude" in str(Path(f"/proc/{process}/exe").readlink())
    except FileNotFoundError:  # it has ended since it was found
        return False
