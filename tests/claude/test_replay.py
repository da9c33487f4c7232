"""`nightjar replay`: every recording's verdict, and what the command prints and exits with."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from bot.claude.verdict import Ended
from bot.replay import kind_in, lines, replay, replay_command
from tests.claude.stream import SESSION, Step, background, ends, init, killed, result, says, wakes

RECORDINGS = Path(__file__).parent / "recordings"


def _verdicts() -> list[dict[str, str]]:
    with (RECORDINGS / "verdicts.tsv").open(newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


@pytest.mark.parametrize("row", _verdicts(), ids=lambda row: row["name"])
def test_a_recording_leads_to_the_verdict_that_was_judged_by_hand(row: dict[str, str]) -> None:
    """The stream of a real CLI, its exit code and whether it was a resume lead to the decision, failure and tasks in
    the table.
    """
    with (RECORDINGS / f"{row['name']}.jsonl").open("rb") as stream:
        verdict = replay(lines(stream), Ended(int(row["exit"])), resumed=row["resumed"] == "yes").verdict

    found = (str(verdict.decision), verdict.failure or "-", "; ".join(verdict.tasks) or "-")
    assert found == (row["decision"], row["failure"], row["tasks"])


def test_every_recording_is_in_the_table() -> None:
    """No recording is left without a verdict."""
    assert {row["name"] for row in _verdicts()} == {path.stem for path in RECORDINGS.glob("*.jsonl")}


def _file(folder: Path, *steps: Step) -> str:
    path = folder / "stream.jsonl"
    path.write_bytes(b"\n".join(step for step in steps if isinstance(step, bytes)) + b"\n")
    return str(path)


WOKEN = [*init(), *background("x"), *says(), *result(), *ends("x"), *wakes("All tests pass.")]
LOST = [*init(), *background("x"), *says(), *result(), *killed("x")]
FAILED = [*init(), *result("API Error: 529 Overloaded", is_error=True, api_error_status=529)]


@pytest.mark.parametrize(
    ("steps", "flags", "code"),
    [
        (WOKEN, {}, 0),
        (LOST, {}, 3),
        (LOST, {"resumed": True}, 4),
        (FAILED, {"exit_code": 1}, 5),
        (LOST, {"cancelled": True, "exit_code": 143}, 130),
        (init(), {"exit_code": -9}, 4),
    ],
)
def test_the_exit_code_is_the_verdict(tmp_path: Path, steps: list[Step], flags: dict[str, int], code: int) -> None:
    """0 done, 3 resume, 4 fail, 5 retry, 130 cancelled."""
    given = {"exit_code": 0, "resumed": False, "cancelled": False, "as_json": True, "environ": {}, **flags}
    assert replay_command(_file(tmp_path, *steps), **given) == code  # type: ignore[arg-type]  # flags are of both types


def test_json_is_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints the verdict and the facts around it."""
    replay_command(_file(tmp_path, *LOST, b"a banner"), 0, resumed=False, cancelled=False, as_json=True, environ={})

    assert json.loads(capsys.readouterr().out) == {
        "verdict": "resume",
        "failure": "background_lost",
        "reason": "recorded session ended while waiting on a background task (job x), which was killed",
        "tasks": ["job x"],
        "session_id": SESSION,
        "final_text": "done",
        "turns": 1,
        "cost_usd": 0.1,
        "ignored_lines": 1,
    }


def test_people_read_what_happened_turn_by_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `--json`, the Turns, the tasks and the verdict are told in lines."""
    replay_command(_file(tmp_path, *WOKEN), 0, resumed=False, cancelled=False, as_json=False, environ={})

    assert capsys.readouterr().out.splitlines() == [
        "turn 1: opened by a prompt",
        "  Bash: make test",
        "  task 'job x' started",
        "  closed after 2 model turns: done",
        "  task 'job x' completed",
        "turn 2: a Wake turn: a background task had ended",
        "  closed after 1 model turns: All tests pass.",
        "",
        f"session:  {SESSION} (CLI 2.1.332)",
        "turns:    2, of which 1 were not ours; 0.1000 USD",
        "verdict:  done",
    ]


def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and the file and the cause on stderr."""
    missing = str(tmp_path / "none.jsonl")

    assert replay_command(missing, 0, resumed=False, cancelled=False, as_json=True, environ={}) == 2
    assert capsys.readouterr().err == f"nightjar replay: cannot read {missing}: No such file or directory\n"


def test_the_kind_is_read_from_the_name_of_the_transcript() -> None:
    """The reason names the Session's own kind, never the Resume."""
    assert kind_in("logs/issue-7-run-99-1-repair-2-resume.jsonl") == "repair-2"
    assert kind_in("issue-7-run-99-1-implement.jsonl") == "implement"
    assert kind_in("stream.jsonl") == "recorded"


def test_a_line_over_the_limit_costs_only_itself() -> None:
    """An endless line is cut, and what follows it is still read."""
    stream = io.BytesIO(b"x" * 25 + b"\nnext\n")

    assert list(lines(stream, limit=10)) == [b"x" * 10, b"next"]
