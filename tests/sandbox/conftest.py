"""An embedded GitHub with one repository, and the two programs that talk to it: PyGithub and git."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import github
import pytest

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository

WORKFLOW = "name: CI\non: [push, workflow_dispatch]\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}\n"
FILES = {"README.md": "widgets\n", "app.py": "one\ntwo\nthree\n", ".github/workflows/ci.yml": WORKFLOW}

Client = Callable[[str], github.Github]


@dataclass(frozen=True, slots=True)
class Git:
    """Real git in a folder, as a user would call it with a token."""

    folder: Path

    def __call__(self, *arguments: str, token: str = "") -> subprocess.CompletedProcess[str]:
        """Run a git command; its result, whatever it is."""
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        auth = ["-c", f"http.extraHeader=AUTHORIZATION: basic {basic}"] if token else []
        who = {f"GIT_{role}_{part}": "dana" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        env = (
            os.environ | who | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
        )
        return subprocess.run(
            ["git", *auth, *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )

    def commit(self, path: str, content: str | bytes) -> str:
        """Commit a file; the commit's id."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self("add", "-A")
        self("commit", "-q", "-m", f"Change {path}")
        return self("rev-parse", "HEAD").stdout.strip()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[EmbeddedGitHub]:
    """An embedded GitHub without CI."""
    with EmbeddedGitHub(tmp_path / "github", ci=False) as running:
        yield running


@pytest.fixture
def repo(hub: EmbeddedGitHub) -> SandboxRepository:
    """acme/widget, where alice may write and dana may read."""
    made = hub.create_repository("acme/widget", FILES)
    made.set_permission("alice", "write")
    hub.add_user("dana")
    return made


@pytest.fixture
def token(hub: EmbeddedGitHub) -> str:
    """An app's token with everything a Run needs."""
    return hub.issue_token("nightjar[bot]")


@pytest.fixture
def connect(hub: EmbeddedGitHub) -> Iterator[Client]:
    """PyGithub with a token, without its pauses and retries."""
    made: list[github.Github] = []

    def client(token: str) -> github.Github:
        made.append(
            github.Github(
                base_url=hub.api_url,
                auth=github.Auth.Token(token),
                seconds_between_requests=0,
                seconds_between_writes=0,
                retry=None,
            )
        )
        return made[-1]

    yield client
    for one in made:
        one.close()


@pytest.fixture
def remote(connect: Client, repo: SandboxRepository, token: str) -> github.Repository.Repository:
    """acme/widget as PyGithub sees it with `token`."""
    return connect(token).get_repo(repo.full_name)


@pytest.fixture
def git(tmp_path: Path, repo: SandboxRepository) -> Git:
    """A clone of acme/widget, made without a token."""
    folder = tmp_path / "clone"
    folder.mkdir()
    clone = Git(folder)
    done = clone("clone", "-q", repo.clone_url, ".")
    assert done.returncode == 0, done.stderr
    return clone
