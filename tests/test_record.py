"""The Record: what is written is what is read, and what cannot be read is never guessed at."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.record import (
    VERSION,
    Check,
    CheckState,
    CiEntry,
    CiState,
    CiVerdict,
    FailureEntry,
    JobEntry,
    Outcome,
    Parked,
    PullRequest,
    Record,
    Remark,
    RepairEntry,
    SessionEntry,
    Trigger,
    WaitsFor,
)
from bot.stored import UnreadableRecord, from_json, to_json

TRIGGER = Trigger(
    repository="acme/widget",
    issue=7,
    title="Titel mit Ümlaut \N{BIRD}",
    body="line\nline",
    label="nightjar",
    requested_by="alice",
    asked_at="2026-05-01T10:00:00+00:00",
    run_id="42",
    run_attempt=1,
    job_url="https://github.com/acme/widget/actions/runs/42",
)
FRESH = Record(trigger=TRIGGER, base="main", branch="nightjar/issue-7", max_repairs=5)
CHECK = Check("test", "github-actions", "ci.yml", CheckState.FAILED, "failure", "https://example.com", job_id=3)
NOON, LATER = "2026-05-01T12:00:00.000+00:00", "2026-05-01T13:00:00.000+00:00"
JOB = JobEntry("42", 1, "https://github.com/acme/widget/actions/runs/42", "nightjar.yml", began=TRIGGER.asked_at)
FULL = replace(
    FRESH,
    jobs=(replace(JOB, ended=NOON, waits_for=WaitsFor.CI), replace(JOB, run_id="43", workflow="")),
    parked=Parked(WaitsFor.USAGE_LIMIT, NOON, LATER),
    slot=2,
    placed=True,
    watched_since=NOON,
    waits_for_ci=(CiEntry("b" * 40, CiState.RED, ("test",), NOON, LATER),),
    claimed=True,
    remarks=(Remark("bob", "and `mul` too"),),
    head="b" * 40,
    pushed="b" * 40,
    implemented=True,
    pull_request=PullRequest(8, "https://example.com/8", draft=True),
    sessions=(
        SessionEntry("implement", "id", 61.5, 0.25, 3, "resume", lost=("tests",), transcript="a.jsonl", began=NOON),
        SessionEntry("implement-resume", "id", 1.0, 0.5, 1, "done"),
    ),
    resumes=1,
    repairs=(
        RepairEntry(1, ("test",), "a" * 40, "b" * 40, ("calc.py",), "swapped", CiState.RED, 99),
        RepairEntry(2, ("test",), "b" * 40, interrupted=True),
    ),
    ci=CiVerdict("b" * 40, CiState.RED, (CHECK, replace(CHECK, name="lint", state=CheckState.PASSED))),
    notes=("a note",),
    outcome=Outcome.FAILED,
    failure=FailureEntry("ci_red", "still red", "tail"),
)


@pytest.mark.parametrize("record", [FRESH, FULL], ids=["fresh", "full"])
def test_round_trip(record: Record) -> None:
    """Reading gives the Record that was written, to the last type."""
    assert from_json(to_json(record)) == record


def test_newer_version() -> None:
    """A Record of another version is refused, and the text says which versions are meant."""
    text = json.dumps(json.loads(to_json(FRESH)) | {"version": VERSION + 1})
    with pytest.raises(UnreadableRecord, match=f"has version {VERSION + 1}; this Nightjar reads version {VERSION}"):
        from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"version": 1}',
        to_json(FULL)[:-20],
        json.dumps(json.loads(to_json(FRESH)) | {"more": 1}),
        json.dumps(json.loads(to_json(FULL)) | {"outcome": "glorious"}),
        json.dumps(json.loads(to_json(FULL)) | {"sessions": "none"}),
    ],
)
def test_damaged(text: str) -> None:
    """A torn or foreign file is refused, never half understood."""
    with pytest.raises(UnreadableRecord):
        from_json(text)


def test_what_follows_from_it() -> None:
    """Cost and failed checks are worked out, not stored."""
    assert FULL.cost_usd == pytest.approx(0.75)
    assert FULL.ci is not None
    assert [check.name for check in FULL.ci.failed] == ["test"]


WORKING = replace(FULL, outcome=None, failure=None, parked=None, conflicts=("calc.py",), round_base="c" * 40)


@pytest.mark.parametrize(
    ("waits_for", "state"),
    [(kind, "queued" if kind is WaitsFor.SLOT else "parked") for kind in WaitsFor],
)
def test_parked(waits_for: WaitsFor, state: str) -> None:
    """A Run that waits gives runner and slot back, and says until when; only one that waits for others is queued."""
    parked = WORKING.parked_for(waits_for, NOON, LATER)
    assert (parked.state, parked.slot, parked.jobs[-1].ended) == (state, 0, NOON)
    assert parked.parked == Parked(waits_for, NOON, LATER)
    assert replace(parked, outcome=Outcome.FAILED).state == "failed"


def test_taken_up() -> None:
    """Another job begins from the last commit, with a claim and a workspace of its own, and all that was spent."""
    job = replace(JOB, run_id="44", began=LATER)
    again = WORKING.parked_for(WaitsFor.CI, NOON).taken_up(job)
    assert (again.state, again.claimed, again.placed, again.checkpoint) == ("working", False, False, WORKING.head)
    assert [one.run_id for one in again.jobs] == ["42", "43", "44"]
    assert (again.repairs, again.sessions, again.resumes) == (WORKING.repairs, WORKING.sessions, WORKING.resumes)
    # A merge that was left open went with its runner: it is made anew, from the Base branch as it is then.
    assert (again.conflicts, again.round_base) == ((), "")
    assert replace(WORKING, conflicts=()).taken_up(job).round_base == WORKING.round_base


def test_notes_are_kept_once() -> None:
    """The same note twice is one note."""
    assert FRESH.noted("a").noted("b").noted("a").notes == ("a", "b")


def test_no_path_of_this_machine(tmp_path: Path) -> None:
    """The written Record is a plain JSON document that another runner can read."""
    file = tmp_path / "record.json"
    file.write_text(to_json(FULL), encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8"))["trigger"]["title"] == TRIGGER.title
