"""Where a session leaves HEAD, and what it does to history: what is taken over, what is refused, what is kept."""

from __future__ import annotations

import re

import pytest

from bot.failures import RunFailed
from tests.git.bench import BRANCH, REF, Bench


def refusal(bench: Bench) -> RunFailed:
    """Why what the session left is not taken over; the program's branch stays where it was."""
    before = bench.git.commit(REF)
    with pytest.raises(RunFailed) as caught:
        bench.workspace.collect("Left")
    assert bench.git.commit(REF) == before
    assert REF not in bench.repository.refs()
    return caught.value


def kept(bench: Bench) -> str:
    """The patch of what was not taken over."""
    return (bench.folder / "patches" / "nightjar-issue-7.not-taken.patch").read_text(encoding="utf-8")


@pytest.mark.field_case(43, "a")
def test_clean_tree_with_commits(bench: Bench) -> None:
    """A clean tree is no sign that nothing was done: two commits on the Issue branch are pushed as they are."""
    commits = "echo x >> a.txt; git commit -qam One; echo y >> b.txt; git commit -qam Two; git rev-parse HEAD"
    head = bench.session(commits)
    assert bench.workspace.collect("Left") == head
    assert bench.workspace.subjects() == ("One", "Two")
    assert bench.workspace.push() == bench.repository.refs()[REF] == head


@pytest.mark.field_case(43, "e")
def test_unrelated_checkout_is_named(bench: Bench) -> None:
    """A checkout of something that does not build on the Issue branch is named, and what it holds kept as a patch."""
    bench.session("git checkout -q --orphan v1; git commit -qm Other; echo other > a.txt")
    refused = refusal(bench)
    assert refused.code == "branch_conflict"
    assert "left `v1` checked out" in refused.reason
    assert "nightjar-issue-7.not-taken.patch" in refused.reason
    assert "+other" in kept(bench)


@pytest.mark.field_case(43, "e")
def test_tag_that_was_checked_out_is_named(bench: Bench) -> None:
    """Another history's tag, checked out and left as it is, is named."""
    bench.session("git checkout -q --orphan x; git commit -qm Other; git tag v1; git checkout -q --detach v1")
    assert "left `v1` checked out" in refusal(bench).reason


def test_nothing_is_checked_out(bench: Bench) -> None:
    """A branch without a commit is named."""
    bench.session("git checkout -q --orphan v1; git rm -rfq .")
    assert "left `v1` checked out, which has no commit" in refusal(bench).reason


@pytest.mark.field_case(43, "f")
def test_base_commit_rewritten_away(bench: Bench) -> None:
    """Commits that were rebased off the base commit are refused, and kept as a patch."""
    bench.session("echo mine >> a.txt; git commit -qam Mine; git checkout -q --orphan new; git commit -qm New")
    bench.session(f"git branch -qf {BRANCH} new; git checkout -q {BRANCH}")
    assert refusal(bench).code == "branch_conflict"
    assert "+mine" in kept(bench)


@pytest.mark.field_case(43, "e")
def test_work_on_the_issue_branch_survives_a_look_elsewhere(bench: Bench) -> None:
    """A session that commits, and then looks at an old commit and leaves it checked out, has done its work all the
    same.
    """
    bench.session("echo x >> a.txt; git commit -qam Mine; git checkout -q origin/main")
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "one\nx\n"
    assert bench.workspace.push() == head
    assert bench.workspace.left_out() == ()
    assert bench.session("git branch --show-current; git rev-parse HEAD").split() == [BRANCH, head]


def test_leftovers_on_an_old_commit_are_kept(bench: Bench) -> None:
    """What lies uncommitted on an old commit is no part of the Issue branch; it is kept as a patch, and named."""
    bench.session("echo x >> a.txt; git commit -qam Mine; git checkout -q origin/main; echo lost >> b.txt")
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "b.txt") == "two\n"
    assert "+lost" in kept(bench)
    assert "nightjar-issue-7.not-taken.patch" in bench.workspace.left_out()[0]


def test_old_commit_checked_out_and_nothing_done(bench: Bench) -> None:
    """A session that only looked at an old commit has changed nothing."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    before = bench.workspace.collect("Left")
    bench.session("git checkout -q HEAD^")
    assert bench.workspace.collect("Left") == before


@pytest.mark.field_case(43, "b")
def test_only_the_issue_branch_is_pushed(bench: Bench) -> None:
    """Whatever branches and tags a session makes, the remote gets the Issue branch and nothing else."""
    bench.session("git checkout -q -b feature/x; echo x >> a.txt; git commit -qam Mine; git tag v9; git branch more")
    head = bench.workspace.collect("Left")
    bench.workspace.push()
    assert bench.repository.refs() == {REF: head, "refs/heads/main": bench.git.commit("refs/remotes/origin/main")}


@pytest.mark.field_case(43, "g")
def test_fake_identity(bench: Bench) -> None:
    """A commit under another name is pushed as it is; what the program commits itself carries the program's name."""
    fake = "git -c user.name='The Owner' -c user.email=owner@example.com"
    theirs = bench.session(f"echo x >> a.txt; {fake} commit -qam Mine; git rev-parse HEAD")
    bench.session("git config user.name 'The Owner'; git config user.email owner@example.com; echo y >> b.txt")
    head = bench.workspace.collect("Left")
    assert bench.git.local("log", "-2", "--format=%an", head).out.split("\n")[:2] == ["nightjar", "The Owner"]
    assert bench.git.commit(f"{head}^") == theirs
    assert bench.workspace.push() == head


OPEN = {
    "merge": "git checkout -q -b other; echo theirs > a.txt; git commit -qam Theirs; git checkout -q -;"
    " echo mine > a.txt; git commit -qam Mine; ! git merge -q other",
    "rebase": "git checkout -q -b other; echo theirs > a.txt; git commit -qam Theirs; git checkout -q -;"
    " echo mine > a.txt; git commit -qam Mine; ! git rebase -q other",
    "cherry-pick": "git checkout -q -b other; echo theirs > a.txt; git commit -qam Theirs; git checkout -q -;"
    " echo mine > a.txt; git commit -qam Mine; ! git cherry-pick other",
    "revert": "echo theirs > a.txt; git commit -qam Theirs; echo mine > a.txt; git commit -qam Mine;"
    " ! git revert --no-edit HEAD^",
    "am": "git checkout -q -b other; echo theirs > a.txt; git commit -qam Theirs;"
    " git format-patch -q -o /tmp/$$ HEAD^; git checkout -q -; echo mine > a.txt; git commit -qam Mine;"
    " ! git am -q /tmp/$$/*; rm -r /tmp/$$",
    "bisect": "echo mine > a.txt; git commit -qam Mine; git bisect start -q; git bisect bad; git bisect good"
    " origin/main; git checkout -q origin/main",
}


@pytest.mark.field_case(43, "h")
@pytest.mark.parametrize("left", OPEN)
def test_operation_left_open(bench: Bench, left: str) -> None:
    """An operation that the session left in the middle is ended, and what it had committed is the result."""
    bench.session(OPEN[left])
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "mine\n"
    assert "<<<<<<<" not in bench.git.local("show", head).out
    status = bench.session("git status")
    assert "nothing to commit" in status
    assert not re.search("in progress|in the middle|currently", status)
    assert bench.workspace.push() == head


def test_lock_of_a_git_that_was_killed(bench: Bench) -> None:
    """A lock that a killed git left in the checkout does not keep the work from being committed."""
    bench.session("echo x >> a.txt; touch .git/index.lock .git/HEAD.lock")
    assert bench.shown(bench.workspace.collect("Left"), "a.txt") == "one\nx\n"


@pytest.mark.field_case(41, "deepened")
def test_history_is_whole(bench: Bench) -> None:
    """However little the job's own checkout holds, the session's has the whole history: base and branch compare."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    bench.workspace.collect("Left")
    bench.workspace.push()
    for number in range(3):
        bench.repository.commit("main", {"c.txt": f"{number}\n"}, f"Main goes on {number}")
    bench.prepare()
    assert bench.session("git rev-parse --is-shallow-repository") == "false"
    assert bench.session("git merge-base origin/main HEAD") == bench.session("git rev-parse HEAD^")
    assert "c.txt" not in bench.session("git diff --name-only origin/main...HEAD")
    merge = bench.workspace.merge(bench.workspace.sample_base("main"))
    assert merge.conflicts == ()
    assert bench.shown(merge.head, "c.txt") == "2\n"


@pytest.mark.field_case(41, "shallow server")
def test_server_with_a_part_of_the_history(bench: Bench) -> None:
    """A server whose own repository is shallow is named as that, before anything is done."""
    path = bench.repository.path
    bench.repository.commit("main", {"c.txt": "3\n"}, "Main goes on")
    (path / "shallow").write_text(f"{bench.repository.refs()['refs/heads/main']}\n", encoding="utf-8")
    with pytest.raises(RunFailed, match="only a part of the history of main") as caught:
        bench.prepare()
    assert caught.value.code == "branch_conflict"


@pytest.mark.field_case(41, "unrelated base")
def test_base_with_another_history(bench: Bench) -> None:
    """A Base branch that was replaced by one with another history is never merged, and that is the reason."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    head = bench.workspace.collect("Left")
    replace_main(bench)
    with pytest.raises(RunFailed, match=r"`main` cannot be merged: .*unrelated histories") as caught:
        bench.workspace.merge(bench.workspace.sample_base("main"))
    assert caught.value.code == "branch_conflict"
    assert bench.git.commit(REF) == head


@pytest.mark.field_case(41, "unrelated base")
def test_branch_of_another_history(bench: Bench) -> None:
    """An Issue branch that has nothing in common with the Base branch is refused before a Session is spent on it."""
    bench.session("echo x >> a.txt; git commit -qam Mine")
    bench.workspace.collect("Left")
    bench.workspace.push()
    replace_main(bench)
    with pytest.raises(RunFailed, match=r"`nightjar/issue-7` and `main` have no commit in common"):
        bench.prepare()


def replace_main(bench: Bench) -> None:
    """Somebody puts another history in the place of main."""
    there = bench.git.local("-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", f"{REF}^{{tree}}", "-m", "New")
    bench.git.network("push", "--force", bench.git.remote.url, f"{there.out.strip()}:refs/heads/main")
