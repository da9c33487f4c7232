"""Places: somebody's own repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.rehearse.place import FILES, Place

MakePlace = Callable[[Mapping[str, str]], Place]


@pytest.fixture
def make_place(tmp_path: Path) -> MakePlace:
    """Makes a place with these files more, or others."""
    return lambda files: Place(tmp_path, {**FILES, **files})


@pytest.fixture
def place(make_place: MakePlace) -> Place:
    """One with a workflow that tests pull requests."""
    return make_place({})
