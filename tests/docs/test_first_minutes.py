"""The first five minutes in `docs/examples/` are what somebody sees who types the same today."""

from __future__ import annotations

import os
from pathlib import Path

from tests.docs.first_minutes import PAGE, page


def test_the_first_five_minutes(tmp_path: Path) -> None:
    """`init`, `doctor` and `rehearse` on a fresh repository print what the page shows; NIGHTJAR_GOLDEN=write writes it
    anew, for review.
    """
    played = page(tmp_path.resolve())
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        PAGE.write_text(played, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == played
