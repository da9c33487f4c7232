"""The embedded GitHub's pull requests, through PyGithub: opened, refused, judged by a real merge, made ready,
merged."""

from __future__ import annotations

import threading

import github
import pytest
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import Client


@pytest.fixture
def pull(repo: SandboxRepository, remote: Repository) -> PullRequest:
    """A draft pull request from `work`, which changes app.py, for issue 1."""
    repo.open_issue("Broken", author="dana")
    repo.commit("work", {"app.py": "one\n2\nthree\n", "new/tool": "#!/bin/sh\n"}, "Fix it")
    return remote.create_pull(title="Fix", body="Closes #1", head="work", base="main", draft=True)


CUSTOM = {"resource": "PullRequest", "code": "custom"}
INVALID = {"resource": "PullRequest", "code": "invalid"}


@pytest.mark.parametrize(
    ("ends", "entry"),
    [
        (("work", "main"), CUSTOM | {"message": "A pull request already exists for acme:work."}),
        (("same", "main"), CUSTOM | {"message": "No commits between main and same"}),
        (("missing", "main"), INVALID | {"field": "head"}),
        (("work", "missing"), INVALID | {"field": "base"}),
    ],
)
def test_a_pull_request_that_cannot_be_is_refused(
    repo: SandboxRepository, remote: Repository, pull: PullRequest, ends: tuple[str, str], entry: dict[str, str]
) -> None:
    """A second one, one without commits and one without branches get GitHub's own 422."""
    repo.reset_branch("same", repo.refs()["refs/heads/main"], "dana")
    with pytest.raises(github.GithubException) as refused:
        remote.create_pull(title="Again", body="", head=ends[0], base=ends[1])
    assert (refused.value.status, refused.value.data["message"]) == (422, "Validation Failed")
    assert refused.value.data["errors"] == [entry]
    assert [found.number for found in repo.pull_requests()] == [pull.number]


def test_mergeable_is_unknown_then_true_then_false(
    repo: SandboxRepository, remote: Repository, pull: PullRequest
) -> None:
    """GitHub does not know at first, says yes after a trial merge, and no once the base has changed the same line."""
    seen = []
    for _ in range(2):
        fresh = remote.get_pull(pull.number)
        seen.append((fresh.mergeable, fresh.mergeable_state))
    repo.commit("main", {"app.py": "one\nTWO\nthree\n"}, "Same line")
    for _ in range(2):
        fresh = remote.get_pull(pull.number)
        seen.append((fresh.mergeable, fresh.mergeable_state))
    assert seen == [(None, "unknown"), (True, "draft"), (None, "unknown"), (False, "dirty")]


def test_a_draft_is_made_ready_and_back(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """PyGithub's two GraphQL mutations change the pull request and its timeline."""
    assert pull.mark_ready_for_review() == {"clientMutationId": None, "pullRequest": {"isDraft": False}}
    assert not remote.get_pull(pull.number).draft
    pull.convert_to_draft()
    assert repo.pull_requests()[0].draft
    assert [event.kind for event in repo.timeline(pull.number)] == ["pushed", "opened", "ready", "draft"]


def test_ready_needs_contents_write(hub: EmbeddedGitHub, connect: Client, repo: SandboxRepository) -> None:
    """With pull-requests: write alone the mutation is FORBIDDEN and the draft stays one."""
    repo.commit("work", {"a": "b"}, "Add")
    permissions = {"pull_requests": "write", "contents": "read"}
    token = hub.issue_token("github-actions[bot]", kind="job", permissions=permissions)
    draft = connect(token).get_repo(repo.full_name).create_pull(title="T", head="work", base="main", draft=True)
    with pytest.raises(github.GithubException) as refused:
        draft.mark_ready_for_review()
    assert refused.value.data["errors"][0]["type"] == "FORBIDDEN"
    assert repo.pull_requests()[0].draft


def test_actions_may_be_forbidden_to_open_pull_requests(
    hub: EmbeddedGitHub, connect: Client, repo: SandboxRepository
) -> None:
    """Where the setting is off, a job's own token gets GitHub's 403 and an app's token does not."""
    repo.commit("work", {"a": "b"}, "Add")
    repo.allow_actions_to_open_pull_requests(False)
    job = connect(hub.issue_token("github-actions[bot]", kind="job")).get_repo(repo.full_name)
    with pytest.raises(github.GithubException) as refused:
        job.create_pull(title="T", head="work", base="main")
    assert refused.value.status == 403
    assert refused.value.data["message"] == "GitHub Actions is not permitted to create or approve pull requests."
    app = connect(hub.issue_token("nightjar[bot]")).get_repo(repo.full_name)
    assert app.create_pull(title="T", head="work", base="main").number == 1


def test_a_pull_request_follows_its_branch(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """A push to the branch moves the head, and files and commits are those of the branch."""
    head = repo.commit("work", {"README.md": None}, "Drop the readme")
    fresh = remote.get_pull(pull.number)
    assert (fresh.head.sha, fresh.commits, fresh.changed_files) == (head, 2, 3)
    assert {file.filename: file.status for file in fresh.get_files()} == {
        "README.md": "removed",
        "app.py": "modified",
        "new/tool": "added",
    }
    assert [commit.commit.message for commit in fresh.get_commits()] == ["Fix it", "Drop the readme"]
    assert repo.refs()[f"refs/pull/{pull.number}/head"] == head


def test_pull_requests_are_found_by_head(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """Lists narrow by owner:branch, base and state."""
    assert [found.number for found in remote.get_pulls(head="acme:work", base="main")] == [pull.number]
    assert list(remote.get_pulls(head="acme:other")) == []
    assert list(remote.get_pulls(head="dana:work")) == []
    pull.edit(state="closed")
    assert list(remote.get_pulls(head="acme:work")) == []
    assert [found.state for found in remote.get_pulls(state="all", head="acme:work")] == ["closed"]


def test_reviews_are_asked_of_others(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """A collaborator can be asked for a review, the author and a stranger cannot."""
    pull.create_review_request(reviewers=["alice"])
    assert repo.pull_requests()[0].reviewers == ("alice",)
    for login in ("nightjar[bot]", "nobody"):
        with pytest.raises(github.GithubException) as refused:
            pull.create_review_request(reviewers=[login])
        assert refused.value.status == 422


def test_a_merge_closes_the_issue(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """Merging checks the head, refuses a draft, moves the base and closes what the body says it closes."""
    with pytest.raises(github.GithubException) as refused:
        pull.merge(sha=pull.base.sha)
    assert refused.value.status == 409
    with pytest.raises(github.GithubException) as refused:
        pull.merge(sha=pull.head.sha)
    assert refused.value.status == 405
    pull.mark_ready_for_review()
    done = pull.merge(sha=pull.head.sha)
    assert done.merged
    assert repo.refs()["refs/heads/main"] == done.sha
    assert repo.file("main", "app.py") == "one\n2\nthree\n"
    assert (repo.issue(1).state, repo.pull_requests()[0].merged) == ("closed", True)


def test_a_conflict_cannot_be_merged(repo: SandboxRepository, pull: PullRequest) -> None:
    """Merging over a conflict is 405 and the base stays."""
    pull.mark_ready_for_review()
    base = repo.commit("main", {"app.py": "one\nTWO\nthree\n"}, "Same line")
    with pytest.raises(github.GithubException) as refused:
        pull.merge()
    assert (refused.value.status, refused.value.data["message"]) == (405, "Pull Request is not mergeable")
    assert repo.refs()["refs/heads/main"] == base


def test_protection_blocks_a_merge_until_it_is_met(
    repo: SandboxRepository, remote: Repository, pull: PullRequest
) -> None:
    """With a required check and approval missing the state is blocked; with both it is clean."""
    repo.protect("main", checks=["test"], reviews=1)
    pull.mark_ready_for_review()
    remote.get_pull(pull.number)
    assert remote.get_pull(pull.number).mergeable_state == "blocked"
    with pytest.raises(github.GithubException) as refused:
        pull.merge()
    assert refused.value.status == 405
    repo.set_check_run(pull.head.sha, "test", "success", workflow="ci.yml")
    repo.review(pull.number, "alice")
    assert remote.get_pull(pull.number).mergeable_state == "clean"
    assert [review.state for review in remote.get_pull(pull.number).get_reviews()] == ["APPROVED"]
    assert pull.merge().merged


def test_checks_make_a_pull_request_unstable(repo: SandboxRepository, remote: Repository, pull: PullRequest) -> None:
    """A running or red check that is not required makes the state unstable, a green one clean."""
    pull.mark_ready_for_review()
    remote.get_pull(pull.number)
    states = []
    for conclusion in (None, "failure", "success"):
        repo.set_check_run(pull.head.sha, "test", conclusion, workflow="ci.yml")
        states.append(remote.get_pull(pull.number).mergeable_state)
    assert states == ["unstable", "unstable", "clean"]


def test_a_pull_request_comes_to_a_good_end_when_its_branch_goes(
    repo: SandboxRepository, remote: Repository, pull: PullRequest
) -> None:
    """Deleting the branch closes the pull request; it cannot be reopened without it."""
    remote.get_git_ref("heads/work").delete()
    assert repo.pull_requests()[0].state == "closed"
    with pytest.raises(github.GithubException) as refused:
        pull.edit(state="open")
    assert refused.value.status == 422


def test_the_timelines_tell_the_story(hub: EmbeddedGitHub, repo: SandboxRepository, remote: Repository) -> None:
    """What happened to an issue and its pull request, by whom and in which order, can be read from the two
    timelines."""
    number = repo.open_issue("Broken", "It is.", author="dana")
    repo.label_issue(number, "nightjar", actor="alice")
    issue = remote.get_issue(number)
    issue.create_comment("Working on it")
    sha = repo.commit("work", {"app.py": "fixed\n"}, "Fix it", author="alice")
    pull = remote.create_pull(title="Fix", body=f"Closes #{number}", head="work", base="main", draft=True)
    repo.set_check_run(sha, "test", "success", workflow="ci.yml")
    pull.mark_ready_for_review()
    pull.create_review_request(reviewers=["alice"])
    repo.review(pull.number, "alice")
    pull.merge()
    assert [(event.actor, event.kind, event.text) for event in repo.timeline(number)] == [
        ("dana", "opened", "Broken\n\nIt is."),
        ("alice", "labelled", "nightjar"),
        ("nightjar[bot]", "commented", "Working on it"),
        ("nightjar[bot]", "linked", "pull request #2: Fix"),
        ("nightjar[bot]", "closed", "completed"),
    ]
    merge = repo.refs()["refs/heads/main"]
    assert [(event.actor, event.kind, event.text) for event in repo.timeline(pull.number)] == [
        ("alice", "pushed", f"work\n{sha[:7]} Fix it"),
        ("nightjar[bot]", "opened", "Fix (work into main, draft)\n\nCloses #1"),
        ("github-actions[bot]", "check", "ci / test: success"),
        ("nightjar[bot]", "ready", ""),
        ("nightjar[bot]", "review requested", "alice"),
        ("alice", "reviewed", "APPROVED"),
        ("nightjar[bot]", "merged", f"as {merge[:7]} into main"),
        ("nightjar[bot]", "closed", "completed"),
    ]
    times = [event.at for event in repo.timeline(pull.number)]
    assert times == sorted(times)


def test_a_story_can_wait_for_what_is_to_be_seen(
    hub: EmbeddedGitHub, repo: SandboxRepository, remote: Repository
) -> None:
    """Waiting ends when another client brings about what is waited for, and gives up at its limit."""
    number = repo.open_issue("Broken")
    worker = threading.Thread(target=lambda: remote.get_issue(number).add_to_labels("nightjar:ready"))
    worker.start()
    assert hub.wait_until(lambda: repo.labels(number) == ("nightjar:ready",), timeout=30)
    worker.join()
    assert not hub.wait_until(lambda: repo.labels(number) == (), timeout=0.01)
