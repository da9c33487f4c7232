"""The steps of a Run that hold Sessions: the first one, and each Repair.

What a Session may cost is known before it starts, what it wrote is on the remote before anything is done with it, and
facts alone judge it: commits, ancestors, what CI says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.cancel import Cancelled
from bot.difference import Kind, kind_of
from bot.failures import RunFailed, UsageLimitReached
from bot.kinds import is_on
from bot.parking import Park
from bot.ports import Delivered, FileChange
from bot.progress import Progress
from bot.proving import red_of
from bot.record import Evidence, Proving, Record, RepairEntry, SessionEntry, WaitsFor
from bot.repetition import fingerprint, repeats
from bot.suspicion import closed_by_messages, protected, suspicions

PAUSED = "NIGHTJAR_PAUSED"
"""The repository's variable that stops new spend everywhere."""


class Working:
    """Holds the Sessions of one Run."""

    def __init__(self, run: Progress) -> None:
        """`run` is taken further by each step."""
        self._run = run

    def implement(self) -> None:
        """The first Session: `implement`, or `continue` where work is there already."""
        run, workspace = self._run, self._run.ports.workspace
        self._may_spend()
        before = run.record.head
        subjects = workspace.subjects() if run.record.continuation else ()
        left = self._hold(lambda: run.ports.sessions.implement(run.record, subjects, self._session_ended))
        head = workspace.collect(f"Work on issue #{run.record.trigger.issue}")
        run.keep(head=head)
        if not workspace.ahead():
            raise RunFailed("no_changes", _no_changes(run.record, workspace.left_out()))
        earlier = suspicions(workspace.changed(workspace.forked_at(), before)) if run.record.continuation else ()
        run.keep(suspicions=(*earlier, *self._looked_at(workspace.changed(before, head), before)))
        self._describe(left)
        self._claimed(left)
        run.keep(implemented=True)
        run.checkpoint()

    def _describe(self, left: Delivered) -> None:
        """Title and body from the Handover, else from the issue and the commits."""
        run = self._run
        if left.pull_request is not None:
            run.keep(title=left.pull_request.title, body=left.pull_request.body)
            return
        commits = "\n".join(f"- {subject}" for subject in run.ports.workspace.subjects())
        run.keep(title=run.record.trigger.title, body=commits)
        run.note("The session left no text for the pull request: title and body are Nightjar's own.")

    def _claimed(self, left: Delivered) -> None:
        """The test that the Session named; one that names none leaves what an earlier one has named."""
        if left.claim is not None or left.claim_refused:
            last = self._run.record.sessions[-1].name
            self._run.keep(claim=left.claim, claimed_by=last, claim_refused=left.claim_refused)

    def repair(self) -> None:
        """One Repair. It is counted before its Session starts, so that no crash makes it free."""
        run = self._run
        run.still_ours()
        self._may_spend()
        conflicts = run.record.conflicts
        request = run.record.requests[0] if run.record.requests and not conflicts else None
        of_proof = run.record.proving is Proving.RED and not conflicts and request is None
        evidence = [] if conflicts or request else self._evidence()
        mark = fingerprint(evidence) if evidence else ""
        red = conflicts or tuple(item.check.name for item in evidence)
        # One that the usage limit interrupted is taken up as what it was, and counts once.
        before = tuple(repair for repair in run.record.repairs if not repair.interrupted)
        number = len(before) + 1
        if mark and repeats(before, mark, run.config.repeat_limit):
            names = ", ".join(f"`{name}`" for name in red)
            tried = f"Repair {number - 1} changed the code, and the same failure came back: {names}"
            raise RunFailed("ci_repeats", tried, evidence[0].excerpt)
        entry = RepairEntry(
            *(number, red, run.record.head),
            conflict=bool(conflicts),
            proof=of_proof,
            fingerprint=mark,
            request=request,
        )
        run.keep(repairs=(*before, entry), requests=run.record.requests[1:] if request else run.record.requests)
        run.publish()
        left = self._hold(lambda: run.ports.sessions.repair(run.record, evidence, self._session_ended))
        head = run.ports.workspace.collect(f"Repair {number} for issue #{run.record.trigger.issue}")
        run.keep(head=head)
        self._repaired(entry, left, head)

    def _evidence(self) -> list[Evidence]:
        run = self._run
        if run.record.proving is Proving.RED and run.record.proof is not None:
            return list(red_of(run.record.proof))
        failed = run.record.ci.failed if run.record.ci is not None else ()
        return [run.ports.github.evidence(check) for check in failed]

    def _repaired(self, entry: RepairEntry, left: Delivered, head: str) -> None:
        """Facts judge the Repair: what it changed, and whether the base commit is merged now."""
        run, workspace = self._run, self._run.ports.workspace
        changes = workspace.changed(entry.before, head)
        run.keep_repair(after=head, files=tuple(change.path for change in changes), summary=left.note)
        run.keep_repair(suspicions=self._looked_at(changes, entry.before))
        run.checkpoint()
        merged = not entry.conflict or workspace.contains(run.record.round_base)
        # A changed head meets the Base branch as it is now, before it is pushed.
        run.keep(conflicts=(), round_base=run.record.round_base if merged and head == entry.before else "")
        if not entry.conflict and head == entry.before and run.record.ci is not None:
            run.keep_repair(ci=run.record.ci.state)
        self._claimed(left)
        if head != entry.before and kind_of(changes) is not Kind.DOCUMENTATION:
            run.keep(proving=Proving.DUE)
        elif entry.proof:
            run.keep(proving=Proving.DONE)
        pull_request = run.record.pull_request
        if pull_request is not None:
            run.record = run.ports.report.repaired(run.record)
            if run.record.repairs[-1].suspicions:
                run.tell_anew(pull_request)

    def _looked_at(self, changes: Sequence[FileChange], before: str) -> tuple[str, ...]:
        """What a reviewer should look at in a diff and in the messages of the commits after `before`. Raises
        `RunFailed` (`protected_path`) where that is set.
        """
        config = self._run.config
        paths = protected(changes, config.protected_paths)
        names = ", ".join(f"`{path}`" for path in paths)
        if paths and config.protected_paths_action == "refuse":
            raise RunFailed("protected_path", f"the session changed {names}, which `protected-paths` names")
        messages = self._run.ports.workspace.messages(before, self._run.record.head)
        shown = suspicions(changes) + closed_by_messages(messages, self._run.record.trigger.issue)
        return (f"protected: {names}", *shown) if paths else shown

    # ── what a Session takes ────────────────────────────────────────────────────────────────────────────────────

    def _hold(self, session: Callable[[], Delivered]) -> Delivered:
        """What the Session delivered. The usage limit parks the Run, with what the Session wrote until then."""
        run = self._run
        run.ports.sessions.make_ready()
        run.ports.cancel.check()
        try:
            left = session()
        except UsageLimitReached as reached:
            run.keep(head=run.ports.workspace.collect("nightjar: unfinished work (usage_limit)"))
            if not self._waits_for(reached.resets_at):
                raise
            last = run.record.repairs[-1] if run.record.repairs else None
            if last is not None and not last.after:
                run.keep_repair(interrupted=True)
                run.keep(requests=(*([last.request] if last.request else []), *run.record.requests))
            raise Park(WaitsFor.USAGE_LIMIT, reached.resets_at) from reached
        finally:
            run.worked = True
        for note in left.notes:
            run.note(note)
        return left

    def _session_ended(self, entry: SessionEntry) -> None:
        run = self._run
        resumes = run.record.resumes + entry.name.endswith("-resume")
        run.keep(sessions=(*run.record.sessions, entry), resumes=resumes)
        if entry.ended != "done":  # else the checkpoint follows at once
            run.publish()

    def _may_spend(self) -> None:
        """Raises `Park` when `NIGHTJAR_PAUSED` is set, or when a Session would not get its time on this runner."""
        run = self._run
        if run.config.paused or is_on(run.ports.workflows.variable(PAUSED)):
            if not run.is_swept():
                raise Cancelled(f"`{PAUSED}` is set, and no workflow sweeps: nothing would take the Run up again")
            raise Park(WaitsFor.UNPAUSED)
        wanted = min(run.config.session_timeout_minutes, run.config.run_timeout_minutes / 2)
        if run.worked and run.ports.time.minutes_left() < wanted:
            raise Park(WaitsFor.RUNNER)

    def _waits_for(self, reset: str) -> bool:
        """Whether the usage limit's reset is known, near enough, and something takes the Run up then."""
        run = self._run
        furthest = run.ports.time.after(run.config.usage_wait_minutes * 60)
        return bool(reset) and reset <= furthest and run.is_swept()


def _no_changes(record: Record, left_out: Sequence[str]) -> str:
    last = record.sessions[-1].words.strip() if record.sessions else ""
    said = f"; its last words: “{' '.join(last.split())[-500:]}”" if last else ""
    left = f"; left out: {'; '.join(left_out)}" if left_out else ""
    return f"the session ended without a change to the repository{left}{said}"
