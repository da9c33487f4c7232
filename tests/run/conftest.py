"""A stage for each test: whole Runs of the real command against the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from tests.run.stage import FILES, Stage

MakeStage = Callable[[Mapping[str, str]], Stage]


@pytest.fixture
def make_stage(tmp_path: Path) -> Iterator[MakeStage]:
    """Makes a stage with other files in the repository."""
    with ExitStack() as open_hubs:

        def make(files: Mapping[str, str]) -> Stage:
            return Stage(tmp_path, open_hubs.enter_context(EmbeddedGitHub(tmp_path / "hub")), files)

        yield make


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    """A stage with a small Python project whose CI runs its unit tests."""
    return make_stage(FILES)
