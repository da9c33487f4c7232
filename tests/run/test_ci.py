"""CI that does not start by itself, or that nothing is for, and who may start it."""

from __future__ import annotations

from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    CI,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    RED_AT_FIRST,
    Stage,
    does,
    says,
    session,
)

PATH = ".github/workflows/ci.yml"


def test_workflows_are_dispatched_where_pushes_start_none(make_stage: MakeStage) -> None:
    """With a job's own token and `ci-dispatch` each push is checked by a dispatched run, and a red one is repaired."""
    stage = make_stage({**FILES, PATH: CI.replace("on:\n", "on:\n  workflow_dispatch:\n")})
    stage.use_token("job")
    played = stage.run(RED_AT_FIRST, session("repair-1", does(MEND), says()), settings={"ci-dispatch": "ci.yml"})
    assert played.exit_code == 0, played.log
    assert played.outputs["repairs"] == "1"
    started = [line for line in stage.writes() if line.endswith("/dispatches")]
    assert len(started) == 2


def test_held_runs_are_told_with_their_address(stage: Stage) -> None:
    """Runs that a person has to approve are a Failure with the address to do it, and cost no Repair."""
    stage.use_token("job")
    stage.repository.job_token_starts("awaiting approval")
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 1
    assert played.outputs["repairs"] == "0"
    assert "CI waits for somebody to approve it" in played.ending
    assert "/actions/runs/" in played.ending


def test_change_that_no_workflow_is_for(make_stage: MakeStage) -> None:
    """When path filters leave the change unchecked it is ready, and the ending says that nothing checked it and why."""
    only_docs = CI.replace("  pull_request:\n", "  pull_request:\n    paths: ['docs/**']\n")
    stage = make_stage({**FILES, PATH: only_docs})
    played = stage.run(GREEN_AT_ONCE, settings={"ci-start-minutes": "0.5"})
    assert played.exit_code == 0, played.log
    assert "nothing checked" in played.ending.lower()
    assert "`ci.yml` starts for other paths only" in played.ending


def test_required_check_that_can_never_report(make_stage: MakeStage) -> None:
    """A required check behind a path filter is named, the pull request stays open, and no Repair is spent."""
    only_docs = CI.replace("  pull_request:\n", "  pull_request:\n    paths: ['docs/**']\n")
    stage = make_stage({**FILES, PATH: only_docs})
    stage.repository.require_checks("main", ["test"])
    played = stage.run(GREEN_AT_ONCE, settings={"ci-start-minutes": "0.5"})
    assert played.exit_code == 1
    assert "required check never reported: `test`" in played.ending
    assert played.pull.state == "open"
    assert played.outputs["repairs"] == "0"


def test_two_workflows_with_the_same_job_name(make_stage: MakeStage) -> None:
    """A green `test` of one workflow does not hide the red `test` of another, which is the one that is repaired."""
    other = CI.replace("name: CI", "name: Strict").replace(
        "python3 -m unittest -v", "grep -q 'def sub' calc.py && grep -q strict calc.py"
    )
    stage = make_stage({**FILES, ".github/workflows/strict.yml": other.replace("  push:\n    branches: [main]\n", "")})
    mend = "echo '# strict' >> calc.py; git commit -qam 'Be strict'"
    played = stage.run(
        session("implement", does(f"{ADD_RIGHT}; {HAND_OVER}"), says()), session("repair-1", does(mend), says())
    )
    assert played.exit_code == 0, played.log
    assert played.outputs["repairs"] == "1"
    assert "grep -q strict" in played.prompt("repair-1")
