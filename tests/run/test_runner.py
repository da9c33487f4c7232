"""Runners as other steps leave them, and GitHub Enterprise Server."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from tests.run.stage import FILES, GREEN_AT_ONCE, MEND, RED_AT_FIRST, Stage, does, says, session


def shallow_checkout(stage: Stage, job_token: str) -> Path:
    """A checkout as the job's own step leaves it: one commit deep, its credential in the configuration."""
    path = stage.path("workspace")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{stage.repository.path}", str(path)], check=True)
    login = base64.b64encode(f"x-access-token:{job_token}".encode()).decode()
    subprocess.run(
        ["git", "config", f"http.{stage.hub.server_url}/.extraheader", f"AUTHORIZATION: basic {login}"],
        cwd=path,
        check=True,
    )
    return path


def home_of(stage: Stage, job_token: str, hooks: Path) -> Path:
    """A HOME whose git configuration, an included file of it too, has a credential, signing and hooks; no identity."""
    home = stage.path("runner-home")
    home.mkdir()
    login = base64.b64encode(f"x-access-token:{job_token}".encode()).decode()
    (home / "included").write_text(
        f'[http "{stage.hub.server_url}/"]\n\textraheader = AUTHORIZATION: basic {login}\n', encoding="utf-8"
    )
    (home / ".gitconfig").write_text(
        f"[include]\n\tpath = {home}/included\n[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = /bin/false\n"
        f"[core]\n\thooksPath = {hooks}\n",
        encoding="utf-8",
    )
    return home


@pytest.mark.field_case(41, "depth-1 checkout")
@pytest.mark.field_case(46, "a")
@pytest.mark.field_case(46, "b")
@pytest.mark.field_case(47, "b")
@pytest.mark.field_case(47, "e")
@pytest.mark.field_case(47, "f")
def test_runner_as_other_steps_left_it(stage: Stage) -> None:
    """A depth-1 checkout, another credential in its and the global configuration, signing, hooks and no identity: the
    Run goes to green with its own token alone.
    """
    job_token = stage.hub.issue_token("github-actions[bot]", "job")
    flag, hooks = stage.path("flag"), stage.path("hooks")
    hooks.mkdir()
    (hooks / "pre-push").write_text(f"#!/bin/sh\ntouch {flag}\nexit 1\n", encoding="utf-8")
    (hooks / "pre-push").chmod(0o755)
    workspace = shallow_checkout(stage, job_token)
    environment = {"HOME": str(home_of(stage, job_token, hooks)), "GITHUB_WORKSPACE": str(workspace)}
    stage.repository.commit("main", {"NEWS.md": "More.\n"}, "Main goes on")
    played = stage.run(RED_AT_FIRST, session("repair", does(MEND), says()), environment=environment)
    assert played.exit_code == 0, played.log
    assert {request.token_kind for request in stage.hub.requests} == {"app"}
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    assert not flag.exists()


@pytest.mark.field_case(45, "collision")
def test_branch_in_the_way_of_ours(stage: Stage) -> None:
    """A branch `nightjar`, beside which there can be none of ours, is named before a Session is spent."""
    stage.repository.commit("nightjar", {"x": "y\n"}, "Taken")
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 1, played.log
    assert "no branch `nightjar/issue-1` beside `nightjar`" in played.ending
    assert "branch-prefix" in played.ending
    assert played.model.requests == ()


def test_enterprise_server(tmp_path: Path) -> None:
    """A whole Run with a Repair against a server that has its API below /api/v3 and GraphQL at /api/graphql."""
    with EmbeddedGitHub(tmp_path / "hub", prefix="/api/v3") as hub:
        stage = Stage(tmp_path, hub, FILES)
        played = stage.run(RED_AT_FIRST, session("repair", does(MEND), says()))
        assert played.exit_code == 0, played.log
        assert hub.api_url == f"{hub.server_url}/api/v3"
        assert played.labels == ("nightjar:ready",)
        assert not played.pull.draft
        assert played.outputs["pr-url"] == f"{hub.server_url}/acme/widget/pull/{played.pull.number}"
        asked = [request.path for request in hub.requests if not request.path.startswith("/acme/widget.git/")]
        assert "/api/graphql" in asked
        assert [path for path in asked if not path.startswith(("/api/v3/repos/", "/api/graphql"))] == []
        assert {request.status // 100 for request in hub.requests if request.path == "/api/graphql"} == {2}
