"""Every wait has a limit, and begins anew only for what it waits for."""

from __future__ import annotations

import pytest

from bot.claude.facts import StopAsked
from bot.claude.waits import Limits, Wait, limit_of, mark, waiting_for
from tests.claude.stream import (
    Steps,
    background,
    ends,
    facts_of,
    init,
    notified,
    result,
    says,
    started,
    updated,
    wakes,
)

HOLDING = [*init(), *background("x"), *says(), *result()]


@pytest.mark.parametrize("wait", list(Wait))
def test_every_wait_is_bounded(wait: Wait) -> None:
    """No wait is without a limit, and none outlasts the Session by more than a tool's margin."""
    limits = Limits()
    assert 0 <= limit_of(wait, limits) <= limits.session + 60


def test_a_tool_may_be_silent_for_as_long_as_the_longest_command() -> None:
    """While a tool runs its own limit counts, not the shorter one for silence."""
    limits = Limits(turn=60, session=7200)
    assert limit_of(Wait.TOOL, limits) > limits.bash == 7200


@pytest.mark.parametrize(
    ("steps", "anew"),
    [
        (wakes(), False),
        ([*wakes(), *wakes()], False),
        ([*background("y"), *ends("y")], False),
        ([*started("y", is_backgrounded=True), *updated("y"), *notified("y"), *wakes()], True),
    ],
)
def test_a_hold_is_not_lengthened_by_lines_of_output(steps: Steps, anew: bool) -> None:
    """A Hold is counted from the last Turn with a cause: a Turn that a Monitor's line opened does not begin it anew."""
    before, after = facts_of(HOLDING), facts_of([*HOLDING, *steps])

    assert (mark(Wait.HOLD, before, 1) != mark(Wait.HOLD, after, 99)) is anew


def test_tasks_that_are_being_stopped_have_one_limit_whatever_is_said() -> None:
    """Only other tasks to stop begin that wait anew."""
    stopping = [*HOLDING, *background("y"), StopAsked("x"), StopAsked("y")]
    before, talked, one_left = (facts_of([*stopping, *more]) for more in ([], wakes(), updated("y", "killed")))

    assert mark(Wait.STOPPING, before, 1) == mark(Wait.STOPPING, talked, 99)
    assert mark(Wait.STOPPING, before, 1) != mark(Wait.STOPPING, one_left, 1)


def test_any_line_ends_a_silence() -> None:
    """Within a Turn and while settling, each line begins the wait anew."""
    facts = facts_of(init())
    for wait in (Wait.TURN, Wait.TOOL, Wait.SETTLE):
        assert mark(wait, facts, 1) != mark(wait, facts, 2)


def test_tasks_that_we_stopped_are_waited_for_until_they_end_and_new_ones_are_held() -> None:
    """After `stop_task` the wait is for the ends; a task that starts afterwards has a Hold of its own."""
    stopped = [*HOLDING, StopAsked("x")]

    assert waiting_for(facts_of(stopped), closed=False, stopped=True) is Wait.STOPPING
    assert (
        waiting_for(facts_of([*stopped, *started("y", is_backgrounded=True)]), closed=False, stopped=True) is Wait.HOLD
    )


def test_a_closed_session_is_left_to_leave_but_for_a_turn_that_runs() -> None:
    """After closing, the exit is waited for; a Wake turn that still comes is let run."""
    assert waiting_for(facts_of(HOLDING), closed=True, stopped=False) is Wait.LEAVE
    assert waiting_for(facts_of([*HOLDING, *ends("x"), *init()]), closed=True, stopped=False) is Wait.TURN
