"""A transcript told for people: Turns with what opened them, tools with their answers, Holds with their tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.claude.facts import Opener
from bot.claude.told import Bounds, Call, Happened, Kept, Said, Transcript
from bot.claude.transcript import read_transcript

RECORDINGS = Path(__file__).parent / "recordings"


def told(name: str, bounds: Bounds | None = None) -> Transcript:
    """A recording, told."""
    lines = (RECORDINGS / f"{name}.jsonl").read_bytes().split(b"\n")
    return read_transcript(lines, bounds) if bounds else read_transcript(lines)


@pytest.mark.parametrize(("name", "seconds"), [("g5_v332_stdin_open", 8.021), ("g1_stdin_open_wake", None)])
def test_a_hold_and_its_wake_turn(name: str, seconds: float | None) -> None:
    """Both generations: the Hold names its task, tells how long it lasted where times are known, and the Wake turn why
    it opened.
    """
    transcript = told(name)
    first, second = transcript.turns.all[:2]
    assert first.hold is not None
    assert (first.hold.tasks, first.hold.seconds, first.hold.wakes) == (("8 s job",), seconds, True)
    assert first.hold.events == ("The background task “8 s job” has ended: completed",)
    assert (first.opener, second.opener, second.woken_by) == (Opener.PROMPT, Opener.TASK_END, ("8 s job",))
    (call, words) = first.entries.all
    assert isinstance(call, Call)
    assert (call.name, call.about, call.background, call.failed) == ("Bash", "8 s job", True, False)
    assert call.given.startswith("sleep 8; echo ")
    assert call.answer is not None
    assert "running in background" in call.answer
    assert words == Said("Waiting for the job.")
    assert transcript.holds == 1


def test_a_sub_agent() -> None:
    """What a sub-agent says and does is told as its own, and a tool that failed as failed."""
    (first, _) = told("f7_v332_bg_agent").turns.all
    nested = [entry for entry in first.entries.all if isinstance(entry, (Said, Call)) and entry.nested]
    assert [entry.text for entry in nested if isinstance(entry, Said)] == ["sub working", "Sub-agent final answer."]
    assert [entry.failed for entry in nested if isinstance(entry, Call)] == [True]


def test_retries_of_the_api() -> None:
    """The CLI's own tries are told between what was said."""
    (turn,) = told("h3_429_retry_after_1_then_ok").turns.all
    assert turn.entries.all == (
        Happened("The model's API failed (rate_limit, 429); try 1 follows"),
        Happened("The model's API failed (rate_limit, 429); try 2 follows"),
        Said("recovered."),
    )


def test_a_failed_turn() -> None:
    """A Turn that closed with an error says it."""
    (turn,) = told("h2_400").turns.all
    assert turn.closed
    assert "400" in turn.errors


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_recording_can_be_told(path: Path) -> None:
    """No recording of either generation breaks the teller; Turns are numbered, and calls counted, without a gap."""
    transcript = told(path.stem)
    assert [turn.number for turn in transcript.turns.all] == list(range(1, transcript.turn_count + 1))
    assert transcript.calls == sum(turn.calls for turn in transcript.turns.all)
    calls = [entry for turn in transcript.turns.all for entry in turn.entries.all if isinstance(entry, Call)]
    assert len(calls) == transcript.calls


def test_a_resumed_process_tells_its_debris_as_no_turn() -> None:
    """What a resumed process opens and closes at once, before its first Turn, is not one."""
    transcript = told("e5_332_resume_after_sigkill")
    assert all(turn.closed and turn.entries.all for turn in transcript.turns.all)


def test_beginning_and_end_are_kept() -> None:
    """Of many Turns, entries and characters the first and the last are there, and the number between them."""
    bounds = Bounds(first_turns=1, last_turns=1, first_entries=1, last_entries=1, characters=100)
    lines = []
    for turn in range(5):
        lines.append(b'{"type": "system", "subtype": "init", "session_id": "S"}')
        lines += [
            b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "%d-%d %s end"}]}}'
            % (turn, entry, b"x" * 100_000)
            for entry in range(4)
        ]
        lines.append(b'{"type": "result", "num_turns": 1, "session_id": "S"}')
    transcript = read_transcript(lines, bounds)
    assert [turn.number for turn in transcript.turns.all] == [1, 5]
    assert (transcript.turns.left_out, transcript.turn_count) == (3, 5)
    first, last = transcript.turns.all
    assert first.entries.left_out == 2
    texts = [entry.text for turn in (first, last) for entry in turn.entries.all if isinstance(entry, Said)]
    assert [text[:3] for text in texts] == ["0-0", "0-3", "4-0", "4-3"]
    assert all(text.endswith("end") and len(text) <= 100 for text in texts)


@pytest.mark.parametrize(
    ("kept", "first", "last", "wanted"),
    [
        (Kept((1, 2), (3,), 0), 8, 8, ((1, 2), (3,), 0)),
        (Kept((1, 2), (3, 4), 0), 1, 2, ((1,), (3, 4), 1)),
        (Kept((1, 2), (7, 8), 4), 1, 1, ((1,), (8,), 6)),
        (Kept((1, 2, 3), (), 0), 1, 0, ((1,), (), 2)),
    ],
)
def test_keeping_less(
    kept: Kept[int], first: int, last: int, wanted: tuple[tuple[int, ...], tuple[int, ...], int]
) -> None:
    """What is kept can be cut once more, and the count of what was left out goes on."""
    cut = kept.within(first, last)
    assert (cut.first, cut.last, cut.left_out) == wanted
