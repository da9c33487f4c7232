"""Runs that end badly: the reason on the issue, the work on the branch, a draft, and nothing left running."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    ADD_WRONG,
    CI,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    RED_AT_FIRST,
    Played,
    Stage,
    does,
    note,
    says,
    session,
)
from tests.run.test_finish import finish

BRANCH = "refs/heads/nightjar/issue-1"
LONG = "echo started > {fifo}; exec sleep 300"


def assert_failed(played: Played, title: str, reason: str) -> None:
    """What every Failure looks like from outside."""
    assert played.exit_code == 1, played.log
    assert played.outputs["outcome"] == "failed"
    assert reason in played.outputs["reason"]
    assert played.labels == ("nightjar:failed",)
    mention, heading, said = [line for line in played.ending.splitlines() if line and not line.startswith("<!--")][:3]
    assert mention.startswith("@alice")
    assert title in heading
    assert reason in said
    assert "What to do." in played.ending
    assert played.survivors() == ()


def test_ci_stays_red(stage: Stage) -> None:
    """Repairs are capped: after the last one the pull request is a draft with all the work, and the issue says why."""
    played = stage.run(
        RED_AT_FIRST,
        session("first", does(f"echo '# one' >> calc.py; git commit -qam One; {note('I tried one.')}"), says()),
        session("second", does(f"echo '# two' >> calc.py; git commit -qam Two; {note('I tried two.')}"), says()),
        session("third", says("There must be no third.")),
        settings={"max-repairs": "2", "repeat-limit": "0"},
    )

    assert_failed(played, "CI is still red", "CI is still red after 2 Repairs of at most 2: `test`")
    assert played.outputs["repairs"] == "2"
    assert played.pull.draft
    assert "# two" in stage.repository.file(played.pull.head_sha, "calc.py")
    one, two = played.repair_comments
    assert "Repair 1 of 2" in one
    assert "I tried one." in one
    assert "CI now: red" in one
    assert "Repair 2 of 2" in two
    assert "CI now: red" in two
    assert not [request for request in played.model.requests if request.conversation == "third"]


def test_repair_that_changes_nothing(stage: Stage) -> None:
    """A Repair that leaves the code as it is ends the Run: another would see the same."""
    played = stage.run(
        RED_AT_FIRST, session("repair", does(note("The runner is to blame.")), says("I change nothing."))
    )

    assert_failed(played, "the Repair found nothing to change", "Repair 1 changed nothing, and CI is still red: `test`")
    assert played.outputs["repairs"] == "1"
    assert played.pull.draft
    assert "Changed: nothing" in played.repair_comments[0]
    assert "CI now: red" in played.repair_comments[0]
    assert "The runner is to blame." in played.repair_comments[0]


def test_session_that_changes_nothing(stage: Stage) -> None:
    """No changes: no branch, no pull request, and the session's last words on the issue."""
    played = stage.run(session("implement", does("cat calc.py"), says("Is `sub` for whole numbers only?")))

    assert_failed(played, "the Session changed nothing", "Is `sub` for whole numbers only?")
    assert BRANCH not in stage.repository.refs()
    assert stage.repository.pull_requests() == ()
    assert played.outputs["pr-url"] == ""


def test_ci_never_starts(stage: Stage) -> None:
    """A push with the job's own token starts no CI: that is a Failure with its remedy, and never "green"."""
    stage.use_token("job")
    played = stage.run(GREEN_AT_ONCE, settings={"ci-start-minutes": "0.5"})

    assert played.exit_code == 1, played.log
    assert played.labels == ("nightjar:failed",)
    assert re.search(r"CI did not start|CI waits for somebody to approve it", played.ending)
    assert "NIGHTJAR_TOKEN" in played.ending
    assert played.pull.draft
    assert BRANCH in stage.repository.refs()


def test_ci_that_never_ends(make_stage: MakeStage) -> None:
    """CI that gives no verdict in time is named with the check that was still running."""
    stage = make_stage({**FILES, ".github/workflows/ci.yml": CI.replace("python3 -m unittest -v", "sleep 60")})
    played = stage.run(GREEN_AT_ONCE, settings={"ci-timeout-minutes": "0.5"})

    assert_failed(played, "CI was not done in time", "`test` (still running)")
    assert played.pull.draft


@pytest.mark.field_case(39, "a")
def test_person_pushes_while_ci_runs(make_stage: MakeStage) -> None:
    """Somebody else's commit on the Issue branch ends the Run; the commit is kept and nothing is pushed over it."""
    ci = CI.replace("python3 -m unittest -v", "while [ ! -e {} ]; do sleep 0.1; done; exit 1")
    stage = make_stage({**FILES, ".github/workflows/ci.yml": ci})  # the path is filled in below
    gate = stage.path("gate")
    stage.repository.commit("main", {".github/workflows/ci.yml": ci.format(gate)}, "Wait for the gate")
    playing = stage.start(GREEN_AT_ONCE, session("repair", does(MEND), says()))
    assert stage.hub.wait_until(lambda: bool(stage.repository.pull_requests()), 60)
    theirs = stage.repository.commit("nightjar/issue-1", {"NOTES": "mine\n"}, "I take this over", author="dana")
    gate.touch()
    played = playing.finish()

    assert_failed(played, "somebody else has taken over", theirs[:10])
    assert stage.repository.refs()[BRANCH] == theirs
    assert played.outputs["repairs"] == "0"


def test_cli_that_does_not_start(stage: Stage) -> None:
    """A CLI that dies before its first word: its own last line is the reason, and the catalogue's remedy follows."""
    claude = stage.path("claude")
    claude.write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.332 && exit\necho 'bypass cannot be used as root' >&2\nexit 1\n",
        encoding="utf-8",
    )
    claude.chmod(0o755)
    played = stage.run(settings={"claude-path": str(claude)})

    assert_failed(played, "", "bypass cannot be used as root")
    assert "(exit code 1)" in played.outputs["reason"]
    assert BRANCH not in stage.repository.refs()


def test_setup_that_fails(stage: Stage) -> None:
    """A `setup` command that fails ends the Run before any Session, with its name, exit code and output."""
    played = stage.run(settings={"setup": "echo no such package; exit 3"})

    assert_failed(played, "", "ended with exit code 3")
    assert "no such package" in played.ending
    assert played.model.requests == ()


def test_background_work_is_waited_for(stage: Stage) -> None:
    """A session that ends its turn while a command runs in the background is held open and woken: no Resume."""
    played = stage.run(
        session(
            "implement",
            does(f"sleep 1; {ADD_RIGHT}", "run the generator", background=True),
            says("I wait for it."),
            does(HAND_OVER, "hand over"),
            says("It is done."),
        )
    )

    assert played.exit_code == 0, played.log
    assert played.outputs["resumes"] == "0"
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")


OUTLIVES = does("sleep 300", "the long suite", background=True)


def test_background_work_that_outlives_the_hold(stage: Stage) -> None:
    """Work that is killed at the Hold limit costs one Resume, with a log of its own; then the Run goes on to green."""
    played = stage.run(
        session(
            "implement",
            does(f"{ADD_RIGHT}; {HAND_OVER}", "add subtraction"),
            OUTLIVES,
            says("The suite is running; I will be told."),
            does("python3 -m unittest", "run the tests in the foreground"),
            says("They pass."),
        ),
        settings={"background-wait-minutes": "0.05"},
    )

    assert played.exit_code == 0, played.log
    assert (played.outputs["resumes"], played.outputs["repairs"]) == ("1", "0")
    assert played.transcripts == ("issue-1-run-1-1-implement-resume.jsonl", "issue-1-run-1-1-implement.jsonl")
    assert "the long suite" in played.comments[0]
    resumed = [request.prompt_text for request in played.model.requests if "the long suite" in request.prompt_text]
    assert resumed
    assert played.survivors() == ()


def test_background_work_lost_again(stage: Stage) -> None:
    """Lost again in the Resume: the Run fails with the fixed sentence, and what was written is on the branch."""
    played = stage.run(
        session(
            "implement",
            does(ADD_RIGHT, "add subtraction"),
            OUTLIVES,
            says("I will be told."),
            OUTLIVES,
            says("I will be told again."),
        ),
        settings={"background-wait-minutes": "0.05"},
    )

    sentence = "implement session ended while waiting on a background task (the long suite), which was killed"
    assert_failed(played, "background work was killed before it ended", sentence)
    assert played.outputs["reason"].rstrip(".") == sentence
    assert played.outputs["resumes"] == "1"
    assert "a - b" in stage.repository.file("nightjar/issue-1", "calc.py")


def test_resume_of_a_repair_is_no_repair(stage: Stage) -> None:
    """A Repair whose background work was killed is resumed, and the counter of Repairs stays where it was."""
    played = stage.run(
        RED_AT_FIRST,
        session("repair", OUTLIVES, says("I will be told."), does(MEND, "mend it"), says("Fixed.")),
        settings={"background-wait-minutes": "0.05", "max-repairs": "1"},
    )

    assert played.exit_code == 0, played.log
    assert (played.outputs["resumes"], played.outputs["repairs"]) == ("1", "1")
    assert "issue-1-run-1-1-repair-1-resume.jsonl" in played.transcripts
    assert len(played.repair_comments) == 1
    assert "CI now: green" in played.repair_comments[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_cancelled_in_a_session(stage: Stage, number: signal.Signals) -> None:
    """A cancelled job: exit code 130, no process left; its last step pushes the work and tells it once."""
    fifo = stage.fifo("started")
    playing = stage.start(session("implement", does(f"{ADD_RIGHT}; {LONG.format(fifo=fifo)}"), says()))
    fifo.read_text()
    os.kill(playing.process.pid, number)
    played = playing.finish()
    assert played.exit_code == 130, played.log
    assert played.survivors() == ()

    ended = finish(played, status="cancelled")
    assert ended.last.outputs["outcome"] == "cancelled"
    assert played.labels == ("nightjar:failed",)
    assert played.ending.startswith("@alice")
    assert "the Run was cancelled" in played.ending
    assert "a - b" in stage.repository.file("nightjar/issue-1", "calc.py")


def test_cancelled_while_ci_runs(make_stage: MakeStage) -> None:
    """A cancel while CI is watched ends the wait at once; the pull request stays a draft."""
    stage = make_stage({**FILES, ".github/workflows/ci.yml": CI.replace("python3 -m unittest -v", "sleep 60")})
    playing = stage.start(GREEN_AT_ONCE)
    assert stage.hub.wait_until(lambda: bool(stage.repository.pull_requests()), 60)
    os.kill(playing.process.pid, signal.SIGTERM)
    played = playing.finish()
    finish(played, status="cancelled")

    assert played.exit_code == 130, played.log
    assert played.pull.draft
    assert len(played.comments) == 2


def test_no_process_survives(stage: Stage) -> None:
    """What a session detached from itself with all the arts of a shell is gone when the Run has ended."""
    detach = "(setsid nohup sleep 300 >/dev/null 2>&1 &); (env -i setsid sleep 301 >/dev/null 2>&1 &)"
    played = stage.run(session("implement", does(f"{ADD_RIGHT}; {HAND_OVER}; {detach}"), says()))

    assert played.exit_code == 0, played.log
    assert played.survivors() == ()
    commands = [_command(process) for process in Path("/proc").iterdir() if process.name.isdigit()]
    assert "sleep 301" not in commands


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def test_half_done_work_is_pushed_when_a_session_dies(stage: Stage) -> None:
    """A session that dies in the middle is a Failure; its commits and what it left uncommitted are on the branch."""
    kill = "kill -9 $(ps -o ppid= -p $$)"
    wrong = ADD_WRONG.partition("; git commit")[0]
    played = stage.run(session("implement", does(f"{wrong}; {kill}"), says()))

    assert_failed(played, "the Session died in the middle of its work", "implement session died")
    assert "b - a" in stage.repository.file("nightjar/issue-1", "calc.py")
    assert stage.repository.pull_requests() == ()
