"""The fold: money, words, repeated frames, and ends that come in any order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.claude.facts import Facts, StopAsked
from bot.claude.verdict import Ended, Verdict, judge
from tests.claude.stream import (
    Steps,
    agent,
    answers,
    api_fails,
    background,
    ends,
    facts_of,
    init,
    killed,
    level,
    line,
    notified,
    result,
    says,
    started,
    system,
    updated,
    uses,
    wakes,
)

HOLDING = [*init(), *background("x"), *background("y"), *says(), *result()]
STARTS = [*level("x"), *started("x"), *answers("call-x", backgroundTaskId="x")]
STREAMS: dict[str, Steps] = {
    "woken": [*HOLDING, *level("y"), *updated("x"), *notified("x"), *wakes(), *ends("y"), *wakes()],
    "killed": [*HOLDING, *level(), *killed("x"), *killed("y")],
    "stopped": [*HOLDING, StopAsked("x"), *killed("x"), *ends("y"), *wakes()],
    "agent": [*init(), *agent("a"), *says(), *notified("a", "stopped"), *result()],
    "failed": [*init(), *background("x"), *api_fails(502), *killed("x")],
}


def verdict_of(steps: Steps) -> Verdict:
    return judge("implement", facts_of(steps), Ended(0), resumed=False)


@given(st.permutations([*level(), *updated("x"), *notified("x")]), st.booleans())
def test_a_task_can_end_in_any_order_of_its_frames(order: Steps, woken: bool) -> None:
    """The frames that end a task lead to the same verdict whatever their order, with and without the Wake turn after
    them.
    """
    first = [*init(), *background("x"), *says(), *result()]
    rest = wakes() if woken else []

    assert verdict_of([*first, *order, *rest]) == verdict_of([*first, *ends("x"), *rest])


@given(st.permutations([*level(), *killed("x"), *notified("x", "stopped")]), st.booleans())
def test_a_task_can_be_killed_in_any_order_of_its_frames(order: Steps, woken: bool) -> None:
    """The frames that kill a task lead to the same verdict whatever their order."""
    first = [*init(), *background("x"), *says(), *result()]
    rest = wakes() if woken else []

    assert verdict_of([*first, *order, *rest]) == verdict_of([*first, *killed("x"), *rest])


@given(st.permutations(STARTS))
def test_a_task_can_start_in_any_order_of_its_frames(order: Steps) -> None:
    """Level, start and acknowledgement put one task on the Roster whatever their order."""
    facts = facts_of([*init(), *uses("call-x", command="make", run_in_background=True), *order])

    assert [task.name for task in facts.roster] == ["job x"]


@pytest.mark.parametrize("name", STREAMS)
@given(seed=st.integers(0, 2**32))
def test_a_frame_that_is_told_twice_changes_nothing(name: str, seed: int) -> None:
    """Any frames doubled on the spot, and ends and Turn frames doubled later, leave the same facts."""
    chance = random.Random(seed)
    steps = STREAMS[name]
    doubled = [again for step in steps for again in [step] * (1 + (chance.random() < 0.5))]
    turns_and_ends = [*init(), *result(), *killed("x")]
    later = chance.choice(turns_and_ends)

    assert facts_of(doubled) == facts_of(steps)
    assert facts_of([*steps, later, later]) == facts_of([*steps, later])


@pytest.mark.parametrize("name", STREAMS)
@given(places=st.lists(st.integers(0, 40), max_size=5))
def test_unknown_frames_change_nothing_but_their_count(name: str, places: list[int]) -> None:
    """Types, subtypes and keys of a newer CLI are counted and otherwise without effect."""
    steps = list(STREAMS[name])
    for place in places:
        steps.insert(place % (len(steps) + 1), system("news_of_2031", task_id="x", status="killed"))

    facts = facts_of(steps)

    assert sum(facts.ignored.values()) == len(places)
    assert replace(facts, ignored={}) == facts_of(STREAMS[name])


def test_cost_is_summed_where_the_cli_tells_each_turn_and_else_the_last_total() -> None:
    """A resumed newer CLI goes on from the old total: what each Turn cost is what counts."""
    since = {"m": {"costUSD": 0.25}, "n": {"costUSD": 0.5}}
    each = [result(total_cost_usd=total, model_usage_since_last_result=since)[0] for total in (7.0, 8.0)]

    assert facts_of(each).cost_usd == 1.5
    assert facts_of(result(total_cost_usd=0.5) + result(total_cost_usd=0.75)).cost_usd == 0.75


def test_an_agent_that_is_started_again_is_on_the_roster_again() -> None:
    """A nested task's end restarts the agent under the same id with a new run id; late frames of its first run end
    nothing.
    """
    first = system("task_started", task_id="a", run_id="1", is_backgrounded=True, task_type="local_agent")
    end = system("task_updated", task_id="a", run_id="1", patch={"status": "completed"})
    again = system("task_started", task_id="a", run_id="2", is_backgrounded=True, task_type="local_agent")

    assert facts_of([first, end]).roster == ()
    assert [task.run_id for task in facts_of([first, end, again, end]).roster] == ["2"]


def test_a_recovered_api_failure_is_forgotten() -> None:
    """A class of API failure that the CLI got over by itself says nothing about a later error."""
    recovered = [*init(), system("api_retry", attempt=1, error_status=429, error="rate_limit"), *says("ok")]

    assert facts_of(recovered[:2]).api_error == "rate_limit"
    assert facts_of(recovered).api_error == ""


def test_a_limit_that_is_only_announced_is_none() -> None:
    """Only a rejected request tells when the limit is reset."""
    allowed = line(type="rate_limit_event", rate_limit_info={"status": "allowed", "resetsAt": 1})
    rejected = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1795968000})

    assert facts_of([allowed]).resets_at is None
    assert facts_of([rejected]).resets_at == 1795968000


def test_the_memory_of_ended_tasks_is_bounded() -> None:
    """A Session of a thousand background tasks remembers only the recent ones."""
    steps = [
        step for number in range(1000) for step in [*init(), *background(f"t{number}"), *ends(f"t{number}"), *wakes()]
    ]

    facts = facts_of(steps, Facts())

    assert len(facts.tasks) <= 300
