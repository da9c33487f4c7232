"""The `setup` commands of a Run: for Sessions in their checkout, and again there after Trials ran them elsewhere."""

from __future__ import annotations

from pathlib import Path

from tests.run.stage import ADD_WRONG, GREEN_AT_ONCE, HAND_OVER, MEND, PROVE, Stage, does, note, says, session


def test_setup_belongs_to_the_session_again(stage: Stage) -> None:
    """After Trials have run `setup` in their trees, it runs in the checkout once more before the next Session."""
    played = stage.run(
        session("implement", does(f"{ADD_WRONG}; {HAND_OVER}; {PROVE}", "add subtraction"), says()),
        session("repair-1", does(f"{MEND}; {note('Swapped.')}"), says()),
        settings={"setup": f"pwd >> {stage.path('places')}"},
    )
    assert played.exit_code == 0
    places = [Path(line).name for line in stage.path("places").read_text().splitlines()]
    first_trial = places.index("tree")
    second_session = places.index("checkout", first_trial)
    assert places[:first_trial] == ["checkout"]
    assert set(places[second_session + 1 :]) == {"tree"}


def test_setup_runs_once_without_trials(stage: Stage) -> None:
    """Where nothing names a test, `setup` runs once."""
    played = stage.run(GREEN_AT_ONCE, settings={"setup": f"pwd >> {stage.path('places')}"})
    assert played.exit_code == 0
    assert [Path(line).name for line in stage.path("places").read_text().splitlines()] == ["checkout"]


def test_setup_that_the_branch_has_broken(stage: Stage) -> None:
    """A `setup` that no longer works on the branch is said, and is the next Session's to mend."""
    breaks = "touch broken; git add broken; git commit -qm 'Break setup'"
    mends = "git rm -q broken; git commit -qm 'Mend setup'"
    played = stage.run(
        session("implement", does(f"{ADD_WRONG}; {breaks}; {HAND_OVER}; {PROVE}", "add subtraction"), says()),
        session("repair-1", does(f"{MEND}; {mends}; {note('Swapped.')}"), says()),
        settings={"setup": "test ! -e broken"},
    )
    assert played.exit_code == 0
    assert "before the next Session: the setup command `test ! -e broken` ended with exit code 1" in played.log
    assert played.outputs["repairs"] == "1"
