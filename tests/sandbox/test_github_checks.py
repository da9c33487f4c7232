"""The embedded GitHub's checks, statuses, Actions and logs: as set by hand, and as real CI makes them."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import github
import pytest
from ghapi.core import GhApi
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import SECONDS, Client, Git


def _pygithub(live: EmbeddedGitHub, token: str) -> github.Github:
    return github.Github(
        base_url=live.api_url, auth=github.Auth.Token(token), seconds_between_requests=0, seconds_between_writes=0
    )


def _ghapi(hub: EmbeddedGitHub, repo: SandboxRepository, token: str) -> GhApi:
    owner, name = repo.full_name.split("/")
    return GhApi(owner, name, token, gh_host=hub.api_url, sync=True)  # type: ignore[no-untyped-call]


def test_a_red_push_turns_green(live: EmbeddedGitHub, checked: SandboxRepository) -> None:
    """CI runs the pushed commit's own workflow; a fix on the branch turns the check and the pull request's state."""
    with _pygithub(live, live.issue_token("nightjar[bot]")) as client:
        remote = client.get_repo(checked.full_name)
        shas = [checked.commit("work", {"check.sh": "echo broken\nexit 3\n"}, "Break")]
        pull = remote.create_pull(title="Work", head="work", base="main")
        assert live.idle(SECONDS)
        states = [remote.get_pull(pull.number).mergeable_state for _ in range(2)]
        shas.append(checked.commit("work", {"check.sh": "echo fixed\n"}, "Fix"))
        assert live.idle(SECONDS)
        states += [remote.get_pull(pull.number).mergeable_state for _ in range(2)]
        assert states == ["unknown", "unstable", "unknown", "clean"]
        runs = {sha: list(remote.get_commit(sha).get_check_runs()) for sha in shas}
    assert [{(run.name, run.conclusion) for run in runs[sha]} for sha in shas] == [
        {("test", "failure")},
        {("test", "success")},
    ]
    # One by the push and one by the pull request, as on GitHub.
    assert [len(runs[sha]) for sha in shas] == [2, 2]
    told = [event.text for event in checked.timeline(pull.number) if event.kind == "check"]
    assert sorted(told) == ["CI / test: failure"] * 2 + ["CI / test: success"] * 2


def test_the_log_of_a_job_is_behind_a_redirect(live: EmbeddedGitHub, checked: SandboxRepository) -> None:
    """The API answers 302 to another host, which gives the log to whoever has the address and refuses a token on
    top."""
    token = live.issue_token("nightjar[bot]")
    api = _ghapi(live, checked, token)
    sha = checked.commit("work", {"check.sh": "echo broken\nexit 3\n"}, "Break")
    assert live.idle(SECONDS)
    run = api.actions.list_workflow_runs_for_repo(head_sha=sha).workflow_runs[0]
    job = api.actions.list_jobs_for_workflow_run(run.id).jobs[0]
    assert [(step.name, step.conclusion) for step in job.steps if step.name == "Check"] == [("Check", "failure")]
    assert "broken" in str(api.actions.download_job_logs_for_workflow_run(job.id))

    with _pygithub(live, token) as client:
        _, headers, _ = client.requester.requestBlob("GET", f"/repos/acme/checked/actions/jobs/{job.id}/logs")
    address = headers["location"]
    assert not address.startswith(live.server_url)
    with urllib.request.urlopen(address) as answer:
        assert b"broken" in answer.read()
    for url, sent, status in ((address, {"Authorization": f"Bearer {token}"}, 400), (address + "0", {}, 403)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, headers=sent))
        assert refused.value.code == status
        refused.value.close()


def test_a_job_token_starts_no_ci_but_a_dispatch(
    live: EmbeddedGitHub, checked: SandboxRepository, tmp_path: Path
) -> None:
    """A push and a pull request by the job's own token start nothing; workflow_dispatch by it does."""
    token = live.issue_token("github-actions[bot]", kind="job")
    (tmp_path / "clone").mkdir()
    git = Git(tmp_path / "clone")
    git("clone", "-q", checked.clone_url, ".")
    sha = git.commit("more.txt", "more\n")
    assert git("push", "origin", "HEAD:work", token=token).returncode == 0
    with _pygithub(live, token) as client:
        remote = client.get_repo(checked.full_name)
        remote.create_pull(title="Work", head="work", base="main")
        assert live.idle(SECONDS)
        assert remote.get_commit(sha).get_check_runs().totalCount == 0
        assert remote.get_workflow("ci.yml").create_dispatch("work")
        assert live.idle(SECONDS)
        assert [(run.event, run.conclusion) for run in remote.get_workflow_runs(head_sha=sha)] == [
            ("workflow_dispatch", "success")
        ]
        with pytest.raises(github.UnknownObjectException):
            remote.get_workflow("missing.yml")


def test_a_conflicting_pull_request_gets_no_ci_of_its_own(live: EmbeddedGitHub, checked: SandboxRepository) -> None:
    """While it conflicts with its base, only the push is tested."""
    sha = checked.commit("work", {"check.sh": "echo one\n"}, "One")
    checked.commit("main", {"check.sh": "echo two\n"}, "Two")
    with _pygithub(live, live.issue_token("nightjar[bot]")) as client:
        remote = client.get_repo(checked.full_name)
        remote.create_pull(title="Work", head="work", base="main")
        assert live.idle(SECONDS)
        assert [run.event for run in remote.get_workflow_runs(head_sha=sha)] == ["push"]


def test_the_latest_check_of_a_name_counts(repo: SandboxRepository, remote: Repository) -> None:
    """A check that ran again in the same workflow run is listed once unless all are asked for."""
    sha = repo.refs()["refs/heads/main"]
    repo.set_check_run(sha, "test", "failure", workflow="ci.yml")
    repo.set_check_run(sha, "test", "success", workflow="ci.yml")
    repo.set_app_check(sha, "external", None, "linter")
    commit = remote.get_commit(sha)
    assert {(run.name, run.conclusion, run.app.slug) for run in commit.get_check_runs()} == {
        ("test", "success", "github-actions"),
        ("external", None, "linter"),
    }
    assert commit.get_check_runs(filter="all").totalCount == 3
    assert {(suite.status, suite.conclusion) for suite in commit.get_check_suites()} == {
        ("completed", "success"),
        ("in_progress", None),
    }
    assert [run.conclusion for run in remote.get_workflow_runs(head_sha=sha)] == ["success"]


def test_statuses_add_up(hub: EmbeddedGitHub, connect: Client, repo: SandboxRepository) -> None:
    """The latest status of each context counts, and one that failed makes the sum failure."""
    remote = connect(hub.issue_token("alice", "pat")).get_repo(repo.full_name)
    commit = remote.get_commit("main")
    seen = [commit.get_combined_status().state]
    for context, state in (("build", "pending"), ("lint", "failure"), ("lint", "success"), ("build", "success")):
        commit.create_status(state, context=context)
        seen.append(commit.get_combined_status().state)
    assert seen == ["pending", "pending", "failure", "pending", "success"]
    assert commit.get_statuses().totalCount == 4


def test_long_lists_of_checks_come_in_pages(repo: SandboxRepository, remote: Repository) -> None:
    """105 check runs are all read, 100 a page."""
    sha = repo.refs()["refs/heads/main"]
    for count in range(105):
        repo.set_check_run(sha, f"test {count}", "success")
    assert len({run.name for run in remote.get_commit(sha).get_check_runs()}) == 105
