"""A Run's Records at several points, built by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.record import (
    Check,
    CheckState,
    CiState,
    CiVerdict,
    JobEntry,
    PullRequest,
    Record,
    RepairEntry,
    SessionEntry,
    Trigger,
)
from bot.report.render import Limits

HEAD = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"
FIXED = "0f1e2d3c4b5a69788796a5b4c3d2e1f001122334"
JOB = "https://github.example/acme/widget/actions/runs/4711/job/8"


@pytest.fixture
def limits() -> Limits:
    return Limits(max_repairs=5, max_cost_usd=10, run_timeout_minutes=330, session_timeout_minutes=60)


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 4, 2, 23, tzinfo=UTC)


@pytest.fixture
def claimed() -> Record:
    """A Run that has only been claimed."""
    trigger = Trigger(
        repository="acme/widget",
        issue=7,
        title="Greet people by name",
        body="The greeting is the same for everybody.",
        label="nightjar",
        requested_by="alice",
        asked_at="2026-03-04T02:00:00Z",
        run_id="4711",
        run_attempt=1,
        job_url=JOB,
    )
    job = JobEntry("4711", 1, JOB, "nightjar.yml", "2026-03-04T02:00:05.120+00:00")
    return Record(trigger=trigger, base="main", branch="nightjar/issue-7", max_repairs=5, jobs=(job,), claimed=True)


@pytest.fixture
def pushed(claimed: Record) -> Record:
    """A Run whose pull request is open and whose CI has failed; the Session needed its Resume."""
    unit = Check("unit", "github-actions", ".github/workflows/ci.yml", CheckState.FAILED, "failure", JOB, 8)
    lint = Check("lint", "github-actions", ".github/workflows/ci.yml", CheckState.PASSED, "success", JOB, 9)
    return replace(
        claimed,
        base_commit="b" * 40,
        head=HEAD,
        implemented=True,
        title="Greet people by name",
        body="The greeting takes a name now.\n\n- `greet(name)` falls back to *world*.",
        pushed=HEAD,
        pull_request=PullRequest(12, "https://github.example/acme/widget/pull/12", draft=True),
        tracking_comment=900,
        sessions=(
            SessionEntry(
                *("implement", "S1", 754.2, 0.61, 14, "resume"),
                lost=("npm test",),
                transcript="/logs/implement.jsonl",
                began="2026-03-04T02:00:41.000+00:00",
            ),
            SessionEntry(
                *("implement-resume", "S1", 95.0, 0.12, 3, "done"),
                transcript="/logs/implement-resume.jsonl",
                began="2026-03-04T02:13:16.000+00:00",
            ),
        ),
        resumes=1,
        watched_since="2026-03-04T02:15:02.000+00:00",
    ).heard(CiVerdict(HEAD, CiState.RED, (unit, lint)), "2026-03-04T02:18:30.000+00:00")


@pytest.fixture
def repaired(pushed: Record) -> Record:
    """The same after one Repair, green."""
    assert pushed.ci is not None
    checks = tuple(replace(check, state=CheckState.PASSED, conclusion="success") for check in pushed.ci.checks)
    repair = RepairEntry(
        1,
        red=("unit",),
        before=HEAD,
        after=FIXED,
        files=("greet.py", "tests/test_greet.py"),
        summary="The test expected a comma.\nI added it to `greet`.",
        ci=CiState.GREEN,
        comment=901,
    )
    mended = replace(
        pushed,
        head=FIXED,
        pushed=FIXED,
        sessions=(
            *pushed.sessions,
            SessionEntry(
                *("repair-1", "S2", 48, 0.2, 5, "done"),
                transcript="/logs/repair-1.jsonl",
                began="2026-03-04T02:18:33.000+00:00",
            ),
        ),
        repairs=(repair,),
        watched_since="2026-03-04T02:19:25.000+00:00",
    )
    return mended.heard(CiVerdict(FIXED, CiState.GREEN, checks), "2026-03-04T02:22:50.000+00:00")
