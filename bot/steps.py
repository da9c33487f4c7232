"""Which step of the Run comes next, and where it can go no further: chosen from the Record alone. Pure."""

from __future__ import annotations

from enum import StrEnum

from bot.record import CiState, FailureEntry, Record


class Step(StrEnum):
    """A step of the Run; its value is what the Run says it is doing."""

    CLAIM = "claiming the issue"
    PREPARE = "preparing the workspace"
    IMPLEMENT = "working on the issue"
    PUSH = "pushing the Issue branch"
    OPEN = "opening the pull request"
    WATCH = "watching CI"
    REPAIR = "repairing what CI found"
    FINISH = "finishing"
    END = "over"


def next_step(record: Record) -> Step:
    """The step that takes this Record further."""
    if record.outcome is not None or record.failure is not None:
        return Step.END
    if not record.claimed:
        return Step.CLAIM
    if not record.head:
        return Step.PREPARE
    if not record.implemented:
        return Step.IMPLEMENT
    if record.pushed != record.head:
        return Step.PUSH
    if record.pull_request is None:
        return Step.OPEN
    if record.ci is None or record.ci.head != record.pushed:
        return Step.WATCH
    return Step.REPAIR if record.ci.state is CiState.RED else Step.FINISH


def dead_end(record: Record) -> FailureEntry | None:
    """Why the Run can go no further, if it cannot: what CI said of the very commit that was pushed, or a cap that is
    used up.
    """
    ci = record.ci
    if ci is None or ci.state in (CiState.GREEN, CiState.NONE_EXPECTED):
        return None
    if not ci.head == record.pushed == record.head:
        return None  # what CI said is no longer about the newest commit
    red = ", ".join(f"`{check.name}`" for check in ci.failed)
    last = record.repairs[-1] if record.repairs else None
    if ci.state is CiState.RED and last is not None and last.after == last.before == ci.head:
        return FailureEntry(
            "ci_declined", f"Repair {last.number} changed nothing, and CI is still red: {red}", last.summary
        )
    if ci.state is CiState.RED and len(record.repairs) < record.max_repairs:
        return None
    used = f"after {_count(len(record.repairs), 'Repair')} of at most {record.max_repairs}"
    unfinished = ", ".join(f"`{check.name}` ({check.conclusion or 'still running'})" for check in ci.checks)
    return {
        CiState.RED: FailureEntry("ci_red", f"CI is still red {used}: {red}"),
        CiState.NEVER_STARTED: FailureEntry("ci_never_started", f"no check appeared for {ci.head[:10]}"),
        CiState.NEEDS_APPROVAL: FailureEntry(
            "ci_needs_approval", f"CI for {ci.head[:10]} waits for a person's approval"
        ),
        CiState.TIMED_OUT: FailureEntry(
            "ci_timeout", f"CI gave no verdict on {ci.head[:10]} in time: {unfinished or 'nothing'}"
        ),
        CiState.PENDING: FailureEntry("ci_timeout", f"CI gave no verdict on {ci.head[:10]}: {unfinished or 'nothing'}"),
    }[ci.state]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
