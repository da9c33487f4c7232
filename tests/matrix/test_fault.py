"""A GitHub that stumbles, at any request: what passes is waited for, what is refused is told. A sample of
`make matrix`.
"""

from __future__ import annotations

from pathlib import Path

from tests.matrix.cells import Clean, fault_cells, play, sample, table

CELLS = 12


def test_a_request_that_goes_wrong_anywhere_breaks_no_promise(known: Clean, tmp_path: Path) -> None:
    """Whatever request fails and however, the Run is told once, and is green where the trouble passed."""
    cells = list(fault_cells(known))
    played = play(sample(cells, CELLS), tmp_path / "cells", abreast=2)
    assert len(played) == CELLS
    assert not any(one.broken for one in played), table(played)
