"""Many issues at once, in a small form of what `make matrix` plays whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.burst import burst

NUMBER = 8
HOURLY = 120
"""So few that the limit is met, unless the machine is slow."""


@pytest.mark.timeout(600)
def test_many_issues_within_a_minute(tmp_path: Path) -> None:
    """All are worked on once, in the order of their labels, never more than may be at a time, and told once."""
    played = burst(tmp_path, NUMBER, hourly=HOURLY)
    assert played.broken == (), str(played)
