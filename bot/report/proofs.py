"""What the program itself ran and what that shows, in words: one line, a heading, the rows of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from bot.difference import Kind
from bot.guard import fenced, shorten
from bot.proof.facts import Proof, Result, Trial, Verdict
from bot.record import Proving, Record
from bot.report import words

_WORDS = {
    Verdict.PROVED: "Proved",
    Verdict.PASSES_BEFORE_TOO: "Not proved",
    Verdict.FAILS_AFTER: "Fails after",
    Verdict.COULD_NOT_RUN: "Could not be run",
    Verdict.NOT_NAMED: "Nothing proves this",
}
_RESULTS = {
    Result.PASSED: "passed",
    Result.FAILED: "failed",
    Result.NOT_LOADED: "could not load",
    Result.NOT_RUN: "did not run",
}
_ONLY = {
    Kind.TESTS: "only tests were changed",
    Kind.DOCUMENTATION: "only documentation was changed",
}
_OUTPUT = 2_000
_COMMAND = 1_000
_FILES = 10


@dataclass(frozen=True, slots=True)
class Row:
    """One Trial in the table; inert Markdown, fit for its cells."""

    name: str
    commit: str
    result: str
    exit_code: str
    lasted: str
    told_by: str


@dataclass(frozen=True, slots=True)
class Printed:
    """What a Trial printed, as a code block."""

    title: str
    block: str


def step(record: Record) -> str:
    """The step of the checklist; "" for a Run that proves nothing."""
    if record.proof is None:
        return "" if record.proving is Proving.DONE else "Prove"
    return f"Prove. {told(record)}"


def told(record: Record) -> str:
    """What is proved, in one sentence; "" where nothing was looked at."""
    if record.proof is None:
        return ""
    return words.sentence(f"{_WORDS[record.proof.verdict]}: {'; '.join(_clauses(record.proof, record))}")


def heading(record: Record) -> str:
    """The same as the line that a pull request opens with."""
    if record.proof is None:
        return ""
    said = (words.sentence(clause[:1].upper() + clause[1:]) for clause in _clauses(record.proof, record))
    return f"**{_WORDS[record.proof.verdict]}.** {' '.join(said)}"


def rows(record: Record) -> tuple[Row, ...]:
    """The Trials, in the order in which they tell the story."""
    found = record.proof
    if found is None:
        return ()
    trials = (
        ("before", found.before),
        ("before, with the other tests", found.before_with_tests),
        ("after", found.after),
        ("after, again", found.again),
        ("`check-command` after", found.check),
        ("`check-command` before", found.check_before),
    )
    return tuple(_row(name, trial) for name, trial in trials if trial is not None)


def what_was_run(record: Record) -> str:
    """Which files were run, linked where they are on GitHub, and the command; "" where no test was named."""
    found = record.proof
    if found is None or found.claim is None:
        return ""
    shown = [words.link(words.name(path), _url(record, found.head, path)) for path in found.claim.files[:_FILES]]
    more = f" and {len(found.claim.files) - _FILES} more" if len(found.claim.files) > _FILES else ""
    named_by = f", which the Session {words.name(found.named_by)} named" if found.named_by else ""
    command = fenced(shorten(found.claim.command, _COMMAND), "sh")
    return f"Nightjar itself ran {', '.join(shown)}{more}{named_by}, with this command:\n\n{command}"


def printed(record: Record) -> tuple[Printed, ...]:
    """What a reviewer may want to read: why it failed before, or what is wrong now."""
    found = record.proof
    if found is None:
        return ()
    bad = [
        ("before", found.before_with_tests or found.before),
        ("after", found.again if found.flaky else found.after),
        ("by check-command", found.check),
    ]
    return tuple(
        Printed(f"What was printed {name}", fenced(shorten(trial.output.strip(), _OUTPUT, "start")))
        for name, trial in bad
        if trial is not None and trial.result is not Result.PASSED and trial.output.strip()
    )


def _clauses(found: Proof, record: Record) -> list[str]:
    """The facts, each a clause."""
    only = next((said for kind, said in _ONLY.items() if record.kind == kind), "")
    verdict = [_why(found, record)]
    said = verdict if found.verdict is Verdict.PROVED or not only else [only, *verdict]
    if found.flaky:
        said.append("the named test is flaky")
    said += _check(found)
    if found.head != record.head:
        said.append(f"that is of commit {words.commit(found.head)}, and {words.commit(record.head)} came later")
    return said


def _why(found: Proof, record: Record) -> str:
    if found.verdict is Verdict.PROVED:
        return _proved(found)
    refused = record.claim_refused or (record.claim is not None and found.claim is None)
    if found.verdict is Verdict.NOT_NAMED and refused:
        return f"what the Session named is no test that can be run: {words.line(found.why)}"
    return words.line(found.why)


def _proved(found: Proof) -> str:
    if not found.feature:
        return "the named test fails before this change and passes after it"
    before = found.before_with_tests or found.before
    could_not = "could not load" if before is not None and before.result is Result.NOT_LOADED else "failed"
    why = f"because {words.name(found.feature)} was not there, which this change adds"
    return f"before, the named test {could_not} {why}; after, it passes"


def _check(found: Proof) -> list[str]:
    """What `check-command` says."""
    if found.check is None:
        return []
    if found.check.result is Result.PASSED:
        return ["`check-command` passes"]
    if found.check_is_red:
        return [f"`check-command` is red ({words.line(found.check.why)})"]
    return ["`check-command` is red on the base too, and left alone"]


def _row(name: str, trial: Trial) -> Row:
    return Row(
        name=name,
        commit=words.commit(trial.commit),
        result=_RESULTS[trial.result],
        exit_code="none" if trial.exit_code is None else str(trial.exit_code),
        lasted=f"{trial.seconds:.1f} s" if trial.seconds < 10 else words.lasted(trial.seconds),
        told_by=_cell(f"{trial.told_by}: {trial.why}" if trial.told_by else trial.why),
    )


def _cell(text: str) -> str:
    """A stranger's text in a table: nothing in it ends the cell."""
    return re.sub(r"\\*\|", r"\\|", words.line(text))


def _url(record: Record, commit: str, path: str) -> str:
    """A file's page at a commit; "" where it cannot be told, or where the commit is not on GitHub."""
    where = words.repository_url(record.trigger)
    return f"{where}/blob/{commit}/{quote(path)}" if where and record.pushed else ""
