"""A sample of `make soak`: background work that ends just when something wants to close its Session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.trial import CLOSERS, REAL_CLOSERS
from tests.claude.conftest import OLDER_CLAUDE


@pytest.mark.parametrize(
    ("sessions", "closers"),
    [("--player=14 --real=0", CLOSERS), ("--player=0 --real=8", REAL_CLOSERS)],
    ids=["player", "real"],
)
def test_nothing_is_lost_at_any_closer(tmp_path: Path, sessions: str, closers: tuple[str, ...]) -> None:
    """No lost wake, no needless Resume, no survivor; every Session is written down."""
    if "--real=0" not in sessions and not OLDER_CLAUDE.exists():
        pytest.skip("the older claude is not installed: make environment")
    out = tmp_path / "soak.jsonl"
    words = [sys.executable, "-m", "bench.soak", *sessions.split(), "--out", str(out)]
    ran = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    seen = [json.loads(line) for line in out.read_text().splitlines()]
    assert {session["trial"]["closer"] for session in seen} == set(closers)
    assert " 0 wrong" in ran.stdout
