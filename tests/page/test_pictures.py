"""The README's pictures of the Run page are there, small, and of both themes."""

from __future__ import annotations

import pytest

from tests.page.browser import picture
from tests.page.screenshots import IMAGES, MOST_BYTES
from tests.page.test_accessibility import themes


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture(theme: str) -> None:
    """It is of that theme, no larger than a reader's patience, and in the README."""
    path = IMAGES / f"run-page-{theme}.png"
    assert path.stat().st_size <= MOST_BYTES
    assert picture(path, rows=2).at(2, 1) == themes()[theme]["paper"]
    assert f"docs/images/{path.name}" in (IMAGES.parents[1] / "README.md").read_text(encoding="utf-8")
