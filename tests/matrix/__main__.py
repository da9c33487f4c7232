"""Plays a matrix and prints its size and its survivors: `python -m tests.matrix [crash|fault|burst] [NUMBER] [WORD…]`.

With words only the cells whose row or column has all of them are played; with a number so many of them, evenly spread.
The burst has no cells: its number is how many issues are labelled.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.matrix.burst import SLOW, burst
from tests.matrix.cells import Played, clean, crash_cells, fault_cells, play, sample, table

ABREAST = 3
BURST = 200
MATRICES = {"crash": crash_cells, "fault": fault_cells}


def main(arguments: Sequence[str]) -> int:
    """0 when every promise held everywhere."""
    names = (*MATRICES, "burst")
    wanted = [word for word in arguments if word in names] or list(names)
    number = next((int(word) for word in arguments if word.isdigit()), 0)
    words = [word for word in arguments if word not in names and not word.isdigit()]
    with tempfile.TemporaryDirectory(prefix="nightjar-matrix-") as folder:
        held = [_cells(name, number, words, Path(folder)) for name in MATRICES if name in wanted]
        held += [_burst(number or BURST, Path(folder) / "burst")] if "burst" in wanted else []
    return int(not all(held))


def _cells(name: str, number: int, words: Sequence[str], folder: Path) -> bool:
    """Whether every promise held in one matrix."""
    known = clean(folder / f"clean-{name}")
    whole = list(MATRICES[name](known))
    cells = [cell for cell in whole if all(word in f"{cell.row} | {cell.column}" for word in words)]
    cells = sample(cells, number) if number else cells
    played = play(cells, folder / name, abreast=ABREAST, heard=_hear)
    print(f"\n{name} matrix, {len(whole)} cells: {table(played)}", flush=True)
    return not any(one.broken for one in played)


def _burst(number: int, folder: Path) -> bool:
    folder.mkdir()
    played = burst(folder, number, scale=SLOW)
    print(f"burst: {played}", flush=True)
    if number >= BURST and not played.limited:
        print("burst: GitHub's hourly limit was never met, so this says nothing about it", flush=True)
        return False
    return not played.broken


def _hear(played: Played) -> None:
    print("x" if played.broken else ".", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
