"""What the program itself ran: before CI is asked, after each Repair, and in the pull request."""

from __future__ import annotations

from bot.record import CiState, Record
from bot.sandbox.model import Reply
from bot.stored import from_json
from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    ADD_WRONG,
    CI,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    PROVE,
    Played,
    Stage,
    does,
    note,
    says,
    session,
)

CHECK = "grep -q 'return a - b' calc.py || { echo 'calc.py: sub is wrong'; exit 1; }"


def implements(*commands: str) -> tuple[Reply, Reply]:
    """What the first Session does, and its end."""
    return does("; ".join(commands), "add subtraction"), says()


def recorded(played: Played) -> Record:
    """What the Run knew at its end."""
    return from_json(played.stage.repository.file("refs/nightjar/issue-1", "record.json"))


def verdict(played: Played) -> str:
    """The Proof's verdict."""
    proof = recorded(played).proof
    return str(proof.verdict) if proof is not None else ""


def test_a_feature_is_proved_before_the_pull_request_opens(stage: Stage) -> None:
    """The pull request opens with what the program ran: fails on main, where the new name is missing, passes here."""
    played = stage.run(session("implement", *implements(ADD_RIGHT, HAND_OVER, PROVE)))
    assert played.exit_code == 0
    assert verdict(played) == "proved"
    opening = played.pull.body
    assert "proved" in opening.casefold()
    assert "`sub`" in opening
    assert "python3 -m unittest -v test_calc" in opening
    assert "Look at this first" not in opening


def test_a_named_test_that_fails_is_repaired_before_ci_is_asked(stage: Stage) -> None:
    """A Repair mends what the named test showed, and CI never sees the wrong commit."""
    played = stage.run(
        session("implement", *implements(ADD_WRONG, HAND_OVER, PROVE)),
        session("repair-1", does(f"{MEND}; {note('The operands were swapped.')}"), says()),
    )
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "1"
    assert verdict(played) == "proved"
    assert "the named test" in played.prompt("repair-1").casefold()
    assert "AssertionError: -2 != 2" in played.prompt("repair-1")
    assert [asked.state for asked in recorded(played).waits_for_ci] == [CiState.GREEN]
    base = recorded(played).base_commit
    assert played.log.count(f"trial on {base[:10]} begins") == 1


def test_a_red_check_command_is_repaired_before_ci_is_asked(stage: Stage) -> None:
    """The check command's own words are what the Repair is given."""
    played = stage.run(
        session("implement", *implements(ADD_WRONG, HAND_OVER)),
        session("repair-1", does(f"{MEND}; {note('The operands were swapped.')}"), says()),
        settings={"check-command": CHECK},
    )
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "1"
    assert "calc.py: sub is wrong" in played.prompt("repair-1")


def test_a_check_command_that_is_red_on_main_too_costs_no_repair(stage: Stage) -> None:
    """What was red before is told, and left alone."""
    played = stage.run(GREEN_AT_ONCE, settings={"check-command": "echo 'no such tool'; exit 3"})
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "0"
    assert "red on the base too" in played.pull.body


def test_a_repair_that_leaves_it_red_is_not_tried_for_ever(stage: Stage) -> None:
    """A Repair that changes nothing ends the Repairs for it: CI is asked, and the pull request says what fails."""
    played = stage.run(
        session("implement", *implements(ADD_RIGHT, HAND_OVER)),
        session("repair-1", does(note("The check is wrong.")), says()),
        settings={"check-command": "test ! -e calc.py || ! grep -q 'def sub' calc.py"},
    )
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "1"
    assert "`check-command`" in played.pull.body


def test_work_that_is_not_proved_fails_where_proof_is_required(stage: Stage) -> None:
    """The work is on the remote, in a draft, and the comment says that no test was named."""
    played = stage.run(GREEN_AT_ONCE, settings={"proof": "require"})
    assert played.exit_code == 1
    assert played.outputs["outcome"] == "failed"
    assert "the work is not proved" in played.ending
    assert played.pull.draft
    assert "def sub" in stage.repository.file("nightjar/issue-1", "calc.py")


def test_a_proof_that_stopped_holding_is_said(make_stage: MakeStage) -> None:
    """A CI-fix Repair that breaks what was proved is told in the pull request, with the commits."""
    lint = CI.replace("python3 -m unittest -v", "if grep -n 'a - b' calc.py; then exit 1; fi")
    stage = make_stage({**FILES, ".github/workflows/ci.yml": lint})
    played = stage.run(
        session("implement", *implements(ADD_RIGHT, HAND_OVER, PROVE)),
        session("repair-1", does("sed -i 's/a - b/b-a/' calc.py; git commit -qam 'Please the linter'"), says()),
    )
    assert played.outputs["repairs"] == "1"
    assert verdict(played) == "fails_after"
    assert "The Proof held on" in played.ending
    assert played.pull.body.startswith("**Fails after.**")


def test_nothing_is_run_where_proof_is_off(stage: Stage) -> None:
    """With `proof: off` no test is asked for, and none is run."""
    played = stage.run(
        session("implement", *implements(ADD_RIGHT, HAND_OVER, PROVE)),
        settings={"proof": "off", "check-command": f"touch {stage.path('ran')}"},
    )
    assert played.exit_code == 0
    assert not stage.path("ran").exists()
    assert "proof.json" not in played.prompt("implement")
    assert "proves" not in played.pull.body
