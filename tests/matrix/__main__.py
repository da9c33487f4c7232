"""Plays a matrix and prints its size and its survivors: `python -m tests.matrix [crash|fault] [NUMBER] [WORD…]`.

With words only the cells whose row or column has all of them are played; with a number so many of them, evenly spread.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.matrix.cells import Played, clean, crash_cells, fault_cells, play, sample, table

ABREAST = 3
MATRICES = {"crash": crash_cells, "fault": fault_cells}


def main(arguments: Sequence[str]) -> int:
    """0 when every promise held in every cell."""
    wanted = [word for word in arguments if word in MATRICES] or list(MATRICES)
    number = next((int(word) for word in arguments if word.isdigit()), 0)
    words = [word for word in arguments if word not in MATRICES and not word.isdigit()]
    lost = 0
    with tempfile.TemporaryDirectory(prefix="nightjar-matrix-") as folder:
        known = clean(Path(folder) / "clean")
        for name in wanted:
            whole = list(MATRICES[name](known))
            cells = [cell for cell in whole if all(word in f"{cell.row} | {cell.column}" for word in words)]
            cells = sample(cells, number) if number else cells
            played = play(cells, Path(folder) / name, abreast=ABREAST, heard=_hear)
            lost += sum(bool(one.broken) for one in played)
            print(f"\n{name} matrix, {len(whole)} cells: {table(played)}", flush=True)
    return int(bool(lost))


def _hear(played: Played) -> None:
    print("x" if played.broken else ".", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
