"""What is attached in the embedded GitHub is given to whom github.com gives it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository, attachments
from bot.sandbox.github.state import TokenKind


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[EmbeddedGitHub]:
    """A GitHub without CI."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as started:
        yield started


@pytest.fixture
def private(hub: EmbeddedGitHub) -> SandboxRepository:
    """A private repository, which alice may read."""
    made = hub.create_repository("acme/widget", {"a": "b"}, private=True)
    made.set_permission("alice", "read")
    return made


def get(url: str, token: str = "", accept: str = "*/*") -> httpx2.Response:
    """One request, redirects followed by hand: without the token."""
    headers = {"Accept": accept} | ({"Authorization": f"token {token}"} if token else {})
    with httpx2.Client(trust_env=False) as http:
        answer = http.get(url, headers=headers)
        return http.get(answer.headers["location"]) if answer.has_redirect_location else answer


def test_of_a_public_repository_everybody_gets_it(hub: EmbeddedGitHub) -> None:
    """An image and a file of a public repository need no token, and lie on another host."""
    public = hub.create_repository("acme/widget", {"a": "b"})
    for url in (
        public.attach_image(b"png"),
        public.attach_file("a.log", b"png"),
        public.attach_image(b"png", older=True),
    ):
        answer = get(url)
        assert (answer.status_code, answer.content) == (200, b"png")
        assert not str(answer.url).startswith(hub.server_url)


@pytest.mark.parametrize(
    ("login", "kind", "status"), [("alice", "pat", 200), ("mallory", "pat", 404), ("a[bot]", "job", 404)]
)
def test_of_a_private_repository_an_older_token_gets_it(
    hub: EmbeddedGitHub, private: SandboxRepository, login: str, kind: TokenKind, status: int
) -> None:
    """A person's older token gets what the person may read; a job's token and nobody get 404."""
    url = private.attach_file("a.log", b"x")
    assert get(url, hub.issue_token(login, kind)).status_code == status
    assert get(url).status_code == 404


def test_a_rendered_issue_has_signed_addresses(hub: EmbeddedGitHub, private: SandboxRepository) -> None:
    """The rendered text of an issue has an address of its image that works without a token, until it expires."""
    url = private.attach_image(b"png")
    number = private.open_issue("Look", f"![shot]({url})\n\nText <b>.")
    token = hub.issue_token("a[bot]", "job")
    api = f"{hub.api_url}/repos/acme/widget/issues/{number}"
    assert "body_html" not in get(api, token).json()
    page = get(api, token, "application/vnd.github.full+json").json()["body_html"]
    signed = page.partition('<img src="')[2].partition('"')[0].replace("&amp;", "&")
    assert "jwt=" in signed
    assert get(signed).content == b"png"
    assert get(signed, token).status_code == 400
    assert get(signed.replace("expires=1", "expires=2")).status_code == 403
    assert "&lt;b&gt;" in page


def test_a_signature_ends(hub: EmbeddedGitHub, private: SandboxRepository) -> None:
    """After five minutes a signed address is refused."""
    private.attach_image(b"png")
    (kept,) = hub._world.attachments.values()
    assert get(attachments.signed(hub._site, hub._world, kept, "jwt", time.time() + 5)).status_code == 200
    assert get(attachments.signed(hub._site, hub._world, kept, "jwt", time.time() - 5)).status_code == 403


def test_markdown_is_rendered_in_a_context(hub: EmbeddedGitHub, private: SandboxRepository) -> None:
    """A text that is rendered by itself gets the signed addresses of the repository it is rendered for."""
    url = private.attach_image(b"png")
    given = json.dumps({"text": f"![]({url})", "mode": "gfm", "context": "acme/widget"}).encode()
    token = hub.issue_token("a[bot]", "job")
    with httpx2.Client(trust_env=False) as http:
        answer = http.post(f"{hub.api_url}/markdown", content=given, headers={"Authorization": f"token {token}"})
    assert answer.status_code == 200
    assert "jwt=" in answer.text
