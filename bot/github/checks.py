"""CI on one commit: read from GitHub as it stands (`Checks.observe`), and judged (`judge`, pure).

Two status systems count alike, check runs and commit statuses, and so does a workflow run that has no check run at all:
one that waits for approval, or that could not start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from bot.github.answers import UnreadableAnswer
from bot.github.client import PAGE, Client
from bot.record import Check, CheckState, CiState, CiVerdict

ACTIONS = "github-actions"
"""Slug of the app that owns the jobs of GitHub Actions. The id of such a check run is the id of its job."""
PASSES = frozenset({"success", "neutral", "skipped"})
FAILURES = frozenset({"failure", "timed_out", "error"})
"""`error` is a word of commit statuses only."""
UNCHECKED = frozenset({"skipped", "neutral"})
"""Passes that say nothing: alone they are no CI."""
ADVISORY = "allowed to fail: its workflow run succeeded"
_SUMMARY_LIMIT = 4_000

Row = TypeVar("Row", "WorkflowRun", "CheckRow")


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of GitHub Actions, in its newest attempt."""

    id: int
    suite: int
    """Id of the check suite that holds its jobs' check runs."""
    path: str
    name: str
    status: str
    conclusion: str
    """"" until it is completed."""
    url: str

    @property
    def completed(self) -> bool:
        """Whether no job of it will appear or change any more (but for a re-run)."""
        return self.status == "completed"


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check run or commit status as GitHub lists it."""

    id: int
    """Grows with time, within check runs and within statuses."""
    suite: int
    """Id of the check suite; 0 for a commit status."""
    check: Check


@dataclass(frozen=True, slots=True)
class CiObservation:
    """Everything that GitHub listed for `head`, our own workflow run left out."""

    head: str
    rows: tuple[CheckRow, ...] = ()
    runs: tuple[WorkflowRun, ...] = ()
    whole: bool = True
    """False when a list held fewer rows than its count: something moved while it was read."""

    def running_again(self, jobs: Collection[int]) -> CiObservation:
        """The same with the results of `jobs` taken back: they run again, and the old ones may still be listed."""
        rows = tuple(
            replace(row, check=replace(row.check, state=CheckState.RUNNING, conclusion=""))
            if row.check.job_id in jobs
            else row
            for row in self.rows
        )
        return replace(self, rows=rows)

    @property
    def checks(self) -> tuple[Check, ...]:
        """What each check says now, by name: the newest row per app, workflow and name, and workflow runs that have no
        row.

        A failed job of a workflow run that succeeded was allowed to fail: it passes, and its summary says so.
        """
        by_suite = {run.suite: run for run in self.runs}
        newest: dict[tuple[str, str, str], tuple[int, Check]] = {}
        for row in self.rows:
            run = by_suite.get(row.suite)
            check = _placed(row.check, run)
            key = (check.app, check.workflow, check.name)
            if key not in newest or newest[key][0] < row.id:
                newest[key] = (row.id, check)
        found = [check for _, check in newest.values()]
        found += [_check_of(run) for run in self._without_rows()]
        return tuple(sorted(found, key=lambda check: (check.name, check.workflow, check.app, check.url)))

    def _without_rows(self) -> Iterable[WorkflowRun]:
        """Newest completed runs of their workflow that left no check run behind."""
        newest: dict[str, WorkflowRun] = {}
        for run in self.runs:
            if run.path not in newest or newest[run.path].id < run.id:
                newest[run.path] = run
        suites = {row.suite for row in self.rows}
        return (run for run in newest.values() if run.completed and run.suite not in suites)

    @property
    def unfinished(self) -> bool:
        """Whether a check or a workflow run can still change: a job may not have registered yet."""
        running = (check for check in self.checks if check.state is CheckState.RUNNING)
        return any(not run.completed for run in self.runs) or any(running)


def _placed(check: Check, run: WorkflowRun | None) -> Check:
    """The check with the workflow it belongs to, and excused when the run as a whole succeeded."""
    if run is None:
        return check
    check = replace(check, workflow=run.path)
    if check.state is CheckState.FAILED and run.completed and run.conclusion == "success":
        return replace(check, state=CheckState.PASSED, summary=ADVISORY)
    return check


def _check_of(run: WorkflowRun) -> Check:
    return Check(
        name=run.name or run.path,
        app=ACTIONS,
        workflow=run.path,
        state=_state(run.conclusion),
        conclusion=run.conclusion,
        url=run.url,
        summary=f"the workflow run ended as {run.conclusion or 'nothing'} without a single job",
    )


def _state(conclusion: str) -> CheckState:
    if conclusion in PASSES:
        return CheckState.PASSED
    return CheckState.FAILED if conclusion in FAILURES else CheckState.NO_VERDICT


def judge(observation: CiObservation, *, expects_ci: bool, start_over: bool) -> CiVerdict:
    """What the observation says; `PENDING` while more is to come.

    `expects_ci`: whether workflows of the repository should have started for this commit. `start_over`: whether the
    time in which CI may start has passed. A verdict comes only when every check and every workflow run has ended, so
    that a Repair sees all failures at once. Then, in this order:

    * a failed check (`failure`, `timed_out`; `error` of a status) → `RED`;
    * `action_required`, of a check or of a workflow run → `NEEDS_APPROVAL`;
    * an end that is no pass and not the code's fault (`cancelled`, `stale`, `startup_failure`, an unknown word) →
      `INFRASTRUCTURE`: not green, and nothing to repair;
    * nothing, or only checks that were skipped or neutral: `PENDING` until `start_over`, then `NONE_EXPECTED`; but
      `NEVER_STARTED` when there is no check at all and `expects_ci`;
    * else all passed → `GREEN`.
    """
    checks = observation.checks
    return CiVerdict(observation.head, _judged(observation, checks, expects_ci, start_over), checks)


def _judged(observation: CiObservation, checks: tuple[Check, ...], expects_ci: bool, start_over: bool) -> CiState:
    if observation.unfinished or not observation.whole:
        return CiState.PENDING
    if any(check.state is CheckState.FAILED for check in checks):
        return CiState.RED
    if any(check.conclusion == "action_required" for check in checks):
        return CiState.NEEDS_APPROVAL
    if any(check.state is not CheckState.PASSED for check in checks):
        return CiState.INFRASTRUCTURE
    if all(check.conclusion in UNCHECKED for check in checks):
        if not start_over:
            return CiState.PENDING
        return CiState.NEVER_STARTED if expects_ci and not checks else CiState.NONE_EXPECTED
    return CiState.GREEN


def unjudged(verdict: CiVerdict) -> tuple[Check, ...]:
    """The checks that ended without saying anything about the code; `conclusion` is GitHub's word for it."""
    return tuple(check for check in verdict.checks if check.state is CheckState.NO_VERDICT)


class Checks:
    """Reads CI of one repository."""

    def __init__(self, client: Client, own_run: str = "") -> None:
        """`own_run` is the id of the workflow run this process works in: it waits for CI and is none of it."""
        self._client = client
        self._own_run = own_run

    def observe(self, head: str) -> CiObservation:
        """What GitHub lists for `head` now: three lists, all pages. Raises `Refused`."""
        api = self._client.api
        list_runs = partial(api.actions.list_workflow_runs_for_repo, head_sha=head)
        list_checks = partial(api.checks.list_for_ref, ref=head)
        list_statuses = partial(api.repos.get_combined_status_for_ref, ref=head)
        runs, all_runs = self._all("/actions/runs", "workflow_runs", _run, list_runs)
        rows, all_rows = self._all(f"/commits/{head}/check-runs", "check_runs", _row_of_check_run, list_checks)
        statuses, all_statuses = self._all(f"/commits/{head}/status", "statuses", _row_of_status, list_statuses)
        own = {run.suite for run in runs if str(run.id) == self._own_run}
        completed = {run.suite for run in runs if run.completed}
        return CiObservation(
            head=head,
            rows=(*(self._settled(row, completed) for row in rows if row.suite not in own), *statuses),
            runs=tuple(run for run in runs if run.suite not in own),
            whole=all_runs and all_rows and all_statuses,
        )

    def _all(
        self, path: str, key: str, parse: Callable[[Any], Row], fetch: Callable[..., Any]
    ) -> tuple[tuple[Row, ...], bool]:
        """All rows of a counted list, each once, and whether they are as many as GitHub counts."""
        found: dict[int, Row] = {}
        request = f"GET /repos/{self._client.name}{path}"

        def read(page: int) -> tuple[list[Row], int]:
            answer = fetch(page=page, per_page=PAGE)
            try:
                return [parse(row) for row in answer[key]], int(answer["total_count"])
            except (KeyError, TypeError, AttributeError) as error:
                raise UnreadableAnswer(f"no {key} in it") from error

        page = 0
        while True:
            page += 1
            batch, count = self._client.ask(request, partial(read, page))
            found.update((row.id, row) for row in batch)
            if not batch or len(found) >= count:
                return tuple(found.values()), len(found) >= count

    def _settled(self, row: CheckRow, completed: set[int]) -> CheckRow:
        """The row; asked of its job when it still runs although its workflow run has ended: such rows can stay so for
        ever.
        """
        if row.check.state is not CheckState.RUNNING or row.suite not in completed or row.check.job_id is None:
            return row
        request = f"GET /repos/{self._client.name}/actions/jobs/{row.check.job_id}"
        read = partial(self._client.api.actions.get_job_for_workflow_run, job_id=row.check.job_id)
        job: Any = self._client.ask(request, read)
        if job.status != "completed":
            return row
        conclusion = str(job.conclusion or "")
        return replace(row, check=replace(row.check, state=_state(conclusion), conclusion=conclusion))


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
    conclusion = str(row["conclusion"] or "")
    app = str((row["app"] or {}).get("slug", ""))
    ended = row["status"] == "completed" and conclusion != ""
    output = row["output"] or {}
    words = (output.get("title"), output.get("summary"), output.get("text"))
    check = Check(
        name=str(row["name"]),
        app=app,
        workflow="",
        state=_state(conclusion) if ended else CheckState.RUNNING,
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
        state=CheckState.RUNNING if word == "pending" else _state(word),
        conclusion="" if word == "pending" else word,
        url=str(row["target_url"] or ""),
        summary=str(row["description"] or ""),
    )
    return CheckRow(int(row["id"]), 0, check)
