"""What a Run costs of the token's hourly limit, which all jobs of a repository share."""

from __future__ import annotations

from tests.run.stage import GREEN_AT_ONCE, Stage


def test_a_green_run_needs_few_requests(stage: Stage) -> None:
    """A whole green Run makes at most 40 requests that count."""
    assert stage.run(GREEN_AT_ONCE).exit_code == 0
    assert sum(request.counted for request in stage.hub.requests) <= 40
