"""A runner that goes away with a Run on it: the workflow's second job tells it, or a sweep goes on; never both."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.sandbox.github import Act, Fault
from bot.settings import SETTINGS
from tests.matrix.promises import broken
from tests.matrix.theatre import theatre
from tests.run.town import CI, WAKE, shipped, tiny_claude, town

WORKFLOW = ".github/workflows/nightjar.yml"
ALONE = {WORKFLOW: shipped()[WORKFLOW].partition("  lost:\n")[0]}
"""The workflow without its second job, as older copies have it."""
REPAIRS = 'case "$kind" in implement) wrong;; *) mend; touch $word/at; gate repair;; esac'


@pytest.mark.parametrize(("wait", "workflow"), [("inline", "Nightjar"), ("park", "Nightjar wake")])
def test_in_a_session(tmp_path: Path, wait: str, workflow: str) -> None:
    """It is told once, the work that was checkpointed is on the branch, and the next Run finds a free place."""
    with town(tmp_path, REPAIRS, settings={"wait": wait}, ci_gate="ci") as played:
        played.label()
        if wait == "park":
            played.wait_until_parked()
        played.open("ci")
        played.wait((tmp_path / "word" / "at").exists)
        played.actions.lose(played.running(workflow).id)
        played.actions.tick()  # a sweep comes by at the same time
        played.settle()
        played.tick()
        assert played.labels() == ("nightjar:failed",), played.log
        (ending,) = played.endings()
        assert "the Run's process ended without a word while repairing" in ending
        assert "b - a" in played.repository.file("nightjar/issue-1", "calc.py")
        assert played.repository.pull_requests()[0].draft
        assert not any("/slot/" in ref or "/open/" in ref for ref in played.repository.refs())


def test_two_at_once(tmp_path: Path) -> None:
    """One sweep tells both, and brings the work of each, which only its checkpoint has, onto its own branch."""
    script = """
    case "$kind" in
      implement) right; touch $word/did-$issue; gate moved;;
      *) touch $word/at-$issue; gate never;;
    esac
    """
    with town(tmp_path, script, files=ALONE) as played:
        issues = (played.issue, played.open_issue())
        for issue in issues:
            played.label(issue)
            played.wait((tmp_path / "word" / f"did-{issue}").exists)
        other = {"calc.py": "def add(a, b):\n    return b + a\n"}  # a conflict, repaired before the first push
        played.repository.commit("main", other, "Meanwhile on main", author="dana")
        played.open("moved")
        for issue in issues:
            played.wait((tmp_path / "word" / f"at-{issue}").exists)
        for run in played.actions.runs("Nightjar"):
            if run.status == "in_progress":
                played.actions.lose(run.id)
        played.settle()
        played.tick()
        for issue in issues:
            (ending,) = played.endings(issue)
            assert "the Run's process ended without a word while repairing" in ending
            assert f"**What was kept.** The branch [`nightjar/issue-{issue}`]" in ending
            assert "Worth knowing" not in ending
            assert "a - b" in played.repository.file(f"nightjar/issue-{issue}", "calc.py")


def test_before_the_first_push(tmp_path: Path) -> None:
    """What the first Session has left is lost with the runner, as the ending says; nothing else is."""
    with town(tmp_path, "right; touch $word/at; gate never", files=ALONE) as played:
        played.label()
        played.wait((tmp_path / "word" / "at").exists)
        played.actions.lose(played.running().id)
        played.settle()
        assert played.endings() == ()
        played.tick()
        assert played.labels() == ("nightjar:failed",), played.log
        (ending,) = played.endings()
        assert "the Run's process ended without a word" in ending


def test_while_it_waits_for_ci(tmp_path: Path) -> None:
    """Nothing is lost then: where no second job tells it, the sweep goes on in another job."""
    with town(tmp_path, files=ALONE, ci_gate="ci") as played:
        played.label()
        played.wait(lambda: any("/check-runs" in request.path for request in played.hub.requests))
        played.actions.lose(played.running().id)
        played.wait(lambda: played.jobs[0].conclusion == "failure")
        played.actions.tick()
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert len(played.endings()) == 1
        assert played.kinds == ["implement"]


def test_while_it_parks(tmp_path: Path) -> None:
    """A process that dies before others can see that its Run waits: the job's last step tells it."""
    files = {".github/workflows/ci.yml": CI.format(first="sleep 30; "), WAKE: shipped()[WAKE]}
    with theatre(tmp_path / "stage", files) as stage:
        stage.claude = tiny_claude(tmp_path, "right")
        running: list[subprocess.Popen[str]] = []

        def kill() -> None:
            running[0].kill()
            running[0].wait()

        stage.hub.faults.add(Fault("GET", "/labels/nightjar.*parked", Act(kill)))
        acted = stage.label()
        running.append(stage.begin(acted, extra={SETTINGS["wait"].variable: "park"}))
        assert stage.end(acted, running[0]).killed
        assert stage.play(acted, "finish").exit_code == 0
        assert list(broken(stage)) == []
        assert "the Run's process ended without a word" in stage.repository.comments(stage.issue)[-1].body


def test_a_sweep_that_finds_nothing(tmp_path: Path) -> None:
    """With no Run open it lists the refs once and asks nothing else of GitHub."""
    with town(tmp_path) as played:
        before = len(played.hub.requests)
        played.tick()
        (job,) = played.jobs
        assert "Nothing to sweep: every Run is over." in job.log
        asked = played.hub.requests[before:]
        assert not any(request.counted for request in asked)
        assert len(asked) <= 2, [request.target for request in asked]  # one `git ls-remote`
