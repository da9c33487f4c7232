"""What a Run knows, as frozen values.

A Run is taken from step to step by `bot.run`; each step returns a new `Record`. Nothing here does I/O. As text it is
`bot.stored`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.proof.facts import Claim, Proof
from bot.request import Request

VERSION = 1


class Outcome(StrEnum):
    """How a Run ended."""

    READY = "ready"
    MERGED = "merged"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class WaitsFor(StrEnum):
    """What a Run waits for without a runner of its own."""

    SLOT = "a Run that is at work to end"
    CI = "CI"
    RUNNER = "a new runner"
    USAGE_LIMIT = "the usage limit's reset"
    UNPAUSED = "`NIGHTJAR_PAUSED` to be taken back"


class Proving(StrEnum):
    """Where the Proof of the head stands: it is due; it is red, and a Repair is due; nothing is left to do for it."""

    DUE = "due"
    RED = "red"
    DONE = "done"


class CiState(StrEnum):
    """What CI says about one commit."""

    PENDING = "pending"
    GREEN = "green"
    RED = "red"
    NONE_EXPECTED = "none_expected"
    NEVER_STARTED = "never_started"
    NEEDS_APPROVAL = "needs_approval"
    SUPERSEDED = "superseded"
    INFRASTRUCTURE = "infrastructure"
    UNREADABLE = "unreadable"
    TIMED_OUT = "timed_out"


class CheckState(StrEnum):
    """What one check says: `passed`, `failed`, `running`, or an end that is neither a pass nor the code's fault."""

    PASSED = "passed"
    FAILED = "failed"
    RUNNING = "running"
    NO_VERDICT = "no_verdict"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The event that asked for the Run, with the issue as it stood when it was labelled."""

    repository: str
    """owner/name"""
    issue: int
    title: str
    body: str
    label: str
    requested_by: str
    """Login of the person who labelled (or dispatched): who is mentioned in the ending."""
    asked_at: str
    """ISO 8601, UTC: comments written later are not part of what was asked."""
    run_id: str
    run_attempt: int
    job_url: str


@dataclass(frozen=True, slots=True)
class JobEntry:
    """One job in which the Run was at work. Times are ISO 8601, UTC."""

    run_id: str
    run_attempt: int
    url: str
    workflow: str
    """Name of the workflow's file, by which another job can be started; "" where the job does not tell."""
    began: str
    ended: str = ""
    """When the Run gave this runner back; "" while it has it, or where it never came to that."""
    waits_for: WaitsFor | None = None
    """What the Run waited for without a runner after this job; None for the last one, or where the runner was lost."""


@dataclass(frozen=True, slots=True)
class Parked:
    """A Run that waits and has no runner: `queued` where it waits for other Runs, else `parked`."""

    waits_for: WaitsFor
    since: str
    until: str = ""
    """The moment at which it is taken up at the latest; "" where only an event can tell. ISO 8601, UTC, both."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment that is part of what was asked: by somebody with the permission, written before the label."""

    author: str
    body: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The Run's pull request."""

    number: int
    url: str
    draft: bool


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One Session (or its Resume) as it ended."""

    name: str
    """The log's name: `implement`, `implement-resume`, `repair-1`, …"""
    session_id: str
    seconds: float
    cost_usd: float
    turns: int
    ended: str
    """`done`, `resume`, `fail` or `cancelled`: the verdict on the stream."""
    lost: tuple[str, ...] = ()
    """Descriptions of background tasks that were killed and not absorbed."""
    words: str = ""
    """The session's last words, bounded."""
    transcript: str = ""
    """Path of the log file on the runner."""
    began: str = ""
    """ISO 8601, UTC; it ended `seconds` later."""


@dataclass(frozen=True, slots=True)
class Check:
    """The newest row of one check on one commit: a check run or a commit status."""

    name: str
    app: str
    workflow: str
    """Path of the workflow file that owns the job; "" when it is not a job of GitHub Actions."""
    state: CheckState
    conclusion: str
    """GitHub's own word (`failure`, `timed_out`, …); "" while it runs."""
    url: str
    job_id: int | None = None
    summary: str = ""
    """What the check says of itself when there is no log."""
    inherited: bool = False
    """Red by the same name on the base commit that the head last merged: not the branch's to fix."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one failed check: never empty, data from strangers."""

    check: Check
    step: str
    """Name of the failed step, or ""."""
    excerpt: str
    """The region around the error and the tail of the log, normalised; or what the check says of itself."""


@dataclass(frozen=True, slots=True)
class CiVerdict:
    """What CI said about `head`."""

    head: str
    state: CiState
    checks: tuple[Check, ...] = ()
    explanation: str = ""
    """Why there is no verdict on the code, where a fact says so."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed and are the branch's to fix."""
        return tuple(check for check in self.checks if check.state is CheckState.FAILED and not check.inherited)

    @property
    def inherited(self) -> tuple[Check, ...]:
        """The checks that failed on the base commit too."""
        return tuple(check for check in self.checks if check.state is CheckState.FAILED and check.inherited)


@dataclass(frozen=True, slots=True)
class CiEntry:
    """One time that CI was waited for. Times are ISO 8601, UTC."""

    head: str
    state: CiState
    red: tuple[str, ...]
    """Names of the checks that failed."""
    began: str
    """The push or the Check re-run."""
    ended: str


@dataclass(frozen=True, slots=True)
class RepairEntry:
    """One Repair: what it was for, what it changed, what CI said then."""

    number: int
    red: tuple[str, ...]
    """Names of the failed checks, or the paths in conflict, that it was started for."""
    before: str
    after: str = ""
    """Commit ids of the Issue branch before and after; `after` is "" until the Session ended, equal to `before` when
    nothing changed.
    """
    files: tuple[str, ...] = ()
    summary: str = ""
    """What the Session noted about it; data from a stranger."""
    ci: CiState | None = None
    comment: int = 0
    conflict: bool = False
    """A conflict Repair; else a CI-fix Repair."""
    proof: bool = False
    """A CI-fix Repair of what the program itself ran: the named test or `check-command`."""
    fingerprint: str = ""
    """Of the failure it was started for: equal for the same checks with the same error lines."""
    suspicions: tuple[str, ...] = ()
    """What a reviewer should look at: tests deleted or skipped, thresholds lowered, workflows edited."""
    interrupted: bool = False
    """The usage limit ended its Session: it is taken up again as the same Repair."""
    request: Request | None = None
    """What it was asked for by; None for one that CI, a conflict or a Proof asks for."""


@dataclass(frozen=True, slots=True)
class FailureEntry:
    """Why the Run ended badly: a code of the catalogue and the reason, a fact of this very Run."""

    code: str
    reason: str
    evidence: str = ""
    """A short tail of raw output, or ""."""


@dataclass(frozen=True, slots=True)
class Record:
    """Everything a Run knows and must survive it."""

    trigger: Trigger
    base: str
    branch: str
    max_repairs: int
    jobs: tuple[JobEntry, ...] = ()
    """The jobs it was at work in; the last one has it, or had it last."""
    parked: Parked | None = None
    slot: int = 0
    """Which of the `max-working` places it holds, from 1; 0 for none."""
    placed: bool = False
    """The workspace is there, on the last job's runner."""
    claimed: bool = False
    remarks: tuple[Remark, ...] = ()
    continuation: bool = False
    checkpoint: str = ""
    """The commit that the Run before this one got to on the same branch, if it was checkpointed."""
    base_commit: str = ""
    head: str = ""
    """The Issue branch in the program's own repository; "" before the workspace is there."""
    implemented: bool = False
    title: str = ""
    body: str = ""
    """The pull request's text: from the Handover, or written by the program."""
    claim: Claim | None = None
    """The test that the newest Session to name one says proves the work."""
    claimed_by: str = ""
    """That Session's kind."""
    claim_refused: str = ""
    """Why what a Session named is not taken for a claim."""
    proving: Proving = Proving.DUE
    proof: Proof | None = None
    """The newest; where `proving` is due, of an older head."""
    kind: str = ""
    """What the work changes: `code`, `tests` or `documentation`; "" before that was looked at."""
    pushed: str = ""
    """The Issue branch on the remote, as read back after the last push."""
    watched_since: str = ""
    """Since when CI on it is waited for: its limits count from then, whatever job waits. ISO 8601, UTC."""
    pull_request: PullRequest | None = None
    tracking_comment: int = 0
    ending_comment: int = 0
    sessions: tuple[SessionEntry, ...] = ()
    resumes: int = 0
    repairs: tuple[RepairEntry, ...] = ()
    ci: CiVerdict | None = None
    waits_for_ci: tuple[CiEntry, ...] = ()
    """What CI said each time, oldest first."""
    round_base: str = ""
    """The base commit sampled for this round and contained in `head`; "" when it has to be sampled."""
    conflicts: tuple[str, ...] = ()
    """Paths in conflict of a merge that is open in the checkout."""
    base_moves: int = 0
    """Rounds that were only needed because the Base branch had moved."""
    rerun_jobs: tuple[int, ...] = ()
    """Jobs whose failure was judged and that are being run again."""
    reruns: tuple[str, ...] = ()
    """Heads whose failed jobs had their one Check re-run."""
    requests: tuple[Request, ...] = ()
    """Repairs that people ask for and that are not begun, oldest first."""
    suspicions: tuple[str, ...] = ()
    """What a reviewer should look at in the first Session's work."""
    notes: tuple[str, ...] = ()
    """Facts worth telling that are no Failure."""
    outcome: Outcome | None = None
    failure: FailureEntry | None = None
    told: bool = False
    """The end was told to people: nothing is left to do for this Run."""
    version: int = VERSION

    @property
    def state(self) -> str:
        """The Outcome, else `queued`, `parked` or `working`."""
        if self.outcome is not None:
            return str(self.outcome)
        if self.parked is None:
            return "working"
        return "queued" if self.parked.waits_for is WaitsFor.SLOT else "parked"

    @property
    def cost_usd(self) -> float:
        """US dollars spent so far, over all Sessions."""
        return sum(entry.cost_usd for entry in self.sessions)

    @property
    def repairs_taken(self) -> int:
        """Repairs that count against the cap: those that were begun, and those that are asked for."""
        return sum(not (repair.interrupted and repair.request) for repair in self.repairs) + len(self.requests)

    @property
    def api_retries(self) -> int:
        """How often a Session was taken up again because the model's API had failed."""
        return sum("-retry-" in entry.name for entry in self.sessions)

    def parked_for(self, waits_for: WaitsFor, now: str, until: str = "") -> Record:
        """The same Run without a runner and without a slot. `now`, `until`: ISO 8601, UTC."""
        jobs = (*self.jobs[:-1], replace(self.jobs[-1], ended=now, waits_for=waits_for))
        return replace(self, parked=Parked(waits_for, now, until), jobs=jobs, slot=0)

    def taken_up(self, job: JobEntry) -> Record:
        """The same Run in another job: it is claimed once more, in a workspace that has to be made anew."""
        conflicts = bool(self.conflicts)  # a merge that was left open is on the runner that is gone
        return replace(
            self,
            jobs=(*self.jobs, job),
            parked=None,
            claimed=False,
            placed=False,
            checkpoint=self.head or self.checkpoint,
            conflicts=(),
            round_base="" if conflicts else self.round_base,
        )

    def heard(self, ci: CiVerdict, now: str) -> Record:
        """The same Run with what CI said by `now` (ISO 8601, UTC) of the commit that was pushed."""
        red = tuple(check.name for check in ci.failed)
        entry = CiEntry(ci.head, ci.state, red, self.watched_since, now)
        return replace(self, ci=ci, waits_for_ci=(*self.waits_for_ci, entry))

    def noted(self, note: str) -> Record:
        """The same Record with one more note; a note is kept once."""
        return self if note in self.notes else replace(self, notes=(*self.notes, note))
