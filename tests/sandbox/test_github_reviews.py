"""Reviews of pull requests, what they say of single lines, and reactions to what people wrote."""

from __future__ import annotations

import github
import pytest
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, Refused, SandboxRepository
from bot.sandbox.github.state import TokenKind
from tests.sandbox.conftest import Caller, Client, Got

REPO = "/repos/acme/widget"
REACT = "mutation($input: AddReactionInput!) {\n  addReaction(input: $input) { reaction { content } subject { id } }\n}"
LOCATIONS = [{"line": 2, "column": 3}]


@pytest.fixture
def pull(repo: SandboxRepository, remote: Repository) -> PullRequest:
    """A pull request that changes the second of app.py's three lines and adds a file."""
    repo.commit("work", {"app.py": "one\n2\nthree\n", "new.txt": "a\nb\n"}, "Fix it")
    return remote.create_pull(title="Fix", body="", head="work", base="main")


def react(call: Caller, subject: str, content: str = "EYES") -> Got:
    """Ask for a reaction through GraphQL."""
    return call(
        "POST", "/graphql", {"query": REACT, "variables": {"input": {"subjectId": subject, "content": content}}}
    )


def test_a_review_says_things_of_single_lines(
    repo: SandboxRepository, remote: Repository, pull: PullRequest, call: Caller
) -> None:
    """Each list has them in order, the pull request's with the line and the review's with the place in the diff."""
    remarks = [("app.py", 3, "Why not here?"), ("new.txt", 2, "Too short")]
    review = repo.review(pull.number, "dana", "CHANGES_REQUESTED", "Please look again.", remarks)
    other = repo.review(pull.number, "alice", "COMMENTED", "", [("app.py", 2, "Two, then")])
    one = pull.get_review(review)
    assert (one.id, one.user.login, one.state, one.body) == (review, "dana", "CHANGES_REQUESTED", "Please look again.")
    of_review = list(pull.get_single_review_comments(review))
    assert [(row.path, row.user.login, row.body) for row in of_review] == [
        ("app.py", "dana", "Why not here?"),
        ("new.txt", "dana", "Too short"),
    ]
    assert [row.position for row in of_review] == [4, 2]
    assert of_review[0].diff_hunk == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    path = f"{REPO}/pulls/{pull.number}"
    assert "line" not in call.get(f"{path}/reviews/{review}/comments")[0]
    assert [row.path for row in pull.get_review_comments()] == ["app.py", "new.txt", "app.py"]
    found = [(row["pull_request_review_id"], row["path"], row["line"]) for row in call.get(f"{path}/comments")]
    assert found == [(review, "app.py", 3), (review, "new.txt", 2), (other, "app.py", 2)]
    assert remote.get_pull(pull.number).review_comments == 3


def test_a_line_that_was_changed_since_is_told_as_it_was(
    repo: SandboxRepository, pull: PullRequest, call: Caller
) -> None:
    """Once the file has changed the line and the position are null, the original ones stay."""
    first = pull.head.sha
    repo.review(pull.number, "dana", "COMMENTED", "", [("app.py", 2, "Two?"), ("new.txt", 1, "A?")])
    head = repo.commit("work", {"app.py": "zero\none\n2\nthree\n"}, "Put a line before it")
    app, new = call.get(f"{REPO}/pulls/{pull.number}/comments")
    assert (app["line"], app["original_line"], app["position"], app["original_position"]) == (None, 2, None, 3)
    assert (app["commit_id"], app["original_commit_id"]) == (first, first)
    assert (new["line"], new["commit_id"], new["original_commit_id"]) == (1, head, first)


@pytest.mark.parametrize(("path", "line", "why"), [("README.md", 1, "Path"), ("app.py", 9, "Line"), ("no", 1, "Path")])
def test_only_lines_that_the_diff_shows_can_be_spoken_of(
    repo: SandboxRepository, pull: PullRequest, path: str, line: int, why: str
) -> None:
    """Anything else is GitHub's 422, and there is no review."""
    with pytest.raises(Refused) as refused:
        repo.review(pull.number, "dana", "COMMENTED", "Hm", [(path, line, "This?")])
    assert (refused.value.status, refused.value.errors) == (422, [f"{why} could not be resolved"])
    assert list(pull.get_reviews()) == []


def test_a_long_review_comes_in_pages(
    repo: SandboxRepository, remote: Repository, pull: PullRequest, call: Caller
) -> None:
    """35 remarks are two pages; with another pull request's number, and where there is no review, it is 404."""
    review = repo.review(pull.number, "dana", "COMMENTED", "", [("new.txt", 1, f"{count}") for count in range(35)])
    path = f"{REPO}/pulls/{pull.number}/reviews"
    first, second = call("GET", f"{path}/{review}/comments"), call("GET", f"{path}/{review}/comments?page=2")
    assert [row["body"] for row in first.body + second.body] == [f"{count}" for count in range(35)]
    assert 'rel="next"' in first.headers["link"]
    repo.commit("other", {"a": "b"}, "Elsewhere")
    other = remote.create_pull(title="Other", body="", head="other", base="main").number
    for absent in (f"{path}/1", f"{REPO}/pulls/{other}/reviews/{review}", f"{REPO}/pulls/99/reviews/{review}"):
        assert call("GET", f"{absent}/comments").status == 404


def test_reactions_to_reviews_and_comments_are_seen(repo: SandboxRepository, pull: PullRequest, call: Caller) -> None:
    """What GraphQL adds, people see, with REST's names for it, and once."""
    review, comment = repo.review(pull.number, "dana"), repo.comment(pull.number, "Good", "dana")
    assert repo.reactions(review) == ()
    done = react(call, f"PRR_{review}")
    assert (done.status, done.body["data"]["addReaction"]["reaction"]) == (200, {"content": "EYES"})
    assert done.body["data"]["addReaction"]["subject"] == {"id": f"PRR_{review}"}
    react(call, f"PRR_{review}")
    react(call, f"PRR_{review}", "THUMBS_UP")
    react(call, call.get(f"{REPO}/issues/comments/{comment}")["node_id"], "ROCKET")
    assert repo.reactions(review) == (("nightjar[bot]", "eyes"), ("nightjar[bot]", "+1"))
    assert repo.reactions(comment) == (("nightjar[bot]", "rocket"),)
    assert call.get(f"{REPO}/issues/comments/{comment}")["reactions"]["rocket"] == 1
    assert call.get(f"{REPO}/issues/{pull.number}")["reactions"]["total_count"] == 0
    with pytest.raises(Refused):
        repo.reactions(99)


def test_a_reaction_that_cannot_be_is_refused_in_githubs_words(
    hub: EmbeddedGitHub, repo: SandboxRepository, pull: PullRequest, call: Caller
) -> None:
    """Nothing of that id, a content that GraphQL does not know, and a token without the permission."""
    node = f"PRR_{repo.review(pull.number, 'dana')}"
    unknown, wrong = react(call, "PRR_1"), react(call, node, "eyes")
    weak = Caller(hub, hub.issue_token("github-actions[bot]", "job", {"issues": "write", "pull_requests": "read"}))
    refused = react(weak, node)
    assert unknown.body == {
        "data": {"addReaction": None},
        "errors": [
            {
                "type": "NOT_FOUND",
                "path": ["addReaction"],
                "locations": LOCATIONS,
                "message": "Could not resolve to a node with the global id of 'PRR_1'",
            }
        ],
    }
    assert refused.body == {
        "data": {"addReaction": None},
        "errors": [
            {
                "type": "FORBIDDEN",
                "path": ["addReaction"],
                "extensions": {"saml_failure": False},
                "locations": LOCATIONS,
                "message": "Resource not accessible by integration",
            }
        ],
    }
    assert "data" not in wrong.body
    assert 'Expected "eyes" to be one of: THUMBS_UP, THUMBS_DOWN' in wrong.body["errors"][0]["message"]
    assert repo.reactions(int(node.removeprefix("PRR_"))) == ()


@pytest.mark.parametrize(
    ("permissions", "on_issue", "on_pull"),
    [({"issues": "write"}, 201, 403), ({"pull_requests": "write"}, 403, 201), ({"issues": "read"}, 403, 403)],
)
def test_who_answers_needs_the_permission_of_what_is_answered(
    hub: EmbeddedGitHub,
    repo: SandboxRepository,
    pull: PullRequest,
    permissions: dict[str, str],
    on_issue: int,
    on_pull: int,
) -> None:
    """Comments and reactions take `pull-requests: write` on a pull request, `issues: write` on an issue."""
    job = Caller(hub, hub.issue_token("github-actions[bot]", "job", permissions))
    for number, status in ((repo.open_issue("Broken"), on_issue), (pull.number, on_pull)):
        comment = repo.comment(number, "/nightjar status", "dana")
        got = job("POST", f"{REPO}/issues/comments/{comment}/reactions", {"content": "eyes"})
        said = job("POST", f"{REPO}/issues/{number}/comments", {"body": "Nothing is going on."})
        assert (got.status, said.status) == (status, status)
        answer = react(job, f"IC_{comment}", "ROCKET").body
        assert ("errors" not in answer) == (status == 201)
        wanted = ("eyes", "rocket") if status == 201 else ()
        assert tuple(content for _, content in repo.reactions(comment)) == wanted


@pytest.mark.parametrize("kind", ["app", "pat"])
def test_a_comment_is_reacted_to_through_pygithub(
    hub: EmbeddedGitHub, repo: SandboxRepository, connect: Client, kind: TokenKind
) -> None:
    """A second reaction of the same kind is the first; one that GitHub does not have is 422."""
    comment = repo.comment(repo.open_issue("Broken"), "/nightjar status", "dana")
    issue = connect(hub.issue_token("alice", kind)).get_repo(repo.full_name).get_issue(1)
    told = issue.get_comment(comment)
    assert told.create_reaction("eyes").id == told.create_reaction("eyes").id
    with pytest.raises(github.GithubException) as refused:
        told.create_reaction("tada")
    assert refused.value.status == 422
    assert repo.reactions(comment) == (("alice", "eyes"),)
