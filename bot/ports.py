"""What a Run talks to, as small Protocols: `bot.run` knows these and nothing behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.ci.expectation import Pushed
from bot.record import Check, CiVerdict, Evidence, PullRequest, Record, SessionEntry


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as GitHub has it now."""

    number: int
    title: str
    body: str
    open: bool
    is_pull_request: bool
    locked: bool
    labels: tuple[str, ...]
    author: str


@dataclass(frozen=True, slots=True)
class IssueComment:
    """One comment on the issue."""

    id: int
    author: str
    body: str
    created_at: datetime


class GitHub(Protocol):
    """What the Run says to GitHub about one repository.

    Every method may raise `bot.failures.RunFailed` with `github_denied`, `github_unavailable` or a more exact code.
    """

    def default_branch(self) -> str:
        """The repository's default branch."""

    def role_of(self, login: str) -> str:
        """`none`, `read`, `triage`, `write`, `maintain` or `admin`; `none` for whoever GitHub does not know."""

    def issue(self, number: int) -> Issue:
        """The issue (or pull request) of that number."""

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        """All comments, oldest first."""

    def read_file(self, path: str, ref: str) -> str | None:
        """A file of the repository at `ref`, or None when there is none."""

    def swap_labels(self, number: int, *, add: str, remove: Sequence[str]) -> None:
        """Put `add` on the issue, then take `remove` off: others are kept and no moment shows none."""

    def remove_label(self, number: int, label: str) -> None:
        """Take one label off; no error when it is not there."""

    def react(self, number: int, reaction: str) -> None:
        """React to the issue's own text."""

    def comment(self, number: int, body: str) -> int:
        """A new comment on an issue or pull request; its id."""

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace a comment's text."""

    def find_pull_request(self, branch: str) -> PullRequest | None:
        """The open pull request of `branch`."""

    def closed_pull_request_exists(self, branch: str) -> bool:
        """Whether a merged or closed pull request once used `branch`."""

    def open_pull_request(self, *, title: str, body: str, branch: str, base: str, draft: bool) -> PullRequest:
        """Open it, or take up the one that is already open. A plan that refuses drafts gets an ordinary one."""

    def edit_pull_request(self, number: int, *, title: str, body: str) -> None:
        """Replace title and body."""

    def mark_ready(self, number: int) -> bool:
        """Out of draft; False when the token may not (GitHub often refuses a job's token)."""

    def mark_draft(self, number: int) -> bool:
        """Back to draft; False when the token may not or the plan has no drafts."""

    def pull_request_state(self, number: int) -> str:
        """`open`, `closed` or `merged`."""

    def mergeable(self, number: int) -> bool | None:
        """Whether it merges cleanly; None while GitHub has not worked it out."""

    def request_review(self, number: int, login: str) -> bool:
        """Ask `login` for a review; False when GitHub refuses."""

    def merge(self, number: int, *, method: str, head: str) -> str:
        """Merge exactly `head`; "" when merged, else GitHub's reason for refusing."""

    def evidence(self, check: Check) -> Evidence:
        """What went wrong in a failed check."""

    def rerun(self, checks: Sequence[Check]) -> str:
        """Run the jobs of these checks once more; "" when that was started, else why it cannot be."""


class CiWatch(Protocol):
    """Waits for CI on one commit."""

    def wait(self, pushed: Pushed, *, known: Collection[int] = ()) -> CiVerdict:
        """The verdict on `pushed.head`; returns as soon as it is final or a limit has passed. `known`: jobs whose
        result was judged already and that are being run again: until their new attempt shows, they count as running.
        """

    def look(self, commit: str) -> CiVerdict:
        """What CI says of `commit` now, without waiting."""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """Title and body for the pull request."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a Session that ended well left in its Handover: text from a stranger."""

    pull_request: PullRequestText | None
    """None when there was nothing usable."""
    note: str


class Sessions(Protocol):
    """Holds `claude` Sessions. Each method raises `RunFailed` when the Session failed, `Cancelled` when the Run is to
    stop.
    """

    def make_ready(self) -> None:
        """The CLI is there and the `setup` commands have run."""

    def implement(self, record: Record, subjects: Sequence[str], ended: Callable[[SessionEntry], None]) -> Delivered:
        """The first Session of a Run; `subjects` of the commits that are there make it a Continuation. `ended` hears of
        each process as it ends: the Session's own, and its Resume's.
        """

    def repair(self, record: Record, evidence: Sequence[Evidence], ended: Callable[[SessionEntry], None]) -> Delivered:
        """The Session of the newest Repair of `record`."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What came of merging a sampled base commit into the Issue branch."""

    head: str
    conflicts: tuple[str, ...]
    """Paths in conflict: the merge is left open in the checkout for a conflict Repair, and `head` is unchanged."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff. Lines are without their sign; both are empty for a binary file."""

    path: str
    deleted: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]


class Workspace(Protocol):
    """git for one Run: the program's own repository, and the Session's checkout."""

    def prepare(self, *, base: str, branch: str, checkpoint: str) -> tuple[str, str]:
        """Fetch, make the Session's checkout on the Issue branch; (base commit, head). `checkpoint`: the commit that an
        earlier Run got to, or "".
        """

    def collect(self, message: str) -> str:
        """Commit what the Session left uncommitted, and take its commits over; the new head."""

    def reopen(self, *, base: str, branch: str, base_commit: str) -> bool:
        """Go on in what an earlier process of this job prepared; False when it is not there."""

    def sample_base(self) -> str:
        """Fetch the Base branch; its tip."""

    def merge(self, commit: str) -> Merge:
        """Merge a sampled base commit into the Issue branch; nothing happens when the head contains it already."""

    def contains(self, commit: str) -> bool:
        """Whether the head contains `commit`."""

    def push(self) -> str:
        """Push the Issue branch, fast-forward only; its commit id as read back from the remote."""

    def remote_head(self) -> str:
        """The Issue branch on the remote, or ""."""

    def ahead(self) -> int:
        """Number of commits on the head that the base commit lacks."""

    def changed(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two commits; what `after` got by merging the base commit is left out."""

    def subjects(self) -> tuple[str, ...]:
        """First lines of the messages of the commits over base, oldest first."""

    def pushed(self) -> Pushed:
        """The head as CI meets it: branches, workflow files, changed paths, message."""

    def keep_patch(self) -> str:
        """Keep the commits that the remote lacks as a patch beside the transcripts; its name."""


class Reporter(Protocol):
    """Everything a Run tells people."""

    def claimed(self, record: Record) -> Record:
        """The Tracking comment appears."""

    def progress(self, record: Record, doing: str) -> None:
        """The Tracking comment and the job log say what happens now. Never fails a Run."""

    def mention(self, doing: str) -> None:
        """The job log alone says what happens now: it is over in a moment."""

    def pull_request_text(self, record: Record) -> PullRequestText:
        """Title and body as they are to stand on GitHub."""

    def repaired(self, record: Record) -> Record:
        """The comment on the pull request about the newest Repair, written or brought up to date."""

    def ended(self, record: Record) -> Record:
        """The ending: a new comment, the step summary, the outputs, one annotation."""


class Journal(Protocol):
    """Keeps the Record."""

    def save(self, record: Record) -> Record:
        """Keep it on the runner, whole or not at all; the same Record."""

    def publish(self, record: Record, *, work: str = "") -> Record:
        """Keep it where another runner finds it, too, and with it the commit `work`, a checkpoint. Raises `RunFailed`
        when another Run has the issue.
        """
