"""What an App asks the embedded GitHub for itself: checked and refused as GitHub does, and answered in its schema."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from githubkit_schemas.v2026_03_10 import models
from pydantic import TypeAdapter

from bot.sandbox.github import EmbeddedGitHub, SandboxApp, SandboxRepository
from tests.keys import key_pair
from tests.sandbox.conftest import Caller

REPO = "/repos/acme/widget"
UNREADABLE = "A JSON web token could not be decoded"


@pytest.fixture
def app(hub: EmbeddedGitHub, repo: SandboxRepository) -> SandboxApp:
    """An App that acme/widget has installed."""
    made = hub.create_app("helper", key_pair().public)
    made.install(repo.full_name)
    return made


def signed(app: SandboxApp, *, key: str = "the App's", **claims: object) -> str:
    """A JWT of the App."""
    now = int(time.time())
    usual = {"iat": now - 60, "exp": now + 540, "iss": app.id}
    return jwt.encode(usual | claims, key_pair(key).private, algorithm="RS256")


def minted(hub: EmbeddedGitHub, app: SandboxApp, **body: object) -> tuple[int, Any]:
    """The installation, and a token of it."""
    call = Caller(hub, signed(app))
    installation = call.get(f"{REPO}/installation")["id"]
    got = call("POST", f"/app/installations/{installation}/access_tokens", dict(body))
    return got.status, got.body


def test_answers_are_what_github_publishes(hub: EmbeddedGitHub, app: SandboxApp) -> None:
    """Installation and token validate against GitHub's models, and the token does what the App may."""
    TypeAdapter(models.Installation).validate_python(Caller(hub, signed(app)).get(f"{REPO}/installation"))
    status, body = minted(hub, app, repositories=["widget"])
    assert status == 201
    token = TypeAdapter(models.InstallationToken).validate_python(body)
    assert Caller(hub, token.token).get(REPO)["full_name"] == "acme/widget"


@pytest.mark.parametrize(
    ("wrong", "status", "message"),
    [
        ({"key": "another"}, 401, UNREADABLE),
        ({"iss": "99999"}, 404, "Integration not found"),
        ({"iat": int(time.time()) + 3600}, 401, "'Issued at' claim ('iat') must be an Integer"),
        ({"exp": int(time.time()) - 1}, 401, "'Expiration time' claim ('exp') must be a numeric value"),
        ({"exp": int(time.time()) + 3600}, 401, "'Expiration time' claim ('exp') is too far in the future"),
    ],
)
def test_bad_jwt(wrong: Any, status: int, message: str, hub: EmbeddedGitHub, app: SandboxApp) -> None:
    """Another key, another App, a life that has not begun, is over, or is too long: each in GitHub's words."""
    got = Caller(hub, signed(app, **wrong))("GET", f"{REPO}/installation")
    assert (got.status, got.body["message"][: len(message)]) == (status, message)


def test_a_token_is_no_jwt(hub: EmbeddedGitHub, app: SandboxApp) -> None:
    """What an App asks for itself, no token may ask; and a JWT is no token."""
    got = Caller(hub, hub.issue_token("alice", "pat"))("GET", f"{REPO}/installation")
    assert (got.status, got.body["message"]) == (401, UNREADABLE)
    assert Caller(hub, signed(app))("GET", REPO).status == 401


def test_only_where_it_is_installed(hub: EmbeddedGitHub, app: SandboxApp) -> None:
    """Another repository has no installation of it, and no token reaches there."""
    hub.create_repository("acme/other", {"README.md": "# other\n"})
    assert Caller(hub, signed(app))("GET", "/repos/acme/other/installation").status == 404
    status, body = minted(hub, app, repositories=["other"])
    assert status == 422
    assert "not accessible to the parent installation" in body["message"]


def test_tokens_end(hub: EmbeddedGitHub, app: SandboxApp) -> None:
    """A token is refused once its end has come; a suspended App gets no other."""
    token = minted(hub, app)[1]["token"]
    assert Caller(hub, token)("GET", REPO).status == 200
    app.suspend()
    assert Caller(hub, token)("GET", REPO).status == 401
    assert minted(hub, app)[0] == 403


def test_tokens_end_by_themselves(hub: EmbeddedGitHub, repo: SandboxRepository) -> None:
    """Where nobody ends it, a token ends when the App's tokens do."""
    brief = hub.create_app("brief", key_pair().public, token_seconds=0.0)
    brief.install(repo.full_name)
    assert Caller(hub, minted(hub, brief)[1]["token"])("GET", REPO).status == 401
