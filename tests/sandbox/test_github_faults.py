"""Scripted faults of the embedded GitHub, as REST clients and git meet them."""

from __future__ import annotations

import http.client
import subprocess
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import github
import pytest
from github.Repository import Repository

from bot.sandbox.github import (
    Answer,
    Drop,
    EmbeddedGitHub,
    Fault,
    SandboxRepository,
    Wait,
    secondary_limit,
)
from tests.sandbox.conftest import Caller, Git

REPO = "/repos/acme/widget"
REACTION = 20.0  # seconds


@pytest.mark.parametrize("status", [500, 502, 503, 403, 401, 429])
def test_a_status_instead_of_an_answer(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller, status: int) -> None:
    """The second such request gets the status, nothing is stored, and the third is served."""
    hub.faults.add(Fault("POST", r"/issues$", Answer(status, headers={"Retry-After": "7"}), nth=2))
    got = [call("POST", f"{REPO}/issues", {"title": title}) for title in ("one", "two", "three")]
    assert [answer.status for answer in got] == [201, status, 201]
    assert got[1].body["message"]
    assert got[1].headers["retry-after"] == "7"
    assert [issue["title"] for issue in call.get(f"{REPO}/issues")] == ["three", "one"]


def test_an_answer_that_is_lost_after_the_work(
    hub: EmbeddedGitHub, repo: SandboxRepository, remote: Repository
) -> None:
    """The client sees 502 and the issue is there all the same."""
    hub.faults.add(Fault("POST", r"/issues$", Answer(502, stored=True)))
    with pytest.raises(github.GithubException) as refused:
        remote.create_issue("Once")
    assert refused.value.status == 502
    assert [issue.title for issue in remote.get_issues()] == ["Once"]


@pytest.mark.parametrize("stored", [True, False])
def test_a_dropped_connection(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller, stored: bool) -> None:
    """The client hears nothing, before or after the work; the log of requests says so."""
    hub.faults.add(Fault("POST", r"/issues$", Drop(stored=stored)))
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        call("POST", f"{REPO}/issues", {"title": "Once"})
    assert [(got.status, got.counted) for got in hub.requests] == [(0, False)]
    assert len(call.get(f"{REPO}/issues")) == stored


def test_an_answer_that_takes_its_time(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """The request is served once it is let go, and others are served meanwhile."""
    gate = threading.Event()
    hub.faults.add(Fault("GET", r"/issues$", Wait(gate)))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(call, "GET", f"{REPO}/issues")
        assert call("GET", REPO).status == 200
        assert not slow.done()
        gate.set()
        assert slow.result(REACTION).status == 200


@pytest.mark.parametrize(("retry_after", "status"), [(30, 403), (None, 403), (1, 429)])
def test_the_secondary_limit(
    hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller, retry_after: int | None, status: int
) -> None:
    """It is told from a refusal by its message, with or without a time to wait; the primary budget is not used up."""
    hub.faults.add(Fault("", "", secondary_limit(retry_after, status), times=0))
    for _ in range(2):
        got = call("GET", REPO)
        assert got.status == status
        assert "secondary rate limit" in got.body["message"]
        assert got.headers.get("retry-after") == (str(retry_after) if retry_after else None)
        assert int(got.headers["x-ratelimit-remaining"]) > 0
    hub.faults.clear()
    assert call("GET", REPO).status == 200


def test_a_body_can_be_a_page(hub: EmbeddedGitHub, repo: SandboxRepository, remote: Repository) -> None:
    """An HTML page with status 200 comes as one."""
    hub.faults.add(Fault("GET", r"/labels$", Answer(200, "<html>Unicorn</html>")))
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{hub.api_url}{REPO}/labelled")
    assert refused.value.code == 404
    refused.value.close()
    with urllib.request.urlopen(f"{hub.api_url}{REPO}/labels") as answer:
        assert answer.headers["content-type"].startswith("text/html")


def test_faults_are_counted_each_for_itself(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """Two faults on one path take the first and the third request."""
    hub.faults.add(Fault("GET", r"/issues", Answer(500)), Fault("GET", r"/issues\?page=2", Answer(503), nth=2))
    paths = ["/issues?page=2", "/issues?page=1", "/issues?page=2"]
    assert [call("GET", REPO + path).status for path in paths] == [500, 200, 503]


def test_git_is_refused(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git, token: str) -> None:
    """A push that meets 403 fails and moves nothing; the next goes through."""
    sha = git.commit("app.py", "new\n")
    hub.faults.add(Fault("POST", r"/git-receive-pack$", Answer(403, "Permission denied")))
    refused = git("push", "origin", "HEAD:work", token=token)
    assert refused.returncode != 0
    assert "403" in refused.stderr
    assert "refs/heads/work" not in repo.refs()
    assert git("push", "origin", "HEAD:work", token=token).returncode == 0
    assert repo.refs()["refs/heads/work"] == sha


def test_a_push_can_arrive_without_its_answer(
    hub: EmbeddedGitHub, repo: SandboxRepository, git: Git, token: str
) -> None:
    """Git reports an error although the branch has moved."""
    sha = git.commit("app.py", "new\n")
    hub.faults.add(Fault("POST", r"/git-receive-pack$", Drop(stored=True)))
    assert git("push", "origin", "HEAD:work", token=token).returncode != 0
    assert repo.refs()["refs/heads/work"] == sha


def test_git_can_hang_until_the_end(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git, token: str) -> None:
    """A push that gets no answer ends when GitHub goes away, with nothing moved."""
    git.commit("app.py", "new\n")
    hub.faults.add(Fault("GET", r"service=git-receive-pack", Wait()))
    with ThreadPoolExecutor(1) as pool:
        pushing: Any = pool.submit(git, "push", "origin", "HEAD:work", token=token)
        with pytest.raises(TimeoutError):
            pushing.result(0.2)
        hub.close()
        done: subprocess.CompletedProcess[str] = pushing.result(REACTION)
    assert done.returncode != 0
    assert "refs/heads/work" not in repo.refs()


def test_a_log_can_be_gone(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """The log store's own answers can go wrong too."""
    job = repo.add_job(repo.add_run(repo.refs()["refs/heads/main"], "ci.yml", "failure"), "test", "failure", log="no\n")
    hub.faults.add(Fault("GET", r"^/logs/", Answer(410, "gone")))
    address = call("GET", f"{REPO}/actions/jobs/{job}/logs").headers["location"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(address)
    assert refused.value.code == 410
    refused.value.close()
    with urllib.request.urlopen(address) as answer:
        assert answer.read() == b"no\n"
