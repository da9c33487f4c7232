"""Desks: a repository on an embedded GitHub with somebody's clone of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from tests.init.desk import FILES, Desk

MakeDesk = Callable[[Mapping[str, str]], Desk]


@pytest.fixture
def make_desk(tmp_path: Path) -> Iterator[MakeDesk]:
    """Makes a desk with other files in the repository."""
    with ExitStack() as opened:

        def make(files: Mapping[str, str]) -> Desk:
            hub = opened.enter_context(EmbeddedGitHub(tmp_path / "hub", ci=False, prefix="/api/v3"))
            return Desk(tmp_path, hub, files)

        yield make


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """One with a workflow that checks pull requests."""
    return make_desk(FILES)
