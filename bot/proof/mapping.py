"""Which of the reported tests are those of the named files. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.proof.reports.report import Case, Report

_PATH = re.compile(r"^[^\s:]+\.\w{1,5}$")
_DOTTED = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


def of_file(case: Case, path: str) -> bool:
    """Whether the case is told to be in the file at `path`: by a path, a dotted name, or Go's package."""
    place = case.file
    if path.endswith(".go"):
        folder = path.rpartition("/")[0]
        return bool(place) and (not folder or f"/{place}".endswith(f"/{folder}"))
    if "/" in place or _ending(place) == _ending(path):
        return _one_in_other(place.removeprefix("file://"), path)
    parts, stem = re.split(r"[.$]", place), path.rpartition(".")[0] or path
    names = stem.split("/")
    # The runner's root may be a folder of the tree, and its names then lack the first folders.
    return any(parts[: len(names) - at] == names[at:] for at in range(len(names)))


def part(report: Report, files: Sequence[str]) -> tuple[Report, Report]:
    """The report on the tests in `files`, and on the others; where none can be found there, all are the first."""
    inside = {case: any(of_file(case, path) for path in files) for case in report.cases}
    if not any(inside.values()):
        return report, Report(report.told_by)
    return _only(report, lambda case: inside[case]), _only(report, lambda case: not inside[case])


def _only(report: Report, wanted: Callable[[Case], bool]) -> Report:
    return replace(
        report,
        passed=tuple(filter(wanted, report.passed)),
        failed=tuple(filter(wanted, report.failed)),
        not_loaded=tuple(filter(wanted, report.not_loaded)),
        errors=tuple(filter(wanted, report.errors)),
        skipped=tuple(filter(wanted, report.skipped)),
    )


def runs_others_only(report: Report, files: Sequence[str]) -> bool:
    """Whether it is certain that no test of a named file ran, and others did: every one says where it is, in files of
    the kind that is named.
    """
    cases = (*report.passed, *report.failed, *report.skipped)
    if not cases or not files:
        return False
    endings = {_ending(path) for path in files}
    return not any(of_file(case, path) for case in report.cases for path in files) and all(
        (_PATH.match(case.file) and endings == {_ending(case.file)}) or (_DOTTED.match(case.file) and endings == {"py"})
        for case in cases
    )


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _one_in_other(one: str, other: str) -> bool:
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one.removeprefix('./')}")
