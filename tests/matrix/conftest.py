"""The Run to which nothing happens, played once: the cells come from it."""

from __future__ import annotations

import pytest

from tests.matrix.cells import Clean, clean


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """Its saves and requests."""
    return clean(tmp_path_factory.mktemp("matrix") / "clean")
