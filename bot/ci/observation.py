"""What GitHub lists for one commit: check runs, commit statuses and workflow runs, and what each check says by them.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from bot.record import Check, CheckState

ACTIONS = "github-actions"
"""Slug of the app that owns the jobs of GitHub Actions. The id of such a check run is the id of its job."""
PASSES = frozenset({"success", "neutral", "skipped"})
FAILURES = frozenset({"failure", "timed_out", "error"})
"""`error` is a word of commit statuses only."""
NO_VERDICTS = frozenset({"cancelled", "action_required", "startup_failure"})
"""Ends that say nothing about the code. `stale`, and a word that GitHub may add, are no ends: something newer comes."""
ADVISORY = "allowed to fail: its workflow run succeeded"
STUCK = "its workflow run is over, and GitHub still lists it as running"


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
    """Everything that GitHub listed for `head`, our own workflow run left out.

    Suites are not asked for: one of Actions is a workflow run; of another app's suite GitHub works the state out from
    its check runs, and one that is queued without any never has to start.
    """

    head: str
    rows: tuple[CheckRow, ...] = ()
    runs: tuple[WorkflowRun, ...] = ()
    whole: bool = True
    """False when a list held fewer rows than its count: something moved while it was read."""

    def running_again(self, jobs: Collection[int]) -> CiObservation:
        """The same with the results of `jobs` taken back: they run again, and the old ones may still be listed, and
        their workflow runs as completed.
        """
        newest: dict[tuple[int, str], CheckRow] = {}
        for row in sorted(self.rows, key=lambda row: row.id):
            newest[row.suite, row.check.name] = row
        again = {row.suite for row in newest.values() if row.check.job_id in jobs}
        runs = tuple(replace(run, status="queued", conclusion="") if run.suite in again else run for run in self.runs)
        return replace(self._with_jobs(dict.fromkeys(jobs, _RUNNING)), runs=runs)

    def told(self, jobs: Mapping[int, str]) -> CiObservation:
        """The same with `jobs`, each with what GitHub says of it, as ends that say nothing about the code."""
        return self._with_jobs({job: _Ended(CheckState.NO_VERDICT, None, why) for job, why in jobs.items()})

    def _with_jobs(self, known: Mapping[int, _Ended]) -> CiObservation:
        rows = tuple(
            replace(row, check=known[row.check.job_id].of(row.check))
            if row.check.job_id is not None and row.check.job_id in known
            else row
            for row in self.rows
        )
        return replace(self, rows=rows)

    def checks(self, required: Collection[str] = ()) -> tuple[Check, ...]:
        """What each check says now, by name: the newest row per app, workflow and name, and workflow runs that have no
        row.

        A failed job of a workflow run that succeeded was allowed to fail: it passes, and its summary says so; but not
        where its name is `required`.
        """
        by_suite = {run.suite: run for run in self.runs}
        newest: dict[tuple[str, str, str], tuple[int, Check]] = {}
        for row in self.rows:
            run = by_suite.get(row.suite)
            check = _placed(row.check, run, required)
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
    def running(self) -> bool:
        """Whether a workflow run goes on: its jobs can change, and more of them may register."""
        return any(not run.completed for run in self.runs)


@dataclass(frozen=True, slots=True)
class _Ended:
    """What is known better of a job than its row says."""

    state: CheckState
    conclusion: str | None
    summary: str | None

    def of(self, check: Check) -> Check:
        conclusion = check.conclusion if self.conclusion is None else self.conclusion
        summary = check.summary if self.summary is None else self.summary
        return replace(check, state=self.state, conclusion=conclusion, summary=summary)


_RUNNING = _Ended(CheckState.RUNNING, "", None)


def _placed(check: Check, run: WorkflowRun | None, required: Collection[str]) -> Check:
    """The check with the workflow it belongs to; excused when the run as a whole succeeded, and no longer waited for
    when the run is over.
    """
    if run is None:
        return check
    check = replace(check, workflow=run.path)
    if not run.completed:
        return check
    good = run.conclusion == "success"
    if check.state is CheckState.RUNNING and not check.conclusion:
        state = CheckState.PASSED if good else CheckState.NO_VERDICT
        return replace(check, state=state, conclusion=run.conclusion if good else "stuck", summary=STUCK)
    if check.state is CheckState.FAILED and good and check.name not in required:
        return replace(check, state=CheckState.PASSED, summary=ADVISORY)
    return check


def _check_of(run: WorkflowRun) -> Check:
    return Check(
        name=run.name or run.path,
        app=ACTIONS,
        workflow=run.path,
        state=state_of(run.conclusion),
        conclusion=run.conclusion,
        url=run.url,
        summary=f"the workflow run ended as {run.conclusion or 'nothing'} without a single job",
    )


def state_of(conclusion: str) -> CheckState:
    """What GitHub's word for the end of a check means; a word that is no end is `RUNNING`."""
    if conclusion in PASSES:
        return CheckState.PASSED
    if conclusion in FAILURES:
        return CheckState.FAILED
    return CheckState.NO_VERDICT if conclusion in NO_VERDICTS else CheckState.RUNNING
