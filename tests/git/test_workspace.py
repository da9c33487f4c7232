"""git for one Run, against a real remote over authenticated HTTP, whatever state a session leaves its checkout in."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from bot.failures import RunFailed
from bot.sandbox.github import EmbeddedGitHub
from tests.git.bench import BRANCH, REF, Bench


def test_fresh_checkout(bench: Bench) -> None:
    """The session finds the Issue branch on the base commit, `origin/main` to compare with, and no remote."""
    main = bench.repository.refs()["refs/heads/main"]
    assert bench.session("git branch --show-current") == BRANCH
    assert bench.session("git rev-parse HEAD origin/main").split() == [main, main]
    assert bench.session("git remote") == ""
    assert bench.session("git status --porcelain") == ""
    assert bench.workspace.remote_head() == ""
    assert bench.workspace.ahead() == 0


@pytest.mark.field_case(43, "d")
def test_commits_and_leftovers(bench: Bench) -> None:
    """The session's own commits are kept as they are; what it left is one more, by the program."""
    own = bench.session("echo x >> a.txt; git commit -qam 'My own'; git rev-parse HEAD")
    bench.session("echo y >> b.txt; echo new > 'ü name'; git rm -q .gitignore")
    head = bench.workspace.collect("What was left")

    assert bench.git.local("rev-parse", f"{head}^").out.strip() == own
    assert bench.workspace.subjects() == ("My own", "What was left")
    assert bench.workspace.ahead() == 2
    assert bench.shown(head, "ü name") == "new\n"
    author = bench.git.local("log", "-1", "--format=%an <%ae>", head).out.strip()
    assert author == "nightjar <nightjar@example.com>"


def test_sign_off(hub: EmbeddedGitHub, tmp_path: Path) -> None:
    """The program's own commits carry `Signed-off-by` where that is wanted."""
    bench = Bench(hub, tmp_path / "run", sign_off=True)
    bench.prepare()
    bench.session("echo y >> b.txt")
    head = bench.workspace.collect("Left")
    assert "Signed-off-by: nightjar <nightjar@example.com>" in bench.git.local("log", "-1", "--format=%B", head).out


@pytest.mark.parametrize(
    "script", ["true", "echo noise > x.log", "git commit -q --allow-empty -m x && git reset -q HEAD^"]
)
def test_nothing_changed(bench: Bench, script: str) -> None:
    """Ignored files and undone commits are no change."""
    before = bench.git.commit(REF)
    bench.session(script)
    assert bench.workspace.collect("Left") == before
    assert bench.workspace.ahead() == 0


@pytest.mark.field_case(43, "b")
@pytest.mark.field_case(43, "c")
@pytest.mark.parametrize(
    "script",
    [
        "git checkout -q --detach; echo x >> a.txt; git commit -qam Detached",
        "git checkout -q -b my-own-idea; echo x >> a.txt; git commit -qam Elsewhere",
        "git branch -m renamed; echo x >> a.txt; git commit -qam Renamed",
        "git checkout -q --detach; echo x >> a.txt",
        f"echo x >> a.txt; git commit -qam One; git checkout -q -B other; git branch -D {BRANCH} -q",
    ],
    ids=["detached", "other-branch", "renamed", "detached-dirty", "deleted"],
)
def test_head_is_elsewhere(bench: Bench, script: str) -> None:
    """What counts is what is checked out, whatever the session calls it."""
    bench.session(script)
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "one\nx\n"
    assert bench.workspace.push() == head
    assert bench.repository.refs()[REF] == head


@pytest.mark.field_case(43, "f")
@pytest.mark.parametrize(
    "script",
    [
        "git checkout -q --orphan fresh; git commit -qm Orphan",
        "git commit -q --amend -m Rewritten",
        "git fetch -q . ; git reset -q --hard HEAD^; echo x > a.txt; git add a.txt; git commit -qm Other",
    ],
    ids=["orphan", "amended", "reset"],
)
def test_history_rewritten(bench: Bench, script: str) -> None:
    """Commits that do not build on the Issue branch are refused, and the program's branch stays where it was."""
    bench.session("echo first >> b.txt; git commit -qam First")
    before = bench.workspace.collect("Left")
    bench.session(script)
    with pytest.raises(RunFailed) as caught:
        bench.workspace.collect("Left")
    assert caught.value.code == "branch_conflict"
    assert before[:10] in caught.value.reason
    assert bench.git.commit(REF) == before


@pytest.mark.field_case(43, "a")
def test_continuation(bench: Bench) -> None:
    """An Issue branch that is on the remote already is taken up where it is."""
    bench.session("echo x >> a.txt; git commit -qam First")
    pushed = bench.workspace.push() if bench.workspace.collect("Left") else ""
    base, head = bench.prepare()

    assert head == pushed == bench.workspace.remote_head()
    assert base == bench.repository.refs()["refs/heads/main"]
    assert bench.session("cat a.txt") == "one\nx"
    assert bench.workspace.subjects() == ("First",)


def test_somebody_else_pushed(bench: Bench) -> None:
    """A push is fast-forward only: somebody else's commit is never overwritten."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    bench.workspace.collect("Left")
    theirs = bench.repository.commit(BRANCH, {"c.txt": "theirs\n"}, "Theirs")
    with pytest.raises(RunFailed) as caught:
        bench.workspace.push()
    assert caught.value.code == "handed_over"
    assert bench.repository.refs()[REF] == theirs


def test_changed_files(bench: Bench) -> None:
    """The files that differ between two commits, whatever their names."""
    before = bench.git.commit(REF)
    bench.session("echo x >> a.txt; git rm -q b.txt; mkdir 'd d'; echo n > 'd d/ü'; git add -A; git commit -qm Much")
    changes = bench.workspace.changed(before, bench.workspace.collect("Left"))
    assert {(change.path, change.deleted) for change in changes} == {
        ("a.txt", False),
        ("b.txt", True),
        ("d d/ü", False),
    }
    assert next(change.added for change in changes if change.path == "a.txt") == ("x",)


def test_what_ci_meets(bench: Bench) -> None:
    """The head's workflow files, its message, and what pull request and push change: the second push less."""
    write = "mkdir .github/workflows/old; echo 'on: push' > .github/workflows/old/ci.yml; echo no > .github/workflows/R"
    bench.session(f"echo 'on: pull_request' > .github/workflows/more.yaml; {write}; git add -A; git commit -qm 'More'")
    bench.workspace.collect("Left")
    bench.workspace.push()
    first = bench.workspace.pushed()
    bench.session("echo x >> a.txt; git commit -qam 'Change a'")
    bench.workspace.collect("Left")
    bench.workspace.push()
    second = bench.workspace.pushed()
    assert first.paths == first.pushed_paths
    assert second.pushed_paths == ("a.txt",)
    assert second.paths is not None
    assert set(second.paths) == {*(first.paths or ()), "a.txt"}
    assert (second.message.strip(), second.base) == ("Change a", "main")
    assert second.files == {
        ".github/workflows/ci.yml": "on: push\n",
        ".github/workflows/more.yaml": "on: pull_request\n",
    }


def test_nested_repository(bench: Bench) -> None:
    """A repository that a session cloned into its checkout does not break the commit of what it left."""
    bench.session(
        "echo x >> a.txt; git init -q inner; cd inner;"
        " git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x"
    )
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "one\nx\n"


@pytest.mark.field_case(47, "b")
@pytest.mark.parametrize(
    "plant",
    [
        "git config core.hooksPath $PWD/evil; git config commit.gpgsign true; git config gpg.program $PWD/evil/run",
        "for hook in pre-commit commit-msg post-commit reference-transaction; do cp evil/run .git/hooks/$hook; done",
        "git config core.fsmonitor $PWD/evil/run",
        "for name in core.pager core.editor diff.external sequence.editor; do git config $name $PWD/evil/run; done",
        "git config uploadpack.packObjectsHook $PWD/evil/run; git config core.sshCommand $PWD/evil/run",
    ],
    ids=["hooks-path", "hooks", "fsmonitor", "programs", "transport"],
)
def test_planted_configuration(bench: Bench, plant: str) -> None:
    """Nothing that a session plants in its checkout runs when the program commits, takes over and pushes."""
    flag = bench.folder / "flag"
    bench.session(
        f"mkdir -p evil .git/hooks; printf '#!/bin/sh\\ntouch {flag}\\n' > evil/run; chmod +x evil/run;"
        f" cp evil/run evil/pre-commit; echo x >> a.txt; {plant}; echo 'evil/' >> .git/info/exclude; rm -f {flag}"
    )
    head = bench.workspace.collect("Left")
    assert bench.workspace.push() == head
    assert bench.workspace.changed(f"{head}^", head)
    assert not flag.exists()


def test_planted_redirection(bench: Bench) -> None:
    """`url.insteadOf` and a proxy in the checkout's configuration do not lead the push astray."""
    bench.session(
        f"git config url.http://127.0.0.1:9/.insteadOf {bench.hub.server_url}/; git config http.proxy http://127.0.0.1:9;"
        " git config --global url.http://127.0.0.1:9/.insteadOf http; echo x >> a.txt"
    )
    head = bench.workspace.collect("Left")
    assert bench.workspace.push() == head


def test_token_is_in_no_file(bench: Bench) -> None:
    """After a fetch and a push the token is in no file of either repository: configuration, reflog, FETCH_HEAD."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    bench.workspace.collect("Left")
    bench.workspace.push()
    bench.prepare()
    basic = base64.b64encode(f"x-access-token:{bench.token}".encode())
    for path in bench.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert bench.token.encode() not in content, path
            assert basic not in content, path


def test_bad_token(hub: EmbeddedGitHub, tmp_path: Path) -> None:
    """A token that GitHub does not accept is named as what it is, without the token."""
    bench = Bench(hub, tmp_path / "run", token="ghs_notatokenatall0123456789")
    bench.repository.set_permission("alice", "write")
    with pytest.raises(RunFailed) as caught:
        bench.prepare()
    assert caught.value.code == "token_expired"
    assert bench.token not in f"{caught.value.reason}{caught.value.evidence}"


def test_read_only_token(hub: EmbeddedGitHub, tmp_path: Path) -> None:
    """A token that may only read: the push is refused with git's words, without the token."""
    bench = Bench(hub, tmp_path / "run", token=hub.issue_token("nightjar[bot]", "app", {"contents": "read"}))
    bench.prepare()
    bench.session("echo x >> a.txt")
    bench.workspace.collect("Left")
    with pytest.raises(RunFailed) as caught:
        bench.workspace.push()
    assert caught.value.code in ("push_rejected", "github_denied")
    assert bench.token not in f"{caught.value.reason}{caught.value.evidence}"
    assert REF not in bench.repository.refs()


@pytest.mark.field_case(33, "b")
def test_workflow_change_without_permission(hub: EmbeddedGitHub, tmp_path: Path) -> None:
    """The job's own token cannot push a change of a workflow, and that refusal has a Failure of its own."""
    bench = Bench(hub, tmp_path / "run", token=hub.issue_token("github-actions[bot]", "job"))
    bench.prepare()
    bench.session("echo '# more' >> .github/workflows/ci.yml")
    bench.workspace.collect("Left")
    with pytest.raises(RunFailed) as caught:
        bench.workspace.push()
    assert caught.value.code == "push_workflow_forbidden"
    assert "`.github/workflows/ci.yml`" in caught.value.reason
    assert REF not in bench.repository.refs()


def test_base_branch_that_is_not_there(bench: Bench) -> None:
    """A Base branch that does not exist is named."""
    with pytest.raises(RunFailed, match="nowhere"):
        bench.workspace.prepare(base="nowhere", branch=BRANCH, checkpoint="")
