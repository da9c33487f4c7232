"""Which step comes next, and where a Run can go no further: a table over the Record alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.proof.facts import Proof, Result, Trial, Verdict
from bot.record import (
    Check,
    CheckState,
    CiState,
    CiVerdict,
    FailureEntry,
    Outcome,
    Proving,
    PullRequest,
    Record,
    RepairEntry,
    Trigger,
)
from bot.steps import Step, dead_end, next_step

A, B = "a" * 40, "b" * 40
TRIGGER = Trigger("acme/widget", 7, "t", "b", "nightjar", "alice", "2026-05-01T10:00:00+00:00", "42", 1, "https://x")
FRESH = Record(trigger=TRIGGER, base="main", branch="nightjar/issue-7", max_repairs=2)
CLAIMED = replace(FRESH, claimed=True)
PREPARED = replace(CLAIMED, placed=True, head=A, base_commit=A)
IMPLEMENTED = replace(PREPARED, head=B, implemented=True)
SYNCED = replace(IMPLEMENTED, round_base=A)
PROVED = replace(SYNCED, proving=Proving.DONE)
PUSHED = replace(PROVED, pushed=B)
OPENED = replace(PUSHED, pull_request=PullRequest(8, "https://x/8", draft=True))

FAILED = Check("test", "github-actions", "ci.yml", CheckState.FAILED, "failure", "https://x/1", job_id=1)


def ci(state: CiState, *checks: Check, head: str = B, explanation: str = "") -> Record:
    """The Run after CI said this of `head`."""
    return replace(OPENED, ci=CiVerdict(head, state, checks, explanation))


RED = ci(CiState.RED, FAILED)
WRONG = Trial(B, Result.FAILED, 1, 1.0, "exit code 1 alone", output="sub is wrong")
RED_CHECK = Proof(A, B, Verdict.NOT_NAMED, "no test was named", check=WRONG)
RED_TEST = Proof(A, B, Verdict.FAILS_AFTER, "on the head, 1 of 1 test failed", after=WRONG)
REPAIRED = RepairEntry(1, ("test",), before=A, after=B)
DECLINED = RepairEntry(1, ("test",), before=B, after=B, summary="the runner's fault")


@pytest.mark.parametrize(
    ("record", "step"),
    [
        (FRESH, Step.CLAIM),
        (CLAIMED, Step.PREPARE),
        (PREPARED, Step.IMPLEMENT),
        (IMPLEMENTED, Step.SYNC),
        (replace(SYNCED, conflicts=("a.txt",)), Step.REPAIR),
        (SYNCED, Step.PROVE),
        (replace(SYNCED, proving=Proving.RED), Step.REPAIR),
        (replace(SYNCED, proving=Proving.RED, conflicts=("a.txt",)), Step.REPAIR),
        (replace(SYNCED, proving=Proving.RED, round_base=""), Step.SYNC),
        (PROVED, Step.PUSH),
        (replace(PROVED, pushed=A), Step.PUSH),
        (PUSHED, Step.OPEN),
        (OPENED, Step.WATCH),
        (ci(CiState.GREEN, head=A), Step.WATCH),
        (ci(CiState.GREEN), Step.FINISH),
        (ci(CiState.NONE_EXPECTED), Step.FINISH),
        (ci(CiState.SUPERSEDED), Step.SYNC),
        (RED, Step.REPAIR),
        (replace(RED, head="c" * 40), Step.PUSH),
        (replace(RED, repairs=(DECLINED,)), Step.RERUN),
        (ci(CiState.INFRASTRUCTURE, FAILED), Step.RERUN),
        (replace(RED, outcome=Outcome.CANCELLED), Step.END),
        (replace(RED, failure=FailureEntry("ci_red", "red")), Step.END),
    ],
)
def test_next_step(record: Record, step: Step) -> None:
    """The Record alone says what comes next."""
    assert next_step(record) is step


@pytest.mark.parametrize(
    "record",
    [
        FRESH,
        OPENED,
        ci(CiState.GREEN),
        ci(CiState.NONE_EXPECTED),
        replace(ci(CiState.NONE_EXPECTED), proof=replace(RED_CHECK, check_before=WRONG)),
        replace(ci(CiState.GREEN), proof=RED_CHECK),
        ci(CiState.TIMED_OUT, head=A),
        RED,
        replace(RED, repairs=(REPAIRED,)),
        replace(RED, repairs=(DECLINED,)),
        replace(RED, head="c" * 40, repairs=(REPAIRED, REPAIRED)),
        ci(CiState.INFRASTRUCTURE, FAILED),
        replace(SYNCED, conflicts=("a.txt",)),
    ],
)
def test_goes_on(record: Record) -> None:
    """Nothing here ends a Run: it was not this commit, or something is left to try."""
    assert dead_end(record) is None


@pytest.mark.parametrize(
    ("record", "code", "said"),
    [
        (replace(RED, max_repairs=0), "ci_red", "CI is still red after 0 Repairs of at most 0: `test`"),
        (replace(RED, repairs=(REPAIRED, REPAIRED)), "ci_red", "CI is still red after 2 Repairs of at most 2: `test`"),
        (replace(RED, max_repairs=1, repairs=(REPAIRED,)), "ci_red", "after 1 Repair of at most 1"),
        (
            replace(RED, repairs=(DECLINED,), reruns=(B,)),
            "ci_declined",
            "Repair 1 changed nothing, and CI is still red: `test`",
        ),
        (ci(CiState.RED, replace(FAILED, inherited=True)), "ci_inherited", "red on `main` too are red: `test`"),
        (ci(CiState.NEVER_STARTED), "ci_never_started", "no check appeared for bbbbbbbbbb"),
        (ci(CiState.NEEDS_APPROVAL), "ci_needs_approval", "waits for a person's approval"),
        (
            ci(CiState.TIMED_OUT, replace(FAILED, state=CheckState.RUNNING, conclusion="")),
            "ci_timeout",
            "in time: `test` (still running)",
        ),
        (
            replace(ci(CiState.NONE_EXPECTED), proof=RED_CHECK, max_repairs=0),
            "ci_red",
            "no CI ran, and `check-command` is still red after 0 Repairs of at most 0",
        ),
        (replace(ci(CiState.NONE_EXPECTED), proof=RED_TEST), "ci_red", "no CI ran, and the named test is still red"),
        (ci(CiState.UNREADABLE, explanation="the answer was torn"), "ci_unreadable", ": the answer was torn"),
        (replace(ci(CiState.INFRASTRUCTURE, FAILED), reruns=(B,)), "ci_infrastructure", "broke for no fault"),
        (
            replace(SYNCED, conflicts=("a.txt", "b.txt"), max_repairs=0),
            "conflict_unresolved",
            "`main` conflicts with the branch in `a.txt`, `b.txt`",
        ),
    ],
)
def test_dead_end(record: Record, code: str, said: str) -> None:
    """Where nothing is left to try, the code and a sentence with this Run's facts."""
    found = dead_end(record)
    assert found is not None
    assert found.code == code
    assert said in found.reason


def test_declined_repair_says_why() -> None:
    """What a Repair noted when it changed nothing is the evidence."""
    found = dead_end(replace(RED, repairs=(DECLINED,), reruns=(B,)))
    assert found is not None
    assert found.evidence == "the runner's fault"


@pytest.mark.parametrize("state", list(CiState))
def test_every_verdict_leads_somewhere(state: CiState) -> None:
    """Whatever CI says, the Run has a step or a reason, and never watches the same verdict again."""
    record = ci(state, FAILED)
    assert dead_end(record) is not None or next_step(record) is not Step.WATCH
    if dead_end(record) is None and next_step(record) is Step.FINISH:
        assert state in (CiState.GREEN, CiState.NONE_EXPECTED)
