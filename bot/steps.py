"""Which step of the Run comes next, and where it can go no further: chosen from the Record alone. Pure."""

from __future__ import annotations

from enum import StrEnum

from bot.proof.facts import Proof
from bot.record import CiState, CiVerdict, FailureEntry, Proving, Record

MAX_BASE_MOVES = 5
"""Rounds that a Run makes only because the Base branch moved."""
_UNRESOLVED_IN_A_ROW = 2


class Step(StrEnum):
    """A step of the Run; its value is what the Run says it is doing."""

    CLAIM = "claiming the issue"
    PREPARE = "preparing the workspace"
    IMPLEMENT = "working on the issue"
    SYNC = "merging the base branch"
    PROVE = "running the test that proves the work"
    PUSH = "pushing the Issue branch"
    OPEN = "opening the pull request"
    WATCH = "watching CI"
    RERUN = "running the failed jobs once more"
    REPAIR = "repairing"
    FINISH = "finishing"
    END = "over"


def next_step(record: Record) -> Step:
    """The step that takes this Record further."""
    if record.outcome is not None or record.failure is not None:
        return Step.END
    if not record.claimed:
        return Step.CLAIM
    if not record.placed:
        return Step.PREPARE
    if not record.implemented:
        return Step.IMPLEMENT
    if record.conflicts or record.requests:
        return Step.REPAIR
    if not record.round_base:
        return Step.SYNC
    if record.proving is Proving.DUE:
        return Step.PROVE
    if record.proving is Proving.RED:
        return Step.REPAIR
    if record.pushed != record.head:
        return Step.PUSH
    if record.pull_request is None:
        return Step.OPEN
    if record.ci is None or record.ci.head != record.pushed:
        return Step.WATCH
    return _after_ci(record, record.ci)


def step_at(record: Record) -> Step:
    """The step that a Run was at when its process ended in mid-step: a Repair that has begun is not over."""
    last = record.repairs[-1] if record.repairs else None
    in_a_repair = last is not None and not last.after and not last.interrupted
    return Step.REPAIR if in_a_repair else next_step(record)


def _after_ci(record: Record, ci: CiVerdict) -> Step:
    if ci.state is CiState.SUPERSEDED:
        return Step.SYNC
    may_rerun = ci.head not in record.reruns
    if may_rerun and (ci.state is CiState.INFRASTRUCTURE or (ci.state is CiState.RED and _declined(record, ci))):
        return Step.RERUN
    return Step.REPAIR if ci.state is CiState.RED else Step.FINISH


def _declined(record: Record, ci: CiVerdict) -> bool:
    """Whether the last Repair was for this very head's failures and left it as it was."""
    last = record.repairs[-1] if record.repairs else None
    if last is None or last.conflict or last.request:
        return False
    return last.after == last.before == ci.head


def dead_end(record: Record) -> FailureEntry | None:
    """Why the Run can go no further, if it cannot: a verdict on the newest commit, or a cap that is used up."""
    if record.conflicts:
        return _conflict_dead_end(record)
    ci = record.ci
    if ci is None or not ci.head == record.pushed == record.head:
        return None  # what CI said is not about the newest commit
    if ci.state is CiState.RED:
        return _red_dead_end(record, ci)
    if ci.state is CiState.INFRASTRUCTURE and ci.head not in record.reruns:
        return None
    if ci.state is CiState.NONE_EXPECTED and record.proof is not None and record.proof.is_red:
        return _red_alone(record, record.proof)
    return _no_verdict(ci)


def _red_alone(record: Record, proof: Proof) -> FailureEntry:
    """No CI ran, and what the program itself ran is red: nothing says that the work is right."""
    red = "`check-command`" if proof.check_is_red else "the named test"
    trial = proof.check if proof.check_is_red else proof.again or proof.after
    seen = trial.output if trial is not None else ""
    return FailureEntry("ci_red", f"no CI ran, and {red} is still red {_used(record)}", seen)


def _conflict_dead_end(record: Record) -> FailureEntry | None:
    paths = ", ".join(f"`{path}`" for path in record.conflicts)
    if len(record.repairs) >= record.max_repairs:
        used = _used(record)
        return FailureEntry("conflict_unresolved", f"`{record.base}` conflicts with the branch in {paths}, {used}")
    recent = record.repairs[-_UNRESOLVED_IN_A_ROW:]
    if len(recent) == _UNRESOLVED_IN_A_ROW and all(
        repair.conflict and repair.after == repair.before for repair in recent
    ):
        tried = f"{_UNRESOLVED_IN_A_ROW} Repairs in a row left it unresolved"
        return FailureEntry("conflict_unresolved", f"`{record.base}` conflicts with the branch in {paths}, and {tried}")
    return None


def _red_dead_end(record: Record, ci: CiVerdict) -> FailureEntry | None:
    red = ", ".join(f"`{check.name}`" for check in ci.failed)
    if not ci.failed:
        old = ", ".join(f"`{check.name}`" for check in ci.inherited)
        return FailureEntry("ci_inherited", f"only checks that are red on `{record.base}` too are red: {old}")
    if _declined(record, ci):
        if ci.head not in record.reruns:
            return None
        last = record.repairs[-1]
        return FailureEntry(
            "ci_declined", f"Repair {last.number} changed nothing, and CI is still red: {red}", last.summary
        )
    if len(record.repairs) >= record.max_repairs:
        return FailureEntry("ci_red", f"CI is still red {_used(record)}: {red}")
    return None


def _no_verdict(ci: CiVerdict) -> FailureEntry | None:
    commit = ci.head[:10]
    unfinished = (
        ", ".join(f"`{check.name}` ({check.conclusion or 'still running'})" for check in ci.checks) or "nothing"
    )
    why = f": {ci.explanation}" if ci.explanation else ""
    return {
        CiState.NEVER_STARTED: FailureEntry(
            "ci_never_started", f"{'not every' if ci.checks else 'no'} check appeared for {commit}{why}"
        ),
        CiState.NEEDS_APPROVAL: FailureEntry(
            "ci_needs_approval", f"CI for {commit} waits for a person's approval{why}"
        ),
        CiState.INFRASTRUCTURE: FailureEntry(
            "ci_infrastructure", f"CI on {commit} broke for no fault of the code{why}"
        ),
        CiState.UNREADABLE: FailureEntry("ci_unreadable", f"what CI says of {commit} cannot be read{why}"),
        CiState.TIMED_OUT: FailureEntry("ci_timeout", f"CI gave no verdict on {commit} in time: {unfinished}{why}"),
        CiState.PENDING: FailureEntry("ci_timeout", f"CI gave no verdict on {commit}: {unfinished}"),
    }.get(ci.state)


def _used(record: Record) -> str:
    number = len(record.repairs)
    return f"after {number} Repair{'' if number == 1 else 's'} of at most {record.max_repairs}"
