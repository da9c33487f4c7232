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
    CiState,
    CiVerdict,
    FailureEntry,
    Outcome,
    PullRequest,
    Record,
    Remark,
    RepairEntry,
    SessionEntry,
    Trigger,
    UnreadableRecord,
    from_json,
    to_json,
)

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
FULL = replace(
    FRESH,
    claimed=True,
    remarks=(Remark("bob", "and `mul` too"),),
    head="b" * 40,
    pushed="b" * 40,
    implemented=True,
    pull_request=PullRequest(8, "https://example.com/8", draft=True),
    sessions=(
        SessionEntry("implement", "id", 61.5, 0.25, 3, "resume", lost=("tests",), transcript="a.jsonl"),
        SessionEntry("implement-resume", "id", 1.0, 0.5, 1, "done"),
    ),
    resumes=1,
    repairs=(RepairEntry(1, ("test",), "a" * 40, "b" * 40, ("calc.py",), "swapped", CiState.RED, 99),),
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


def test_notes_are_kept_once() -> None:
    """The same note twice is one note."""
    assert FRESH.noted("a").noted("b").noted("a").notes == ("a", "b")


def test_no_path_of_this_machine(tmp_path: Path) -> None:
    """The written Record is a plain JSON document that another runner can read."""
    file = tmp_path / "record.json"
    file.write_text(to_json(FULL), encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8"))["trigger"]["title"] == TRIGGER.title
