"""The App's credential: minted, renewed before its end and after a refusal, given up at the second one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.credential import Credential, FixedToken
from bot.failures import RunFailed
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.github.tokens import AppCredential, AppKey
from bot.sandbox.github import Answer, EmbeddedGitHub, Fault, SandboxApp, SandboxRepository
from tests.github.conftest import NAME, SCALE
from tests.keys import elliptic_key, key_pair

MINT = "/access_tokens"


class WrongClock(Clock):
    """A machine whose clock is wrong by some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(SCALE)
        self.wrong_by = seconds

    def today(self) -> datetime:  # type: ignore[override]
        """The date and time, as that machine has it."""
        return datetime.now(UTC) + timedelta(seconds=self.wrong_by)


@dataclass
class Scene:
    """An App that is installed on acme/widget, and who works as it."""

    hub: EmbeddedGitHub
    app: SandboxApp
    known: list[str] = field(default_factory=list)
    """Tokens that the program was told of."""
    opened: ExitStack = field(default_factory=ExitStack)

    def credential(
        self, *, clock: Clock | None = None, app: str = "", pem: str = "", fallback: Credential | None = None
    ) -> AppCredential:
        """The App's credential."""
        key = AppKey(app or self.app.id, pem or key_pair().private)
        clock = clock or Clock(SCALE)
        made = AppCredential(key, self.hub.api_url, NAME, clock, learned=self.known.append, fallback=fallback)
        self.opened.callback(made.close)
        return made

    def github(self, credential: Credential) -> GitHubRepository:
        """The port, with that credential."""
        client = Client(self.hub.api_url, NAME, credential, Clock(SCALE))
        self.opened.callback(client.close)
        return GitHubRepository(client)

    def asked(self, path: str) -> list[int]:
        """How requests for `path` were answered."""
        return [request.status for request in self.hub.requests if request.path.endswith(path)]


@pytest.fixture
def scene(hub: EmbeddedGitHub, widget: SandboxRepository) -> Iterator[Scene]:
    """An App with all that a Run needs."""
    widget.open_issue("Wrong area")
    app = hub.create_app("nightjar", key_pair().public)
    app.install(NAME)
    made = Scene(hub, app)
    with made.opened:
        yield made


def refused(credential: Credential) -> RunFailed:
    """How a credential that has no token says so."""
    with pytest.raises(RunFailed) as failed:
        credential.current()
    return failed.value


def test_one_token_serves_many_requests(scene: Scene) -> None:
    """The installation is looked up and a token minted once; the program knows what to hide, GitHub sees the App."""
    github = scene.github(scene.credential())
    for _ in range(3):
        github.comments(1)
    number = github.comment(1, "Hello.")
    assert number
    assert [comment.author for comment in github.comments(1)] == ["nightjar[bot]"]
    assert scene.asked("/installation") == [200]
    assert scene.asked(MINT) == [201]
    assert len(scene.known) == 1


def test_enterprise_server(tmp_path: Path) -> None:
    """An App works where the API is below /api/v3, too."""
    with EmbeddedGitHub(tmp_path / "server", ci=False, prefix="/api/v3") as hub, ExitStack() as opened:
        hub.create_repository(NAME, {"README.md": "# widget\n"}).open_issue("Wrong area")
        app = hub.create_app("nightjar", key_pair().public)
        app.install(NAME)
        made = Scene(hub, app, opened=opened)
        assert made.github(made.credential()).issue(1).title == "Wrong area"


def test_a_token_is_replaced_before_its_end(scene: Scene) -> None:
    """Some minutes before `expires_at` the next request mints another one, and none is ever refused."""
    ending = scene.hub.create_app("ending", key_pair().public, token_seconds=4 * 60)
    ending.install(NAME)
    github = scene.github(scene.credential(app=ending.id, clock=Clock()))
    for _ in range(3):
        github.comments(1)
    assert scene.asked(MINT) == [201, 201, 201]
    assert scene.asked("/installation") == [200]
    assert 401 not in scene.asked("/comments")


@pytest.mark.parametrize("library", ["PyGithub", "ghapi"])
def test_a_token_that_ends_early_is_replaced_once(library: str, scene: Scene) -> None:
    """A 401 mints another token, and the very request is sent again with it: a POST, too, by either library."""
    client = Client(scene.hub.api_url, NAME, scene.credential(), Clock(SCALE))
    scene.opened.callback(client.close)
    github = GitHubRepository(client)
    github.comments(1)
    client.ask("GET rate", lambda: client.api.issues.get(issue_number=1))
    scene.app.end_tokens()
    if library == "ghapi":
        client.ask("POST comments", lambda: client.api.issues.create_comment(issue_number=1, body="Hello."))
    else:
        github.comment(1, "Hello.")
    assert [comment.body for comment in github.comments(1)] == ["Hello."]
    assert scene.asked(MINT) == [201, 201]
    assert [request.status for request in scene.hub.requests if request.method == "POST"].count(401) == 1


def test_a_fresh_token_that_is_refused_is_the_end(scene: Scene) -> None:
    """A second 401 in a row is `token_expired`, for every request after it, and GitHub is asked no more."""
    credential = scene.credential()
    github = scene.github(credential)
    github.comments(1)
    scene.hub.faults.add(Fault("GET", "/comments", Answer(401), times=0))
    with pytest.raises(RunFailed) as failed:
        github.comments(1)
    assert failed.value.code == "token_expired"
    before = len(scene.hub.requests)
    assert "that it had just given" in refused(credential).reason
    assert len(scene.hub.requests) == before
    assert scene.asked(MINT) == [201, 201]


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_refused_renewal_is_the_end(status: int, scene: Scene) -> None:
    """An App that gets no new token has expired: told with GitHub's answer, and not tried again."""
    credential = scene.credential()
    github = scene.github(credential)
    github.comments(1)
    scene.app.end_tokens()
    scene.hub.faults.add(Fault("POST", MINT, Answer(status), times=0))
    with pytest.raises(RunFailed) as failed:
        github.comments(1)
    assert failed.value.code == "token_expired"
    assert f"→ {status}" in failed.value.reason
    assert "could not be renewed" in refused(credential).reason
    assert scene.asked(MINT) == [201, status]


def test_the_job_token_stands_in_at_the_end_only(scene: Scene) -> None:
    """While the Run works a dead App is a failure; once it ends, the job's token does what is left."""
    job = scene.hub.issue_token("github-actions[bot]", "job")
    github = scene.github(scene.credential(fallback=FixedToken(job)))
    github.comments(1)
    scene.app.suspend()
    for _ in range(2):
        with pytest.raises(RunFailed, match="could not be renewed"):
            github.comment(1, "Early.")
    github.fall_back()
    github.comment(1, "Late.")
    assert [(comment.author, comment.body) for comment in github.comments(1)] == [("github-actions[bot]", "Late.")]
    assert scene.asked(MINT) == [201, 403]


def test_an_app_that_dies_at_the_end_is_stood_in_for_at_once(scene: Scene) -> None:
    """The request that meets the refusal is the one that the job's token is used for."""
    job = scene.hub.issue_token("github-actions[bot]", "job")
    github = scene.github(scene.credential(fallback=FixedToken(job)))
    github.comments(1)
    github.fall_back()
    github.comment(1, "One.")
    scene.app.suspend()
    github.comment(1, "Two.")
    assert [comment.author for comment in github.comments(1)] == ["nightjar[bot]", "github-actions[bot]"]


@pytest.mark.parametrize("fault", [Answer(502), Answer(502, stored=True), Answer(429)])
def test_passing_trouble_is_waited_out(fault: Answer, scene: Scene) -> None:
    """A server error or a limit on the way to a token is tried again like everywhere."""
    scene.hub.faults.add(Fault("", f"/installation|{MINT}", fault, times=3))
    assert scene.credential().current()


def test_github_that_is_away_is_no_refusal(scene: Scene) -> None:
    """When no token can be minted for an outage, the reason says so, and the App works again after it."""
    scene.hub.faults.add(Fault("POST", MINT, Answer(503), times=0))
    credential = scene.credential()
    assert refused(credential).code == "github_unavailable"
    scene.hub.faults.clear()
    assert credential.current()


@pytest.mark.parametrize("wrong_by", [-3600.0, -600.0, 90.0, 3600.0])
def test_a_wrong_clock_is_set_right_once(wrong_by: float, scene: Scene) -> None:
    """A JWT that GitHub refuses for a clock that is fast or slow is made anew by GitHub's own time."""
    assert scene.credential(clock=WrongClock(wrong_by)).current()
    assert scene.asked("/installation") == [401, 200]
    assert scene.asked(MINT) == [201]


def test_a_clock_that_is_a_little_fast_costs_nothing(scene: Scene) -> None:
    """A JWT begins a minute in the past."""
    assert scene.credential(clock=WrongClock(50.0)).current()
    assert scene.asked("/installation") == [200]


def test_a_key_of_another_app(scene: Scene) -> None:
    """The reason names the input, once, and neither the key nor the JWT is in it."""
    failed = refused(scene.credential(pem=key_pair("another").private))
    assert failed.code == "app_refused"
    assert f"GitHub does not take `app-private-key` for App {scene.app.id}" in failed.reason
    assert "A JSON web token could not be decoded" in failed.reason
    assert "eyJ" not in str(failed)
    assert scene.asked("/installation") == [401]


def test_an_app_that_is_not_installed(scene: Scene) -> None:
    """Also an id that no App has: the reason names App and repository."""
    stranger = scene.hub.create_app("stranger", key_pair().public)
    for app in (stranger.id, "99999"):
        failed = refused(scene.credential(app=app))
        assert failed.code == "app_refused"
        assert f"App {app} is not installed on acme/widget, or there is no such App" in failed.reason
        assert "404" in failed.reason


def test_an_app_that_may_too_little(scene: Scene) -> None:
    """What a Run cannot do without is named before it begins."""
    granted = {"contents": "write", "issues": "read"}
    weak = scene.hub.create_app("weak", key_pair().public, permissions=granted)
    weak.install(NAME)
    failed = refused(scene.credential(app=weak.id))
    assert failed.code == "app_refused"
    assert failed.reason.endswith("lacks permissions on acme/widget: issues: write, pull_requests: write")


@pytest.mark.parametrize("broken", ["cut", "elliptic", "public"])
def test_a_key_that_cannot_sign(broken: str, scene: Scene) -> None:
    """Refused before any request, in one line that does not show it."""
    pem = {
        "cut": key_pair().private[:400] + "\n-----END RSA PRIVATE KEY-----\n",
        "elliptic": elliptic_key(),
        "public": key_pair().public,
    }[broken]
    with pytest.raises(RunFailed) as failed:
        scene.credential(pem=pem)
    assert failed.value.code == "config_invalid"
    assert "input `app-private-key`" in failed.value.reason
    assert pem.splitlines()[1] not in str(failed.value)
    assert scene.hub.requests == ()
