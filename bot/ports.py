"""What a Run talks to, as small Protocols: `bot.run` knows these and nothing behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.ci.expectation import Pushed
from bot.proof.facts import Claim, Ran
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
    updated_at: datetime
    """Later than `created_at` once it was edited."""


@dataclass(frozen=True, slots=True)
class PullRequestNow:
    """What people may have done with the pull request."""

    state: str
    """`open`, `closed` or `merged`."""
    base: str
    """The branch that it goes to."""
    branch: str
    """The branch that it comes from; "" where that is not one of this repository."""


class GitHub(Protocol):
    """What the Run says to GitHub about one repository.

    Every method may raise `bot.failures.RunFailed` with `github_denied`, `github_unavailable` or a more exact code.
    """

    def fall_back(self) -> None:
        """The Run is ending: from here on the job's own token stands in for an App that is refused."""

    def default_branch(self) -> str:
        """The repository's default branch."""

    def role_of(self, login: str) -> str:
        """`none`, `read`, `triage`, `write`, `maintain` or `admin`; `none` for whoever GitHub does not know."""

    def own_login(self) -> str:
        """Whom GitHub takes Nightjar for; "" where it does not tell."""

    def issue(self, number: int) -> Issue:
        """The issue (or pull request) of that number."""

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        """All comments, oldest first."""

    def read_file(self, path: str, ref: str) -> bytes | None:
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

    def edit_pull_request(self, number: int, edit: Callable[[PullRequestText], PullRequestText]) -> None:
        """Put what `edit` makes of title and body in their place."""

    def mark_ready(self, number: int) -> bool:
        """Out of draft; False when the token may not (GitHub often refuses a job's token)."""

    def mark_draft(self, number: int) -> bool:
        """Back to draft; False when the token may not or the plan has no drafts."""

    def pull_request_now(self, number: int) -> PullRequestNow:
        """How it stands."""

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

    def wait(
        self, pushed: Pushed, *, known: Collection[int] = (), waited: float = 0.0, patience: float | None = None
    ) -> CiVerdict:
        """The verdict on `pushed.head`; returns as soon as it is final or a limit has passed.

        `known`: jobs whose result was judged already and that are being run again: until their new attempt shows, they
        count as running. `waited`: planned seconds that an earlier job waited for it. The verdict is `PENDING` when
        the `patience`, planned seconds, or the job's own time is over before CI's.
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
    claim: Claim | None = None
    """The test that it says proves its work; its shape is checked, and nothing else."""
    claim_refused: str = ""
    """Why what it left as `proof.json` is no claim; "" where it left none."""
    notes: tuple[str, ...] = ()
    """What is worth telling of what it was given to read."""


class Sessions(Protocol):
    """Holds `claude` Sessions. Each method raises `RunFailed` when the Session failed, `Cancelled` when the Run is to
    stop.
    """

    def make_ready(self) -> None:
        """The CLI is there and the `setup` commands have run; once a job."""

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
    mode: str = ""
    """What kind of file it is now, as git has it (`120000` is a link, `160000` a submodule); "" for a deleted one."""
    new: bool = False
    """There was no file of this path before: it was added, or renamed to it."""


class Workspace(Protocol):
    """git for one Run: the program's own repository, and the Session's checkout."""

    def prepare(self, *, base: str, branch: str, checkpoint: str) -> tuple[str, str]:
        """Fetch, make the Session's checkout on the Issue branch; (base commit, head). `checkpoint`: the commit that an
        earlier Run got to, or "".
        """

    def collect(self, message: str) -> str:
        """Commit what the Session left uncommitted, and take its commits over; the new head."""

    def reopen(self, *, base: str, branch: str, base_commit: str) -> bool:
        """Go on in what was prepared in this job for that branch; False when it is not there."""

    def sample_base(self, base: str) -> str:
        """Fetch `base`, the Base branch from here on; its tip."""

    def merge(self, commit: str) -> Merge:
        """Merge a sampled base commit into the Issue branch; nothing happens when the head contains it already."""

    def contains(self, commit: str) -> bool:
        """Whether the head contains `commit`."""

    def push(self) -> str:
        """Push the Issue branch, fast-forward only; its commit id as read back from the remote."""

    def secret_in(self, commit: str) -> str:
        """Where a secret stands in what `commit` would carry to the remote: in a commit's message, authors, names of
        files or files, taken back later or not. Never its value; "" for nowhere.
        """

    def remote_head(self) -> str:
        """The Issue branch on the remote, or ""."""

    def left_out(self) -> tuple[str, ...]:
        """What the last `collect` did not commit, by kind, each a few words for people."""

    def ahead(self) -> int:
        """Number of commits on the head that the base commit lacks."""

    def forked_at(self) -> str:
        """The commit that the Issue branch and the Base branch have in common."""

    def changed(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two commits; what `after` got by merging the base commit is left out."""

    def subjects(self) -> tuple[str, ...]:
        """First lines of the messages of the commits over base, oldest first."""

    def messages(self, before: str, after: str) -> tuple[str, ...]:
        """Whole messages of the commits that `after` has over `before` and over base, but for merges."""

    def pushed(self) -> Pushed:
        """The head as CI meets it: branches, workflow files, changed paths, message."""

    def keep_patch(self) -> str:
        """Keep the commits that the remote lacks as a patch beside the transcripts; its name."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a commit."""

    path: str
    mode: str
    """As git has it: `100644`, `100755` for one that can be run, `120000` for a link, `160000` for a submodule."""
    id: str


class Tree(Protocol):
    """Files of a commit, as they are in the program's own repository."""

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every file of `commit`, links and submodules too."""

    def contents(self, entries: Sequence[TreeEntry], limit: int) -> tuple[bytes | None, ...]:
        """What is in these files; None for one of more than `limit` bytes, and for a submodule."""


class Trials(Protocol):
    """Runs commands on commits, in a clean tree and a home of their own, confined like a Session."""

    def run(self, commit: str, command: str, *, laid_over: Sequence[str] = (), of: str = "", minutes: float) -> Ran:
        """`setup` and then `command` in a clean tree of `commit`, with the files `laid_over` as the commit `of` has
        them. It gets at most `minutes`, planned ones, and no more than the Run has left. Raises `Cancelled`.
        """


class Reporter(Protocol):
    """Everything a Run tells people."""

    def claimed(self, record: Record) -> Record:
        """The Tracking comment appears."""

    def progress(self, record: Record, doing: str) -> None:
        """The Tracking comment and the job log say what happens now. Never fails a Run."""

    def mention(self, doing: str) -> None:
        """The job log alone says what happens now: it is over in a moment."""

    def pull_request_anew(self, record: Record, there: PullRequestText) -> PullRequestText:
        """Title and body by what is known now; what somebody wrote into those that are `there` stays."""

    def pull_request_text(self, record: Record) -> PullRequestText:
        """Title and body for a new pull request."""

    def repaired(self, record: Record) -> Record:
        """The comment on the pull request about the newest Repair, written or brought up to date."""

    def parked(self, record: Record, ahead: int) -> Record:
        """The Run waits without a runner: Tracking comment, step summary, outputs, one annotation. `ahead`: queued Runs
        that have their turn before it.
        """

    def ended(self, record: Record) -> Record:
        """The ending: a new comment, the step summary, the outputs, one annotation."""


class SlotTaken(Exception):
    """Another Run was quicker: nothing was published, and the Runs that are not over have to be looked at anew."""


@dataclass(frozen=True, slots=True)
class OpenRuns:
    """The Runs of the repository that are not over, but for the one that asks."""

    records: tuple[Record, ...]
    taken: frozenset[int]
    """Slots that are held."""
    asked: frozenset[int] = frozenset()
    """Issues on which somebody asks for something that no Run has taken yet."""


class Queue(Protocol):
    """The other Runs of the repository."""

    def others(self, issue: int = 0) -> OpenRuns:
        """All that are not over, except the one on `issue`. Raises `RunFailed`."""


class Workflows(Protocol):
    """GitHub's workflows, as far as another job is to take a Run up."""

    def cancel(self, run_id: str) -> str:
        """Cancel a workflow run; "" when GitHub does, else its reason."""

    def take_up(self, workflow: str, issue: int) -> str:
        """Start a job that takes up the Run on `issue` if it waits; "" when GitHub started one, else its reason."""

    def variable(self, name: str) -> str:
        """A variable of the repository; "" when there is none, or when the token may not read variables."""

    def conclusion(self, run_id: str, run_attempt: int) -> str:
        """How that attempt of a workflow run ended (`success`, `cancelled`, …); "" while it goes on. A workflow run
        that is gone counts as `stale`.
        """


class Time(Protocol):
    """Time as the Run's job has it; seconds and minutes are planned ones."""

    def now(self) -> str:
        """ISO 8601, UTC."""

    def after(self, seconds: float) -> str:
        """The moment that many seconds from now. ISO 8601, UTC."""

    def since(self, moment: str) -> float:
        """Seconds since then; 0 for ""."""

    def minutes_left(self) -> float:
        """Of this job's `run-timeout-minutes`."""


class Journal(Protocol):
    """Keeps the Record."""

    def save(self, record: Record) -> Record:
        """Keep it on the runner, whole or not at all; the same Record."""

    def publish(self, record: Record, *, work: str = "") -> Record:
        """Keep it where another runner finds it, too, and with it the commit `work`, a checkpoint. A slot that the
        Record holds is taken with it, one that it no longer holds is given back. Raises `RunFailed` when another Run
        has the issue, `SlotTaken` when one has the slot.
        """
