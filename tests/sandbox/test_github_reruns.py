"""Runs of the embedded GitHub's CI that are run again, through PyGithub, ghapi and plain HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from ghapi.core import GhApi

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import SECONDS, Caller

# `flaky` passes from the second attempt on; `after` needs it, `steady` has nothing to do with it.
FLAKY = """name: CI
on: push
jobs:
  steady:
    runs-on: ubuntu-latest
    steps: [{run: "echo steady"}]
  flaky:
    runs-on: ubuntu-latest
    strategy: {fail-fast: false, matrix: {kind: [good, bad]}}
    steps:
      - run: |
          echo "attempt $GITHUB_RUN_ATTEMPT"
          test "${{ matrix.kind }}" = good || test "$GITHUB_RUN_ATTEMPT" -gt 1
  after:
    needs: flaky
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
"""
REPO = "/repos/acme/flaky"
FIRST = {"steady": "success", "flaky (good)": "success", "flaky (bad)": "failure", "after": "skipped"}


@pytest.fixture
def flaky(live: EmbeddedGitHub) -> SandboxRepository:
    """acme/flaky, whose first CI on main is red."""
    made = live.create_repository("acme/flaky", {".github/workflows/ci.yml": FLAKY})
    assert live.idle(SECONDS)
    return made


def _run(call: Caller) -> dict[str, Any]:
    (run,) = call.get(f"{REPO}/actions/runs")["workflow_runs"]
    return dict(run)


def _jobs(call: Caller, path: str) -> dict[str, dict[str, Any]]:
    return {job["name"]: job for job in call.get(f"{REPO}/actions/runs/{path}")["jobs"]}


def _conclusions(jobs: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: job["conclusion"] for name, job in jobs.items()}


def test_failed_jobs_and_those_that_need_them_run_again(
    live: EmbeddedGitHub, flaky: SandboxRepository, live_call: Caller
) -> None:
    """The run goes on as its second attempt: what failed runs for real and gets new ids, what passed is carried over
    with the times it had, and the commit is green."""
    before = _run(live_call)
    first = _jobs(live_call, f"{before['id']}/jobs")
    assert _conclusions(first) == FIRST
    assert (before["run_attempt"], before["conclusion"]) == (1, "failure")

    owner, name = flaky.full_name.split("/")
    api: Any = GhApi(owner, name, live.issue_token("nightjar[bot]"), gh_host=live.api_url, sync=True)  # type: ignore[no-untyped-call]
    api.actions.re_run_workflow_failed_jobs(before["id"])
    during = _run(live_call)
    assert (during["run_attempt"], during["conclusion"]) == (2, None)
    assert live.idle(SECONDS)

    after = _run(live_call)
    second = _jobs(live_call, f"{after['id']}/jobs")
    assert _conclusions(second) == dict.fromkeys(FIRST, "success")
    assert (after["run_attempt"], after["conclusion"], after["head_sha"]) == (2, "success", before["head_sha"])
    assert after["previous_attempt_url"].endswith("/attempts/1")
    assert after["triggering_actor"]["login"] == "nightjar[bot]"
    assert {job["run_attempt"] for job in second.values()} == {2}
    assert not {job["id"] for job in first.values()} & {job["id"] for job in second.values()}
    again = {name for name in FIRST if first[name]["started_at"] != second[name]["started_at"]}
    ran = {name for name in FIRST if second[name]["conclusion"] != first[name]["conclusion"]}
    assert ran == {"flaky (bad)", "after"}
    assert again <= ran  # times are whole seconds, so a job that ran again may show the same one
    rows = live_call.get(f"{REPO}/commits/{after['head_sha']}/check-runs")["check_runs"]
    assert {row["name"]: row["conclusion"] for row in rows} == dict.fromkeys(FIRST, "success")
    everything = live_call.get(f"{REPO}/commits/{after['head_sha']}/check-runs?filter=all")
    assert everything["total_count"] == 8


def test_an_attempt_is_kept_as_it_was(live: EmbeddedGitHub, flaky: SandboxRepository, live_call: Caller) -> None:
    """After a re-run the first attempt and its jobs still say what they said."""
    run = _run(live_call)["id"]
    assert live_call("POST", f"{REPO}/actions/runs/{run}/rerun-failed-jobs").status == 201
    assert live.idle(SECONDS)
    first = live_call.get(f"{REPO}/actions/runs/{run}/attempts/1")
    assert (first["run_attempt"], first["conclusion"]) == (1, "failure")
    assert _conclusions(_jobs(live_call, f"{run}/attempts/1/jobs")) == FIRST
    assert live_call.get(f"{REPO}/actions/runs/{run}/attempts/2")["conclusion"] == "success"
    assert live_call("GET", f"{REPO}/actions/runs/{run}/attempts/3").status == 404
    assert live_call.get(f"{REPO}/actions/runs/{run}/jobs?filter=all")["total_count"] == 8


def test_one_job_or_the_whole_run_can_be_run_again(
    live: EmbeddedGitHub, flaky: SandboxRepository, live_call: Caller
) -> None:
    """One job takes only itself and those that need it along; the run takes all."""
    run = _run(live_call)["id"]
    steady = _jobs(live_call, f"{run}/jobs")["steady"]["id"]
    assert live_call("POST", f"{REPO}/actions/jobs/{steady}/rerun").status == 201
    assert live.idle(SECONDS)
    second = _jobs(live_call, f"{run}/jobs")
    assert _conclusions(second) == FIRST
    assert live_call("POST", f"{REPO}/actions/runs/{run}/rerun").status == 201
    assert live.idle(SECONDS)
    third = _jobs(live_call, f"{run}/attempts/3/jobs")
    assert _conclusions(third) == dict.fromkeys(FIRST, "success")


def test_a_run_without_ci_behind_it_is_queued_again(repo: SandboxRepository, call: Caller) -> None:
    """What was set by hand gets queued rows for its failed jobs, which can be set again."""
    sha = repo.refs()["refs/heads/main"]
    run = repo.add_run(sha, "ci.yml", "failure")
    repo.add_job(run, "test", "failure")
    repo.add_job(run, "lint", "success")
    path = f"/repos/acme/widget/actions/runs/{run}"
    assert call("POST", f"{path}/rerun-failed-jobs").status == 201
    jobs = {job["name"]: job for job in call.get(f"{path}/jobs")["jobs"]}
    assert {name: job["status"] for name, job in jobs.items()} == {"test": "queued", "lint": "completed"}
    repo.set_check(jobs["test"]["id"], "success")
    repo.set_run(run, "success")
    found = call.get(path)
    assert (found["run_attempt"], found["conclusion"]) == (2, "success")


def test_what_cannot_be_run_again_is_refused(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """A run that goes on, one that never started, one with nothing red and a token that may only read get 403."""
    sha = repo.refs()["refs/heads/main"]
    busy, broken = repo.add_run(sha, "busy.yml"), repo.add_run(sha, "broken.yml", "startup_failure")
    green, red = repo.add_run(sha, "ci.yml", "success"), repo.add_run(sha, "ci.yml", "failure")
    repo.add_job(green, "test", "success")
    repo.add_job(red, "test", "failure")
    actions = "/repos/acme/widget/actions/runs"
    answers = [call("POST", f"{actions}/{run}/rerun-failed-jobs") for run in (busy, broken, green)]
    assert [(got.status, got.body["message"]) for got in answers] == [
        (403, "This workflow is already running"),
        (403, "This workflow run cannot be retried"),
        (403, "This workflow run cannot be retried"),
    ]
    reader = Caller(hub, hub.issue_token("github-actions[bot]", kind="job", permissions={"actions": "read"}))
    assert reader.get(f"{actions}/{red}")["conclusion"] == "failure"
    refused = reader("POST", f"{actions}/{red}/rerun-failed-jobs")
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
    assert call.get(f"{actions}/{red}")["run_attempt"] == 1
