"""The last step of a job: a killed Run is reported once, with its work; one that told its end is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.sandbox.job import Finished
from tests.run.stage import ADD_RIGHT, GREEN_AT_ONCE, RED_AT_FIRST, Played, Playing, Stage, does, says, session


@dataclass(frozen=True, slots=True)
class Ended:
    """A job whose first step is over and whose last one has run."""

    stage: Stage
    last: Finished

    @property
    def comments(self) -> tuple[str, ...]:
        """The texts on the issue."""
        return tuple(comment.body for comment in self.stage.repository.comments(self.stage.issue))


def finish(playing: Playing | Played, *, status: str = "failure", settings: Mapping[str, str] | None = None) -> Ended:
    """Run the last step of the job."""
    job = playing.job if isinstance(playing, Playing) else playing.runner
    given = {"job-status": status, "anthropic-api-key": "", **(settings or {})}
    environment = job.environment("issues", {}, given)
    return Ended(playing.stage, job.finish(job.start(environment, "finish")))


def test_a_killed_run_is_reported_with_its_work(stage: Stage) -> None:
    """After a SIGKILL in mid-session the last step pushes what was written, says why on the issue, and labels it."""
    fifo = stage.fifo("started")
    playing = stage.start(session("implement", does(f"{ADD_RIGHT}; echo started > {fifo}; exec sleep 300"), says()))
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    ended = finish(playing)
    assert ended.last.exit_code == 0, ended.last.log
    assert "the Run's process was killed" in ended.comments[-1]
    assert "while working on the issue" in ended.comments[-1]
    assert ended.comments[-1].startswith("@alice")
    assert stage.repository.labels(stage.issue) == ("nightjar:failed",)
    assert "def sub" in stage.repository.file("nightjar/issue-1", "calc.py")
    assert len(ended.comments) == 2


def test_a_run_that_told_its_end_is_left_alone(stage: Stage) -> None:
    """After a Run that ended well the last step asks GitHub nothing and says so in the log."""
    played = stage.run(GREEN_AT_ONCE)
    before = len(stage.hub.requests)
    ended = finish(played, status="success")
    assert ended.last.exit_code == 0
    assert "Nothing to finish" in ended.last.log
    assert len(stage.hub.requests) == before


def test_finishing_twice_tells_once(stage: Stage) -> None:
    """A second last step finds the ending told and adds nothing."""
    fifo = stage.fifo("started")
    playing = stage.start(session("implement", does(f"echo started > {fifo}; exec sleep 300"), says()))
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    once = finish(playing).comments
    assert finish(playing).comments == once


def test_a_cancelled_job_is_not_called_failed(stage: Stage) -> None:
    """When the job was cancelled and its process died of it, the issue says cancelled."""
    fifo = stage.fifo("started")
    playing = stage.start(RED_AT_FIRST, session("repair-1", does(f"echo started > {fifo}; exec sleep 300"), says()))
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    ended = finish(playing, status="cancelled")
    assert "cancelled" in ended.comments[-1]
    assert stage.repository.pull_requests()[-1].draft


def test_without_a_run_there_is_nothing_to_finish(stage: Stage) -> None:
    """A job whose first step skipped the event has nothing to report."""
    played = stage.run(GREEN_AT_ONCE, label="bug")
    ended = finish(played, status="success")
    assert ended.last.exit_code == 0
    assert "no Run was begun in this job" in ended.last.log
    assert ended.comments == ()
