"""The embedded GitHub's issues, labels, comments, pages, permissions and budgets, through PyGithub."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from urllib.parse import urlsplit

import github
import pytest
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import Client


def test_labels_are_swapped_and_the_ones_added_meanwhile_stay(repo: SandboxRepository, remote: Repository) -> None:
    """Adding one label and removing another touches no third."""
    number = repo.open_issue("Broken", "It is.", author="dana")
    repo.label_issue(number, "nightjar", actor="alice")
    issue = remote.get_issue(number)
    repo.label_issue(number, "urgent", actor="dana")
    issue.add_to_labels("nightjar:working")
    issue.remove_from_labels("nightjar")
    assert repo.labels(number) == ("urgent", "nightjar:working")
    with pytest.raises(github.GithubException) as refused:
        issue.remove_from_labels("nightjar")
    assert (refused.value.status, refused.value.data["message"]) == (404, "Label does not exist")
    issue.set_labels("nightjar:ready")
    assert [label.name for label in issue.get_labels()] == ["nightjar:ready"]


def test_a_label_is_created_once(remote: Repository) -> None:
    """The second creation of a label, in any case, is GitHub's 422 already_exists."""
    assert remote.create_label("nightjar", "112233", "Ask for a Run").color == "112233"
    with pytest.raises(github.GithubException) as refused:
        remote.create_label("Nightjar", "445566")
    assert refused.value.status == 422
    assert refused.value.data["errors"] == [{"resource": "Label", "code": "already_exists", "field": "name"}]
    assert remote.get_label("nightjar").description == "Ask for a Run"
    with pytest.raises(github.UnknownObjectException):
        remote.get_label("other")


def test_a_comment_is_edited_in_place(repo: SandboxRepository, remote: Repository) -> None:
    """An edited comment stays one comment, and the timeline tells both texts, who and in which order."""
    number = repo.open_issue("Broken", author="dana")
    comment = remote.get_issue(number).create_comment("working")
    comment.edit("done")
    comment.create_reaction("eyes")
    assert [(c.author, c.body, c.edited) for c in repo.comments(number)] == [("nightjar[bot]", "done", True)]
    assert [(e.actor, e.kind, e.text) for e in repo.timeline(number)] == [
        ("dana", "opened", "Broken"),
        ("nightjar[bot]", "commented", "working"),
        ("nightjar[bot]", "comment edited", "done"),
        ("nightjar[bot]", "reacted", "eyes"),
    ]
    comment.delete()
    assert repo.comments(number) == ()


def test_a_comment_that_is_too_long_is_refused(repo: SandboxRepository, remote: Repository) -> None:
    """65 536 characters are taken, one more is a 422 that says so."""
    issue = remote.get_issue(repo.open_issue("Broken"))
    issue.create_comment("x" * 65_536)
    with pytest.raises(github.GithubException) as refused:
        issue.create_comment("x" * 65_537)
    assert refused.value.status == 422
    assert refused.value.data["errors"][0]["message"] == "body is too long (maximum is 65536 characters)"


def test_an_issue_is_changed_and_closed(repo: SandboxRepository, remote: Repository) -> None:
    """Title, body, assignees and state are what was last asked for."""
    issue = remote.create_issue("Old", "text", labels=["bug"])
    issue.edit(title="New", body="better", state="closed", state_reason="not_planned", assignees=["alice", "nobody"])
    stored = repo.issue(issue.number)
    assert (stored.title, stored.body, stored.state, stored.state_reason) == ("New", "better", "closed", "not_planned")
    assert (stored.assignees, stored.labels, stored.closed_by) == (("alice",), ("bug",), "nightjar[bot]")
    assert [found.number for found in remote.get_issues(state="closed")] == [issue.number]
    assert list(remote.get_issues()) == []


def test_lists_come_in_pages(hub: EmbeddedGitHub, repo: SandboxRepository, remote: Repository) -> None:
    """A list longer than a page is read whole by following `Link`."""
    number = repo.open_issue("Busy")
    for count in range(35):
        repo.comment(number, f"comment {count}", "dana")
    read = [comment.body for comment in remote.get_issue(number).get_comments()]
    assert read == [f"comment {count}" for count in range(35)]
    pages = [request.target for request in hub.requests if "/comments" in request.target]
    assert pages[-1].endswith("page=2")
    assert len(pages) == 2


def test_permissions_of_people(remote: Repository) -> None:
    """Who may write is told, somebody unknown is a 404."""
    assert remote.get_collaborator_permission("alice") == "write"
    assert remote.get_collaborator_permission("dana") == "read"
    assert remote.get_collaborator_role_name("alice") == "write"
    with pytest.raises(github.UnknownObjectException):
        remote.get_collaborator_permission("nobody")


def test_a_bad_token_is_refused(connect: Client, repo: SandboxRepository) -> None:
    """A token GitHub does not know gets 401 with GitHub's message."""
    with pytest.raises(github.BadCredentialsException) as refused:
        connect("ghs_wrong").get_repo(repo.full_name)
    assert refused.value.data["message"] == "Bad credentials"


def test_a_missing_permission_is_named(hub: EmbeddedGitHub, connect: Client, repo: SandboxRepository) -> None:
    """A token that may write pull requests but only read issues may comment on the former and not on the latter."""
    number = repo.open_issue("Broken")
    permissions = {"issues": "read", "pull_requests": "write"}
    token = hub.issue_token("github-actions[bot]", kind="job", permissions=permissions)
    remote = connect(token).get_repo(repo.full_name)
    repo.commit("work", {"a": "b"}, "Add")
    pull = remote.create_pull(title="Fix", head="work", base="main")
    assert pull.create_issue_comment("hello").body == "hello"
    issue = remote.get_issue(number)
    with pytest.raises(github.GithubException) as refused:
        issue.create_comment("hello")
    assert refused.value.status == 403
    assert refused.value.data["message"] == "Resource not accessible by integration"
    assert repo.comments(number) == ()


def test_a_private_repository_is_hidden(hub: EmbeddedGitHub, connect: Client) -> None:
    """Somebody's own token for a repository they may not read gets 404."""
    hub.create_repository("acme/secret", {"a": "b"}, private=True)
    with pytest.raises(github.UnknownObjectException):
        connect(hub.issue_token("dana", kind="pat")).get_repo("acme/secret")


def test_the_rate_budget_counts_down_and_runs_out(tmp_path: Path) -> None:
    """Each request costs one, an answer of 304 nothing, and an empty budget is a 403."""
    with EmbeddedGitHub(tmp_path, ci=False, rate_limit=3) as hub:
        hub.create_repository("acme/widget", {"a": "b"})
        connection = http.client.HTTPConnection(urlsplit(hub.api_url).netloc)
        headers = {"Authorization": f"Bearer {hub.issue_token('nightjar[bot]')}"}

        def ask(**more: str) -> tuple[int, str | None, str | None]:
            connection.request("GET", "/repos/acme/widget", headers=headers | more)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers["x-ratelimit-remaining"], answer.headers["etag"]

        status, remaining, tag = ask()
        assert (status, remaining) == (200, "2")
        assert tag is not None
        assert ask(**{"If-None-Match": tag})[:2] == (304, "2")
        assert ask()[:2] == (200, "1")
        assert ask()[:2] == (200, "0")
        assert ask()[:2] == (403, "0")
        connection.close()
        assert [request.counted for request in hub.requests] == [True, False, True, True, True]


def test_the_labelled_event_is_what_a_workflow_gets(hub: EmbeddedGitHub, repo: SandboxRepository) -> None:
    """Labelling hands back the `issues` payload, whose addresses lead to the embedded GitHub."""
    number = repo.open_issue("Broken", "It is.", author="dana")
    payload = repo.label_issue(number, "nightjar", actor="alice")
    assert (payload["action"], payload["label"]["name"], payload["sender"]["login"]) == ("labeled", "nightjar", "alice")
    assert payload["issue"]["labels"][0]["name"] == "nightjar"
    assert payload["issue"]["url"] == f"{hub.api_url}/repos/acme/widget/issues/{number}"
    assert payload["repository"]["full_name"] == "acme/widget"


def test_another_prefix(tmp_path: Path) -> None:
    """Behind /api/v3, as on an Enterprise server, PyGithub works the same."""
    with EmbeddedGitHub(tmp_path, ci=False, prefix="/api/v3") as hub:
        repo = hub.create_repository("acme/widget", {"a": "b"})
        repo.commit("work", {"a": "c"}, "Change")
        auth = github.Auth.Token(hub.issue_token("nightjar[bot]"))
        with github.Github(base_url=hub.api_url, auth=auth, seconds_between_writes=0) as client:
            pull = client.get_repo("acme/widget").create_pull(title="T", head="work", base="main", draft=True)
            pull.mark_ready_for_review()
        assert not repo.pull_requests()[0].draft


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (b"{", (400, "Problems parsing JSON")),
        (b"7", (400, "Body should be a JSON object")),
        (b'{"title": 7}', (422, "Invalid request.\n\nFor 'properties/title', 7 is not a string.")),
        (b"{}", (422, 'Invalid request.\n\n"title" wasn\'t supplied.')),
    ],
)
def test_a_bad_body_is_answered(
    hub: EmbeddedGitHub, repo: SandboxRepository, token: str, body: bytes, refusal: tuple[int, str]
) -> None:
    """What is no JSON is a 400, a field of a wrong type a 422 that names it, and the connection stays good."""
    connection = http.client.HTTPConnection(urlsplit(hub.api_url).netloc)
    for _ in range(2):
        connection.request("POST", "/repos/acme/widget/issues", body, {"Authorization": f"token {token}"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["message"]) == refusal
    connection.close()


@pytest.mark.parametrize("name", ["nightjar:working", "needs work", "kind/bug", "größer"])
def test_a_name_may_hold_any_character(repo: SandboxRepository, remote: Repository, name: str) -> None:
    """Labels and files whose names need quoting in an address are found by it, and removed."""
    number = repo.open_issue("Broken", labels=[name])
    remote.get_label(name)
    remote.get_issue(number).remove_from_labels(name)
    assert repo.labels(number) == ()
    repo.commit("main", {f"{name}.txt": "found"}, "Add")
    file = remote.get_contents(f"{name}.txt")
    assert not isinstance(file, list)
    assert (file.decoded_content, file.path) == (b"found", f"{name}.txt")
