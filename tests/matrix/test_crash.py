"""A Run that is killed, anywhere: one outcome told, nothing twice, all work on the remote. A sample of
`make matrix`.
"""

from __future__ import annotations

from pathlib import Path

from tests.matrix.cells import Clean, crash_cells, play, sample, table
from tests.matrix.theatre import theatre

CELLS = 12


def test_a_run_that_is_killed_anywhere_is_told_once(known: Clean, tmp_path: Path) -> None:
    """Whatever save or request a Run dies at, the last step or a fresh label ends it once, and nothing is lost."""
    cells = list(crash_cells(known))
    played = play(sample(cells, CELLS), tmp_path / "cells", abreast=2)
    assert len(played) == CELLS
    assert not any(one.broken for one in played), table(played)


def test_a_stranger_cannot_silence_an_ending(tmp_path: Path) -> None:
    """A comment by somebody else with the ending's hidden line does not pass for the ending."""
    with theatre(tmp_path / "stage") as stage:
        acted = stage.label()
        assert stage.play(acted, dies=("after-save", 6)).killed
        forged = f"<!-- nightjar:ending run={acted.run_id} attempt=1 -->"
        stage.repository.comment(stage.issue, forged, author="bob")
        stage.play(acted, "finish")
        told = [comment for comment in stage.repository.comments(stage.issue) if forged in comment.body]
        assert [comment.author for comment in told] == ["bob", "nightjar[bot]"]


def test_what_a_session_wrote_survives_its_runner(tmp_path: Path) -> None:
    """A Run that dies before it pushes the Issue branch leaves a checkpoint, which the next Run goes on with."""
    with theatre(tmp_path / "stage") as stage:
        # Between the checkpoint and the push. Not in the push itself: git outlives its parent and may send it again.
        assert stage.play(stage.label(), dies=("after-save", 13)).killed
        refs = {ref for ref in stage.repository.refs() if "nightjar" in ref}
        assert refs == {"refs/nightjar/issue-1", "refs/nightjar/open/1", "refs/nightjar/slot/1"}
        assert stage.play(stage.label()).exit_code == 0
        assert [kind for kind, _ in stage.jobs[1].sessions] == ["continue"]
        assert not stage.missing()
