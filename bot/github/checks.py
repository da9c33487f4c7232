"""Reads what GitHub lists for one commit: workflow runs, check runs and commit statuses, all pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from bot.ci.observation import ACTIONS, CheckRow, CiObservation, WorkflowRun, state_of
from bot.github.conditional import Reader
from bot.record import Check, CheckState

Row = TypeVar("Row", WorkflowRun, CheckRow)

_SUMMARY_LIMIT = 4_000


class Checks:
    """Reads CI of one repository."""

    def __init__(self, reader: Reader, own_run: str = "") -> None:
        """`own_run` is the id of the workflow run this process works in: it waits for CI and is none of it."""
        self._reader = reader
        self._own_run = own_run
        self._last = CiObservation("")

    def observe(self, head: str, *, glance: bool = False) -> CiObservation:
        """What GitHub lists for `head` now. Raises `Refused`.

        A `glance` leaves check runs and statuses as they were last seen while a workflow run goes on, which is
        reason enough to wait: they change with every job, the run only with its end.
        """
        listed, all_runs = self._reader.rows(f"/actions/runs?head_sha={head}", "workflow_runs", _run)
        runs = _once(listed)
        own = {run.suite for run in runs if str(run.id) == self._own_run}
        runs = tuple(run for run in runs if run.suite not in own)
        seen = CiObservation(head, runs=runs, whole=all_runs and len(_once(listed)) == len(listed))
        if glance and seen.running:
            return replace(seen, rows=self._last.rows if self._last.head == head else ())
        rows, whole = self.rows(head)
        completed = {run.suite for run in runs if run.completed}
        kept = tuple(self._settled(row, completed) for row in rows if row.suite not in own)
        self._last = replace(seen, rows=kept, whole=seen.whole and whole)
        return self._last

    def rows(self, head: str) -> tuple[tuple[CheckRow, ...], bool]:
        """Check runs and commit statuses, each once, and whether they are all. Raises `Refused`."""
        checks, all_checks = self._reader.rows(f"/commits/{head}/check-runs", "check_runs", _row_of_check_run)
        statuses, all_statuses = self._reader.rows(f"/commits/{head}/status", "statuses", _row_of_status)
        rows = (*_once(checks), *_once(statuses))
        return rows, all_checks and all_statuses and len(rows) == len(checks) + len(statuses)

    def _settled(self, row: CheckRow, completed: set[int]) -> CheckRow:
        """The row; asked of its job when it still runs although its workflow run has ended: such rows can stay so for
        ever.
        """
        job = row.check.job_id
        if row.check.state is not CheckState.RUNNING or row.suite not in completed or job is None:
            return row
        status, conclusion = self._reader.get(f"/actions/jobs/{job}", lambda data: (data["status"], data["conclusion"]))
        if status != "completed":
            return row
        return replace(row, check=replace(row.check, state=state_of(str(conclusion)), conclusion=str(conclusion)))


def _once(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Each row once, as it was read last."""
    return tuple({row.id: row for row in rows}.values())


def _run(row: Any) -> WorkflowRun:
    return WorkflowRun(
        id=int(row["id"]),
        suite=int(row["check_suite_id"]),
        path=str(row["path"]).partition("@")[0],
        name=str(row["name"] or ""),
        status=str(row["status"]),
        conclusion=str(row["conclusion"] or ""),
        url=str(row["html_url"]),
    )


def _row_of_check_run(row: Any) -> CheckRow:
    app = str((row["app"] or {}).get("slug", ""))
    conclusion = str(row["conclusion"] or "") if row["status"] == "completed" else ""
    output = row["output"] or {}
    words = (output.get("title"), output.get("summary"), output.get("text"))
    check = Check(
        name=str(row["name"]),
        app=app,
        workflow="",
        state=state_of(conclusion),
        conclusion=conclusion,
        url=str(row["html_url"] or row["details_url"] or ""),
        job_id=int(row["id"]) if app == ACTIONS else None,
        summary="\n".join(str(word) for word in words if word)[:_SUMMARY_LIMIT],
    )
    return CheckRow(int(row["id"]), int((row["check_suite"] or {}).get("id", 0)), check)


def _row_of_status(row: Any) -> CheckRow:
    word = str(row["state"])
    check = Check(
        name=str(row["context"]),
        app="",
        workflow="",
        state=CheckState.RUNNING if word == "pending" else state_of(word),
        conclusion="" if word == "pending" else word,
        url=str(row["target_url"] or ""),
        summary=str(row["description"] or ""),
    )
    return CheckRow(int(row["id"]), 0, check)
