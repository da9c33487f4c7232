"""Conditional requests and rate budgets of the embedded GitHub, over plain HTTP and through PyGithub."""

from __future__ import annotations

from pathlib import Path

import github
import pytest

from bot.clock import Clock
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.ci_desk import Equipment
from tests.sandbox.conftest import FILES, Caller

REPO = "/repos/acme/widget"


def test_what_is_known_already_costs_nothing(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """An answer has a strong ETag; asked again with it, GitHub says 304 and counts nothing, until something changed."""
    sha = repo.refs()["refs/heads/main"]
    repo.set_check_run(sha, "test", None, workflow="ci.yml")
    path = f"{REPO}/commits/{sha}/check-runs"
    first = call("GET", path)
    tag = first.headers["etag"]
    again = call("GET", path, If_None_Match=tag)
    assert (again.status, again.body, again.headers["etag"]) == (304, None, tag)
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    repo.set_check_run(sha, "test", "success", workflow="ci.yml")
    changed = call("GET", path, If_None_Match=tag)
    assert (changed.status, changed.headers["x-ratelimit-used"]) == (200, "2")
    assert changed.headers["etag"] not in (tag, "")
    assert [(got.status, got.counted) for got in hub.requests] == [(200, True), (304, False), (200, True)]


@pytest.mark.parametrize("sent", ["W/{}", '"other", {}', "*"])
def test_every_form_of_the_header_is_understood(repo: SandboxRepository, call: Caller, sent: str) -> None:
    """A weak tag, a list and the asterisk mean the same answer."""
    tag = call("GET", REPO).headers["etag"]
    assert tag.startswith('"')
    assert call("GET", REPO, If_None_Match=sent.format(tag)).status == 304


def test_what_changes_something_has_no_etag(repo: SandboxRepository, call: Caller) -> None:
    """Neither a POST nor a refusal can be asked for conditionally."""
    made = call("POST", f"{REPO}/issues", {"title": "T"})
    missing = call("GET", f"{REPO}/issues/99", If_None_Match="*")
    assert (made.status, missing.status) == (201, 404)
    assert not {"etag"} & (made.headers.keys() | missing.headers.keys())


def _hub(tmp_path: Path, limit: int, window: int) -> EmbeddedGitHub:
    made = EmbeddedGitHub(tmp_path / "short", ci=False, rate_limit=limit, rate_window=window)
    made.create_repository("acme/widget", FILES)
    return made


def test_a_used_up_budget_refuses(tmp_path: Path) -> None:
    """The headers count down; at zero GitHub answers 403 with the time of the reset, for that token alone."""
    with _hub(tmp_path, limit=3, window=3600) as short:
        token = short.issue_token("nightjar[bot]")
        call, other = Caller(short, token), Caller(short, short.issue_token("nightjar[bot]"))
        rates = [call("GET", REPO).headers for _ in range(3)]
        assert [(rate["x-ratelimit-limit"], rate["x-ratelimit-remaining"]) for rate in rates] == [
            ("3", "2"),
            ("3", "1"),
            ("3", "0"),
        ]
        with (
            github.Github(base_url=short.api_url, auth=github.Auth.Token(token), retry=None) as client,
            pytest.raises(github.RateLimitExceededException) as refused,
        ):
            client.get_repo("acme/widget")
        assert refused.value.status == 403
        assert refused.value.headers is not None
        left = int(refused.value.headers["x-ratelimit-reset"]) - Clock.today().timestamp()
        assert 3500 < left < 3602
        assert refused.value.headers["x-ratelimit-resource"] == "core"
        assert other("GET", REPO).status == 200


def test_a_budget_is_filled_again_when_its_time_is_over(tmp_path: Path) -> None:
    """After the reset that the header names, the next request is served and counted anew."""
    with _hub(tmp_path, limit=1, window=1) as short:
        call = Caller(short, short.issue_token("nightjar[bot]"))
        reset = int(call("GET", REPO).headers["x-ratelimit-reset"])
        Clock().sleep(max(0.0, reset - Clock.today().timestamp()) + 0.01)
        got = call("GET", REPO)
        assert (got.status, got.headers["x-ratelimit-used"]) == (200, "1")


def test_job_tokens_of_a_repository_share_a_thousand_requests(tmp_path: Path) -> None:
    """What one job uses up another of the repository misses; a token of another kind has its own, larger budget."""
    with EmbeddedGitHub(tmp_path / "shared") as shared:
        repo = shared.create_repository("acme/widget", FILES)
        desk = shared.ci_of(repo)
        desk.equip(Equipment(), runners=1)
        jobs = [Caller(shared, desk.issue_token({"contents": "read"})) for _ in range(2)]
        used = [job("GET", REPO).headers for job in jobs]
        assert [(rate["x-ratelimit-limit"], rate["x-ratelimit-used"]) for rate in used] == [
            ("1000", "1"),
            ("1000", "2"),
        ]
        app = Caller(shared, shared.issue_token("nightjar[bot]"))("GET", REPO).headers
        assert (app["x-ratelimit-limit"], app["x-ratelimit-used"]) == ("5000", "1")


def test_a_scale_speeds_the_reset_up(tmp_path: Path) -> None:
    """An hour at a scale of 900 is over after four seconds, and is an hour to whoever plans by the named reset."""
    with EmbeddedGitHub(tmp_path / "fast", ci=False, rate_limit=1, scale=900) as fast:
        fast.create_repository("acme/widget", FILES)
        call = Caller(fast, fast.issue_token("nightjar[bot]"))
        first, asked = call("GET", REPO), Clock.today().timestamp()
        Clock(900).sleep(900)
        refused = call("GET", REPO)
        assert 3000 < int(first.headers["x-ratelimit-reset"]) - asked < 3602
        assert (refused.status, refused.headers["x-ratelimit-remaining"]) == (403, "0")
        planned = int(refused.headers["x-ratelimit-reset"]) - Clock.today().timestamp()
        assert planned < 2702
        Clock(900).sleep(planned + 1)
        assert call("GET", REPO).status == 200
