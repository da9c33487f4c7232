"""The verdict: what the Trials of the named test show together. Pure."""

from __future__ import annotations

from collections.abc import Collection

from bot.proof.facts import Claim, Proof, Result, Trial, Verdict
from bot.proof.words import code, counted

_FAST = 60.0
"""Seconds: a Trial on the head that was no slower is run again."""


def needs_before_with_tests(before: Trial) -> bool:
    """Whether the Trial on the base must be made again with the diff's other test files: it did not pass, and that
    could be for the lack of them.
    """
    return before.result in (Result.FAILED, Result.NOT_LOADED)


def needs_again(after: Trial) -> bool:
    """Whether the Trial on the head is to be made a second time, to see whether the test is flaky."""
    return after.result is Result.PASSED and after.seconds <= _FAST


def judge(  # noqa: PLR0913 every fact by its name
    *,
    base: str,
    head: str,
    claim: Claim | None,
    refused: str,
    named_by: str,
    before: Trial | None,
    before_with_tests: Trial | None,
    after: Trial | None,
    again: Trial | None,
    added: Collection[str],
    unchanged: bool,
) -> Proof:
    """What the Trials show.

    Args:
        refused: why a claim was not taken, a clause; "" when none was refused.
        added: names that the diff adds outside test files; of new files also their names, without folders and ending.
        unchanged: whether the named files are the same on base and head.
    """
    if claim is None or refused:
        verdict, why, feature = Verdict.NOT_NAMED, refused or "no test was named", ""
    else:
        verdict, why, feature = _decide(before, before_with_tests, after, again, added, unchanged)
    return Proof(
        base=base,
        head=head,
        verdict=verdict,
        why=why,
        claim=claim,
        named_by=named_by,
        before=before,
        before_with_tests=before_with_tests,
        after=after,
        again=again,
        feature=feature,
    )


def _decide(
    before: Trial | None,
    before_with_tests: Trial | None,
    after: Trial | None,
    again: Trial | None,
    added: Collection[str],
    unchanged: bool,
) -> tuple[Verdict, str, str]:
    """Verdict, why, and the added name that a proved feature needs; the head first, since a red one needs work."""
    if red := _red_head(before, after, again):
        return Verdict.FAILS_AFTER, red, ""
    if after is None or after.result is Result.NOT_RUN:
        return Verdict.COULD_NOT_RUN, f"on the head, {after.why}" if after else "it was not run on the head", ""
    if before is None or before.result is Result.NOT_RUN:
        return Verdict.COULD_NOT_RUN, f"on the base, {before.why}" if before else "it was not run on the base", ""
    if before.result is Result.PASSED or _passed(before_with_tests):
        return Verdict.PASSES_BEFORE_TOO, _passes_before(before, unchanged), ""
    return _proof(before_with_tests or before, before_with_tests is not None, after, again, added)


def _passed(trial: Trial | None) -> bool:
    return trial is not None and trial.result is Result.PASSED


def _red_head(before: Trial | None, after: Trial | None, again: Trial | None) -> str:
    """Why the head is red; "" when it is not."""
    if after is None:
        return ""
    if after.result in (Result.FAILED, Result.NOT_LOADED):
        passed_before = "; it passed before" if _passed(before) else ""
        return f"on the head, {after.why}{passed_before}"
    if after.result is Result.PASSED and again is not None and again.result is not Result.PASSED:
        return f"it passed once on the head and then did not: {again.why}"
    return ""


def _passes_before(before: Trial, unchanged: bool) -> str:
    if before.result is not Result.PASSED:
        return "it passes before too, once the diff's other test files are there: the code changed nothing for it"
    if unchanged:
        return (
            "the named tests, unchanged, pass before and after: that shows that what they cover still works, not that "
            "something new does"
        )
    return f"it passes before too ({before.why})"


def _proof(
    before: Trial, with_tests: bool, after: Trial, again: Trial | None, added: Collection[str]
) -> tuple[Verdict, str, str]:
    """What a Trial on the base that did not pass shows, the head being green."""
    where = "on the base, with the diff's other test files" if with_tests else "on the base"
    if before.result is Result.NOT_RUN:
        return Verdict.COULD_NOT_RUN, f"{where}, {before.why}", ""
    lacking = before.result is Result.NOT_LOADED or before.missing != ""
    if lacking and (not before.missing or before.missing not in added):
        what = f"; {code(before.missing)} is nothing that the diff adds" if before.missing else ""
        return Verdict.COULD_NOT_RUN, f"{where}, {before.why}{what}", ""
    if before.told_by and after.told_by and after.passed <= before.passed:
        none = f"no more tests pass after ({counted(after.passed, 'test')}) than before"
        return Verdict.COULD_NOT_RUN, f"{none}: none that failed is seen to pass", ""
    twice = ", twice" if again is not None else ""
    fails = f"{code(before.missing)}, which the diff adds, is missing before" if lacking else f"before, {before.why}"
    return Verdict.PROVED, f"{fails}; after, {after.why}{twice}", before.missing if lacking else ""
