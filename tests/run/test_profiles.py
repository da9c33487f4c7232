"""Runs with a profile: its label asks for them, its settings count, and whoever goes on with them keeps to it."""

from __future__ import annotations

from pathlib import Path

from bot.sandbox.job import Finished
from tests.run.conftest import MakeStage
from tests.run.stage import ADD_WRONG, FILES, HAND_OVER, MEND, RED_AT_FIRST, does, says, session
from tests.run.town import town

SETTINGS = """\
max-repairs: 3
instructions: Be thorough.
labels:
  nightjar:fast:
    model: claude-haiku-4-5
    max-repairs: 1
    max-cost-usd: 1
    instructions: {all: Be quick., ci-fix: Read the log., continue: Look around.}
  nightjar:slow: {draft: never, wait: park}
"""
WITH_PROFILES = {**FILES, ".github/nightjar.yml": SETTINGS}


def test_run_by_a_profile(make_stage: MakeStage) -> None:
    """The profile's settings take effect, the first comment names it and what an input goes before; its label put on
    again retries with the same profile.
    """
    stage = make_stage(WITH_PROFILES)
    useless = session("repair-1", does("echo '# hm' >> calc.py; git commit -qam Try"), says())
    first = stage.run(RED_AT_FIRST, useless, label="nightjar:fast", settings={"max-cost-usd": "7"})

    assert first.outputs["outcome"] == "failed", first.log
    assert "CI is still red after 1 Repair of at most 1" in first.ending
    assert "put the label `nightjar:fast` on this issue again" in first.ending
    assert first.labels == ("nightjar:failed",)
    assert "Be quick." in first.prompt("implement")
    assert not any(text in first.prompt("implement") for text in ("Be thorough.", "Read the log.", "Look around."))
    assert "Be quick.\n\nRead the log." in first.prompt("repair-1")
    assert {request.model for request in first.model.requests if request.conversation} == {"claude-haiku-4-5"}
    tracking = stage.repository.comments(stage.issue)[0].versions[0]
    said = (
        "`nightjar:fast`, which sets `model`, `instructions`, `max-repairs`; an input of the workflow goes before its "
        "`max-cost-usd`"
    )
    assert f"**Profile:** {said}\n" in tracking
    assert "Repairs 0 of 1 · cost so far $0.00 of $7.00" in tracking
    assert f"profile: {said}" in first.log

    second = stage.run(session("continue", does(MEND), says()), label="nightjar:fast")
    assert second.outputs["outcome"] == "ready", second.log
    assert second.labels == ("nightjar:ready",)
    assert "Be quick.\n\nLook around." in second.prompt("continue")
    assert "$1.00" in second.comments[2]


def test_run_without_a_profile(make_stage: MakeStage) -> None:
    """Beside profiles the label itself has the file's own settings, and no profile is told."""
    stage = make_stage(WITH_PROFILES)
    played = stage.run(RED_AT_FIRST, session("repair-1", does(MEND), says()))
    assert played.outputs["outcome"] == "ready", played.log
    assert "Be thorough." in played.prompt("implement")
    assert "Profile" not in stage.repository.comments(stage.issue)[0].versions[0]


def test_no_such_profile(make_stage: MakeStage) -> None:
    """A label that looks like a profile's and is none starts nothing; one line names the profiles there are."""
    stage = make_stage(WITH_PROFILES)
    payload = stage.repository.label_issue(stage.issue, "nightjar:typo", actor="alice")
    before = stage.writes()
    played = stage.run(payload=payload)

    said = (
        "the label 'nightjar:typo' is not 'nightjar', nor a profile of the settings file; "
        "profiles are 'nightjar:fast', 'nightjar:slow'"
    )
    assert played.exit_code == 0, played.log
    assert played.outputs["outcome"] == "skipped"
    assert played.outputs["reason"] == said
    assert said in played.job.summary
    assert said in played.log
    assert played.labels == ("nightjar:typo",)
    assert stage.writes() == before


def test_somebody_without_the_permission(make_stage: MakeStage) -> None:
    """A profile's label by somebody who may not ask is taken off again."""
    played = make_stage(WITH_PROFILES).run(label="nightjar:fast", actor="bob")
    assert played.outputs["outcome"] == "skipped", played.log
    assert played.labels == ()


def test_permission_of_the_settings_file(make_stage: MakeStage) -> None:
    """What the settings file demands of whoever labels counts."""
    played = make_stage({**FILES, ".github/nightjar.yml": "required-permission: admin\n"}).run()
    assert played.outputs["outcome"] == "skipped", played.log
    assert "'admin' is required" in played.outputs["reason"]


def test_label_of_the_settings_file(make_stage: MakeStage) -> None:
    """Another label may ask where the settings file says so; then the usual one does not."""
    stage = make_stage({**FILES, ".github/nightjar.yml": "label: robot\n"})
    played = stage.run()
    assert "the label 'nightjar' is not 'robot'" in played.outputs["reason"]
    asked = stage.run(RED_AT_FIRST, session("repair-1", does(MEND), says()), label="robot")
    assert asked.outputs["outcome"] == "ready", asked.log
    assert asked.labels == ("nightjar", "robot:ready")


def test_killed_run_is_finished_by_its_profile(make_stage: MakeStage) -> None:
    """The last step of the job ends a killed Run with the settings of its profile."""
    stage = make_stage(WITH_PROFILES)
    fifo = stage.fifo("started")
    wait = does(f"{ADD_WRONG}; {HAND_OVER}")
    stuck = session("repair-1", does(f"echo started > {fifo}; exec sleep 300"), says())
    playing = stage.start(session("implement", wait, says()), stuck, label="nightjar:slow", settings={"wait": "inline"})
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    last: Finished = playing.job.finish(
        playing.job.start(playing.job.environment("issues", {}, {"job-status": "failure"}), "finish")
    )
    assert last.exit_code == 0, last.log
    assert stage.repository.labels(stage.issue) == ("nightjar:failed",)
    (pull,) = stage.repository.pull_requests()
    assert not pull.draft


def test_two_labels_at_once(tmp_path: Path) -> None:
    """Of two labels that are put on together one gets a Run; the other job says so, and neither label is left."""
    files = {".github/nightjar.yml": "labels:\n  nightjar:fast: {max-repairs: 1}\n"}
    with town(tmp_path, "right; gate on", files=files) as played:
        played.label(label="nightjar:fast")
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        assert played.labels() == ("nightjar:working",)
        played.open("on")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement"]
        assert sorted(played.outcomes) == ["ready", "skipped"]
        assert len(played.endings()) == 1
        assert "was put on together with" in played.log


def test_parked_run_keeps_its_profile(tmp_path: Path) -> None:
    """Through the shipped workflows a profile's Run parks and is taken up with its profile; no label of Nightjar's own
    starts a job.
    """
    files = {".github/nightjar.yml": "labels:\n  nightjar:fast: {wait: park, max-repairs: 1}\n"}
    script = 'case "$kind" in implement) wrong;; *) mend;; esac'
    with town(tmp_path, script, files=files, ci_gate="ci") as played:
        played.label(label="nightjar:fast")
        played.wait_until_parked()
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.record().trigger.label == "nightjar:fast"
        assert played.kinds == ["implement", "repair-1"]
        assert played.outcomes[0] == "parked"
        assert "**Profile:** `nightjar:fast`" in played.tracking()[0]
        assert "**Profile:** `nightjar:fast`" in played.tracking()[-1]
        assert "Repairs 1 of 1" in played.tracking()[-1]
        started = [
            run for run in played.actions.runs("Nightjar") if run.event == "issues" and run.conclusion != "skipped"
        ]
        assert len(started) == 1
