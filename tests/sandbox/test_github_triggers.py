"""What starts the embedded GitHub's CI and what does not: approvals, job tokens, Actions off, skip markers."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import SECONDS, Caller

REPO = "/repos/acme/checked"
PULL = {"title": "Work", "head": "work", "base": "main"}


@pytest.fixture
def job_call(live: EmbeddedGitHub) -> Caller:
    """Plain HTTP with a job's own token."""
    return Caller(live, live.issue_token("github-actions[bot]", kind="job"))


def _runs(call: Caller, sha: str) -> list[dict[str, Any]]:
    return list(call.get(f"{REPO}/actions/runs?head_sha={sha}")["workflow_runs"])


def _states(call: Caller, sha: str) -> set[tuple[str, str, str | None]]:
    return {(run["event"], run["status"], run["conclusion"]) for run in _runs(call, sha)}


def test_a_run_that_needs_an_approval_waits_for_it(
    live: EmbeddedGitHub, checked: SandboxRepository, live_call: Caller
) -> None:
    """GitHub shows it as completed and action_required, with no jobs, no checks and no pull request; approved it runs
    for real, under the same id."""
    checked.require_approval("nightjar[bot]")
    sha = checked.commit("work", {"check.sh": "echo new\n"}, "Change")
    live_call("POST", f"{REPO}/pulls", PULL)
    assert live.idle(SECONDS)
    assert _states(live_call, sha) == {
        ("push", "completed", "success"),
        ("pull_request", "completed", "action_required"),
    }
    held = next(run for run in _runs(live_call, sha) if run["event"] == "pull_request")
    assert held["pull_requests"] == []
    assert live_call.get(f"{REPO}/actions/runs/{held['id']}/jobs")["total_count"] == 0
    suites = live_call.get(f"{REPO}/commits/{sha}/check-suites")["check_suites"]
    assert {(suite["conclusion"], suite["latest_check_runs_count"]) for suite in suites} == {
        ("success", 1),
        ("action_required", 0),
    }

    assert live_call("POST", f"{REPO}/actions/runs/{held['id']}/approve").status == 201
    assert live.idle(SECONDS)
    done = live_call.get(f"{REPO}/actions/runs/{held['id']}")
    assert (done["conclusion"], done["run_attempt"]) == ("success", 1)
    assert [job["name"] for job in live_call.get(f"{REPO}/actions/runs/{held['id']}/jobs")["jobs"]] == ["test"]
    again = live_call("POST", f"{REPO}/actions/runs/{held['id']}/approve")
    assert (again.status, again.body["message"]) == (403, "This workflow run is not waiting for approval")


def test_a_job_tokens_pull_request_waits_for_a_person_where_github_has_it_so(
    live: EmbeddedGitHub, checked: SandboxRepository, job_call: Caller
) -> None:
    """Its run cannot be approved through the API, as it is no fork's; in the browser it can."""
    checked.job_token_starts("awaiting approval")
    sha = checked.commit("work", {"check.sh": "echo new\n"}, "Change")
    job_call("POST", f"{REPO}/pulls", PULL)
    assert live.idle(SECONDS)
    held = next(run for run in _runs(job_call, sha) if run["event"] == "pull_request")
    assert held["conclusion"] == "action_required"
    refused = job_call("POST", f"{REPO}/actions/runs/{held['id']}/approve")
    assert (refused.status, refused.body["message"]) == (403, "This run is not from a fork pull request")
    checked.approve_run(held["id"])
    assert live.idle(SECONDS)
    assert job_call.get(f"{REPO}/actions/runs/{held['id']}")["conclusion"] == "success"


def test_a_job_tokens_pull_request_starts_nothing_on_an_enterprise_server(
    live: EmbeddedGitHub, checked: SandboxRepository, job_call: Caller
) -> None:
    """No run exists for it; a dispatch by the same token runs."""
    sha = checked.commit("work", {"check.sh": "echo new\n"}, "Change [skip ci]")
    job_call("POST", f"{REPO}/pulls", PULL)
    assert live.idle(SECONDS)
    assert _runs(job_call, sha) == []
    assert job_call("POST", f"{REPO}/actions/workflows/ci.yml/dispatches", {"ref": "work"}).status == 204
    assert live.idle(SECONDS)
    assert _states(job_call, sha) == {("workflow_dispatch", "completed", "success")}


@pytest.mark.parametrize("message", ["Explain [skip ci]", "Change\n\n[no ci]", "Change\n\n\nskip-checks: true"])
def test_a_skip_marker_in_the_head_commit_starts_nothing(
    live: EmbeddedGitHub, checked: SandboxRepository, live_call: Caller, message: str
) -> None:
    """Neither the push nor the pull request is tested; a later commit without it is."""
    sha = checked.commit("work", {"check.sh": "echo new\n"}, message)
    live_call("POST", f"{REPO}/pulls", PULL)
    assert live.idle(SECONDS)
    assert _runs(live_call, sha) == []
    later = checked.commit("work", {"check.sh": "echo newer\n"}, "Change again")
    assert live.idle(SECONDS)
    assert {run["event"] for run in _runs(live_call, later)} == {"push", "pull_request"}


def test_where_actions_is_off_nothing_starts(
    live: EmbeddedGitHub, checked: SandboxRepository, live_call: Caller
) -> None:
    """No run appears, and a dispatch is refused; who may read the settings sees why."""
    checked.enable_actions(False)
    sha = checked.commit("work", {"check.sh": "echo new\n"}, "Change")
    assert live.idle(SECONDS)
    assert _runs(live_call, sha) == []
    assert live_call("POST", f"{REPO}/actions/workflows/ci.yml/dispatches", {"ref": "work"}).status == 422
    owner = Caller(live, live.issue_token("acme", kind="pat"))
    assert owner.get(f"{REPO}/actions/permissions") == {"enabled": False}
    assert live_call("GET", f"{REPO}/actions/permissions").status == 403


def test_a_pull_request_is_tested_as_merged_and_shown_on_its_head(
    live: EmbeddedGitHub, checked: SandboxRepository, live_call: Caller
) -> None:
    """What is green alone and red with the base's newest commit is red, at the head's commit id."""
    sha = checked.commit("work", {"check.sh": "test ! -e broken\n"}, "Check")
    checked.commit("main", {"broken": "yes\n"}, "Break")
    live_call("POST", f"{REPO}/pulls", PULL)
    assert live.idle(SECONDS)
    assert {(run["event"], run["conclusion"]) for run in _runs(live_call, sha)} == {
        ("push", "success"),
        ("pull_request", "failure"),
    }
