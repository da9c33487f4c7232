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


class Comments(Protocol):
    """What the report needs of GitHub. Each method may raise `RunFailed`."""

    def comment(self, number: int, body: str) -> int:
        """A new comment on an issue or pull request; its id."""

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace a comment's text."""


class GitHubReporter:
    """A `bot.ports.Reporter` that writes to GitHub and the runner."""

    def __init__(
        self, github: Comments, runner: Runner, redactor: Redactor, limits: render.Limits, today: Callable[[], datetime]
    ) -> None:
        """`today`: the date and time in UTC (`Clock.today`)."""
        self._github = github
        self._runner = runner
        self._redactor = redactor
        self._limits = limits
        self._today = today
        self._shown: tuple[datetime, str] | None = None
        """When the Tracking comment was last written, and what it said then."""
        self._said = ""

    def claimed(self, record: Record) -> Record:
        """The Tracking comment appears; the Record knows its id, or a note says why there is none."""
        doing = "the issue is claimed"
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
        """Title and body as they are to stand on GitHub."""
        return PullRequestText(
            self._clean(render.pull_request_title(record)), self._clean(render.pull_request_body(record))
        )

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

    def ended(self, record: Record) -> Record:
        """The ending, told once: a new comment, the Tracking comment's last state, annotation, summary, outputs."""
        self._annotate(record)
        if not record.ending_comment and record.outcome is not Outcome.SKIPPED:
            record = self._comment_ending(record)
        self._track(record, "")
        self._runner.step_summary(self._clean(render.step_summary(record)))
        self._runner.outputs({name: self._clean(value) for name, value in outputs(record).items()})
        return record

    def _comment_ending(self, record: Record) -> Record:
        """On the issue; on the pull request when the issue takes no comment (it may be locked)."""
        body = self._clean(render.ending_comment(record))
        places = [record.trigger.issue, *([record.pull_request.number] if record.pull_request else [])]
        for place in places:
            try:
                return replace(record, ending_comment=self._github.comment(place, body))
            except RunFailed as refused:
                record = record.noted(self._complain(f"The ending could not be told on #{place}", refused))
        return record

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


def outputs(record: Record) -> dict[str, str]:
    """The action's outputs, as documented."""
    return {
        "outcome": str(record.outcome or ""),
        "reason": words.reason(record),
        "pr-url": record.pull_request.url if record.pull_request else "",
        "branch": record.branch,
        "repairs": str(len(record.repairs)),
        "resumes": str(record.resumes),
        "cost-usd": f"{record.cost_usd:.4f}",
        "transcripts": "\n".join(entry.transcript for entry in record.sessions if entry.transcript),
    }
