"""People step in while a Run works: it stops at the next safe point, or is done, and says so."""

from __future__ import annotations

from collections.abc import Callable

from tests.run.stage import ADD_RIGHT, HAND_OVER, Played, Stage, does, says, session


def while_the_session_works(stage: Stage, act: Callable[[Stage], None]) -> Played:
    """A Run in whose first Session somebody acts."""
    heard, answer = stage.fifo("heard"), stage.fifo("answer")
    command = f"{ADD_RIGHT}; {HAND_OVER}; echo here > {heard}; cat {answer}"
    playing = stage.start(session("implement", does(command), says()))
    heard.read_text(encoding="utf-8")
    act(stage)
    answer.write_text("go\n", encoding="utf-8")
    return playing.finish()


def test_taking_the_label_off_stops_the_run(stage: Stage) -> None:
    """The label's removal ends the Run before anything more is spent; the work is kept, no pull request is opened."""
    played = while_the_session_works(
        stage, lambda at: at.repository.unlabel_issue(at.issue, "nightjar:working", "alice")
    )
    assert played.exit_code == 130
    assert "the label `nightjar:working` was taken off" in played.ending
    assert stage.repository.pull_requests() == ()
    assert "def sub" in stage.repository.file("nightjar/issue-1", "calc.py")


def test_closing_the_issue_stops_the_run(stage: Stage) -> None:
    """A closed issue gets no pull request."""
    played = while_the_session_works(stage, lambda at: at.repository.close(at.issue, "alice"))
    assert played.exit_code == 130
    assert "the issue was closed" in played.ending
    assert stage.repository.pull_requests() == ()
