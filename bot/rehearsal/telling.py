"""What the user is told: before the rehearsal starts, and at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bot.github.issue_text import IssueText
from bot.proof.facts import Result, Trial
from bot.rehearsal import words
from bot.rehearsal.ci import CiSeen
from bot.rehearsal.kept import DIFF, PAGE, pages_of
from bot.rehearsal.plan import Plan
from bot.rehearsal.script import FILE
from bot.rehearsal.source import Source
from bot.rehearsal.stage import Rehearsed
from bot.report.console import Console
from bot.sandbox.timeline import as_text, entries

_DIFF_LINES = 300
"""Lines of the diff that are shown; all of it is in a file."""
_WAITING = ("parked", "queued")


def beginning(issue: IssueText, source: Source, plan: Plan) -> list[str]:
    """What will happen, what it may cost, and what is no part of it."""
    begins = words.BEGINS.format(
        title=issue.title, repository=source.repository, base=source.base, commit=source.commit[:10]
    )
    return [begins, *(f"  left out\t{line}" for line in source.left_out), _limits(plan), *plan.ci.said]


def _limits(plan: Plan) -> str:
    if plan.scripted:
        return words.SCRIPTED.format(file=FILE)
    claude = plan.claude or words.INSTALLED.format(version=plan.config.claude_version)
    text = words.PAID if plan.key else words.PAID_OTHERWISE
    return text.format(claude=claude, variable=plan.key, cost=plan.config.max_cost_usd)


def on_base(ci: Sequence[CiSeen], *, ended: bool, minutes: float) -> Iterator[str]:
    """CI on the commit that everything starts from."""
    yield from (check.line for check in ci)
    if not ci:
        yield f"  none\t{words.NO_BASE_CI}"
    if not ended:
        yield words.BASE_LONG.format(minutes=minutes)


def show(console: Console, found: Rehearsed, plan: Plan, folder: Path) -> None:
    """Comments, diff, CI, and how it ended."""
    for title, number in pages_of(found):
        console.lines([""])
        for line in as_text(title, entries(found.repository, number)).rstrip("\n").split("\n"):
            console.lines([line.replace("\t", "    ")])
    section(console, [words.DIFF if found.diff else words.NO_DIFF])
    if found.diff:
        rows = found.diff.rstrip("\n").split("\n")
        console.verbatim("\n".join(rows[:_DIFF_LINES]))
        if len(rows) > _DIFF_LINES:
            console.lines([words.MORE.format(count=len(rows) - _DIFF_LINES, file=folder / DIFF)])
    section(console, _ci(found.ci, found.check))
    section(console, _ending(found, plan, folder))


def section(console: Console, lines: Iterable[str]) -> None:
    """Lines with space above them."""
    console.lines([""])
    console.lines([*lines])


def _ci(ci: Sequence[CiSeen], command: Trial | None) -> Iterator[str]:
    yield words.CI_HEAD
    yield from (check.line for check in ci)
    if command is not None:
        word = "ok" if command.result is Result.PASSED else "failure"
        yield words.CHECK_COMMAND.format(word=word, why=command.why)
    if not any(check.conclusion not in ("", "skipped") for check in ci):
        yield words.NO_CHECK
    left = [line for check in ci for line in check.unplayed]
    if left:
        yield words.UNPLAYED
        yield from left


def _ending(found: Rehearsed, plan: Plan, folder: Path) -> Iterator[str]:
    outputs = found.job.outputs
    outcome = outputs.get("outcome", "") or "failed"
    reason = " ".join(outputs.get("reason", "").split())
    yield (words.OUTCOME_WHY if reason else words.OUTCOME).format(outcome=outcome, reason=reason)
    if any(check.unplayed for check in found.ci):
        yield words.ONLY_PLAYED
    if outcome in _WAITING:
        yield words.PARKED
    if plan.scripted:
        yield words.SCRIPTED_AGAIN
    else:
        cost = outputs.get("cost-usd", "") or "0"
        yield words.COST.format(cost=cost, limit=plan.config.max_cost_usd, repairs=outputs.get("repairs", "") or "0")
    if (folder / PAGE).is_file():
        yield words.PAGE.format(path=folder / PAGE)
    yield words.KEPT.format(folder=folder)
