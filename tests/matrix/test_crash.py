"""A Run that is killed, anywhere: one outcome told, nothing twice, all work on the remote. A sample of
`make matrix`.
"""

from __future__ import annotations

from pathlib import Path

from tests.matrix.cells import Clean, crash_cells, play, sample, table

CELLS = 12


def test_a_run_that_is_killed_anywhere_is_told_once(known: Clean, tmp_path: Path) -> None:
    """Whatever save or request a Run dies at, the last step or a fresh label ends it once, and nothing is lost."""
    cells = list(crash_cells(known))
    played = play(sample(cells, CELLS), tmp_path / "cells", abreast=2)
    assert len(played) == CELLS
    assert not any(one.broken for one in played), table(played)
