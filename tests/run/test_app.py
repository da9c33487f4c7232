"""Runs as a GitHub App: its token ends in the middle and is renewed, or it is refused and that is told all the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from bot.sandbox.github import Act, Answer, Fault, SandboxApp
from tests.keys import elliptic_key, key_pair
from tests.run.stage import ADD_RIGHT, GREEN_AT_ONCE, HAND_OVER, SCALE, Played, Stage, does, says, session
from tests.run.test_finish import finish
from tests.run.test_refusals import errors
from tests.run.test_secrets import everything_on_github

BRANCH = "refs/heads/nightjar/issue-1"
PUSH = r"git-receive-pack$"
MOMENTS = {
    "push": ("POST", PUSH, 3),
    "pull request": ("POST", r"/pulls$", 1),
    "watch": ("GET", r"/check-runs", 2),
}
"""Requests of a Run in the middle of which a token ends: the third push is the Issue branch's."""


@dataclass(frozen=True, slots=True)
class Cast:
    """A stage with an App on it; the job's own token is there, too."""

    stage: Stage
    app: SandboxApp

    @property
    def settings(self) -> dict[str, str]:
        """The inputs that make a Run work as the App."""
        return {"app-id": self.app.id, "app-private-key": key_pair().private}

    def at(self, moment: str, happens: Act) -> None:
        """Let that happen in the middle of a request; its connection is closed, and it is sent again."""
        method, path, nth = MOMENTS[moment]
        self.stage.hub.faults.add(Fault(method, path, happens, nth=nth))

    def minted(self) -> list[int]:
        """How GitHub answered when a token was asked for."""
        return [request.status for request in self.stage.hub.requests if request.path.endswith("/access_tokens")]

    def refused(self, path: str) -> int:
        """How often a request for `path` was answered with 401."""
        return sum(request.status == 401 and bool(re.search(path, request.path)) for request in self.stage.hub.requests)

    def authors(self) -> list[str]:
        """Who wrote the comments on the issue."""
        return [comment.author for comment in self.stage.repository.comments(1)]


@pytest.fixture
def cast(stage: Stage) -> Cast:
    """nightjar[bot] is an App that acme/widget has installed."""
    stage.use_token("job")
    app = stage.hub.create_app("nightjar", key_pair().public)
    app.install("acme/widget")
    return Cast(stage, app)


def masks(played: Played) -> set[str]:
    """What the runner was told to hide."""
    prefix = "::add-mask::"
    return {line.removeprefix(prefix) for line in played.job.log.splitlines() if line.startswith(prefix)}


@pytest.mark.field_case(38, "refresh")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_token_that_ends_is_renewed(moment: str, cast: Cast) -> None:
    """Whatever the Run is at when its token ends, it mints another one and goes on to green, all of it as the App."""
    cast.at(moment, Act(cast.app.end_tokens))
    played = cast.stage.run(GREEN_AT_ONCE, settings=cast.settings)

    assert played.exit_code == 0, played.log
    assert played.labels == ("nightjar:ready",)
    assert cast.minted() == [201, 201]
    assert cast.refused(MOMENTS[moment][1].removesuffix("$") if moment != "push" else "/widget.git/") == 1
    assert set(cast.authors()) == {"nightjar[bot]"}
    assert played.pull.author == "nightjar[bot]"


def test_a_token_is_renewed_before_its_end(cast: Cast) -> None:
    """A Run that lasts longer than its token never meets a 401."""
    app = cast.stage.hub.create_app("brief", key_pair().public, token_seconds=(5 + 1) * 60 / SCALE)
    app.install("acme/widget")
    played = cast.stage.run(GREEN_AT_ONCE, settings={**cast.settings, "app-id": app.id})

    assert played.exit_code == 0, played.log
    assert len(cast.minted()) >= 2
    assert [request for request in cast.stage.hub.requests if request.status == 401 and "/repos/" in request.path] == []
    assert played.pull.author == "brief[bot]"


@pytest.mark.field_case(38, "refresh refused")
@pytest.mark.parametrize("moment", ["push", "watch"])
def test_an_app_that_is_refused_is_told_by_the_job(moment: str, cast: Cast) -> None:
    """When there is no new token either, the Run stops with `token_expired`; the job's token brings the work onto the
    branch, sets the label and says why."""
    cast.at(moment, Act(cast.app.suspend))
    played = cast.stage.run(GREEN_AT_ONCE, settings=cast.settings)

    assert played.exit_code == 1, played.log
    assert played.labels == ("nightjar:failed",)
    assert "the GitHub token stopped being accepted" in played.ending
    assert "This installation has been suspended" in played.ending
    assert "app-private-key: ${{ secrets." in played.ending
    assert cast.authors() == ["nightjar[bot]", "github-actions[bot]"]
    assert "def sub" in cast.stage.repository.file(BRANCH, "calc.py")
    assert cast.minted() == [201, 403]


def test_an_app_that_is_refused_without_a_token_beside_it(cast: Cast) -> None:
    """Then the job says it alone, and the work is a patch in the job's logs folder."""
    cast.at("push", Act(cast.app.suspend))
    played = cast.stage.run(GREEN_AT_ONCE, settings={**cast.settings, "github-token": ""})

    assert played.exit_code == 1, played.log
    assert "the GitHub token stopped being accepted" in errors(played)[-1]
    assert "could not be renewed" in played.outputs["reason"]
    assert BRANCH not in cast.stage.repository.refs()
    assert_kept_as_patch(played)


@pytest.mark.field_case(38, "no refresh")
def test_a_fixed_token_that_ends_while_ci_runs(stage: Stage) -> None:
    """A token that nobody can renew ends the Run: the remedy is named where no token is needed, and nothing is sent
    again."""
    method, path, nth = MOMENTS["watch"]

    def end() -> None:
        stage.hub.faults.add(Fault("", r"^/(repos|graphql|acme)", Answer(401), times=0))

    stage.hub.faults.add(Fault(method, path, Act(end), nth=nth))
    played = stage.run(GREEN_AT_ONCE)

    assert played.exit_code == 1, played.log
    assert "the GitHub token stopped being accepted" in errors(played)[-1]
    assert "app-private-key: ${{ secrets." in played.job.summary
    assert "def sub" in stage.repository.file(BRANCH, "calc.py")
    refusals = [(request.method, request.target) for request in stage.hub.requests if request.status == 401]
    assert refusals.count(("POST", "/repos/acme/widget/issues/1/comments")) == 1
    assert refusals[0] not in refusals[1:]


def assert_kept_as_patch(played: Played) -> None:
    """The step's summary names a patch in the logs folder, and the work is in it."""
    (patch,) = (played.job.temp / "nightjar" / "logs").glob("*.patch")
    assert patch.name in played.job.summary
    assert "+def sub" in patch.read_text(encoding="utf-8")


def test_nobody_sees_key_or_tokens(cast: Cast) -> None:
    """The runner hides every line of the key and every token that was minted; neither is in what a session sees, in the
    log or on GitHub."""
    cast.at("pull request", Act(cast.app.end_tokens))
    seen = cast.stage.fifo("env")
    look = f"{{ env; cat /proc/self/environ; }} > {seen}; {ADD_RIGHT}; {HAND_OVER}"
    written = key_pair().private.replace("\n", r"\n")
    playing = cast.stage.start(
        session("implement", does(look), says()), settings={**cast.settings, "app-private-key": written}
    )
    told = seen.read_text(encoding="utf-8", errors="replace")
    played = playing.finish()

    assert "PATH=" in told
    assert played.exit_code == 0, played.log
    lines = set(key_pair().private.split())
    minted = {mask for mask in masks(played) if mask.startswith("ghs_")} - {cast.stage.token}
    assert len(minted) == 2
    assert set(key_pair().private.strip().splitlines()) <= masks(played)
    shown = everything_on_github(cast.stage) + played.log + played.job.summary + "".join(played.outputs.values())
    kept = (played.job.temp / "nightjar" / "record.json").read_text(encoding="utf-8")
    for secret in minted | {line for line in lines if len(line) == 64}:
        assert secret not in told + shown + kept


def test_finish_tells_it_when_the_app_is_refused(cast: Cast) -> None:
    """A killed Run whose App is refused meanwhile is reported by the job's last step with the job's token."""
    fifo = cast.stage.fifo("started")
    playing = cast.stage.start(
        session("implement", does(f"{ADD_RIGHT}; echo started > {fifo}; exec sleep 300"), says()),
        settings=cast.settings,
    )
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    cast.app.suspend()
    ended = finish(playing, settings=cast.settings)

    assert ended.last.exit_code == 0, ended.last.log
    assert "the Run's process was killed" in ended.comments[-1]
    assert cast.authors() == ["nightjar[bot]", "github-actions[bot]"]
    assert "def sub" in cast.stage.repository.file(BRANCH, "calc.py")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"app-id": "1"}, "input `app-private-key`: is missing; give it together with `app-id`"),
        ({"app-private-key": "{key}"}, "input `app-id`: is missing; give it together with `app-private-key`"),
        ({"app-id": "1", "app-private-key": "s3cret"}, "input `app-private-key`: the value is not allowed; give the"),
        ({"app-id": "1", "app-private-key": "{elliptic}"}, "input `app-private-key`: that is no RSA private key"),
    ],
    ids=["no key", "no id", "no PEM", "another kind"],
)
def test_bad_input(settings: Mapping[str, str], said: str, stage: Stage) -> None:
    """One line says what is wrong, exit code 2, and the key is not in it."""
    keys = {"{key}": key_pair().private, "{elliptic}": elliptic_key()}
    given = {name: keys.get(value, value) for name, value in settings.items()}
    played = stage.run(settings=given)

    assert played.exit_code == 2, played.log
    (line,) = errors(played)
    assert said in line
    assert "s3cret" not in played.log
    assert played.comments == ()


def test_an_app_that_is_not_installed(stage: Stage) -> None:
    """The Run does not begin, and the job's page says which App lacks which repository."""
    app = stage.hub.create_app("nightjar", key_pair().public)
    played = stage.run(settings={"app-id": app.id, "app-private-key": key_pair().private})

    assert played.exit_code == 1, played.log
    (line,) = errors(played)
    assert "GitHub refused the App" in line
    assert f"App {app.id} is not installed on acme/widget" in line
    assert played.comments == ()
