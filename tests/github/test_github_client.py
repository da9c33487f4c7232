"""Errors and retries, the same for both libraries."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from bot.cancel import Cancel, Cancelled
from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.github.answers import Answer, UnreadableAnswer
from bot.github.checks import Checks
from bot.github.client import ATTEMPTS, LONGEST_LIMIT_WAIT, Client, Refused, limit_wait
from bot.github.conditional import Reader
from bot.github.repository import GitHubRepository
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.github.conftest import NAME, Fault, Front, hangs_up, page_of, says, torn

HEAD = "main"


def by_pygithub(client: Client) -> object:
    """A read through PyGithub."""
    return GitHubRepository(client).comments(1)


def by_ghapi(client: Client) -> object:
    """A read through ghapi."""

    def read() -> object:
        try:
            return client.api.checks.list_for_ref(ref=HEAD)["check_runs"]
        except TypeError as error:
            raise UnreadableAnswer("no list in it") from error

    return client.ask(f"GET /repos/{NAME}/commits/{HEAD}/check-runs", read)


def by_etag(client: Client) -> object:
    """A read that costs nothing while nothing has changed."""
    return Checks(Reader(client)).observe(HEAD)


BOTH = pytest.mark.parametrize(
    ("read", "pattern"),
    [(by_pygithub, "GET .*/issues/1/comments"), (by_ghapi, "GET .*/check-runs"), (by_etag, "GET .*/check-runs")],
)
Read = Callable[[Client], object]


@pytest.fixture(autouse=True)
def an_issue(widget: SandboxRepository) -> int:
    """Issue 1."""
    return widget.open_issue("Wrong area")


@pytest.mark.field_case(35, "a")
@pytest.mark.field_case(35, "b")
@pytest.mark.field_case(35, "c")
@pytest.mark.field_case(35, "f")
@pytest.mark.field_case(35, "g")
@BOTH
@pytest.mark.parametrize(
    "fault",
    [
        says(500, "Server Error"),
        says(502, "Bad Gateway"),
        says(503, "Unavailable"),
        says(429, "Too many requests"),
        says(403, "You have exceeded a secondary rate limit", retry_after="30"),
        says(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."),
        hangs_up(),
        page_of("<html><h1>Whoa there!</h1></html>"),
        torn({"total_count": 0, "check_runs": []}),
    ],
    ids=["500", "502", "503", "429", "named limit", "unnamed limit", "dropped", "html", "torn"],
)
def test_passing_trouble_is_waited_out(
    read: Read, pattern: str, fault: Fault, front: Front, through_front: Client
) -> None:
    """A server error, a dropped connection, a limit or a proxy's page on a read is tried again and forgotten."""
    wanted = read(through_front)
    front.fail(pattern, fault, fault)
    assert read(through_front) == wanted
    assert front.count(pattern) == 3


@pytest.mark.field_case(35, "d")
@pytest.mark.field_case(35, "e")
@BOTH
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (says(401, "Bad credentials"), "token_expired"),
        (says(403, "Resource not accessible by integration"), "github_denied"),
        (says(404, "Not Found"), "github_denied"),
        (says(410, "This issue was deleted"), "github_denied"),
        (says(422, "Validation Failed"), "github_denied"),
        (
            says(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="9999999999"),
            "github_unavailable",
        ),
    ],
    ids=["401", "403", "404", "410", "422", "used up"],
)
def test_refusal_is_taken_at_once(
    read: Read, pattern: str, fault: Fault, code: str, front: Front, through_front: Client, token: str
) -> None:
    """A refusal is not tried again; the reason names request, status and GitHub's message, and no token."""
    front.fail(pattern, *[fault] * 3)
    with pytest.raises(RunFailed) as failed:
        read(through_front)
    assert failed.value.code == code
    assert front.count(pattern) == 1
    assert fault.reply is not None
    assert isinstance(fault.reply.body, dict)
    assert failed.value.reason.startswith(f"GET /repos/{NAME}/")
    assert f"→ {fault.reply.status}: {fault.reply.body['message']}" in failed.value.reason
    assert token not in str(failed.value)


@BOTH
def test_outage_ends_as_unavailable(read: Read, pattern: str, front: Front, through_front: Client) -> None:
    """A GitHub that stays down is asked a bounded number of times."""
    front.fail(pattern, *[says(503, "Unavailable")] * 50)
    with pytest.raises(Refused) as failed:
        read(through_front)
    assert failed.value.code == "github_unavailable"
    assert front.count(pattern) == ATTEMPTS


@BOTH
def test_nobody_listens(read: Read, pattern: str) -> None:
    """A host that refuses connections is GitHub being unavailable."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}", NAME, FixedToken("ghs_secret"), Clock(scale=100_000))
    with pytest.raises(Refused) as failed:
        read(client)
    client.close()
    assert failed.value.code == "github_unavailable"
    assert "no answer" in failed.value.reason
    assert "ghs_secret" not in str(failed.value)


@pytest.mark.field_case(35, "a")
def test_wait_that_github_names_is_kept(front: Front, through_front: Client) -> None:
    """`retry-after` is waited for, through the clock."""
    front.fail("GET", says(429, "slow down", retry_after="600"))
    before = time.monotonic()
    by_pygithub(through_front)
    assert time.monotonic() - before >= 600 / 2000


@pytest.mark.field_case(35, "d")
def test_used_up_budget_is_waited_for_until_it_starts_anew(front: Front, through_front: Client) -> None:
    """A primary limit that starts anew in twenty minutes is waited for that long, and not asked again before."""
    reset = str(int(time.time()) + 20 * 60)
    front.fail("GET", says(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset=reset))
    before = time.monotonic()
    by_pygithub(through_front)
    assert time.monotonic() - before >= 19 * 60 / 2000
    assert front.count("GET") == 2


@pytest.mark.field_case(35, "b")
def test_limit_wait_without_a_named_time_grows() -> None:
    """An unnamed limit is waited for a minute, then longer; a used-up budget until it starts anew."""
    unnamed = Answer(403, "secondary", limited=True)
    assert [limit_wait(unnamed, attempt, 0) for attempt in (1, 2, 3)] == [60, 120, 240]
    assert limit_wait(unnamed, 30, 0) == LONGEST_LIMIT_WAIT
    assert limit_wait(Answer(403, "", limited=True, reset_at=1_300), 1, 1_000) == 301


def test_nothing_is_sent_after_a_cancel(front: Front, token: str) -> None:
    """A Run that is to stop sends nothing more."""
    cancel = Cancel()
    client = Client(front.server.host, NAME, FixedToken(token), Clock(cancel=cancel))
    cancel.request()
    with pytest.raises(Cancelled):
        by_pygithub(client)
    client.close()
    assert front.count("GET") == 0


def test_comment_whose_answer_is_lost_is_there_once(
    front: Front, through_front: Client, widget: SandboxRepository
) -> None:
    """A comment that was stored before the connection dropped is found, not written again."""
    body = "<!-- nightjar run=1 kind=ending -->\nDone."
    front.fail("POST .*/comments", hangs_up(stored=True))
    number = GitHubRepository(through_front).comment(1, body)
    assert [(comment.id, comment.body) for comment in widget.comments(1)] == [(number, body)]
    assert front.count("POST") == 1


@pytest.mark.parametrize(
    "fault", [hangs_up(), says(502, "Bad Gateway"), says(429, "slow down")], ids=["dropped", "502", "429"]
)
def test_comment_that_was_not_stored_is_sent_again(
    fault: Fault, front: Front, through_front: Client, widget: SandboxRepository
) -> None:
    """A comment that got lost on the way is written in the end, once."""
    widget.comment(1, "<!-- nightjar run=1 kind=tracking -->\nDone.", "dana")
    front.fail("POST .*/comments", fault, fault)
    GitHubRepository(through_front).comment(1, "<!-- nightjar run=1 kind=ending -->\nDone.")
    assert [comment.body.splitlines()[0] for comment in widget.comments(1)] == [
        "<!-- nightjar run=1 kind=tracking -->",
        "<!-- nightjar run=1 kind=ending -->",
    ]


def test_comment_without_a_marker_is_known_by_its_text(
    front: Front, through_front: Client, widget: SandboxRepository
) -> None:
    """Also a plain comment is there once when its answer is lost."""
    front.fail("POST .*/comments", Fault(says(504, "Timeout").reply, stored=True))
    GitHubRepository(through_front).comment(1, "On it.")
    assert [comment.body for comment in widget.comments(1)] == ["On it."]


@pytest.mark.field_case(37, "c")
def test_refused_comment_is_not_repeated(front: Front, through_front: Client) -> None:
    """A locked issue refuses comments: told at once."""
    front.fail("POST", *[says(403, "Unable to create comment because issue is locked.")] * 3)
    with pytest.raises(RunFailed, match="issue is locked"):
        GitHubRepository(through_front).comment(1, "On it.")
    assert front.count("POST") == 1


@pytest.mark.field_case(37, "d")
def test_moved_issue_is_not_ours(front: Front, through_front: Client, hub: EmbeddedGitHub) -> None:
    """An issue that was transferred is not followed into the other repository."""
    hub.create_repository("acme/gadget", {}).open_issue("Wrong area")
    there = f"{front.server.host}/repos/acme/gadget/issues/1"
    moved = says(301, "Moved Permanently", location=there)
    front.fail("GET .*/widget/issues/1", moved)
    with pytest.raises(RunFailed, match=r"has moved to .*acme/gadget/issues/1"):
        GitHubRepository(through_front).issue(1)


@pytest.mark.parametrize("token", ["", "ghs_a\n", "ghs_a b", "ghs_ä"], ids=["empty", "line", "space", "letter"])
def test_token_that_no_header_can_carry(token: str) -> None:
    """Refused before any request, and not shown."""
    with pytest.raises(RunFailed) as failed:
        Client("http://127.0.0.1:1", NAME, FixedToken(token), Clock())
    assert failed.value.code == "config_invalid"
    assert "github-token" in failed.value.reason
    assert "ghs_" not in str(failed.value)


def test_enterprise_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An API below /api/v3 works with both libraries and GraphQL."""
    with EmbeddedGitHub(tmp_path_factory.mktemp("ghes"), ci=False, prefix="/api/v3") as hub:
        widget = hub.create_repository(NAME, {"README.md": "x"})
        widget.commit("nightjar/issue-1", {"a": "b"}, "Work")
        client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("nightjar[bot]")), Clock(scale=2000))
        github = GitHubRepository(client)
        pull = github.open_pull_request(title="t", body="b", branch="nightjar/issue-1", base="main", draft=True)
        assert github.mark_ready(pull.number)
        assert not widget.pull_requests()[0].draft
        assert Checks(Reader(client)).observe("main").checks() == ()
        client.close()


def test_both_libraries_send_the_token(front: Front, through_front: Client, token: str) -> None:
    """Every request carries the one token, whatever the environment holds."""
    by_pygithub(through_front)
    by_ghapi(through_front)
    assert {header.split(" ")[-1] for header in front.tokens} == {token}
