"""The Proof: what the program itself runs before CI is asked, and what of it a Repair has to mend.

The named test on the base commit, where it has to fail; on the head, where it has to pass; and `check-command`. What
was run for the same commit, files and command in this Run is not run again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.difference import added_names, kind_of, other_tests
from bot.ports import FileChange, TreeEntry
from bot.progress import Progress
from bot.proof.claim import tracked
from bot.proof.facts import Claim, Proof, Result, Trial, Verdict
from bot.proof.judge import judge, needs_again, needs_before_with_tests
from bot.proof.trial import trial_of
from bot.record import Check, CheckState, Evidence, Proving
from bot.repetition import fingerprint, repeats
from bot.steps import Step
from bot.suspicion import about_the_named_test

MINUTES = 15.0
"""Planned minutes that the named test may take, on each commit."""
NAMED_TEST = "the named test"
CHECK_COMMAND = "check-command"
_TEXT = 256 * 1024
"""Bytes of a named file that are looked at."""
_FILES = frozenset({"100644", "100755"})
"""Modes of regular files."""


class Prover:
    """Holds the Trials of one Run."""

    def __init__(self, run: Progress) -> None:
        """`run` is taken further by the step."""
        self._run = run

    def prove(self) -> None:
        """The Proof of the head as it is now. Raises `Cancelled`."""
        run, known = self._run, self._run.record.proof
        if run.config.proof == "off":
            run.keep(proving=Proving.DONE)
            return
        base, head = run.record.round_base, run.record.head
        changes = run.ports.workspace.changed(base, head)
        proof = self._with_check(self._named_test(base, head, changes))
        run.worked = True
        if known is not None and known.verdict is Verdict.PROVED and proof.verdict is not Verdict.PROVED:
            run.note(f"The Proof held on {known.head[:10]} and does not on {head[:10]}: {proof.why}")
        run.keep(proof=proof, kind=str(kind_of(changes)))
        run.keep(proving=Proving.RED if self._wants_repair(proof) else Proving.DONE)

    # ── the named test ──────────────────────────────────────────────────────────────────────────────────────────

    def _named_test(self, base: str, head: str, changes: Sequence[FileChange]) -> Proof:
        record, tree = self._run.record, self._run.ports.tree
        at_head = _regular(tree.entries(head))
        claim, refused = record.claim, record.claim_refused
        if claim is not None and (refused := tracked(claim, at_head)):
            claim = None
        asked = _Asked(base, head, claim, refused, record.claimed_by, added_names(changes))
        if claim is None:
            return asked.judged()
        at_base = _regular(tree.entries(base))
        unchanged = all(at_base.get(path) == at_head[path] for path in claim.files)
        others = other_tests(changes, claim.files)
        before, with_tests = self._before(base, claim, others)
        after = self._try(head, claim.command, claim.files)
        again = self._try(head, claim.command, claim.files) if needs_again(after) else None
        proof = asked.judged(before, with_tests, after, again, unchanged=unchanged)
        texts = self._texts([at_head[path] for path in claim.files])
        return replace(proof, suspicions=about_the_named_test(claim, texts, changes, proof))

    def _before(self, base: str, claim: Claim, others: Sequence[str]) -> tuple[Trial, Trial | None]:
        """The named files laid over the base commit; and, where that fails, with the diff's other test files too."""
        known = self._known(base, claim, others)
        if known is not None and known.before is not None and known.before.result is not Result.NOT_RUN:
            return known.before, known.before_with_tests
        before = self._try(base, claim.command, claim.files, claim.files)
        if not others or not needs_before_with_tests(before):
            return before, None
        return before, self._try(base, claim.command, claim.files, (*claim.files, *others))

    def _known(self, base: str, claim: Claim, others: Sequence[str]) -> Proof | None:
        """The Proof before, where it says what these very files do on this base commit."""
        known, head = self._run.record.proof, self._run.record.head
        if known is None or (known.base, known.claim) != (base, claim):
            return None
        tree, laid_over = self._run.ports.tree, (*claim.files, *others)
        then, now = _regular(tree.entries(known.head)), _regular(tree.entries(head))
        return known if all(then.get(path) == now.get(path) for path in laid_over) else None

    def _texts(self, entries: Sequence[TreeEntry]) -> dict[str, str]:
        found = self._run.ports.tree.contents(entries, _TEXT)
        pairs = zip(entries, found, strict=True)
        return {entry.path: text.decode("utf-8", "replace") for entry, text in pairs if text is not None}

    # ── the check command ───────────────────────────────────────────────────────────────────────────────────────

    def _with_check(self, proof: Proof) -> Proof:
        """`check-command` on the head and, if it is red there, on the base commit, where it may have been red too."""
        run, command = self._run, self._run.config.check_command
        if not command:
            return proof
        minutes = run.config.session_timeout_minutes
        proof = replace(proof, check=self._try(proof.head, command, minutes=minutes))
        if not proof.check_is_red:
            return proof
        known = run.record.proof
        if known is not None and known.base == proof.base and known.check_before is not None:
            return replace(proof, check_before=known.check_before)
        return replace(proof, check_before=self._try(proof.base, command, minutes=minutes))

    def _try(
        self, commit: str, command: str, files: Sequence[str] = (), over: Sequence[str] = (), minutes: float = MINUTES
    ) -> Trial:
        run = self._run
        run.ports.report.progress(run.record, Step.PROVE)
        ran = run.ports.trials.run(commit, command, laid_over=over, of=run.record.head, minutes=minutes)
        run.ports.cancel.check()
        return trial_of(commit, ran, files)

    # ── what follows from it ────────────────────────────────────────────────────────────────────────────────────

    def _wants_repair(self, proof: Proof) -> bool:
        """Before CI has cost anything, and as long as it may help: there are Repairs and money left, and no Repair has
        left the very same failure.
        """
        run, record = self._run, self._run.record
        affordable = len(record.repairs) < record.max_repairs and record.cost_usd < run.config.max_cost_usd
        if not proof.is_red or record.waits_for_ci or not affordable:
            return False
        done = tuple(repair for repair in record.repairs if not repair.interrupted)
        return not repeats(done, fingerprint(red_of(proof)), run.config.repeat_limit)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be proved."""

    base: str
    head: str
    claim: Claim | None
    refused: str
    named_by: str
    added: Collection[str]

    def judged(
        self,
        before: Trial | None = None,
        before_with_tests: Trial | None = None,
        after: Trial | None = None,
        again: Trial | None = None,
        *,
        unchanged: bool = False,
    ) -> Proof:
        """What these Trials show."""
        return judge(
            base=self.base,
            head=self.head,
            claim=self.claim,
            refused=self.refused,
            named_by=self.named_by,
            before=before,
            before_with_tests=before_with_tests,
            after=after,
            again=again,
            added=self.added,
            unchanged=unchanged,
        )


def red_of(proof: Proof) -> tuple[Evidence, ...]:
    """What a Repair has to mend, with what was seen of it."""
    found = []
    if proof.verdict is Verdict.FAILS_AFTER and proof.claim is not None:
        trials = [trial for trial in (proof.again, proof.after) if trial is not None]
        found.append(_evidence(NAMED_TEST, proof.claim.command, trials[0]))
    if proof.check_is_red and proof.check is not None:
        found.append(_evidence(CHECK_COMMAND, "", proof.check))
    return tuple(found)


def _evidence(name: str, step: str, trial: Trial) -> Evidence:
    check = Check(name, "nightjar", "", CheckState.FAILED, "failure", "")
    return Evidence(check, step, trial.output or trial.why)


def _regular(entries: Sequence[TreeEntry]) -> dict[str, TreeEntry]:
    """Regular files by path: no links, no submodules."""
    return {entry.path: entry for entry in entries if entry.mode in _FILES}
