"""What a session leaves uncommitted: what of it is work, what is left out, and what is no change at all."""

from __future__ import annotations

import pytest

from tests.git.bench import REF, Bench

SUBMODULE = (
    "git init -q ../dep; cd ../dep; echo dep > dep.txt; git add -A;"
    " git -c user.name=x -c user.email=x@x commit -qm Dep; cd ../checkout;"
    " git -c protocol.file.allow=always submodule --quiet add ../dep sub; git commit -qm 'Add sub'"
)


def nothing_came_of_it(bench: Bench, script: str) -> tuple[str, ...]:
    """A session whose work is no change of the repository; what was left out."""
    before = bench.git.commit(REF)
    bench.session(script)
    assert bench.workspace.collect("Left") == before
    assert bench.workspace.ahead() == 0
    return bench.workspace.left_out()


@pytest.mark.field_case(44, "a")
def test_only_an_ignored_file(bench: Bench) -> None:
    """An ignored file alone is no change, and is named."""
    assert nothing_came_of_it(bench, "echo noise > x.log") == ("ignored files: `x.log`",)


@pytest.mark.field_case(44, "b")
@pytest.mark.parametrize(
    "edit",
    ["echo more >> sub/dep.txt", "cd sub; echo more >> dep.txt; git -c user.name=x -c user.email=x@x commit -qam More"],
    ids=["uncommitted", "committed"],
)
def test_inside_a_submodule(bench: Bench, edit: str) -> None:
    """Edits inside a submodule are not carried: no change, and the submodule is named."""
    bench.session(SUBMODULE)
    head = bench.workspace.collect("Left")
    bench.session(edit)
    assert bench.workspace.collect("Left") == head
    assert bench.workspace.left_out() == ("changes inside a submodule: `sub`",)


@pytest.mark.field_case(44, "c")
@pytest.mark.parametrize(
    "edit",
    [
        "echo 'a.txt text' > .git/info/attributes; printf 'one\\r\\n' > a.txt",
        "git config core.fileMode false; chmod +x a.txt",
        "touch a.txt; cp a.txt x; mv x a.txt",
    ],
    ids=["line-ends", "mode", "same-again"],
)
def test_normalised_away(bench: Bench, edit: str) -> None:
    """What git makes nothing of is no change."""
    assert nothing_came_of_it(bench, edit) == ()


@pytest.mark.field_case(44, "d")
def test_commits_that_come_to_nothing(bench: Bench) -> None:
    """Commits of which the last takes the first back are no change, although they are there."""
    bench.session("echo x >> a.txt; git commit -qam Do; git revert --no-edit HEAD; echo y >> b.txt; git commit -qam Do")
    bench.session("git checkout -q HEAD^ b.txt; git commit -qam Undo")
    assert bench.workspace.collect("Left") != bench.git.commit("refs/remotes/origin/main")
    assert bench.workspace.ahead() == 0


DROPPINGS = """\
mkdir -p node_modules/x .claude/logs src; echo x > node_modules/x/index.js
echo '{}' > .claude/settings.local.json; echo x > .claude/logs/run.local.txt; echo x > nohup.out
truncate -s 120M core; echo work > src/core.py; git init -q inner
git init -q with-commit; git -C with-commit -c user.name=x -c user.email=x@x commit -q --allow-empty -m x
"""


@pytest.mark.field_case(44, "e")
def test_droppings(bench: Bench) -> None:
    """Settings of tools, their logs, installed packages, a huge core and clones are never staged; work beside them
    is.
    """
    bench.session(DROPPINGS)
    head = bench.workspace.collect("Left")
    changed = bench.git.local("diff", "--name-only", f"{head}^", head).out.split()
    assert changed == ["src/core.py"]
    left = bench.workspace.left_out()
    assert left[:2] == ("files over 50 MB: `core`", "repositories inside the checkout: `inner/`, `with-commit/`")
    assert "`node_modules/`" in left[2]
    assert "`.claude/settings.local.json`" in left[2]


@pytest.mark.field_case(44, "e")
def test_tracked_file_grown_huge(bench: Bench) -> None:
    """A tracked file that has grown over the limit is left as it was, and named; the rest is committed."""
    bench.session("truncate -s 60M a.txt; echo y >> b.txt")
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "one\n"
    assert bench.shown(head, "b.txt") == "two\ny\n"
    assert bench.workspace.left_out() == ("files over 50 MB: `a.txt`",)


@pytest.mark.field_case(45, "paths")
def test_odd_names_of_files(bench: Bench) -> None:
    """Files whose names look like options, patterns or quotes are committed under these very names."""
    names = ["-rf", "--upload-pack=x", ":(exclude)a.txt", "*", 'q"u\to\\te', "a b/x.txt", "ü", "line\nend"]
    before = bench.git.commit(REF)
    for name in names:
        path = bench.git.checkout / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n", encoding="utf-8")
    with (bench.git.checkout / "[-]rf").open("wb") as huge:
        huge.truncate(60 * 1024**2)
    changes = bench.workspace.changed(before, bench.workspace.collect("Left"))
    assert {change.path for change in changes} == set(names)
    assert {change.added for change in changes} == {("x",)}
    assert bench.workspace.left_out() == ("files over 50 MB: `[-]rf`",)
