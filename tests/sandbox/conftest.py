"""An embedded GitHub with one repository, and the two programs that talk to it: PyGithub and git."""

from __future__ import annotations

import base64
import http.client
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import github
import pytest

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository

WORKFLOW = "name: CI\non: [push, workflow_dispatch]\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}\n"
FILES = {"README.md": "widgets\n", "app.py": "one\ntwo\nthree\n", ".github/workflows/ci.yml": WORKFLOW}

CI = """name: CI
on: [push, pull_request, workflow_dispatch]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Check
        run: sh check.sh
"""
SECONDS = 30  # what a CI of a few shell steps may take on a busy machine

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


@dataclass(frozen=True, slots=True)
class Got:
    """An answer over plain HTTP; `body` is its JSON, None without one. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Caller:
    """Plain HTTP to an embedded GitHub with one token, a new connection each time."""

    def __init__(self, hub: EmbeddedGitHub, token: str) -> None:
        self._host = urlsplit(hub.api_url).netloc
        self._headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Got:
        """The answer. Raises `ConnectionError` or `http.client.HTTPException` when there is none. A header's name is
        given with underscores."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self._host, timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self._headers | more)
            answer = connection.getresponse()
            text = answer.read()
            known = {name.lower(): value for name, value in answer.getheaders()}
            is_json = text and known["content-type"].startswith("application/json")
            return Got(answer.status, known, json.loads(text) if is_json else None)
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """The JSON of a GET that is answered with 200."""
        got = self("GET", path)
        assert got.status == 200, (path, got)
        return got.body


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
def live(tmp_path: Path) -> Iterator[EmbeddedGitHub]:
    """An embedded GitHub with CI."""
    with EmbeddedGitHub(tmp_path / "live") as running:
        yield running


@pytest.fixture
def checked(live: EmbeddedGitHub) -> SandboxRepository:
    """acme/checked, whose CI runs check.sh, which passes on main."""
    made = live.create_repository("acme/checked", {"check.sh": "echo fine\n", ".github/workflows/ci.yml": CI})
    assert live.idle(SECONDS)
    return made


@pytest.fixture
def call(hub: EmbeddedGitHub, token: str) -> Caller:
    """Plain HTTP to the GitHub without CI, with an app's token."""
    return Caller(hub, token)


@pytest.fixture
def live_call(live: EmbeddedGitHub) -> Caller:
    """Plain HTTP to the GitHub with CI, with an app's token."""
    return Caller(live, live.issue_token("nightjar[bot]"))


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
