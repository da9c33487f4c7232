"""More Runs than may work at once: they stand in line, people see where, and each that ends starts the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox.github import Act, Answer, Fault, Wait
from tests.run.town import NOT_SWEPT, Town, town

ONE = {"max-working": "1"}


def queued(played: Town, issue: int, before: int) -> bool:
    """Whether the issue shows that its Run stands in line, after so many."""
    place = f"with {before} Run before it" if before else "as the next one"
    shown = played.tracking(issue)
    return played.labels(issue) == ("nightjar:queued",) and bool(shown) and place in shown[-1]


def test_in_line(tmp_path: Path) -> None:
    """One works, two wait and say how many are before them; each that ends starts the next, in the order of labels."""
    with town(tmp_path, 'right; gate "go-$issue"', settings=ONE) as played:
        first, second, third = played.issue, played.open_issue(), played.open_issue()
        played.label(first)
        played.wait(lambda: len(played.sessions) == 1)
        for before, issue in enumerate((second, third)):
            played.label(issue)
            played.wait(lambda issue=issue, before=before: queued(played, issue, before))  # type: ignore[misc]
        for issue in (first, second, third):
            played.wait(lambda issue=issue: played.labels(issue) == ("nightjar:working",))  # type: ignore[misc]
            played.wait(lambda issue=issue: played.sessions[-1].issue == issue)  # type: ignore[misc]
            played.open(f"go-{issue}")
        played.settle()
        assert [session.issue for session in played.sessions] == [first, second, third]
        assert all(played.labels(issue) == ("nightjar:ready",) for issue in (first, second, third)), played.log
        assert all(len(played.comments(issue)) == 2 for issue in (first, second, third))
        assert not any("/slot/" in ref or "/open/" in ref for ref in played.repository.refs())


def test_the_next_one_cannot_be_started(tmp_path: Path) -> None:
    """Where the token may not start a job, the hourly sweep goes on with the next Run itself."""
    with town(tmp_path, 'right; gate "go-$issue"', settings=ONE) as played:
        played.hub.faults.add(Fault("POST", "/dispatches$", Answer(403), times=0))
        second = played.open_issue()
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        played.label(second)
        played.wait(lambda: queued(played, second, 0))
        for gate in (f"go-{played.issue}", f"go-{second}"):
            played.open(gate)
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.labels(second) == ("nightjar:queued",)
        played.tick()
        assert played.labels(second) == ("nightjar:ready",), played.log
        assert len(played.endings(second)) == 1


@pytest.mark.parametrize("first", ["right", "exit 1"], ids=["ready", "failed"])
def test_nothing_could_ever_start_them(tmp_path: Path, first: str) -> None:
    """Where the token may not start a job and nothing sweeps, those in line end with GitHub's reason, each told once;
    the Run that ended, and its job, say nothing of it.
    """
    script = f'[ $issue = 1 ] || touch $word/spent; gate "go-$issue"; {first}'
    with town(tmp_path, script, settings=ONE, files=NOT_SWEPT) as played:
        played.hub.faults.add(Fault("POST", "/dispatches$", Answer(403), times=0))
        waiting = played.open_issue(), played.open_issue()
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        for before, issue in enumerate(waiting):
            played.label(issue)
            played.wait(lambda issue=issue, before=before: queued(played, issue, before))  # type: ignore[misc]
        played.open("go-1")
        played.settle()
        outcome = "ready" if first == "right" else "failed"
        assert played.labels() == (f"nightjar:{outcome}",), played.log
        assert played.jobs[0].outputs["outcome"] == outcome
        for issue in waiting:
            assert played.labels(issue) == ("nightjar:failed",), played.log
            (ending,) = played.endings(issue)
            assert "its turn came, but GitHub started no job for it: " in ending
            assert "actions: write" in ending
        assert "its turn" not in played.jobs[0].outputs.get("reason", "")
        assert "##[error]its turn" not in played.jobs[0].log
        assert not any("/slot/" in ref or "/open/" in ref for ref in played.repository.refs())
        assert not (tmp_path / "word" / "spent").exists()


def test_the_last_one_ends_while_another_gets_in_line(tmp_path: Path) -> None:
    """A Run that found no place, and whose place became free before others could see that it waits, goes on itself."""
    with town(tmp_path, 'right; gate "go-$issue"', settings=ONE) as played:
        second = played.open_issue()
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        wait = Wait()
        played.hub.faults.add(Fault("POST", rf"/issues/{second}/comments$", wait))
        played.label(second)
        played.wait(lambda: f"refs/nightjar/open/{second}" in played.repository.refs())
        for gate in (f"go-{played.issue}", f"go-{second}"):
            played.open(gate)
        played.wait(lambda: played.jobs[0].conclusion == "success")
        wait.until.set()
        played.settle()
        assert played.labels(second) == ("nightjar:ready",), played.log
        assert len(played.endings(second)) == 1


def test_cancelled_while_the_next_one_is_started(tmp_path: Path) -> None:
    """A job that is cancelled when its own Run waits already says of it what is so; the sweep starts the next one."""
    settings = {**ONE, "wait": "park"}
    with town(tmp_path, 'right; gate "go-$issue"', settings=settings, ci_gate="ci") as played:
        second = played.open_issue()
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        played.label(second)
        played.wait(lambda: queued(played, second, 0))
        first = next(run for run in played.actions.runs("Nightjar") if run.status == "in_progress")
        played.hub.faults.add(Fault("POST", "/dispatches$", Act(lambda: played.actions.cancel(first.id))))
        for gate in (f"go-{played.issue}", f"go-{second}"):
            played.open(gate)
        played.wait(lambda: played.jobs[0].conclusion == "cancelled")
        assert played.jobs[0].outputs["outcome"] == "parked", played.log
        assert "before the Run began" not in played.jobs[0].log
        played.open("ci")
        played.settle()
        played.tick()
        for issue in (played.issue, second):
            assert played.labels(issue) == ("nightjar:ready",), played.log
            assert len(played.endings(issue)) == 1
