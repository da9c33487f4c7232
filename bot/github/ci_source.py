"""Everything that the watch asks about CI of one commit, put together from what GitHub lists and knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bot.ci.expectation import Expectation, Pushed, dispatch_paths, expect
from bot.ci.observation import ACTIONS, CiObservation
from bot.github.checks import Checks
from bot.github.ci_facts import JOB_TOKEN, LOOKED_AT, CiFacts
from bot.github.client import Client
from bot.github.conditional import Reader
from bot.record import Check, CheckState


class GitHubCi:
    """CI as GitHub tells of it. Implements `bot.github.watch.CiSource`. Methods raise `Refused`."""

    def __init__(self, client: Client, own_run: str = "", dispatch: Collection[str] = ()) -> None:
        """`own_run` is the id of the workflow run this process works in. `dispatch`: the workflow files that Nightjar
        starts itself (`ci-dispatch`).
        """
        self._reader = Reader(client)
        self._checks = Checks(self._reader, own_run)
        self._facts = CiFacts(self._reader)
        self._dispatch = tuple(dispatch)
        self._dispatched: set[tuple[str, str]] = set()
        self._refusals: tuple[str, ...] = ()

    @property
    def counted(self) -> int:
        """Requests so far that count against the rate limit."""
        return self._reader.counted

    def observe(self, head: str, *, glance: bool = False) -> CiObservation:
        """What GitHub lists for `head`: see `Checks.observe`."""
        return self._checks.observe(head, glance=glance)

    def expect(self, pushed: Pushed, *, thorough: bool = False) -> Expectation:
        """What should check `pushed`; workflows that are to be dispatched, and were not for this commit, are.

        `thorough` asks too which workflows are switched off: worth a request only when one is missing.
        """
        paths = dispatch_paths(pushed.files, self._dispatch)
        known = self._refusals if thorough else ()
        self._refusals = (*known, *(self._started(pushed, paths) if paths else ()))
        required = self._facts.required(pushed.base) if pushed.base else ()
        disabled = self._facts.disabled() if thorough else ()
        usual = self._usual(pushed.base_commit)
        return expect(pushed, required=required, disabled=disabled, dispatched=paths, usual=usual)

    def _usual(self, base_commit: str) -> frozenset[str]:
        """Names of the checks on the base commit that are not Actions' own."""
        rows = self._checks.rows(base_commit)[0] if base_commit else ()
        return frozenset(row.check.name for row in rows if row.check.app != ACTIONS)

    def _started(self, pushed: Pushed, paths: Sequence[str]) -> list[str]:
        """Start what has no run on this commit yet; why not, where GitHub refuses."""
        there = {run.path for run in self._checks.observe(pushed.head, glance=True).runs}
        refusals = []
        for path in paths:
            if path in there or (pushed.head, path) in self._dispatched:
                continue
            self._dispatched.add((pushed.head, path))
            refusal = self._facts.dispatch(path, pushed.branch)
            if refusal:
                refusals.append(f"`{path.rpartition('/')[2]}` could not be dispatched: {refusal}")
        return refusals

    def superseded(self, pushed: Pushed) -> str:
        """Why CI on this commit is no longer worth waiting for; "" while it is."""
        pull = self._facts.pull_request(pushed.pull_request) if pushed.pull_request else None
        if pull is None:
            return ""
        if pull.head != pushed.head:
            return f"the pull request is at {pull.head[:10]} now"
        if pull.mergeable is False:
            return f"the pull request conflicts with `{pushed.base}`, so that GitHub starts no workflow for it"
        return ""

    def told(self, checks: Sequence[Check]) -> Mapping[int, str]:
        """Jobs among `checks` that ended for no fault of the code, each with GitHub's words for it: those that failed
        by losing their runner, and those that were cancelled.
        """
        lost = self._facts.lost([check for check in checks if check.state is CheckState.FAILED])
        cancelled = [check.job_id for check in checks if check.conclusion == "cancelled" and check.job_id is not None]
        return {**lost, **{job: self._facts.noted(job) for job in cancelled[:LOOKED_AT]}}

    def explain(self, pushed: Pushed, expectation: Expectation) -> str:
        """Why CI did not start, where a fact says so; else ""."""
        if self._refusals:
            return "; ".join(self._refusals)
        if expectation.skipped:
            return "the message of its head commit holds a skip marker such as [skip ci], which GitHub obeys"
        if self._facts.actions_enabled() is False:
            return "GitHub Actions is switched off for this repository"
        pull = self._facts.pull_request(pushed.pull_request) if pushed.pull_request else None
        if pull is not None and pull.author == JOB_TOKEN:
            return f"the pull request is by {JOB_TOKEN}: what a job's own token pushes or opens starts no workflow"
        return ""
