"""The embedded GitHub's git side, with real git over HTTP and with the REST API's refs and files."""

from __future__ import annotations

import os
import urllib.error
import urllib.request

import github
import pytest
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import WORKFLOW, Git


def test_a_push_moves_the_branch(repo: SandboxRepository, git: Git, token: str) -> None:
    """A push with a good token arrives and is on record with who did it."""
    repo.open_issue("Broken")
    sha = git.commit("app.py", "changed\n")
    pushed = git("push", "origin", "HEAD:refs/heads/nightjar/issue-1", token=token)
    assert pushed.returncode == 0, pushed.stderr
    assert repo.refs()["refs/heads/nightjar/issue-1"] == sha


@pytest.mark.parametrize("held", ["", "ghs_wrong"])
def test_a_push_without_a_good_token_is_refused(repo: SandboxRepository, git: Git, held: str) -> None:
    """No token and a bad one end in an authentication failure, and nothing moves."""
    before = repo.refs()
    git.commit("app.py", "changed\n")
    pushed = git("push", "origin", "HEAD:refs/heads/work", token=held)
    assert pushed.returncode != 0
    assert "could not read Username" in pushed.stderr or "Authentication failed" in pushed.stderr
    assert repo.refs() == before


def test_a_bad_token_is_asked_for_basic_credentials(repo: SandboxRepository) -> None:
    """The 401 carries `WWW-Authenticate`, which makes git look for credentials."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{repo.clone_url}/info/refs?service=git-receive-pack")
    assert (refused.value.code, refused.value.headers["www-authenticate"]) == (401, 'Basic realm="GitHub"')
    refused.value.close()


def test_a_read_only_token_cannot_push(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git) -> None:
    """A token with contents: read may fetch, and its push is a 403."""
    reader = hub.issue_token("github-actions[bot]", kind="job", permissions={"contents": "read"})
    assert git("fetch", "origin", token=reader).returncode == 0
    git.commit("app.py", "changed\n")
    pushed = git("push", "origin", "HEAD:refs/heads/work", token=reader)
    assert "The requested URL returned error: 403" in pushed.stderr
    assert "refs/heads/work" not in repo.refs()


def test_a_person_may_push_what_their_role_allows(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git) -> None:
    """alice (write) may push with her own token, dana (read) may not."""
    git.commit("app.py", "changed\n")
    pushes = {who: git("push", "origin", f"HEAD:{who}", token=hub.issue_token(who, "pat")) for who in ("alice", "dana")}
    assert {who: done.returncode for who, done in pushes.items()} == {"alice": 0, "dana": 128}


def test_a_workflow_file_needs_its_permission(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git) -> None:
    """Without `workflows` a push that changes a workflow is refused in GitHub's words, other refs of the same push
    arrive."""
    job = hub.issue_token("github-actions[bot]", kind="job")
    fine = git.commit("app.py", "changed\n")
    git.commit(".github/workflows/ci.yml", WORKFLOW + "# more\n")
    pushed = git("push", "origin", "HEAD:refs/heads/work", f"{fine}:refs/heads/fine", token=job)
    assert pushed.returncode == 1
    assert (
        "! [remote rejected] HEAD -> work (refusing to allow a GitHub App to create or update workflow "
        "`.github/workflows/ci.yml` without `workflows` permission)" in pushed.stderr
    )
    assert repo.refs().get("refs/heads/work") is None
    assert repo.refs()["refs/heads/fine"] == fine


def test_others_workflow_changes_may_be_carried_along(hub: EmbeddedGitHub, repo: SandboxRepository, git: Git) -> None:
    """A merge of the base that brings somebody else's workflow change needs no permission of its own."""
    job = hub.issue_token("github-actions[bot]", kind="job")
    repo.commit("main", {".github/workflows/ci.yml": WORKFLOW + "# more\n"}, "More CI")
    git.commit("app.py", "changed\n")
    git("fetch", "origin")
    merged = git("merge", "-q", "--no-edit", "origin/main")
    assert merged.returncode == 0, merged.stderr
    assert git("push", "origin", "HEAD:refs/heads/work", token=job).returncode == 0


def test_a_protected_branch_takes_no_push(repo: SandboxRepository, git: Git, token: str) -> None:
    """GH006, in git's output."""
    repo.protect("main")
    git.commit("app.py", "changed\n")
    pushed = git("push", "origin", "HEAD:main", token=token)
    assert "GH006: Protected branch update failed for refs/heads/main" in pushed.stderr
    assert "(protected branch hook declined)" in pushed.stderr


def test_a_force_push_needs_force(repo: SandboxRepository, git: Git, token: str) -> None:
    """What is not a fast-forward is refused by git itself, and taken with force where no protection forbids it."""
    git("push", "origin", "HEAD:work", token=token)
    theirs = repo.commit("work", {"a": "b"}, "Theirs")
    mine = git.commit("app.py", "changed\n")
    assert "rejected" in git("push", "origin", "HEAD:work", token=token).stderr
    assert repo.refs()["refs/heads/work"] == theirs
    assert git("push", "--force", "origin", "HEAD:work", token=token).returncode == 0
    assert repo.refs()["refs/heads/work"] == mine


def test_other_refs_are_taken_and_pull_refs_are_not(repo: SandboxRepository, git: Git, token: str) -> None:
    """A ref of one's own is pushed, fetched and deleted; refs/pull belongs to GitHub."""
    ref = "refs/nightjar/issue-7"
    assert git("push", "origin", f"HEAD:{ref}", token=token).returncode == 0
    assert ref in git("ls-remote", "origin").stdout
    assert git("push", "origin", f":{ref}", token=token).returncode == 0
    assert ref not in repo.refs()
    assert "deny updating a hidden ref" in git("push", "origin", "HEAD:refs/pull/1/head", token=token).stderr


def test_a_large_push_arrives_whole(repo: SandboxRepository, git: Git, token: str) -> None:
    """A push beyond git's post buffer comes chunked, and still arrives."""
    sha = git.commit("big.bin", os.urandom(3 * 1024 * 1024))
    pushed = git("push", "origin", "HEAD:big", token=token)
    assert pushed.returncode == 0, pushed.stderr
    assert repo.refs()["refs/heads/big"] == sha


def test_refs_through_the_api(repo: SandboxRepository, remote: Repository) -> None:
    """Refs are made, moved forward only unless forced, found by prefix and deleted; each refusal is GitHub's."""
    main = repo.refs()["refs/heads/main"]
    newer = repo.commit("other", {"a": "b"}, "Add")
    made = remote.create_git_ref("refs/heads/work", main)
    with pytest.raises(github.GithubException) as refused:
        remote.create_git_ref("refs/heads/work", main)
    assert (refused.value.status, refused.value.data["message"]) == (422, "Reference already exists")
    made.edit(newer)
    with pytest.raises(github.GithubException) as refused:
        made.edit(main)
    assert refused.value.data["message"] == "Update is not a fast forward"
    made.edit(main, force=True)
    assert {ref.ref for ref in remote.get_git_matching_refs("heads/")} == {
        "refs/heads/main",
        "refs/heads/other",
        "refs/heads/work",
    }
    made.delete()
    assert "refs/heads/work" not in repo.refs()


def test_files_commits_and_comparisons(repo: SandboxRepository, remote: Repository) -> None:
    """Files, folders, one commit and the way from one branch to another are what git has."""
    head = repo.commit("work", {"dir/run": "#!/bin/sh\n", "app.py": "one\n"}, "Change", author="alice")
    main = repo.refs()["refs/heads/main"]
    file = remote.get_contents("dir/run", ref="work")
    assert not isinstance(file, list)
    assert file.decoded_content == b"#!/bin/sh\n"
    listing = remote.get_contents("", ref="work")
    assert isinstance(listing, list)
    assert {entry.path: entry.type for entry in listing} == {
        ".github": "dir",
        "README.md": "file",
        "app.py": "file",
        "dir": "dir",
    }
    with pytest.raises(github.UnknownObjectException):
        remote.get_contents("missing")
    commit = remote.get_commit(head)
    assert (commit.author.login, commit.stats.additions, commit.stats.deletions) == ("alice", 1, 2)
    compared = remote.compare("main", "work")
    assert (compared.status, compared.ahead_by, compared.merge_base_commit.sha) == ("ahead", 1, main)
    assert remote.get_branch("work").commit.sha == head
    with pytest.raises(github.GithubException):
        remote.get_branch("missing")
