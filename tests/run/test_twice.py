"""Two jobs on one issue at once, which the shipped workflow's group keeps from happening: the guard in code."""

from __future__ import annotations

import pytest

from tests.run.stage import ADD_RIGHT, GREEN_AT_ONCE, HAND_OVER, Stage, does, says, session


@pytest.mark.field_case(40, "second starter")
def test_two_jobs_on_one_issue(stage: Stage) -> None:
    """One of them goes to green and the other stops, handed over: one pull request, ready once, nothing pushed over."""
    heard, answer = stage.fifo("heard"), stage.fifo("answer")
    waits = f"{ADD_RIGHT}; {HAND_OVER}; echo here > {heard}; cat {answer}"
    playing = stage.start(session("implement", does(waits), says()))
    heard.read_text(encoding="utf-8")
    second = stage.run(GREEN_AT_ONCE)
    answer.write_text("go\n", encoding="utf-8")
    first = playing.finish()
    went_on, stopped = (first, second) if first.exit_code == 0 else (second, first)
    assert went_on.outputs["outcome"] == "ready", went_on.log
    assert "another Run has taken this issue over" in stopped.outputs["reason"]
    (pull,) = stage.repository.pull_requests()
    assert (pull.draft, pull.head_sha) == (False, stage.repository.refs()["refs/heads/nightjar/issue-1"])
    assert sum("is ready for review" in text for text in first.comments) == 1
    assert first.labels == ("nightjar:ready",)
