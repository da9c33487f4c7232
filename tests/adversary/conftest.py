"""What came of the Runs whose Sessions attack, each played once however many processes test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.adversary.attempt import ROLES
from tests.adversary.theatre import Attacked, NotPlayable, once


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test session have."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", params=ROLES)
def role(request: pytest.FixtureRequest) -> str:
    """Whose the program and the Session are."""
    named: str = request.param
    return named


@pytest.fixture(scope="session")
def attacked(role: str, shared: Path) -> Attacked:
    """What came of an attack under `isolation: strict`."""
    return _played(role, shared, strict=True)


@pytest.fixture(scope="session")
def unprotected(request: pytest.FixtureRequest, shared: Path) -> Attacked:
    """What comes of the same attack with `isolation: relaxed`."""
    return _played(request.param, shared, strict=False)


def _played(role: str, shared: Path, *, strict: bool) -> Attacked:
    try:
        return once(role, shared, strict=strict)
    except NotPlayable as why:
        pytest.skip(str(why))
