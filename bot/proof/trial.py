"""What one run of the named test means. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.proof.facts import Ran, Result, Trial
from bot.proof.mapping import part, runs_others_only
from bot.proof.missing import missing_name
from bot.proof.reports.reading import read_report
from bot.proof.reports.report import Case, Report
from bot.proof.words import code, counted, listed, plain

_OUTPUT = 3000
_FAILED = 20
_NOT_COMPILED = re.compile(
    r"^error: could not compile|\bCOMPILATION ERROR\b|^error\[E\d{4}\]|error: cannot find symbol|error TS\d{4}:|"
    r"Cannot find (?:module|package) '|Failed to resolve import |does not provide an export named '|"
    r"ERR_MODULE_NOT_FOUND",
    re.MULTILINE,
)
# The program that the command names starts, and does not find what it was given to run.
_NO_COMMAND = re.compile(
    r"^make: \*\*\* No rule to make target|[Mm]issing script: |Could not read package\.json|requireStack: \[\]|"
    r"^\S*python[\d.]*: (?:No module named |can't open file )|^\S*sh: (?:0: )?cannot open |^error: no such command: |"
    r"^error: no test target named ",
    re.MULTILINE,
)
_SHELL = r"(?:line )?\d+: .*(?:not found|No such file(?: or directory)?|Permission denied)$"


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a run comes to."""

    result: Result
    why: str
    failed: tuple[str, ...] = ()
    passed: int = 0
    missing: str = ""


def trial_of(commit: str, ran: Ran, files: Sequence[str] = ()) -> Trial:
    """The meaning of one run on `commit`; of the tests that are reported, those in `files` decide where it can be told
    which they are. Without `files`, as for `check-command`, exit code 0 is a pass whatever was reported.
    """
    report = None if ran.setup_failed or ran.exit_code is None else read_report(ran)
    meaning = _meaning(ran, report, files)
    return Trial(
        commit=commit,
        result=meaning.result,
        exit_code=None if ran.setup_failed else ran.exit_code,
        seconds=ran.seconds,
        why=meaning.why,
        failed=meaning.failed,
        passed=meaning.passed,
        told_by=report.told_by if report else "",
        missing=meaning.missing,
        output=ran.output[-_OUTPUT:],
    )


def _meaning(ran: Ran, report: Report | None, files: Sequence[str]) -> _Meaning:
    if ran.setup_failed:
        return _Meaning(Result.NOT_RUN, f"`setup` failed: {plain(ran.setup_failed)}")
    if ran.exit_code is None:
        return _Meaning(Result.NOT_RUN, f"it was stopped after {counted(round(ran.seconds), 'second')}")
    if ran.exit_code < 0:
        return _Meaning(Result.NOT_RUN, f"it was killed by signal {-ran.exit_code}")
    if report is None or (ran.exit_code in (126, 127) and not report.failed):
        return _by_exit_code(ran, ran.exit_code, files)
    if ran.exit_code == 0 and not files:
        return _Meaning(Result.PASSED, f"exit code 0, {counted(len(report.passed), 'test')} passed")
    return _by_report(ran, ran.exit_code, report, files)


def _by_exit_code(ran: Ran, exit_code: int, files: Sequence[str]) -> _Meaning:
    if exit_code == 0:
        return _Meaning(Result.PASSED, "exit code 0 alone")
    missing = missing_name(ran.output, files)
    if exit_code in (126, 127):
        if _in_named_file(ran.output, files):
            return _Meaning(Result.NOT_LOADED, f"{code(missing)} was not found by the named file", missing=missing)
        why = "the command was not found" if exit_code == 127 else "the command could not be executed"
        return _Meaning(Result.NOT_RUN, f"{why} (exit code {exit_code})", missing=missing)
    if 128 < exit_code < 160:
        return _Meaning(Result.NOT_RUN, f"it was killed by signal {exit_code - 128}")
    if _NO_COMMAND.search(ran.output):
        return _Meaning(Result.NOT_RUN, f"what the command is to run was not found (exit code {exit_code})")
    if _NOT_COMPILED.search(ran.output):
        return _Meaning(Result.NOT_LOADED, f"it could not be built (exit code {exit_code})", missing=missing)
    return _Meaning(Result.FAILED, f"exit code {exit_code} alone", missing=missing)


def _in_named_file(output: str, files: Sequence[str]) -> bool:
    """Whether a shell says that something is missing at a line of a named file, not for the command itself."""
    return any(re.search(rf"(?:^|[\s/]){re.escape(path)}: {_SHELL}", output, re.MULTILINE) for path in files)


def _by_report(ran: Ran, exit_code: int, report: Report, files: Sequence[str]) -> _Meaning:
    if not report.cases:
        return _nothing(ran, exit_code, report, files)
    if runs_others_only(report, files):
        return _Meaning(
            Result.NOT_RUN, f"none of the {counted(len(report.cases), 'test')} that ran is in {listed(files)}"
        )
    mine, others = part(report, files)
    broken_others = (*others.failed, *others.not_loaded, *others.errors)
    too = f"; {counted(len(broken_others), 'other test')} failed too" if broken_others else ""
    if mine.failed:
        return _failed(mine, exit_code, files, too)
    if mine.not_loaded or mine.errors:
        return _unready(mine, files, too)
    if report.unfinished:
        return _Meaning(Result.NOT_RUN, report.unfinished, passed=len(mine.passed))
    if not mine.passed:
        return _Meaning(Result.NOT_RUN, f"all of {counted(len(mine.skipped), 'test')} skipped")
    return _well(mine, exit_code, broken_others)


def _failed(mine: Report, exit_code: int, files: Sequence[str], too: str) -> _Meaning:
    names = _names(mine.failed, files)
    of_all = counted(len(mine.passed) + len(mine.failed), "test")
    told = f": {listed(names)}" if names else ""
    silent = ", though the exit code is 0" if exit_code == 0 else ""
    why = f"{len(mine.failed)} of {of_all} failed{told}{silent}{too}"
    return _Meaning(Result.FAILED, why, names, len(mine.passed), _missing(mine.failed, files))


def _nothing(ran: Ran, exit_code: int, report: Report, files: Sequence[str]) -> _Meaning:
    """A runner that tells of no test at all."""
    if report.unfinished or exit_code == 0:
        return _Meaning(Result.NOT_RUN, report.unfinished or "no tests were run (exit code 0)")
    if report.short:
        why = f"{report.short} (exit code {exit_code})"
        return _Meaning(Result.FAILED, why, missing=missing_name(ran.output, files))
    if _NOT_COMPILED.search(ran.output):
        return _by_exit_code(ran, exit_code, files)
    return _Meaning(Result.NOT_RUN, f"no tests were run (exit code {exit_code})")


def _unready(mine: Report, files: Sequence[str], too: str) -> _Meaning:
    """Tests that could not be loaded, or whose preparation failed: for a lack of something that is named, or not."""
    broken = (*mine.not_loaded, *mine.errors)
    names, missing = _names(broken, files), _missing(broken, files)
    why = (
        f"{listed(names)} could not be loaded" if mine.not_loaded else f"set-up or tear-down of {listed(names)} failed"
    )
    lack = f": {code(missing)} is missing" if missing else ""
    # Without a name for what it lacks, a failing preparation says nothing of the tests.
    result = Result.NOT_LOADED if mine.not_loaded or missing else Result.NOT_RUN
    return _Meaning(result, f"{why}{lack}{too}", names, len(mine.passed), missing)


def _well(mine: Report, exit_code: int, broken_others: Sequence[Case]) -> _Meaning:
    """Nothing named failed, and something passed."""
    passed, skipped = len(mine.passed), len(mine.skipped)
    if mine.short:
        return _Meaning(Result.FAILED, f"{mine.short} (exit code {exit_code})", passed=passed)
    told = f"{counted(passed, 'test')} passed" + (f", {skipped} skipped" if skipped else "")
    if broken_others:
        named_others = listed(_names(broken_others, ()))
        return _Meaning(Result.PASSED, f"{told}; other tests failed, not the named ones: {named_others}", passed=passed)
    if exit_code:
        return _Meaning(Result.FAILED, f"{told} and none failed, but the exit code is {exit_code}", passed=passed)
    return _Meaning(Result.PASSED, told, passed=passed)


def _names(cases: Sequence[Case], files: Sequence[str]) -> tuple[str, ...]:
    """The names of cases, inert and bounded; a whole file is called as it was named, wherever the tree is."""
    told = [case.name or case.file for case in cases if case.name or case.file]
    short = [next((path for path in files if name.endswith(f"/{path}")), name) for name in told]
    return tuple(dict.fromkeys(map(plain, short)))[:_FAILED]


def _missing(cases: Sequence[Case], files: Sequence[str]) -> str:
    """What they lack; "" when one of them failed for another reason, its own."""
    lacks = [missing_name(case.message, files) for case in cases[:_FAILED]]
    return lacks[0] if lacks and all(lacks) else ""
