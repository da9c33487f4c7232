"""A workspace on a fresh Issue branch, for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from tests.git.bench import Bench


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[EmbeddedGitHub]:
    """An embedded GitHub without CI."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as running:
        yield running


@pytest.fixture
def bench(hub: EmbeddedGitHub, tmp_path: Path) -> Bench:
    """A workspace that is prepared on a fresh Issue branch."""
    made = Bench(hub, tmp_path / "run")
    made.prepare()
    return made
