"""What watching CI costs."""

from __future__ import annotations

import pytest

from bot.record import CiState
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.github.simulated_ci import JobPlan, Shape, watch

MINUTES = 30
SPREAD = 60.0 * MINUTES
SCALE = 400


def forty(workflow: str, *, changing: float) -> tuple[JobPlan, ...]:
    """40 checks from beginning to end of half an hour, which take turns to change every few seconds."""
    return tuple(
        JobPlan(f"check {number}", 5 + number, SPREAD - 40 + number, workflow=workflow, changes=changing)
        for number in range(40)
    )


@pytest.mark.parametrize(
    "shape",
    [
        Shape("in one workflow whose row changes as well", forty("ci.yml", changing=200), run_changes=True),
        Shape("of another service", forty("", changing=200)),
    ],
    ids=lambda shape: shape.name,
)
def test_half_an_hour_of_changes_is_cheap(shape: Shape, hub: EmbeddedGitHub, widget: SandboxRepository) -> None:
    """40 checks, one of which changes every five seconds for 30 minutes: at most 150 requests that count."""
    found = watch(hub, widget, shape, SCALE)
    assert found.state is CiState.GREEN
    assert found.lasted >= SPREAD
    assert found.counted <= 150
