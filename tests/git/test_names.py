"""Branches on the remote whose names stand in the way of the Issue branch, or look like it."""

from __future__ import annotations

import pytest

from bot.failures import RunFailed
from bot.sandbox.github import EmbeddedGitHub
from tests.git.bench import REF, Bench


@pytest.mark.field_case(45, "collision")
@pytest.mark.parametrize("taken", ["nightjar", "nightjar/issue-7/docs"])
def test_branch_in_the_way(bench: Bench, hub: EmbeddedGitHub, taken: str) -> None:
    """A branch beside which git can keep no Issue branch is named before anything is spent."""
    bench.repository.commit(taken, {"x": "y\n"}, "Taken")
    with pytest.raises(RunFailed) as caught:
        bench.prepare()
    assert caught.value.code == "branch_conflict"
    assert f"no branch `nightjar/issue-7` beside `{taken}`" in caught.value.reason


@pytest.mark.field_case(45, "case twin")
def test_case_twin(bench: Bench) -> None:
    """A branch of the same name in other letters is another branch, and is left alone."""
    twin = bench.repository.commit("Nightjar/Issue-7", {"x": "y\n"}, "Twin")
    bench.prepare()
    bench.session("echo x >> a.txt")
    head = bench.workspace.collect("Left")
    assert bench.workspace.push() == head
    refs = bench.repository.refs()
    assert (refs[REF], refs["refs/heads/Nightjar/Issue-7"]) == (head, twin)
