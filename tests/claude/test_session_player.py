"""Sessions on the frame player: what the real CLI cannot be made to do on cue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.claude.session import Played
from bot.claude.verdict import Decision
from bot.clock import Clock
from bot.sandbox import player
from bot.sandbox.player import Await, Die, Exit, Ignore, Pause, Say, Spawn, Step, Write
from tests.claude.conftest import Desk

RECORDINGS = Path(__file__).with_name("recordings")
BEGIN: tuple[Step, ...] = (Await("user"), player.init())
HELD: tuple[Step, ...] = (*BEGIN, *player.background("x"), player.text("I wait."), player.result("I wait."))
ENDS: dict[str, Step] = {
    "level": player.level(),
    "updated": player.updated("x", "completed"),
    "notified": player.notified("x", "completed"),
}
WOKEN: tuple[Step, ...] = (player.init(), player.text("It passed."), player.result("It passed.", woken=True))
GOOD: tuple[Step, ...] = (*BEGIN, player.text("Done."), player.result("Done."), Await("close"))


def play(desk: Desk, *processes: Sequence[Step]) -> Played:
    return desk.hold(player.install(desk.folder, *processes), "http://127.0.0.1:9")


@pytest.mark.parametrize("order", [("level", "updated", "notified"), ("updated", "notified", "level"), ("updated",)])
def test_a_wake_turn_is_waited_for_whatever_the_order(desk: Desk, order: tuple[str, ...]) -> None:
    """No closer comes between the end of a task and the Wake turn that it owes."""
    ends = [ENDS[name] for name in order]
    played = play(desk, [*HELD, Pause(0.1), *ends, Pause(0.6), *WOKEN, Await("close")])
    assert (played.verdict.decision, played.entry.words, desk.names) == (Decision.DONE, "It passed.", ["implement"])
    assert desk.said[-1] == "a background task ended; the session was woken"


def test_a_wake_turn_that_never_comes_is_resumed_once_then_fails(desk: Desk) -> None:
    """After the grace the Session is closed and resumed; the second time it is a Failure."""
    desk.limits = replace(desk.limits, wake=0.3)
    played = play(desk, [*HELD, ENDS["updated"], ENDS["notified"], ENDS["level"], Await("close")])
    assert (played.verdict.failure, desk.names) == ("wake_lost", ["implement", "implement-resume"])
    assert [entry.lost for entry in desk.entries] == [(), ()], "a task that ended was not killed"


def test_work_that_was_killed_is_resumed_once(desk: Desk) -> None:
    """A clean exit after killed work is no good end."""
    killed = (player.updated("x", "killed"), player.notified("x", "stopped"), Exit(0))
    played = play(desk, [*HELD, *killed], GOOD)
    assert (played.verdict.decision, desk.names) == (Decision.DONE, ["implement", "implement-resume"])
    assert desk.entries[0].lost == ("x",)


def test_a_stopped_task_is_lost_and_the_process_closed(desk: Desk) -> None:
    """At the Hold limit each task is stopped by a control request."""
    desk.limits = replace(desk.limits, hold=0.2)
    stopped = (Await("stop_task"), player.updated("x", "killed"), player.notified("x", "stopped"), player.level())
    played = play(desk, [*HELD, *stopped, Await("close")], GOOD)
    assert (played.verdict.decision, desk.entries[0].lost) == (Decision.DONE, ("x",))


def test_lines_of_a_monitor_do_not_lengthen_the_hold(desk: Desk) -> None:
    """Each line opens a Turn; the Hold is counted from the Turn before them, and the Monitor is then stopped."""
    desk.limits = replace(desk.limits, hold=0.5, settle=0.1)
    at: dict[str, float] = {}
    desk.on_progress = lambda line: at.setdefault(line.split()[0], Clock.now())
    line: list[Step] = [player.init(), Pause(0.05), player.text("Hm."), player.result("Hm.", woken=True), Pause(0.05)]
    stopped: list[Step] = [
        Await("stop_task"),
        player.updated("x", "killed"),
        player.notified("x", "stopped"),
        player.level(),
    ]
    played = play(desk, [*HELD, *line * 20, *stopped, Await("close")], GOOD)
    assert (played.verdict.decision, desk.entries[0].lost) == (Decision.DONE, ("x",))
    assert 0.4 < at["stopping"] - at["the"] < 1.5
    assert "something new came from the background; the session was woken" in desk.said


@pytest.mark.parametrize(
    ("then", "failure"),
    [((player.text("Hm."), Die("SIGKILL")), "session_died"), ((player.result("no", error=True),), "api_unavailable")],
)
def test_each_process_of_a_session_says_what_it_lost(desk: Desk, then: tuple[Step, ...], failure: str) -> None:
    """A loss before an API retry is known when the Session fails for another reason later."""
    desk.clock, desk.retries = Clock(scale=300), 1
    unavailable = player.text("API Error", error="server_error")
    killed = (player.updated("x", "killed"), player.notified("x", "stopped"), Exit(1))
    failing = [*BEGIN, *player.background("x"), unavailable, player.result("no", error=True), *killed]
    later = [*BEGIN, unavailable, *then, Exit(1)]
    played = play(desk, failing, later)
    assert (played.verdict.failure, desk.names) == (failure, ["implement", "implement-retry-1"])
    assert [entry.lost for entry in desk.entries] == [("x",), ()]


def test_death_within_a_turn_leaves_nothing(desk: Desk) -> None:
    """A detached grandchild that ignores SIGTERM and holds the pipe neither delays the end nor survives it."""
    steps = [*BEGIN, Spawn(60, ignores_term=True, holds_pipe=True), player.text("Now."), Pause(0.2), Die("SIGKILL")]
    began = Clock.now()
    played = play(desk, steps)
    assert played.verdict.failure == "session_died"
    assert Clock.now() - began < 6


def test_a_process_that_never_leaves_is_ended_and_the_session_is_good(desk: Desk) -> None:
    """A result, then deafness to the end of stdin and to SIGTERM: killed within the graces, still done."""
    desk.limits = replace(desk.limits, leave=0.2)
    began = Clock.now()
    played = play(desk, [*BEGIN, Ignore(("SIGINT",)), player.text("Done."), player.result("Done."), Pause(60)])
    assert played.verdict.decision is Decision.DONE
    assert Clock.now() - began < 10


def test_silence_within_a_turn_is_named(desk: Desk) -> None:
    """Nothing for the silence limit: the Session fails and says for how long."""
    desk.limits = replace(desk.limits, turn=0.3)
    played = play(desk, [*BEGIN, player.text("Hm."), Pause(60)])
    assert played.verdict.failure == "session_silent"


def test_noise_and_a_torn_line_do_no_harm(desk: Desk) -> None:
    """Banners, blank lines and a cut last line are passed over."""
    noise = Write("Now using node v22\n\n[1]\n")
    played = play(
        desk, [Await("user"), noise, player.init(), player.text("Done."), player.result("Done."), Write('{"a')]
    )
    assert played.verdict.decision is Decision.DONE


def test_a_refusal_to_start_is_told_in_the_cli_own_words(desk: Desk) -> None:
    """The reason is the last line of stderr."""
    played = play(desk, [Write("cannot be used with root\n", to_stderr=True), Exit(1)])
    assert played.verdict.failure == "claude_start"
    assert "cannot be used with root" in played.verdict.reason


def test_the_players_frames_have_the_recorded_shapes() -> None:
    """Every key and every type of value that the player prints has been seen in a recorded stream."""
    recorded: set[tuple[str, str, str]] = set()
    for file in sorted(RECORDINGS.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            recorded.update(_shape_of(line))
    ours = [*HELD, *ENDS.values(), *WOKEN, player.updated("x", "killed"), player.result("no", error=True)]
    shapes = {shape for step in ours if isinstance(step, Say) for shape in _shapes(dict(step.frame))}
    assert shapes <= recorded


def _shape_of(line: bytes) -> Iterator[tuple[str, str, str]]:
    try:
        frame = json.loads(line)
    except ValueError:
        return
    if isinstance(frame, dict):
        yield from _shapes(frame)


def _shapes(frame: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    kind = f"{frame.get('type')}/{frame.get('subtype') if frame.get('type') == 'system' else ''}"
    yield from _walk(kind, "", frame)


def _walk(kind: str, place: str, value: object) -> Iterator[tuple[str, str, str]]:
    yield kind, place, type(value).__name__
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _walk(kind, f"{place}.{key}", member)
    elif isinstance(value, list):
        for member in value:
            yield from _walk(kind, f"{place}[]", member)
