"""A GitHub to talk to, and a front of it that answers badly when it is told to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from bot.clock import Clock
from bot.credential import FixedToken
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.edge import HttpServer, Request
from bot.sandbox.github.http import Reply

NAME = "acme/widget"
SCALE = 2000
_HOP = ("content-length", "content-type", "transfer-encoding", "connection", "date", "server")


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of one request: `reply` is sent instead of GitHub's own answer, None hangs up."""

    reply: Reply | None
    stored: bool = False
    """Whether GitHub gets the request all the same: only its answer is lost."""


def says(status: int, message: str, **headers: str) -> Fault:
    """An answer in GitHub's form; `retry_after="30"` becomes a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(Reply(status, {"message": message, "documentation_url": "https://docs.github.com/rest"}, named))


def hangs_up(*, stored: bool = False) -> Fault:
    """The connection drops without an answer."""
    return Fault(None, stored)


@dataclass
class Front:
    """A reverse proxy before the embedded GitHub. `faults` are used up one by one on requests that match `pattern`."""

    behind: str
    server: HttpServer = field(default_factory=HttpServer)
    forwarder: httpx2.Client = field(default_factory=lambda: httpx2.Client(trust_env=False))
    pattern: str = "."
    faults: list[Fault] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def fail(self, pattern: str, *faults: Fault) -> None:
        """From now on, requests `METHOD target` that match `pattern` meet `faults`, then GitHub again."""
        self.pattern, self.faults = pattern, list(faults)
        self.seen.clear()

    def count(self, pattern: str) -> int:
        """How many requests matched since `fail`."""
        return sum(1 for line in self.seen if re.search(pattern, line))

    def answer(self, request: Request) -> Reply:
        """One request."""
        line = f"{request.method} {request.target}"
        self.seen.append(line)
        self.tokens.append(request.headers.get("authorization", ""))
        fault = self.faults.pop(0) if self.faults and re.search(self.pattern, line) else None
        if fault is None or fault.stored:
            reply = self._forward(request)
        if fault is None:
            return reply
        if fault.reply is None:
            raise ConnectionAbortedError
        return fault.reply

    def _forward(self, request: Request) -> Reply:
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "accept-encoding")}
        found = self.forwarder.request(
            request.method, self.behind + request.target, headers=headers, content=request.body
        )
        here, there = self.server.host.encode(), self.behind.encode()
        kept = {
            name: value.replace(self.behind, self.server.host)
            for name, value in found.headers.items()
            if name not in _HOP
        }
        return Reply(found.status_code, found.content.replace(there, here), kept, found.headers.get("content-type", ""))


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[EmbeddedGitHub]:
    """An embedded GitHub without CI of its own."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as started:
        yield started


@pytest.fixture
def widget(hub: EmbeddedGitHub) -> SandboxRepository:
    """acme/widget, with one file."""
    return hub.create_repository(NAME, {"README.md": "# widget\n"})


@pytest.fixture
def clock() -> Clock:
    """A planned minute takes 30 ms."""
    return Clock(scale=SCALE)


@pytest.fixture
def token(hub: EmbeddedGitHub, widget: SandboxRepository) -> str:
    """A token that may do all that a Run needs."""
    return hub.issue_token("nightjar[bot]")


@pytest.fixture
def client(hub: EmbeddedGitHub, token: str, clock: Clock) -> Iterator[Client]:
    """A client of acme/widget."""
    made = Client(hub.api_url, NAME, FixedToken(token), clock)
    yield made
    made.close()


@pytest.fixture
def github(client: Client) -> GitHubRepository:
    """The port."""
    return GitHubRepository(client)


@pytest.fixture
def front(hub: EmbeddedGitHub) -> Iterator[Front]:
    """The same GitHub behind a front that can fail."""
    made = Front(hub.server_url)
    made.server.serve(made.answer)
    yield made
    made.server.close()
    made.forwarder.close()


@pytest.fixture
def through_front(front: Front, token: str, clock: Clock) -> Iterator[Client]:
    """A client that talks to the front."""
    made = Client(front.server.host, NAME, FixedToken(token), clock)
    yield made
    made.close()


def page_of(text: str) -> Fault:
    """A proxy's HTML page with status 200."""
    return Fault(Reply(200, text.encode(), content_type="text/html"))


def torn(body: object) -> Fault:
    """JSON that stops in the middle."""
    return Fault(Reply(200, json.dumps(body).encode()[:-5]))
