"""Tells people how a Run goes: Tracking comment, comments on the pull request, the ending, and the job's own page.

Nothing leaves without passing the `Redactor`, and a comment that GitHub refuses never costs the Run: what it would
have said is in the job log and the step summary all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from bot.failures import RunFailed
from bot.guard import Redactor
from bot.ports import PullRequestText
from bot.record import Outcome, Record
from bot.report import render, words
from bot.report.actions import Runner
from bot.report.rewriting import rewritten, signed

_PASSING = frozenset({"github_unavailable", "token_expired"})


class Comments(Protocol):
    """What the report needs of GitHub. Each method may raise `RunFailed`."""

    def comment(self, number: int, body: str) -> int:
        """A new comment on an issue or pull request; its id."""

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace a comment's text."""


class Pages(Protocol):
    """Writes the Run page at the end of a job."""

    @property
    def upload(self) -> str:
        """The folder that the job keeps as an artifact, the page in it; "" for none."""

    def write(self, record: Record) -> None:
        """Write the page of the Run as it stands. Raises nothing."""


class NoPages:
    """Writes none."""

    upload = ""

    def write(self, record: Record) -> None:
        """Nothing."""


class GitHubReporter:
    """A `bot.ports.Reporter` that writes to GitHub and the runner."""

    def __init__(
        self,
        github: Comments,
        runner: Runner,
        redactor: Redactor,
        limits: render.Limits,
        today: Callable[[], datetime],
        pages: Pages | None = None,
    ) -> None:
        """`today`: the date and time in UTC (`Clock.today`)."""
        self._github = github
        self._runner = runner
        self._redactor = redactor
        self._limits = limits
        self._today = today
        self._pages = pages or NoPages()
        self._shown: tuple[datetime, str] | None = None
        """When the Tracking comment was last written, and what it said then."""
        self._said = ""

    def claimed(self, record: Record, doing: str = "the issue is claimed") -> Record:
        """The Tracking comment appears; the Record knows its id, or a note says why there is none."""
        self._say(doing)
        if record.tracking_comment:
            self._track(record, doing)
            return record
        now = self._today()
        body = self._clean(render.tracking_comment(record, self._limits, doing, now))
        try:
            comment = self._github.comment(record.trigger.issue, body)
        except RunFailed as refused:
            return record.noted(self._complain("The Tracking comment could not be written", refused))
        self._shown = (now, body)
        return replace(record, tracking_comment=comment)

    def progress(self, record: Record, doing: str) -> None:
        """The job log and the Tracking comment say what happens now, when that is news."""
        self._say(doing)
        self._track(record, doing)

    def mention(self, doing: str) -> None:
        """The job log says what happens now."""
        self._say(doing)

    def pull_request_text(self, record: Record) -> PullRequestText:
        """Title and body for a new pull request."""
        title, body = render.pull_request_title(record), render.pull_request_body(record)
        return signed(PullRequestText(self._clean(title), self._clean(body)))

    def pull_request_anew(self, record: Record, there: PullRequestText) -> PullRequestText:
        """Title and body by what is known now; what somebody wrote into those that are `there` stays."""
        return rewritten(there, self.pull_request_text(record), render.BODY_LIMIT)

    def repaired(self, record: Record) -> Record:
        """The newest Repair's comment on the pull request, written or brought up to date."""
        if not record.repairs or record.pull_request is None:
            return record
        repair = record.repairs[-1]
        body = self._clean(render.repair_comment(record, repair))
        try:
            if repair.comment:
                self._github.edit_comment(repair.comment, body)
                return record
            comment = self._github.comment(record.pull_request.number, body)
        except RunFailed as refused:
            return record.noted(
                self._complain(f"The comment about Repair {repair.number} could not be written", refused)
            )
        return replace(record, repairs=(*record.repairs[:-1], replace(repair, comment=comment)))

    def parked(self, record: Record, ahead: int) -> Record:
        """The Run waits without a runner: Tracking comment, annotation, summary, outputs."""
        waits = words.waits(record, ahead)
        self._runner.annotate("notice", f"Nightjar: {record.state}", self._clean(waits))
        if record.tracking_comment:
            self._track(record, waits)
        else:
            record = self.claimed(record, waits)
        self._on_the_job(record, waits)
        return record

    def ended(self, record: Record) -> Record:
        """The ending, told once: a new comment, the Tracking comment's last state, annotation, summary, outputs."""
        self._annotate(record)
        record = replace(record, told=True) if record.ending_comment else self._comment_ending(record)
        self._track(record, "")
        self._on_the_job(record, "")
        return record

    def _on_the_job(self, record: Record, waits: str) -> None:
        """Step summary and outputs. `waits`: what a Run without a runner waits for."""
        self._pages.write(record)
        summary = render.step_summary(record, waits, self._today(), self._kept_at(record))
        self._runner.step_summary(self._clean(summary))
        values = outputs(record, waits or words.reason(record), self._pages.upload)
        self._runner.outputs({name: self._clean(value) for name, value in values.items()})

    def _kept_at(self, record: Record) -> str:
        return words.run_page(record) if self._pages.upload else ""

    def _comment_ending(self, record: Record) -> Record:
        """On the issue; on the pull request when the issue takes no comment (it may be locked). What may pass, an
        outage or a dead token, leaves it untold: somebody else may be able to tell it later.
        """
        body = self._clean(render.ending_comment(record, self._kept_at(record)))
        places = [record.trigger.issue, *([record.pull_request.number] if record.pull_request else [])]
        may_pass = False
        for place in places:
            try:
                return replace(record, ending_comment=self._github.comment(place, body), told=True)
            except RunFailed as refused:
                may_pass |= refused.code in _PASSING
                record = record.noted(self._complain(f"The ending could not be told on #{place}", refused))
        return replace(record, told=not may_pass)

    def _track(self, record: Record, doing: str) -> None:
        """Edit the Tracking comment if anything but the time would change."""
        if not record.tracking_comment:
            return
        if self._shown is not None:
            then, shown = self._shown
            if self._clean(render.tracking_comment(record, self._limits, doing, then)) == shown:
                return
        now = self._today()
        body = self._clean(render.tracking_comment(record, self._limits, doing, now))
        try:
            self._github.edit_comment(record.tracking_comment, body)
        except RunFailed as refused:
            self._complain("The Tracking comment could not be edited", refused)
        else:
            self._shown = (now, body)

    def _annotate(self, record: Record) -> None:
        """One annotation and one line in the job log."""
        where = record.pull_request.url if record.pull_request else ""
        match record.outcome:
            case Outcome.READY | Outcome.MERGED:
                self._runner.annotate("notice", f"Nightjar: {record.outcome}", self._clean(where))
            case Outcome.SKIPPED | None:
                self._runner.annotate("notice", "Nightjar: nothing to do", self._clean(" ".join(record.notes)))
            case Outcome.CANCELLED:
                self._runner.annotate("warning", "Nightjar: cancelled", self._clean(words.reason(record)))
            case Outcome.FAILED:
                self._runner.annotate(
                    "error", f"Nightjar stopped: {words.title(record)}", self._clean(words.reason(record))
                )

    def _complain(self, what: str, refused: RunFailed) -> str:
        """Into the job log, and back as a note."""
        note = self._clean(f"{what}: {refused.reason}")
        self._runner.log(note)
        return note

    def _say(self, doing: str) -> None:
        """Into the job log, once."""
        if doing != self._said:
            self._said = doing
            self._runner.log(self._clean(f"{self._today():%H:%M:%S} {doing}"))

    def _clean(self, text: str) -> str:
        return self._redactor.clean(text)


def outputs(record: Record, reason: str, logs: str = "") -> dict[str, str]:
    """The action's outputs, as documented. `reason`: of a bad end, or what is waited for. `logs`: the folder that is to
    be an artifact.
    """
    return {
        "outcome": record.state,
        "reason": reason,
        "pr-url": record.pull_request.url if record.pull_request else "",
        "branch": record.branch,
        "repairs": str(len(record.repairs)),
        "resumes": str(record.resumes),
        "cost-usd": f"{record.cost_usd:.4f}",
        "logs": logs,
        "transcripts": "\n".join(entry.transcript for entry in record.sessions if entry.transcript),
    }
