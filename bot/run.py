"""The Run: from a claimed issue to a pull request that Nightjar stands behind, or to the reason why not.

    claim ─> prepare ─> implement ─> sync ─> prove ─> push ─> open ─> watch CI ─> finish
                                      ^        │                        │
                                      └────────┴─ Repair (red, conflict) or the base moved

Each step takes the Record further and saves it; the next step is chosen from the Record alone (`bot.steps`). A step
that cannot go on raises `RunFailed`; whatever happens, the Run ends in exactly one reported outcome (`bot.ending`).
One that has to wait without a runner raises `Park` (`bot.parking`): another job goes on from the Record.
"""

from __future__ import annotations

import traceback
from dataclasses import replace

from bot.cancel import Cancelled
from bot.ending import EndingPorts, end
from bot.failures import RunFailed
from bot.parking import Park, ParkingPorts, park
from bot.ports import SlotTaken
from bot.progress import Progress
from bot.proof.facts import Verdict
from bot.proving import Prover
from bot.queueing import free_slot, usage_limited_until
from bot.record import CheckState, CiState, FailureEntry, Outcome, Record, WaitsFor
from bot.repetition import inherit
from bot.steps import MAX_BASE_MOVES, Step, dead_end, next_step
from bot.working import Working

_TRACEBACK = 4000
PATIENCE = 60.0
"""Planned seconds that CI is watched before a Run with `wait: park` gives its runner back; runners are paid by the
minute.
"""
_BRIEF = frozenset({Step.CLAIM, Step.PREPARE, Step.SYNC, Step.PROVE, Step.PUSH, Step.OPEN, Step.FINISH})
"""Steps of a few seconds, or that say themselves when they are longer: not worth an edit of the Tracking comment, which
counts against the token's limit.
"""
_WHERE_PEOPLE_ARE_ASKED = frozenset({Step.IMPLEMENT, Step.PUSH, Step.REPAIR, Step.FINISH})
"""Before each Session and each push a person may have decided otherwise."""


class Run(Progress):
    """One Run. `record` is what it knows so far."""

    def go(self) -> Record:
        """Take the Run to its end, or to where it waits without a runner. Raises nothing of its own."""
        try:
            while (step := next_step(self.record)) is not Step.END and self.record.parked is None:
                self._go_on(step)
        except RunFailed as failed:
            self.keep(failure=FailureEntry(failed.code, failed.reason, failed.evidence))
        except Cancelled as asked:
            why = FailureEntry("cancelled", str(asked)) if str(asked) else None
            self.keep(outcome=Outcome.CANCELLED, failure=why)
            if self.ports.cancel.requested and self.ports.finish_follows:
                return self.record
        except Exception as error:  # the last net: a bug of ours is an outcome too, and is reported like any other
            tail = traceback.format_exc()[-_TRACEBACK:]
            self.keep(failure=FailureEntry("internal", f"Nightjar itself failed with {type(error).__name__}", tail))
        if self.record.parked is not None:
            return self.record
        self.ports.cancel.acknowledge()
        ports = self.ports
        ending = EndingPorts(ports.github, ports.workspace, ports.report, ports.journal)
        self.record = end(self.record, self.config, ending)
        return self.record

    def _go_on(self, step: Step) -> None:
        """One step, and whether the Run can go further; or the Run is parked."""
        try:
            self._say(step)
            if step in _WHERE_PEOPLE_ARE_ASKED and self.somebody_stepped_in():
                return
            self._take(step)
            dead = dead_end(self.record)
            if dead is None or not self.somebody_stepped_in():
                self.keep(failure=dead)
        except Park as asked:
            self.may_leave()
            ports = self.ports
            parking = ParkingPorts(ports.github, ports.report, ports.journal, ports.queue, ports.workflows, ports.time)
            self.record = park(self.record, asked, self.config, parking)

    def _take(self, step: Step) -> None:
        match step:
            case Step.CLAIM:
                self._claim()
            case Step.PREPARE:
                self._prepare()
            case Step.IMPLEMENT:
                Working(self).implement()
            case Step.PUSH:
                self._push()
            case Step.PROVE:
                Prover(self).prove()
            case Step.SYNC:
                self._sync()
            case Step.OPEN:
                self._open()
            case Step.WATCH:
                self._stand_by_the_proof()
                self._watch()
            case Step.RERUN:
                self._rerun()
            case Step.REPAIR:
                Working(self).repair()
            case Step.FINISH:
                self._finish()
            case Step.END:
                raise AssertionError("the end is no step")

    def _say(self, step: Step) -> None:
        if step in _BRIEF:
            self.ports.report.mention(step)
        else:
            self.ports.report.progress(self.record, step)

    # ── the steps ───────────────────────────────────────────────────────────────────────────────────────────────

    def _claim(self) -> None:
        """The Record's ref first, of which two Runs cannot both move it; then the Tracking comment, then the label.

        Raises `Park` while as many Runs are at work as may be, or while the usage limit is known to be reached.
        """
        if len(self.record.jobs) > 1 and self.somebody_stepped_in():
            return
        self._take_slot()
        self.record = self.ports.journal.save(self.ports.report.claimed(self.record))
        others = [label for label in self.labels.all if label != self.labels.working]
        self.ports.github.swap_labels(self.record.trigger.issue, add=self.labels.working, remove=others)
        self.keep(claimed=True)

    def _take_slot(self) -> None:
        while True:
            others = self.ports.queue.others(self.record.trigger.issue)
            limited = usage_limited_until(others.records, self.ports.time.now())
            if limited:
                raise Park(WaitsFor.USAGE_LIMIT, limited)
            slot = free_slot(self.record, others.records, others.taken, self.config.max_working)
            if not slot:
                raise Park(WaitsFor.SLOT)
            try:
                self.record = self.ports.journal.publish(replace(self.record, slot=slot))
            except SlotTaken:
                self.record = replace(self.record, slot=0)
            else:
                return

    def _prepare(self) -> None:
        """The workspace: the Base branch as it is now, and the Issue branch where this Run or the last one left it."""
        base_commit, head = self.ports.workspace.prepare(
            base=self.record.base, branch=self.record.branch, checkpoint=self.record.checkpoint
        )
        there = self.ports.workspace.remote_head()
        pull_request = self.ports.github.find_pull_request(self.record.branch) if there else None
        if len(self.record.jobs) > 1 and self.record.base_commit:  # taken up: what was pushed has to be there still
            self.keep(
                head=head,
                placed=True,
                pull_request=pull_request or self.record.pull_request,
                continuation=self.record.continuation or head != base_commit,
                pushed=there if there == self.record.head else self.record.pushed,
            )
            self.still_ours()
            return
        known = bool(there) or head != base_commit
        if self.record.proof is not None and not self.ports.workspace.contains(self.record.proof.head):
            self.keep(proof=None)  # of a history that somebody has replaced
        found = {"base_commit": base_commit, "head": head, "pushed": there, "continuation": known}
        self.keep(**found, pull_request=pull_request, placed=True)

    def _sync(self) -> None:
        """The Base branch as it is now, merged into the Issue branch: the beginning of a round."""
        commit = self.ports.workspace.sample_base(self.record.base)
        merge = self.ports.workspace.merge(commit)
        self.keep(round_base=commit, head=merge.head, conflicts=merge.conflicts)

    def _push(self) -> None:
        """The Issue branch, and the pull request's text where the Proof is a newer one."""
        if self.checkpointed != self.record.head:  # after a lost runner it is known to be the Run's own
            self.checkpoint()
        pushed = self.ports.workspace.push()
        pull_request, proof = self.record.pull_request, self.record.proof
        if pull_request is not None and proof is not None and proof.head == pushed:
            self.tell_anew(pull_request)
        self.keep(pushed=pushed, watched_since=self.ports.time.now())

    def _stand_by_the_proof(self) -> None:
        """Where `proof: require` is set, CI is not asked about work that is not proved. Raises `RunFailed`."""
        proof = self.record.proof
        if self.config.proof == "require" and proof is not None and proof.verdict is not Verdict.PROVED:
            tried = proof.again or proof.after or proof.before
            raise RunFailed("unproved", proof.why, tried.output if tried is not None else "")

    def _open(self) -> None:
        """The pull request: a draft until CI is green, where drafts are wanted."""
        text = self.ports.report.pull_request_text(self.record)
        pull_request = self.ports.github.open_pull_request(
            title=text.title,
            body=text.body,
            branch=self.record.branch,
            base=self.record.base,
            draft=self.config.draft != "never",
        )
        self.keep(pull_request=pull_request)

    def _watch(self) -> None:
        """What CI says of the very commit that was pushed; the newest Repair's comment says it too."""
        pull_request = self.record.pull_request
        number = pull_request.number if pull_request is not None else 0
        pushed = replace(self.ports.workspace.pushed(), pull_request=number)
        waited = self.ports.time.since(self.record.watched_since)
        patience = PATIENCE if self._parks_for_ci() else None
        ci = self.ports.ci.wait(pushed, known=self.record.rerun_jobs, waited=waited, patience=patience)
        self.worked = True
        self.still_ours()  # a verdict on a commit that is no longer the newest decides nothing
        if ci.state is CiState.PENDING:
            limit = self.config.ci_timeout_minutes if ci.checks else self.config.ci_start_minutes
            until = self.ports.time.after(max(0.0, limit * 60 - waited))
            raise Park(WaitsFor.RUNNER if patience is None else WaitsFor.CI, until)
        if ci.state is CiState.SUPERSEDED:
            if not self._another_round():
                raise RunFailed("base_moving", f"there is nothing left to wait for: {ci.explanation}")
            return
        if ci.state in (CiState.GREEN, CiState.NONE_EXPECTED) and ci.explanation:
            self.note(f"CI: {ci.explanation}.")
        if ci.state is CiState.RED:
            ci = inherit(ci, self.ports.ci.look(self.record.round_base or self.record.base_commit))
        self.record = self.record.heard(ci, self.ports.time.now())
        self.keep(rerun_jobs=())
        if self.record.repairs:
            self.keep_repair(ci=ci.state)
            self.record = self.ports.report.repaired(self.record)

    def _rerun(self) -> None:
        """The one Check re-run of this head's own failed jobs."""
        ci = self.record.ci
        if ci is None:
            raise AssertionError("a Check re-run follows a verdict")
        checks = [check for check in ci.checks if check.state in (CheckState.FAILED, CheckState.NO_VERDICT)]
        refusal = self.ports.github.rerun([check for check in checks if not check.inherited])
        if refusal:
            self.note(f"The failed jobs could not be run once more: {refusal}")
            self.keep(reruns=(*self.record.reruns, ci.head))
            return
        jobs = tuple(check.job_id for check in checks if check.job_id is not None)
        self.keep(reruns=(*self.record.reruns, ci.head), rerun_jobs=jobs, ci=None, watched_since=self.ports.time.now())

    def _finish(self) -> None:
        """Green on the head that was watched, nobody else's commits, a Base branch that has not moved: ready."""
        self.still_ours()
        pull_request = self.record.pull_request
        if pull_request is None:
            raise AssertionError("a Run finishes with a pull request")
        tip = self.ports.workspace.sample_base(self.record.base)
        if not self.ports.workspace.contains(tip) and self._another_round():
            return
        if self.ports.github.mergeable(pull_request.number) is False:
            raise RunFailed("base_moving", f"CI passed, but `{self.record.base}` moved on and conflicts once more")
        if pull_request.draft and self.config.draft == "auto":
            if self.ports.github.mark_ready(pull_request.number):
                pull_request = replace(pull_request, draft=False)
                self.keep(pull_request=pull_request)
            else:
                self.note("The token may not mark a pull request ready: it is still a draft.")
        self._ask_for_review(pull_request.number)
        self.keep(outcome=self._merged(pull_request.number))

    # ── small things ────────────────────────────────────────────────────────────────────────────────────────────

    def _parks_for_ci(self) -> bool:
        if self.config.wait != "park":
            return False
        if not self.is_swept():
            self.note("`wait: park` needs a workflow with `command: sweep` on the Base branch; CI was waited for here.")
            return False
        return True

    def _another_round(self) -> bool:
        """Whether the Base branch's move is met with another round; bounded, since a busy branch would never let a Run
        end.
        """
        if self.record.base_moves >= MAX_BASE_MOVES:
            self.note(f"`{self.record.base}` kept moving; its commit {self.record.round_base[:10]} is merged.")
            return False
        self.keep(base_moves=self.record.base_moves + 1, round_base="")
        return True

    def _ask_for_review(self, number: int) -> None:
        for wanted in self.config.reviewers:
            login = self.record.trigger.requested_by if wanted == "labeller" else wanted
            if not self.ports.github.request_review(number, login):
                self.note(f"GitHub did not take {login} as a reviewer.")

    def _merged(self, number: int) -> Outcome:
        """Merge the very head that was watched; a refusal leaves the pull request ready for a person."""
        if self.config.merge == "never":
            return Outcome.READY
        refusal = self.ports.github.merge(number, method=self.config.merge, head=self.record.pushed)
        if not refusal:
            return Outcome.MERGED
        self.note(f"GitHub did not merge it: {refusal}")
        return Outcome.READY
