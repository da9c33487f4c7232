"""The Run: from a claimed issue to a pull request that Nightjar stands behind, or to the reason why not.

    claim ─> prepare ─> implement ─> sync ─> push ─> open ─> watch CI ─> finish
                                      ^                        │
                                      └─ Repair (red, conflict) or the base moved

Each step takes the Record further and saves it; the next step is chosen from the Record alone (`bot.steps`). A step
that cannot go on raises `RunFailed`; whatever happens, the Run ends in exactly one reported outcome (`bot.ending`).
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.cancel import Cancel, Cancelled
from bot.config import Config
from bot.ending import EndingPorts, Labels, end
from bot.failures import RunFailed
from bot.ports import CiWatch, Delivered, FileChange, GitHub, Journal, Reporter, Sessions, Workspace
from bot.record import CheckState, CiState, Evidence, FailureEntry, Outcome, Record, RepairEntry, SessionEntry
from bot.repetition import fingerprint, inherit, repeats
from bot.steps import MAX_BASE_MOVES, Step, dead_end, next_step
from bot.suspicion import protected, suspicions

_TRACEBACK = 4000
_BRIEF = frozenset({Step.CLAIM, Step.SYNC, Step.PUSH, Step.OPEN, Step.FINISH})
"""Steps of a few seconds: not worth an edit of the Tracking comment, which counts against the token's limit."""
_WHERE_PEOPLE_ARE_ASKED = frozenset({Step.IMPLEMENT, Step.PUSH, Step.REPAIR, Step.FINISH})
"""Before each Session and each push a person may have decided otherwise."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything that a Run talks to."""

    github: GitHub
    ci: CiWatch
    workspace: Workspace
    sessions: Sessions
    report: Reporter
    journal: Journal
    cancel: Cancel


class Run:
    """One Run. `record` is what it knows so far; it is saved after every change."""

    def __init__(self, record: Record, config: Config, ports: Ports) -> None:
        """`record` may be fresh, or one that an earlier process left."""
        self.record = record
        self._config = config
        self._ports = ports
        self._labels = Labels(config.label)

    def go(self) -> Record:
        """Take the Run to its end. Raises nothing that is the Run's own doing."""
        try:
            while (step := next_step(self.record)) is not Step.END:
                self._say(step)
                if step in _WHERE_PEOPLE_ARE_ASKED and self._finished_by_a_person():
                    continue
                self._take(step)
                self._keep(failure=dead_end(self.record))
        except RunFailed as failed:
            self._keep(failure=FailureEntry(failed.code, failed.reason, failed.evidence))
        except Cancelled as asked:
            why = FailureEntry("cancelled", str(asked)) if str(asked) else None
            self._keep(outcome=Outcome.CANCELLED, failure=why)
        except Exception as error:  # the last net: a bug of ours is an outcome too, and is reported like any other
            tail = traceback.format_exc()[-_TRACEBACK:]
            self._keep(failure=FailureEntry("internal", f"Nightjar itself failed with {type(error).__name__}", tail))
        self._ports.cancel.acknowledge()
        ports = self._ports
        ending = EndingPorts(ports.github, ports.workspace, ports.report, ports.journal)
        self.record = end(self.record, self._config, ending)
        return self.record

    def _take(self, step: Step) -> None:
        match step:
            case Step.CLAIM:
                self._claim()
            case Step.PREPARE:
                self._prepare()
            case Step.IMPLEMENT:
                self._implement()
            case Step.PUSH:
                self._keep(pushed=self._ports.workspace.push())
            case Step.SYNC:
                self._sync()
            case Step.OPEN:
                self._open()
            case Step.WATCH:
                self._watch()
            case Step.RERUN:
                self._rerun()
            case Step.REPAIR:
                self._repair()
            case Step.FINISH:
                self._finish()
            case Step.END:
                raise AssertionError("the end is no step")

    def _say(self, step: Step) -> None:
        if step in _BRIEF:
            self._ports.report.mention(step)
        else:
            self._ports.report.progress(self.record, step)

    def _keep(self, **known: object) -> None:
        self.record = self._ports.journal.save(replace(self.record, **known))  # type: ignore[arg-type]

    def _checkpoint(self) -> None:
        """What a Session wrote is on the remote, where it starts no CI, before anything is done with it."""
        self.record = self._ports.journal.publish(self.record, work=self.record.head)

    def _publish(self) -> None:
        self.record = self._ports.journal.publish(self.record)

    # ── the steps ───────────────────────────────────────────────────────────────────────────────────────────────

    def _claim(self) -> None:
        """The Record's ref first, of which two Runs cannot both move it; then the Tracking comment, then the label."""
        self._publish()
        self.record = self._ports.journal.save(self._ports.report.claimed(self.record))
        trigger = self.record.trigger
        others = [trigger.label, *self._labels.ended]
        self._ports.github.swap_labels(trigger.issue, add=self._labels.working, remove=others)
        self._keep(claimed=True)

    def _prepare(self) -> None:
        """The workspace on the sampled base commit, then what takes long: the CLI and the `setup` commands."""
        base_commit, head = self._ports.workspace.prepare(
            base=self.record.base, branch=self.record.branch, checkpoint=self.record.checkpoint
        )
        self._ports.sessions.make_ready()
        pull_request = self._ports.github.find_pull_request(self.record.branch)
        there = self._ports.workspace.remote_head()
        known = bool(there) or head != base_commit
        self._keep(base_commit=base_commit, head=head, pushed=there, continuation=known, pull_request=pull_request)

    def _implement(self) -> None:
        """The first Session: `implement`, or `continue` where work is there already."""
        before = self.record.head
        subjects = self._ports.workspace.subjects() if self.record.continuation else ()
        left = self._ports.sessions.implement(self.record, subjects, self._session_ended)
        head = self._ports.workspace.collect(f"Work on issue #{self.record.trigger.issue}")
        self._keep(head=head)
        if not self._ports.workspace.ahead():
            raise RunFailed("no_changes", _no_changes(self.record))
        self._keep(suspicions=self._looked_at(self._ports.workspace.changed(before, head)))
        self._checkpoint()
        self._describe(left)
        self._keep(implemented=True)

    def _describe(self, left: Delivered) -> None:
        """Title and body from the Handover, else from the issue and the commits."""
        if left.pull_request is not None:
            self._keep(title=left.pull_request.title, body=left.pull_request.body)
            return
        commits = "\n".join(f"- {subject}" for subject in self._ports.workspace.subjects())
        self._keep(title=self.record.trigger.title, body=commits)
        self._note("The session left no text for the pull request: title and body are Nightjar's own.")

    def _sync(self) -> None:
        """The Base branch as it is now, merged into the Issue branch: the beginning of a round."""
        commit = self._ports.workspace.sample_base()
        merge = self._ports.workspace.merge(commit)
        self._keep(round_base=commit, head=merge.head, conflicts=merge.conflicts)

    def _open(self) -> None:
        """The pull request: a draft until CI is green, where drafts are wanted."""
        text = self._ports.report.pull_request_text(self.record)
        pull_request = self._ports.github.open_pull_request(
            title=text.title,
            body=text.body,
            branch=self.record.branch,
            base=self.record.base,
            draft=self._config.draft != "never",
        )
        self._keep(pull_request=pull_request)

    def _watch(self) -> None:
        """What CI says of the very commit that was pushed; the newest Repair's comment says it too."""
        pull_request = self.record.pull_request
        number = pull_request.number if pull_request is not None else 0
        pushed = replace(self._ports.workspace.pushed(), pull_request=number)
        ci = self._ports.ci.wait(pushed, known=self.record.rerun_jobs)
        self._still_ours()  # a verdict on a commit that is no longer the newest decides nothing
        if ci.state is CiState.SUPERSEDED:
            if not self._another_round():
                raise RunFailed("base_moving", f"there is nothing left to wait for: {ci.explanation}")
            return
        if ci.state in (CiState.GREEN, CiState.NONE_EXPECTED) and ci.explanation:
            self._note(f"CI: {ci.explanation}.")
        if ci.state is CiState.RED:
            ci = inherit(ci, self._ports.ci.look(self.record.round_base or self.record.base_commit))
        self._keep(ci=ci, rerun_jobs=())
        if self.record.repairs:
            self._keep_repair(ci=ci.state)
            self.record = self._ports.report.repaired(self.record)

    def _rerun(self) -> None:
        """The one Check re-run of this head's own failed jobs."""
        ci = self.record.ci
        if ci is None:
            raise AssertionError("a Check re-run follows a verdict")
        checks = [check for check in ci.checks if check.state in (CheckState.FAILED, CheckState.NO_VERDICT)]
        refusal = self._ports.github.rerun([check for check in checks if not check.inherited])
        if refusal:
            self._note(f"The failed jobs could not be run once more: {refusal}")
            self._keep(reruns=(*self.record.reruns, ci.head))
            return
        jobs = tuple(check.job_id for check in checks if check.job_id is not None)
        self._keep(reruns=(*self.record.reruns, ci.head), rerun_jobs=jobs, ci=None)

    def _repair(self) -> None:
        """One Repair. It is counted before its Session starts, so that no crash makes it free."""
        self._still_ours()
        conflicts = self.record.conflicts
        evidence = [] if conflicts else self._evidence()
        mark = fingerprint(evidence) if evidence else ""
        red = conflicts or tuple(item.check.name for item in evidence)
        number = len(self.record.repairs) + 1
        if mark and repeats(self.record.repairs, mark, self._config.repeat_limit):
            names = ", ".join(f"`{name}`" for name in red)
            tried = f"Repair {number - 1} changed the code, and the same failure came back: {names}"
            raise RunFailed("ci_repeats", tried, evidence[0].excerpt)
        entry = RepairEntry(number, red, before=self.record.head, conflict=bool(conflicts), fingerprint=mark)
        self._keep(repairs=(*self.record.repairs, entry))
        self._publish()
        left = self._ports.sessions.repair(self.record, evidence, self._session_ended)
        head = self._ports.workspace.collect(f"Repair {number} for issue #{self.record.trigger.issue}")
        self._keep(head=head)
        self._repaired(entry, left, head)

    def _evidence(self) -> list[Evidence]:
        failed = self.record.ci.failed if self.record.ci is not None else ()
        return [self._ports.github.evidence(check) for check in failed]

    def _repaired(self, entry: RepairEntry, left: Delivered, head: str) -> None:
        """Facts judge the Repair: what it changed, and whether the base commit is merged now."""
        changes = self._ports.workspace.changed(entry.before, head)
        self._keep_repair(after=head, files=tuple(change.path for change in changes), summary=left.note)
        self._keep_repair(suspicions=self._looked_at(changes))
        self._checkpoint()
        merged = not entry.conflict or self._ports.workspace.contains(self.record.round_base)
        # A changed head meets the Base branch as it is now, before it is pushed.
        self._keep(conflicts=(), round_base=self.record.round_base if merged and head == entry.before else "")
        if not entry.conflict and head == entry.before and self.record.ci is not None:
            self._keep_repair(ci=self.record.ci.state)
        pull_request = self.record.pull_request
        if pull_request is not None:
            self.record = self._ports.report.repaired(self.record)
            if self.record.repairs[-1].suspicions:
                text = self._ports.report.pull_request_text(self.record)
                self._ports.github.edit_pull_request(pull_request.number, title=text.title, body=text.body)

    def _finish(self) -> None:
        """Green on the head that was watched, nobody else's commits, a Base branch that has not moved: ready."""
        self._still_ours()
        pull_request = self.record.pull_request
        if pull_request is None:
            raise AssertionError("a Run finishes with a pull request")
        if not self._ports.workspace.contains(self._ports.workspace.sample_base()) and self._another_round():
            return
        if self._ports.github.mergeable(pull_request.number) is False:
            raise RunFailed("base_moving", f"CI passed, but `{self.record.base}` moved on and conflicts once more")
        if pull_request.draft and self._config.draft == "auto":
            if self._ports.github.mark_ready(pull_request.number):
                pull_request = replace(pull_request, draft=False)
                self._keep(pull_request=pull_request)
            else:
                self._note("The token may not mark a pull request ready: it is still a draft.")
        self._ask_for_review(pull_request.number)
        self._keep(outcome=self._merged(pull_request.number))

    # ── small things ────────────────────────────────────────────────────────────────────────────────────────────

    def _finished_by_a_person(self) -> bool:
        """Whether somebody merged the pull request meanwhile: then the Run is done.

        Raises `Cancelled` when the issue was closed or the label taken off, `RunFailed` for a closed pull request.
        """
        trigger = self.record.trigger
        issue = self._ports.github.issue(trigger.issue)
        state = self._pull_request_state()
        if state == "merged":
            self._note("Somebody merged the pull request while Nightjar was at work.")
            self._keep(outcome=Outcome.MERGED)
            return True
        if state == "closed":
            raise RunFailed("pr_closed", "the pull request was closed while Nightjar was at work")
        if not issue.open:
            raise Cancelled("the issue was closed while Nightjar was at work")
        if self._labels.working not in issue.labels:
            raise Cancelled(f"the label `{self._labels.working}` was taken off while Nightjar was at work")
        return False

    def _pull_request_state(self) -> str:
        pull_request = self.record.pull_request
        return self._ports.github.pull_request_state(pull_request.number) if pull_request is not None else ""

    def _another_round(self) -> bool:
        """Whether the Base branch's move is met with another round; bounded, since a busy branch would never let a Run
        end.
        """
        if self.record.base_moves >= MAX_BASE_MOVES:
            self._note(f"`{self.record.base}` kept moving; its commit {self.record.round_base[:10]} is merged.")
            return False
        self._keep(base_moves=self.record.base_moves + 1, round_base="")
        return True

    def _looked_at(self, changes: Sequence[FileChange]) -> tuple[str, ...]:
        """What a reviewer should look at in a diff. Raises `RunFailed` (`protected_path`) where that is set."""
        paths = protected(changes, self._config.protected_paths)
        names = ", ".join(f"`{path}`" for path in paths)
        if paths and self._config.protected_paths_action == "refuse":
            raise RunFailed("protected_path", f"the session changed {names}, which `protected-paths` names")
        shown = suspicions(changes)
        return (f"protected: {names}", *shown) if paths else shown

    def _session_ended(self, entry: SessionEntry) -> None:
        resumes = self.record.resumes + entry.name.endswith("-resume")
        self._keep(sessions=(*self.record.sessions, entry), resumes=resumes)
        if entry.ended != "done":  # else the checkpoint follows at once
            self._publish()

    def _keep_repair(self, **known: object) -> None:
        *before, last = self.record.repairs
        self._keep(repairs=(*before, replace(last, **known)))  # type: ignore[arg-type]

    def _note(self, note: str) -> None:
        self.record = self._ports.journal.save(self.record.noted(note))

    def _still_ours(self) -> None:
        """Somebody else's commits on the Issue branch end the Run; nothing of theirs is overwritten. Raises
        `RunFailed`.
        """
        found = self._ports.workspace.remote_head()
        if found != self.record.pushed:
            there = f"is at {found[:10]}" if found else "is gone"
            raise RunFailed(
                "handed_over", f"the Issue branch {there}, although Nightjar pushed {self.record.pushed[:10]}"
            )

    def _ask_for_review(self, number: int) -> None:
        for wanted in self._config.reviewers:
            login = self.record.trigger.requested_by if wanted == "labeller" else wanted
            if not self._ports.github.request_review(number, login):
                self._note(f"GitHub did not take {login} as a reviewer.")

    def _merged(self, number: int) -> Outcome:
        """Merge the very head that was watched; a refusal leaves the pull request ready for a person."""
        if self._config.merge == "never":
            return Outcome.READY
        refusal = self._ports.github.merge(number, method=self._config.merge, head=self.record.pushed)
        if not refusal:
            return Outcome.MERGED
        self._note(f"GitHub did not merge it: {refusal}")
        return Outcome.READY


def _no_changes(record: Record) -> str:
    last = record.sessions[-1].words.strip() if record.sessions else ""
    said = f"; its last words: “{' '.join(last.split())[-500:]}”" if last else ""
    return f"the session ended without a change to the repository{said}"
