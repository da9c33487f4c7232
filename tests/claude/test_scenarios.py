"""What becomes of a Session, by the frames it printed: one row a scenario. `EOF` rows are judged, the others say what
is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import pytest

from bot.claude.facts import StopAsked
from bot.claude.verdict import Ended, Stop, judge
from bot.claude.waits import Wait, waiting_for
from tests.claude.stream import (
    Steps,
    aborted,
    agent,
    answers,
    api_fails,
    background,
    debris,
    ends,
    facts_of,
    init,
    killed,
    level,
    max_turns,
    notified,
    prompt,
    result,
    says,
    started,
    system,
    to_background,
    updated,
    uses,
    wakes,
    woken,
)

HOLDING = [*init(), *background("x"), *says(), *result()]
ORDERS = {
    "level first": ends("x"),
    "notification first": [*notified("x"), *updated("x"), *level()],
    "update first": [*updated("x"), *notified("x"), *level()],
    "no level": [*updated("x"), *notified("x")],
    "level alone": level(),
}
DONE, RESUME, RETRY, FAIL, CANCELLED = "done", "resume", "retry", "fail", "cancelled"


class Lost(TypedDict):
    failure: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    number: str
    steps: Steps
    decision: str
    failure: str = ""
    tasks: tuple[str, ...] = ()
    code: int | None = 0
    resumed: bool = False
    stop: Stop = Stop.NOT_US


FOREGROUND = [*uses("f", command="make"), *started("x", call="f"), *notified("x"), *answers("f")]
OLD_NEWS = [*notified("old", "stopped"), *notified("old", "stopped"), *init(), *debris(), *init()]
NESTED = [*background("c", parent="call-a")]
NO_CONVERSATION = result("", subtype="error_during_execution", is_error=True, num_turns=0, errors=["No conversation"])
LOST_X: Lost = {"failure": "background_lost", "tasks": ("job x",)}

ENDS = [
    Row("1", [*init(), *says(), *result()], DONE),
    Row("4", [*HOLDING, *ends("x"), *wakes()], DONE),
    Row("5", [*HOLDING, *updated("x"), *notified("x"), *level(), *wakes()], DONE),
    Row("7", [*HOLDING, *notified("x")], RESUME, "wake_lost", ("job x",), stop=Stop.NO_WAKE),
    Row("7, resumed", [*HOLDING, *notified("x")], FAIL, "wake_lost", ("job x",), stop=Stop.NO_WAKE, resumed=True),
    Row("7, the CLI left by itself", [*HOLDING, *updated("x")], RESUME, "wake_lost", ("job x",)),
    Row("8", [*HOLDING, *killed("x")], RESUME, **LOST_X),
    Row("9", [*OLD_NEWS, *says(), *result()], DONE, resumed=True),
    Row(
        "10",
        [*OLD_NEWS, *background("y"), *says(), *result(), *killed("y")],
        FAIL,
        "background_lost",
        ("job y",),
        resumed=True,
    ),
    Row(
        "11",
        [*HOLDING, *notified("x", "stopped"), *updated("x", "killed")],
        CANCELLED,
        tasks=("job x",),
        code=143,
        stop=Stop.CANCEL,
    ),
    Row("12", [*HOLDING, *killed("x"), *wakes()], DONE),
    Row(
        "13",
        [*init(), *agent("a"), *says(), *notified("a", "stopped"), *result()],
        RESUME,
        "background_lost",
        ("job a",),
    ),
    Row(
        "14",
        [*init(), *agent("a"), *says(), *updated("a"), *notified("a"), *init(), *says(), *result(), *woken()],
        DONE,
    ),
    Row(
        "15",
        [
            *[*init(), *agent("a"), *background("b"), *says(), *notified("a")],
            *[*init(), *says(), *result(), *woken(), *killed("b")],
        ],
        RESUME,
        "background_lost",
        ("job b",),
    ),
    Row(
        "16",
        [
            *[*init(), *agent("a"), *NESTED, *says(), *notified("a")],
            *[*init(), *says(), *result(), *woken(), *killed("c")],
        ],
        RESUME,
        "background_lost",
        ("job c",),
    ),
    Row("18", [*init(), *FOREGROUND, *says(), *result()], DONE),
    Row("19", [*init(), *started("x", is_backgrounded=False), *says(), *result()], DONE),
    Row(
        "22",
        [*init(), *background("x"), *background("y"), *updated("x"), *says(), *result(), *killed("y")],
        RESUME,
        "background_lost",
        ("job y",),
    ),
    Row("23", [*HOLDING, *notified("x", "stopped"), *killed("x")], RESUME, **LOST_X),
    Row("24", [*init(), *says(), *notified("z"), *result()], DONE),
    Row("25", [*init(), *background("x"), *api_fails(), *killed("x")], RETRY, "api_unavailable", ("job x",), code=1),
    Row("26", [*init(), *background("x"), *max_turns(), *killed("x")], FAIL, "max_turns", ("job x",), code=1),
    Row("27", [*init(), *background("x"), *api_fails(502), *ends("x"), *wakes()], DONE),
    Row("28", [*init(), *background("x"), *api_fails()], RETRY, "api_unavailable", ("job x",), code=1),
    Row("28, by class", [*init(), *background("x"), *api_fails(401, "")], FAIL, "claude_auth", ("job x",), code=1),
    Row(
        "29",
        [*init(), *background("x"), *aborted(), StopAsked("x"), *killed("x")],
        CANCELLED,
        tasks=("job x",),
        stop=Stop.CANCEL,
    ),
    Row("30", [*HOLDING, StopAsked("x"), *killed("x")], RESUME, **LOST_X),
    Row("30, resumed", [*HOLDING, StopAsked("x"), *killed("x")], FAIL, **LOST_X, resumed=True),
    Row("30, never absorbed", [*HOLDING, StopAsked("x"), *killed("x"), *init(), *says(), *result()], RESUME, **LOST_X),
    Row("30, called completed", [*HOLDING, StopAsked("x"), *level(), *updated("x"), *notified("x")], RESUME, **LOST_X),
    Row("30, it had ended by itself", [*HOLDING, StopAsked("x"), *ends("x"), *wakes()], DONE),
    Row("30, only the level says so", [*HOLDING, StopAsked("x"), *level()], RESUME, **LOST_X),
    Row(
        "30b",
        [
            *[*HOLDING, *prompt(), *init(), *uses("stop", "TaskStop", task_id="x"), *killed("x"), *answers("stop")],
            *[*says(), *result()],
        ],
        DONE,
    ),
    Row("30c", [*HOLDING, *prompt(), *init(), *says("waiting"), *result(), *ends("x"), *wakes()], DONE),
    Row("30d", [*HOLDING, *prompt(), *ends("x"), *init(), *says(), *result(), *wakes()], DONE),
    Row("32", [*init(), *level("x", ambient=True), *says(), *result()], DONE),
    Row(
        "33",
        [
            *[*HOLDING, *ends("x"), *init(), *says(), *background("y"), *woken(), *level("y")],
            *[*updated("y"), *notified("y"), *level(), *wakes()],
        ],
        DONE,
    ),
    Row("34", [*HOLDING, *(step for _ in range(45) for step in wakes()), *ends("x"), *wakes()], DONE),
    Row("34, 501", [*HOLDING, *(step for _ in range(501) for step in wakes())], FAIL, "session_runaway", ("job x",)),
    Row("35", NO_CONVERSATION, FAIL, "resume_failed", code=1, resumed=True),
    Row(
        "36",
        [*init(""), *background("x"), *says(), *result(session_id=""), *killed("x")],
        FAIL,
        **LOST_X,
    ),
    Row("37, cut off", [*init(), *says(), b'{"type":"assistant","mess', b"\xff\xfe", *result()], DONE),
    Row("37, unknown", [*init(), *says(), system("news_of_2031", tasks=7), b'"a bare string"', b"", *result()], DONE),
    Row("37, torn result", [*init(), *says(), b'{"type":"result","subtype":"success","is_er'], FAIL, "session_died"),
    Row("38", [*init(), *background("x"), *says()], FAIL, "session_died", ("job x",), code=137),
    Row(
        "39",
        [
            *[*init(), *background("x"), *uses("stop", "TaskStop", task_id="x"), *killed("x"), *answers("stop")],
            *[*says(), *result()],
        ],
        DONE,
    ),
    Row("40", HOLDING, RESUME, **LOST_X, code=-9),
    Row("40, nothing was running", [*init(), *says(), *result()], DONE, code=-9),
    Row(
        "41",
        [*init(), *background("x", timeout=4000), *says(), *result(), *killed("x"), *level(), *wakes()],
        DONE,
    ),
    Row("42", [*HOLDING, *updated("x", "failed"), *notified("x", "failed"), *wakes()], DONE),
    Row("45", [*init(), *background("x"), *updated("x"), *says(), *result()], DONE),
    Row("46", [*init(), *background("x"), *says(), *updated("x", "killed"), *result()], RESUME, **LOST_X),
    Row("47", [*init(), *background("x"), *api_fails(502), *updated("x"), *notified("x"), *wakes()], DONE),
]


@pytest.mark.parametrize("row", ENDS, ids=lambda row: f"#{row.number}")
def test_what_is_decided_at_the_end(row: Row) -> None:
    """A process that printed these frames and ended like this leads to this decision, failure and list of tasks."""
    verdict = judge("implement", facts_of(row.steps), Ended(row.code, row.stop), resumed=row.resumed)

    assert (str(verdict.decision), verdict.failure, verdict.tasks) == (row.decision, row.failure, row.tasks)


def test_the_sentence_names_the_session_and_what_it_lost() -> None:
    """Losses after the Resume are told in the fixed sentence, with the Session's own kind and each description once."""
    lost = [*init(), *background("x"), *background("y"), *says(), *result(), *killed("x"), *killed("y"), *killed("x")]

    verdict = judge("repair-1", facts_of(lost), Ended(0), resumed=True)

    assert (
        verdict.reason == "repair-1 session ended while waiting on a background task (job x; job y), which was killed"
    )


MOVED = [*uses("f", command="make"), *started("x", call="f"), *answers("f", backgroundTaskId="x"), *says(), *result()]
SUB_AGENT = [*says("sub", parent="call-a"), *uses("s", parent="call-a", command="ls"), *answers("s", parent="call-a")]
AFTER_FAILURE = [*init(), *background("x"), *uses("open", command="ls"), *api_fails(502)]

WAITS: list[tuple[str, Steps, Wait]] = [
    ("1", [*init(), *says(), *result()], Wait.NOTHING),
    ("2", HOLDING, Wait.HOLD),
    ("3", [*HOLDING, *ends("x")], Wait.WAKE),
    ("4", [*HOLDING, *ends("x"), *wakes()], Wait.SETTLE),
    ("6", [*HOLDING, *level()], Wait.WAKE),
    ("12", [*HOLDING, *killed("x")], Wait.WAKE),
    (
        "16",
        [*init(), *agent("a"), *NESTED, *says(), *result(), *level("c"), *updated("a"), *notified("a"), *wakes()],
        Wait.HOLD,
    ),
    ("16, its end", [*init(), *background("c", parent="call-a"), *says(), *result(), *ends("c")], Wait.SETTLE),
    ("17", [*init(), *agent("a"), *says(), *result(), *SUB_AGENT], Wait.HOLD),
    ("18", [*init(), *FOREGROUND, *says(), *result()], Wait.NOTHING),
    (
        "20, updated",
        [*init(), *started("x", is_backgrounded=False), *to_background("x"), *says(), *result()],
        Wait.HOLD,
    ),
    ("20, level", [*init(), *started("x", is_backgrounded=False), *level("x"), *says(), *result()], Wait.HOLD),
    ("21", [*init(), *MOVED], Wait.HOLD),
    ("27", [*init(), *background("x"), *api_fails(502)], Wait.HOLD),
    ("28", [*init(), *api_fails(502)], Wait.NOTHING),
    ("30, a Bash that we stopped", [*HOLDING, StopAsked("x"), *killed("x")], Wait.SETTLE),
    (
        "30, an agent that we stopped",
        [*init(), *agent("a"), *says(), *result(), StopAsked("a"), *killed("a")],
        Wait.WAKE,
    ),
    ("30c", [*HOLDING, *prompt(), *init(), *says(), *result()], Wait.HOLD),
    ("30d", [*HOLDING, *prompt(), *ends("x"), *init(), *says(), *result()], Wait.WAKE),
    ("31", [*init(), *uses("open", command="ls"), *result()], Wait.TOOL_ANSWER),
    ("31, answered", [*init(), *uses("open", command="ls"), *result(), *answers("open")], Wait.NOTHING),
    ("33", [*HOLDING, *ends("x"), *init(), *background("y"), *woken(), *level("y")], Wait.HOLD),
    ("33, y ended", [*HOLDING, *ends("x"), *init(), *background("y"), *woken(), *ends("y")], Wait.WAKE),
    ("44", AFTER_FAILURE, Wait.HOLD),
    ("44, x over", [*AFTER_FAILURE, *ends("x"), *wakes()], Wait.SETTLE),
    (
        "an agent started again",
        [*HOLDING, *ends("x"), *wakes(), *started("x", run_id="2", is_backgrounded=True)],
        Wait.HOLD,
    ),
    ("before anything", [], Wait.START),
    ("old news first", [*notified("old", "stopped")], Wait.START),
    ("in a Turn", [*init(), *says()], Wait.TURN),
    ("in a tool", [*init(), *uses("open", command="ls")], Wait.TOOL),
    ("between debris and our Turn", [*notified("old", "stopped"), *init(), *debris()], Wait.TURN),
    ("a held-back result", [*init(), *agent("a"), *says(), *ends("a"), *init(), *says(), *result()], Wait.SETTLE),
]


@pytest.mark.parametrize(("steps", "wait"), [pytest.param(*rest, id=f"#{number}") for number, *rest in WAITS])
def test_what_is_waited_for(steps: Steps, wait: Wait) -> None:
    """After these frames a live process is waited for like this."""
    assert waiting_for(facts_of(steps), closed=False, stopped=False) is wait


@pytest.mark.parametrize("first", [*ORDERS], ids=lambda order: order)
def test_nothing_but_a_wake_turn_closes_the_owed_window(first: str) -> None:
    """#48: from the first sign of a task's end, whichever it is, the wait is for its Wake turn."""
    facts = facts_of(HOLDING)
    for step in ORDERS[first]:
        facts = facts_of([step], facts)
        assert waiting_for(facts, closed=False, stopped=False) is Wait.WAKE
    for step in [*init(), *says()]:
        facts = facts_of([step], facts)
        assert waiting_for(facts, closed=False, stopped=False) is Wait.TURN


def test_frames_of_an_earlier_process_change_nothing_of_a_later_one() -> None:
    """#43: each process has its facts; what the first one still prints is folded into its own."""
    first, second = facts_of(HOLDING), facts_of([*init(), *says(), *result()])

    late = facts_of(killed("x"), first)

    assert judge("implement", late, Ended(0), resumed=False).decision == RESUME
    assert judge("implement", second, Ended(0), resumed=True).decision == DONE
