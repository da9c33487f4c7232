"""A running engine over a real bare repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.sandbox.ci import CiEngine
from tests.sandbox.ci.bench import Bench, RecordingPublisher, Widget


@pytest.fixture
def widget(tmp_path: Path) -> Widget:
    """The bare repository acme/widget, empty."""
    return Widget(tmp_path)


@pytest.fixture
def bench(widget: Widget, tmp_path: Path) -> Iterator[Bench]:
    """A running engine; closed afterwards."""
    publisher = RecordingPublisher()
    workroom = tmp_path / "ci"
    engine = CiEngine(publisher, workroom)
    yield Bench(engine, publisher, widget, workroom)
    engine.close()
