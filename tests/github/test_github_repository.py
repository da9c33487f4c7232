"""What the port does on GitHub, as somebody looking at the pages sees it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.ports import PullRequestText
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.github.conftest import NAME, Front, hangs_up, says

BRANCH = "nightjar/issue-1"
AsToken = Callable[..., GitHubRepository]


@pytest.fixture
def number(widget: SandboxRepository) -> int:
    """Issue 1, with two labels."""
    return widget.open_issue("Wrong area", "It is 6.", author="dana", labels=["bug", "nightjar"])


@pytest.fixture
def head(widget: SandboxRepository, number: int) -> str:
    """The Issue branch, one commit over main."""
    return widget.commit(BRANCH, {"area.py": "pass\n"}, "Work")


@pytest.fixture
def behind_front(through_front: Client) -> GitHubRepository:
    """The port, talking to the front."""
    return GitHubRepository(through_front)


def open_pull(github: GitHubRepository, *, draft: bool = True) -> int:
    """The Run's pull request; its number."""
    return github.open_pull_request(title="Fix", body="Closes #1", branch=BRANCH, base="main", draft=draft).number


# -- the repository and its people ----------------


def test_default_branch_and_files(github: GitHubRepository, widget: SandboxRepository) -> None:
    """A file is read at the ref that was asked for; what is no file is None."""
    widget.commit("other", {"docs/a b.md": "höher\n"}, "More")
    assert github.default_branch() == "main"
    assert github.read_file("README.md", "main") == b"# widget\n"
    assert github.read_file("docs/a b.md", "other") == "höher\n".encode()
    assert github.read_file("docs/a b.md", "main") is None
    assert github.read_file("docs", "other") is None


def test_roles(github: GitHubRepository, widget: SandboxRepository, hub: EmbeddedGitHub) -> None:
    """Triage and maintain are told apart from read and write; whoever GitHub does not know has none."""
    for login, role in (("alice", "write"), ("bob", "triage"), ("dana", "maintain")):
        widget.set_permission(login, role)  # type: ignore[arg-type]
    assert [github.role_of(login) for login in ("alice", "bob", "dana")] == ["write", "triage", "maintain"]
    assert github.role_of("nobody") == "none"
    assert github.role_of("some-app[bot]") == "none"


def test_custom_role_counts_as_what_it_builds_on(front: Front, behind_front: GitHubRepository) -> None:
    """An organisation's own role is not taken for a higher one."""
    front.fail("permission", says(200, "", role_name="x"))
    fault = front.faults[0].reply
    assert fault is not None
    assert isinstance(fault.body, dict)
    fault.body.update(permission="write", role_name="release-captain")
    assert behind_front.role_of("alice") == "write"


# -- issues ----------------


def test_issue(github: GitHubRepository, widget: SandboxRepository, number: int, head: str) -> None:
    """An issue, a closed one, one without a body, and a pull request are what they are."""
    found = github.issue(number)
    assert (found.title, found.body, found.open, found.is_pull_request, found.locked) == (
        "Wrong area",
        "It is 6.",
        True,
        False,
        False,
    )
    assert (found.labels, found.author) == (("bug", "nightjar"), "dana")
    empty = widget.open_issue("Only a title")
    widget.close(empty, "dana")
    assert (github.issue(empty).body, github.issue(empty).open) == ("", False)
    assert github.issue(open_pull(github)).is_pull_request


def test_unknown_issue(github: GitHubRepository) -> None:
    """An issue that is not there is a refusal that names it."""
    with pytest.raises(RunFailed, match=r"GET /repos/acme/widget/issues/99 → 404: Not Found"):
        github.issue(99)


def test_all_comments_oldest_first(github: GitHubRepository, widget: SandboxRepository, number: int) -> None:
    """More comments than a page holds are all read."""
    for index in range(103):
        widget.comment(number, f"comment {index}", "bob")
    found = github.comments(number)
    assert [comment.body for comment in found] == [f"comment {index}" for index in range(103)]
    assert found[0].author == "bob"
    assert found[0].created_at.tzinfo is not None


def test_label_swap_keeps_others_and_is_never_bare(
    github: GitHubRepository, hub: EmbeddedGitHub, widget: SandboxRepository, number: int
) -> None:
    """The new label is there before the old one goes; the others stay."""
    before = len(hub.requests)
    github.swap_labels(number, add="nightjar:working", remove=["nightjar", "nightjar:failed", "nightjar:working"])
    assert set(widget.labels(number)) == {"bug", "nightjar:working"}
    writes = [request for request in hub.requests[before:] if f"/issues/{number}/labels" in request.target]
    assert [request.method for request in writes] == ["POST", "DELETE"]  # nothing is taken off that is not there


def test_new_labels_explain_themselves(
    github: GitHubRepository, client: Client, widget: SandboxRepository, number: int
) -> None:
    """A label that Nightjar makes has a colour and a description; one that is there is left as it is."""
    github.swap_labels(number, add="nightjar:failed", remove=[])
    github.swap_labels(number, add="bug", remove=[])
    made = client.repository.get_label("nightjar:failed")
    assert (made.color, made.description) == ("b60205", "Nightjar stopped; the newest comment says why")
    assert client.repository.get_label("bug").color != "5319e7"


def test_label_with_a_slash(github: GitHubRepository, widget: SandboxRepository, number: int) -> None:
    """Label names are people's: a slash, a space and an umlaut come off again, and twice is no error."""
    github.swap_labels(number, add="bots/für alle", remove=[])
    github.remove_label(number, "bots/für alle")
    github.remove_label(number, "bots/für alle")
    assert "bots/für alle" not in widget.labels(number)


def test_reaction_and_comments(
    github: GitHubRepository, client: Client, widget: SandboxRepository, number: int
) -> None:
    """Reacting twice is once; a comment is written, and edited in place."""
    github.react(number, "eyes")
    github.react(number, "eyes")
    assert [reaction.content for reaction in client.repository.get_issue(number).get_reactions()] == ["eyes"]
    comment = github.comment(number, "On it.")
    github.edit_comment(comment, "Done: 100 %, für dana.")
    assert [(row.id, row.body) for row in widget.comments(number)] == [(comment, "Done: 100 %, für dana.")]


# -- pull requests ----------------


def test_pull_request_is_opened_once(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """Opening again takes up the one that is open."""
    assert github.find_pull_request(BRANCH) is None
    first = github.open_pull_request(title="Fix", body="Closes #1", branch=BRANCH, base="main", draft=True)
    again = github.open_pull_request(title="Other", body="", branch=BRANCH, base="main", draft=True)
    assert first == again == github.find_pull_request(BRANCH)
    assert first.draft
    assert first.url.endswith(f"/acme/widget/pull/{first.number}")
    github.edit_pull_request(first.number, lambda there: PullRequestText("Better", f"{there.body}, well"))
    (page,) = widget.pull_requests()
    assert (page.title, page.body, page.head_sha, page.draft) == ("Better", "Closes #1, well", head, True)


def test_pull_request_whose_answer_is_lost(
    front: Front, behind_front: GitHubRepository, widget: SandboxRepository, head: str
) -> None:
    """The one that was opened is taken up."""
    front.fail("POST .*/pulls", hangs_up(stored=True))
    assert open_pull(behind_front) == widget.pull_requests()[0].number
    assert len(widget.pull_requests()) == 1


def test_plan_without_drafts(front: Front, behind_front: GitHubRepository, head: str) -> None:
    """Where drafts are refused an ordinary pull request is opened."""
    front.fail("POST .*/pulls", says(422, "Draft pull requests are not supported in this repository."))
    found = behind_front.open_pull_request(title="Fix", body="", branch=BRANCH, base="main", draft=True)
    assert not found.draft


def test_nothing_to_open(github: GitHubRepository, widget: SandboxRepository) -> None:
    """No commits between the branches is a refusal with GitHub's words, not a loop."""
    widget.commit("same", {}, "Nothing")
    with pytest.raises(RunFailed) as failed:
        github.open_pull_request(title="Fix", body="", branch="missing", base="main", draft=True)
    assert failed.value.code == "github_denied"
    assert "422" in failed.value.reason


@pytest.mark.field_case(33, "a")
def test_actions_may_not_open_pull_requests(hub: EmbeddedGitHub, widget: SandboxRepository, head: str) -> None:
    """The repository's setting has a code of its own, with GitHub's words, after one request."""
    widget.allow_actions_to_open_pull_requests(False)
    client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("github-actions[bot]", "job")), Clock(scale=2000))
    with pytest.raises(RunFailed, match="not permitted to create") as failed:
        open_pull(GitHubRepository(client))
    client.close()
    assert failed.value.code == "pr_forbidden"
    assert sum(request.method == "POST" for request in hub.requests) == 1


def test_closed_pull_request_of_the_branch(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """A closed one is known, and is not the open one."""
    assert not github.closed_pull_request_exists(BRANCH)
    widget.close(open_pull(github), "dana")
    assert github.closed_pull_request_exists(BRANCH)
    assert github.find_pull_request(BRANCH) is None
    assert not github.closed_pull_request_exists("nightjar/issue-2")


def test_ready_and_back(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """Out of draft and back, and asking for what is so already is fine."""
    number = open_pull(github)
    for ready in (True, True):
        assert github.mark_ready(number) is ready
        assert not widget.pull_requests()[0].draft
    assert github.mark_draft(number)
    assert widget.pull_requests()[0].draft


def test_ready_is_forbidden(
    hub: EmbeddedGitHub, github: GitHubRepository, widget: SandboxRepository, head: str
) -> None:
    """A token that may not change the draft state is told by False, after one try."""
    number = open_pull(github)
    permissions = {"contents": "read", "issues": "write", "pull_requests": "write"}
    client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("weak[bot]", "job", permissions)), Clock(scale=2000))
    before = len(hub.requests)
    assert GitHubRepository(client).mark_ready(number) is False
    client.close()
    assert widget.pull_requests()[0].draft
    assert sum(request.method == "POST" for request in hub.requests[before:]) == 1


def test_mergeable_takes_its_time(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """Unknown at first, then worked out; a conflict is told."""
    number = open_pull(github)
    looks = [github.mergeable(number) for _ in range(3)]
    assert looks[0] is None
    assert looks[-1] is True
    widget.commit("main", {"area.py": "other\n"}, "In between")
    assert [github.mergeable(number) for _ in range(3)][-1] is False


def test_review_request(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """A collaborator is asked; GitHub's refusal is False."""
    widget.set_permission("alice", "write")
    number = open_pull(github)
    assert github.request_review(number, "alice")
    assert widget.pull_requests()[0].reviewers == ("alice",)
    assert not github.request_review(number, "nobody-at-all")


def test_merge_exactly_this_head(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """Another head than the one that was watched is refused with a reason; the right one is merged."""
    number = open_pull(github, draft=False)
    assert github.merge(number, method="squash", head="0" * 40) != ""
    assert not widget.pull_requests()[0].merged
    assert github.merge(number, method="squash", head=head) == ""
    assert widget.pull_requests()[0].merged
    assert widget.file("main", "area.py") == "pass\n"


def test_merge_whose_answer_is_lost(
    front: Front, behind_front: GitHubRepository, widget: SandboxRepository, head: str
) -> None:
    """A merge that went through before the connection dropped is a merge."""
    number = open_pull(behind_front, draft=False)
    front.fail("PUT .*/merge", hangs_up(stored=True))
    assert behind_front.merge(number, method="merge", head=head) == ""
    assert widget.pull_requests()[0].merged


def test_merge_refused_by_a_rule(github: GitHubRepository, widget: SandboxRepository, head: str) -> None:
    """A protected base says why."""
    widget.protect("main", reviews=1)
    number = open_pull(github, draft=False)
    assert "review" in github.merge(number, method="merge", head=head).lower()


@pytest.mark.parametrize(
    ("write", "lacking"),
    [
        (lambda github: github.comment(1, "On it."), "issues"),
        (lambda github: github.swap_labels(1, add="bug", remove=[]), "issues"),
        (lambda github: github.react(1, "eyes"), "issues"),
        (lambda github: github.read_file("README.md", "main"), "contents"),
    ],
    ids=["comment", "labels", "reaction", "file"],
)
def test_lacking_permission_is_named_at_once(
    write: Callable[[GitHubRepository], object],
    lacking: str,
    hub: EmbeddedGitHub,
    widget: SandboxRepository,
    number: int,
) -> None:
    """403 is github_denied, with the request and GitHub's words, after one try."""
    granted = {"contents": "read", "issues": "read", "pull_requests": "read"} | {lacking: "none"}
    if lacking == "issues":
        granted["issues"] = "read"
    client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("weak[bot]", "job", granted)), Clock(scale=2000))
    with pytest.raises(RunFailed, match=r"→ 403: Resource not accessible by integration") as failed:
        write(GitHubRepository(client))
    client.close()
    assert failed.value.code == "github_denied"
    assert sum(request.status == 403 for request in hub.requests) == 1
