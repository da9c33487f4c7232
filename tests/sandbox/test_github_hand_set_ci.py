"""The odd rows that a CI can leave behind, set by hand and read over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.github import Annotation, EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import SECONDS, Caller

REPO = "/repos/acme/widget"


@pytest.fixture
def sha(repo: SandboxRepository) -> str:
    """The tip of main."""
    return repo.refs()["refs/heads/main"]


def _rows(call: Caller, sha: str) -> list[dict[str, Any]]:
    return list(call.get(f"{REPO}/commits/{sha}/check-runs")["check_runs"])


def test_the_same_name_in_two_workflows_and_two_suites(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """Each run has a suite of its own, so all three rows are listed, each with its run's address."""
    made = [repo.add_run(sha, workflow, "success") for workflow in ("ci.yml", "ci.yml", "nightly.yml")]
    for run, conclusion in zip(made, ("failure", "success", "failure"), strict=True):
        repo.add_job(run, "test", conclusion)
    rows = _rows(call, sha)
    assert [(row["name"], row["conclusion"]) for row in rows] == [
        ("test", "failure"),
        ("test", "success"),
        ("test", "failure"),
    ]
    assert len({row["check_suite"]["id"] for row in rows}) == 3
    runs = call.get(f"{REPO}/actions/runs?head_sha={sha}")["workflow_runs"]
    assert [(run["path"].rsplit("/", 1)[-1], run["run_number"]) for run in runs] == [
        ("nightly.yml", 1),
        ("ci.yml", 2),
        ("ci.yml", 1),
    ]


def test_a_suite_that_never_starts(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """Another app's queued suite has no check runs, and gets the one that comes late."""
    repo.add_suite(sha, "some-app")
    repo.set_check_run(sha, "test", "success", workflow="ci.yml")

    def suites() -> dict[str, tuple[str, int]]:
        found = call.get(f"{REPO}/commits/{sha}/check-suites")["check_suites"]
        return {suite["app"]["slug"]: (suite["status"], suite["latest_check_runs_count"]) for suite in found}

    assert suites() == {"some-app": ("queued", 0), "github-actions": ("completed", 1)}
    repo.set_app_check(sha, "late", None, "some-app")
    assert suites()["some-app"] == ("in_progress", 1)


def test_a_row_that_is_stuck_while_its_run_is_over(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """The run is completed and its suite too, the job still says in_progress."""
    run = repo.add_run(sha, "ci.yml", "success")
    repo.add_job(run, "test")
    (row,) = _rows(call, sha)
    (suite,) = call.get(f"{REPO}/commits/{sha}/check-suites")["check_suites"]
    assert (row["status"], suite["status"], suite["conclusion"]) == ("in_progress", "completed", "success")


@pytest.mark.parametrize("conclusion", ["stale", "cancelled", "timed_out", "neutral", "action_required"])
def test_any_conclusion_can_be_set(repo: SandboxRepository, call: Caller, sha: str, conclusion: str) -> None:
    """A check run says what it was given."""
    repo.set_app_check(sha, "odd", conclusion, "some-app")
    assert [(row["status"], row["conclusion"]) for row in _rows(call, sha)] == [("completed", conclusion)]


@pytest.mark.parametrize("conclusion", ["startup_failure", "cancelled"])
def test_a_run_can_have_no_jobs(repo: SandboxRepository, call: Caller, sha: str, conclusion: str) -> None:
    """It ends without a row, and only runs and suites tell of it."""
    run = repo.add_run(sha, "ci.yml", conclusion)
    assert call.get(f"{REPO}/actions/runs/{run}")["conclusion"] == conclusion
    assert call.get(f"{REPO}/actions/runs/{run}/jobs")["jobs"] == []
    assert _rows(call, sha) == []


def test_a_job_may_register_late(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """All rows are green while the run goes on; then the summary job comes, and fails."""
    run = repo.add_run(sha, "ci.yml")
    repo.add_job(run, "test", "success")
    assert [row["conclusion"] for row in _rows(call, sha)] == ["success"]
    assert call.get(f"{REPO}/actions/runs/{run}")["status"] == "in_progress"
    summary = repo.add_job(run, "summary")
    repo.set_check(summary, "failure", log="no\n")
    repo.set_run(run, "failure")
    assert {row["name"]: row["conclusion"] for row in _rows(call, sha)} == {"test": "success", "summary": "failure"}


def test_a_status_of_waiting_can_be_set(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """Runs and rows can sit in any of GitHub's words for unfinished."""
    run = repo.add_run(sha, "ci.yml")
    job = repo.add_job(run, "deploy")
    repo.set_run(run, None, status="waiting")
    repo.set_check(job, None, status="waiting")
    assert call.get(f"{REPO}/actions/runs/{run}")["status"] == "waiting"
    assert [row["status"] for row in _rows(call, sha)] == ["waiting"]


def test_a_lost_runner_leaves_an_annotation_and_nothing_else(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """No steps, no log (404), and GitHub's sentence on the check run."""
    job = repo.lose_runner(repo.add_run(sha, "ci.yml", "failure"), "test")
    found = call.get(f"{REPO}/actions/jobs/{job}")
    assert (found["conclusion"], found["steps"]) == ("failure", [])
    assert call("GET", f"{REPO}/actions/jobs/{job}/logs").status == 404
    (note,) = call.get(f"{REPO}/check-runs/{job}/annotations")
    assert note["annotation_level"] == "failure"
    assert note["message"].startswith("The hosted runner lost communication")


def test_steps_and_annotations_can_be_set(repo: SandboxRepository, call: Caller, sha: str) -> None:
    """A job by hand has the steps and the notes that it was given, counted."""
    run = repo.add_run(sha, "ci.yml", "failure")
    job = repo.add_job(run, "test", "failure", steps=[("Set up job", "success"), ("Run tests", "failure")], log="no\n")
    repo.annotate(job, Annotation("warning", "slow", "app.py", 2, 4))
    steps = call.get(f"{REPO}/actions/jobs/{job}")["steps"]
    assert [(step["number"], step["name"], step["conclusion"]) for step in steps] == [
        (1, "Set up job", "success"),
        (2, "Run tests", "failure"),
    ]
    assert call.get(f"{REPO}/check-runs/{job}")["output"]["annotations_count"] == 1
    (note,) = call.get(f"{REPO}/check-runs/{job}/annotations")
    assert (note["path"], note["start_line"], note["end_line"]) == ("app.py", 2, 4)


def test_what_a_real_job_says_becomes_annotations(
    live: EmbeddedGitHub, checked: SandboxRepository, live_call: Caller
) -> None:
    """Workflow commands annotate the line they name, and the exit code the run as a whole."""
    says = "echo '::error file=app.py,line=3,title=Broken%3A::no%0Amore'\necho '::warning::hm'\nexit 4\n"
    sha = checked.commit("work", {"check.sh": says}, "Break")
    assert live.idle(SECONDS)
    (row,) = live_call.get(f"/repos/acme/checked/commits/{sha}/check-runs")["check_runs"]
    notes = live_call.get(f"/repos/acme/checked/check-runs/{row['id']}/annotations")
    assert [
        (note["annotation_level"], note["path"], note["start_line"], note["title"], note["message"]) for note in notes
    ] == [
        ("failure", "app.py", 3, "Broken:", "no\nmore"),
        ("warning", ".github", 1, "", "hm"),
        ("failure", ".github", 1, "", "Process completed with exit code 4."),
    ]
