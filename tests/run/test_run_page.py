"""The Run page of whole Runs: what the real command leaves in the logs folder, and where people are told of it."""

from __future__ import annotations

from pathlib import Path

from tests.page.dom import Element, parse
from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    RED_AT_FIRST,
    SCALE,
    Played,
    Stage,
    does,
    note,
    says,
    session,
)

MENDED = session("repair", does(f"{MEND}; {note('The operands were swapped.')}", "mend it"), says("Fixed."))


def page_of(played: Played) -> Element:
    """The page in the job's logs folder."""
    return parse((logs_of(played) / "run.html").read_text(encoding="utf-8"))


def logs_of(played: Played) -> Path:
    """The job's logs folder."""
    return played.job.temp / "nightjar" / "logs"


def test_a_repaired_run(stage: Stage) -> None:
    """The page tells verdict, Sessions and tools, and of the Repair the evidence that it was given and its diff."""
    played = stage.run(RED_AT_FIRST, MENDED)

    assert played.exit_code == 0, played.log
    page = page_of(played)
    assert page.by_id("verdict").text == "Ready for review"
    assert [heading.text for heading in page.all("h3")][:2] == ["implement", "repair-1"]
    (repair,) = [card for card in page.all("article") if "Repair 1" in card.text]
    assert "AssertionError: -2 != 2" in repair.text
    assert "The operands were swapped." in repair.text
    (diff,) = [block for block in repair.all("pre") if block.attributes.get("class") == "diff"]
    lines = {line.attributes.get("class"): line.text for line in diff.all("span")}
    assert (lines["removed"], lines["added"]) == ("-    return b - a", "+    return a - b")
    tools = [fold.text for fold in page.all("details") if fold.attributes.get("class") == "tool"]
    assert [tool for tool in tools if "mend it" in tool and "sed -i" in tool]
    (journal,) = [fold.text for fold in page.all("details") if "as its journal has it" in fold.text]
    assert "repairing" in journal
    assert "The Run page is " in played.log
    assert played.outputs["logs"] == ""
    assert "Run page" not in played.ending


def test_background_work(stage: Stage) -> None:
    """A Hold and the Wake turn that ended it stand where they came, with the task's name."""
    played = stage.run(
        session(
            "implement",
            does("sleep 1", "the slow suite", background=True),
            says("It is running."),
            does(f"{ADD_RIGHT}; {HAND_OVER}", "add subtraction"),
            says("All is done."),
        )
    )

    assert played.exit_code == 0, played.log
    page = page_of(played)
    (hold,) = [part for part in page.all("div") if part.attributes.get("class") == "hold"]
    assert "“the slow suite”; then another Turn opened" in hold.text
    (turn,) = [part for part in page.all("div") if part.attributes.get("class") == "turn" and "Turn 2" in part.text]
    assert "Wake turn" in turn.text
    assert "(“the slow suite”)" in turn.text


def test_kept_as_an_artifact(stage: Stage) -> None:
    """With `transcripts: always` the folder is an output, and the ending and the summary say where the page will be."""
    played = stage.run(GREEN_AT_ONCE, settings={"transcripts": "always"})

    assert played.exit_code == 0, played.log
    assert played.outputs["logs"] == str(logs_of(played))
    where = f"[Run page]({stage.hub.server_url}/acme/widget/actions/runs/1#artifacts)"
    assert where in played.ending
    assert where in played.job.summary


def test_a_private_repository_keeps_it(stage: Stage, tmp_path: Path) -> None:
    """By default the folder is an output where only those see it who see the code."""
    repository = stage.hub.create_repository("acme/secret", {"a.txt": "a\n"}, private=True)
    repository.set_permission("alice", "write")
    stage.repository, stage.issue = repository, repository.open_issue("Add subtraction", "Please.", author="alice")
    played = stage.run(session("implement", does("echo b > b.txt"), says()), settings={"ci-start-minutes": "0.1"})

    assert played.exit_code == 0, played.log
    assert played.outputs["logs"] == str(logs_of(played))


def test_a_failed_run(stage: Stage) -> None:
    """The verdict names the Failure, then comes why and what to do; the page is there although nothing was repaired."""
    played = stage.run(RED_AT_FIRST, settings={"max-repairs": "0"})

    assert played.exit_code == 1, played.log
    page = page_of(played)
    assert page.by_id("verdict").text == "Stopped: CI is still red after the last Repair"
    assert "What to do." in page.text


def test_a_parked_run(make_stage: MakeStage) -> None:
    """A Run that gives its runner back leaves the page of how far it has come, and what it waits for."""
    sweep = "on: workflow_dispatch\njobs:\n  wake:\n    runs-on: x\n    steps:\n      - uses: acme/nightjar@v1\n"
    stage = make_stage({**FILES, ".github/workflows/wake.yml": f"{sweep}        with:\n          command: sweep\n"})
    played = stage.run(GREEN_AT_ONCE, settings={"paused": "yes", "transcripts": "always"})

    assert (played.exit_code, played.outputs["outcome"]) == (0, "parked"), played.log
    page = page_of(played)
    assert page.by_id("verdict").text == "Parked"
    assert "waits for NIGHTJAR_PAUSED to be taken back" in page.text
    assert played.outputs["logs"] == str(logs_of(played))
    assert "[Run page](" in played.job.summary


def test_a_page_that_cannot_be_written(stage: Stage) -> None:
    """A Run whose page finds no place ends as it would have, with a line in the log."""
    home = f"{stage.folder}/job-1/temp/nightjar/logs/run.html/in-the-way"
    played = stage.run(GREEN_AT_ONCE, settings={"isolation": "relaxed", "setup": f"mkdir -p {home}"})

    assert played.exit_code == 0, played.log
    assert played.labels == ("nightjar:ready",)
    assert "The Run page could not be written: " in played.log


def test_a_killed_run(stage: Stage) -> None:
    """The job's last step writes the page of a Run whose process was killed, with what its Session said until then."""
    begun = stage.fifo("begun")
    playing = stage.start(session("implement", does(f"echo > {begun}; sleep {600 / SCALE}", "work on it"), says()))
    begun.read_text(encoding="utf-8")
    playing.process.kill()
    playing.finish()
    payload = {"action": "labeled", "issue": {"number": 1}}
    environment = playing.job.environment("issues", payload, {"command": "finish", "job-status": "failure"})
    finished = playing.job.finish(playing.job.start(environment, "finish"))

    assert finished.exit_code == 0, finished.log
    page = parse((finished.temp / "nightjar" / "logs" / "run.html").read_text(encoding="utf-8"))
    assert page.by_id("verdict").text.startswith("Stopped: the Run's process was killed")
    assert "its process was killed" in page.text
    assert "work on it" in page.text
