"""Workflows in an embedded GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from tests.sandbox.actions.works import Works, make

MakeWorks = Callable[..., Works]


@pytest.fixture
def works(tmp_path: Path) -> Iterator[MakeWorks]:
    """Makes acme/widget with these workflows, in an embedded GitHub that is closed afterwards."""
    with EmbeddedGitHub(tmp_path / "hub") as hub:

        def made(runners: int = 4, **workflows: str) -> Works:
            return make(tmp_path, hub, {f"{name}.yml": text for name, text in workflows.items()}, runners=runners)

        yield made
