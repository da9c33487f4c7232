"""From a Record to Markdown: pure functions over the templates beside this module.

Whatever a stranger wrote passes `bot.guard` on its way into a template (`words.name`, `words.line`, `inert`,
`fenced`). A body has at most `BODY_LIMIT` characters after markup; what has to give way first is the evidence, and
never the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from bot.failures import CATALOGUE, failure
from bot.guard import clean_commit_text, fenced, inert, shorten
from bot.record import CiState, Outcome, Record, RepairEntry
from bot.report import proofs, words
from bot.report.timeline import timeline

if TYPE_CHECKING:
    from jinja2 import Environment

BODY_LIMIT = 65_536
"""Characters that GitHub takes in a comment or a pull request's body."""
TITLE_LIMIT = 256
_SUMMARY_EVIDENCE = 100_000
"""Characters, of up to four bytes each: a summary that is cut has an end that nobody chose."""
_NOTE_LIMIT = 2_000
_MANY = (40, 12, 4, 1)
"""So many Sessions, Repairs and notes are listed one by one, the newest: the first number with which a body fits."""


@dataclass(frozen=True, slots=True)
class ShownProfile:
    """Which profile of the settings file the Run has: its label, the settings that count, and those that an input goes
    before.
    """

    label: str
    names: tuple[str, ...]
    overridden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a Run, as people are told."""

    max_repairs: int
    max_cost_usd: float
    run_timeout_minutes: float
    session_timeout_minutes: float
    profile: ShownProfile | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the checklist."""

    done: bool
    text: str


def marker(kind: str, record: Record) -> str:
    """The hidden line by which Nightjar knows a comment of its own again."""
    return f"<!-- nightjar:{kind} run={record.trigger.run_id} attempt={record.trigger.run_attempt} -->"


def tracking_comment(record: Record, limits: Limits, doing: str, now: datetime) -> str:
    """The Tracking comment: what happens, what is done, what it cost, what bounds it. `now` in UTC."""
    return _listing_less(
        lambda many: _render(
            "tracking",
            many=many,
            record=record,
            limits=limits,
            doing=doing,
            steps=checklist(record, limits),
            now=f"{now:%Y-%m-%d %H:%M} UTC",
            marker=marker("tracking", record),
        )
    )


def checklist(record: Record, limits: Limits) -> tuple[Step, ...]:
    """The Run's steps with what the Record says of each."""
    ci = record.ci
    passed = ci is not None and ci.state in {CiState.GREEN, CiState.NONE_EXPECTED}
    proving = proofs.step(record)
    return (
        Step(record.claimed, "Claim the issue"),
        Step(bool(record.head), f"Prepare the workspace on {words.name(record.base)}"),
        Step(record.implemented, "Implement"),
        *([Step(record.proof is not None, proving)] if proving else []),
        Step(
            bool(record.pushed),
            f"Push {words.branch(record)}" + (f" at {words.commit(record.pushed)}" if record.pushed else ""),
        ),
        Step(record.pull_request is not None, f"Open the pull request {words.pull_request(record)}".rstrip()),
        Step(passed, f"Watch CI. {words.ci(ci)}" if ci else "Watch CI"),
        Step(passed, f"Repair what is red: {len(record.repairs)} of at most {limits.max_repairs}"),
        Step(record.outcome in {Outcome.READY, Outcome.MERGED}, "Finish"),
    )


def ending_comment(record: Record, page: str = "") -> str:
    """The comment that says how the Run ended; it mentions who asked, because edits notify nobody. `page`: where the
    Run page is.
    """
    return _listing_less(
        lambda many: _with_evidence(lambda evidence: _ending(record, evidence, many, mention=True, page=page), record)
    )


def repair_comment(record: Record, repair: RepairEntry) -> str:
    """The comment on the pull request about one Repair."""
    summary = inert(repair.summary.strip(), _NOTE_LIMIT)
    quoted = "\n".join(f"> {line}".rstrip() for line in summary.split("\n")) if summary else ""
    return _render(
        "repair", record=record, repair=repair, quoted=quoted, marker=marker(f"repair-{repair.number}", record)
    )


def pull_request_title(record: Record) -> str:
    """One line of at most `TITLE_LIMIT` characters that skips no CI and closes nothing."""
    for text in (record.title, record.trigger.title):
        title = " ".join(clean_commit_text(text).split())
        if title:
            return shorten(title, TITLE_LIMIT, "end")
    return f"Changes for issue {record.trigger.issue}"


def pull_request_body(record: Record) -> str:
    """What the Session handed over, made inert; the program's own closing line; a fold with what it took."""
    issue = record.trigger.issue
    own_line = rf"^[ \t]*(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?[ \t]+#{issue}\.?[ \t]*(?:\n|\Z)"
    body = re.sub(own_line, "", record.body, flags=re.IGNORECASE | re.MULTILINE).strip()

    def around(body: str) -> str:
        return _listing_less(lambda many: _render("pull_request", many=many, record=record, body=body))

    return around(inert(body, BODY_LIMIT - len(around(""))).strip())


def step_summary(record: Record, doing: str, now: datetime, page: str = "") -> str:
    """The page under the job: the ending, or what is waited for (`doing`); the timeline up to `now` (UTC); Sessions.
    `page`: where the Run page is.
    """
    evidence = _evidence(record, _SUMMARY_EVIDENCE)
    many = _MANY[0]
    ending = _ending(record, evidence, many, mention=False).strip()
    drawn = timeline(record, now, many)
    return _render("summary", many=many, record=record, ending=ending, doing=doing, timeline=drawn, page=page)


def failures_page() -> str:
    """`docs/failures.md`."""
    return _render("failures", failures=tuple(CATALOGUE.values()))


def _ending(record: Record, evidence: str, many: int, *, mention: bool, page: str = "") -> str:
    """The ending with so much evidence and lists of so many."""
    good = record.outcome in {Outcome.READY, Outcome.MERGED}
    who = words.mention(record.trigger.requested_by) if mention else ""
    known = failure(record.failure.code) if record.failure else None
    template = "ready" if good else "stopped"
    return _render(
        template,
        many=many,
        record=record,
        who=who,
        failure=known,
        evidence=evidence,
        page=page,
        marker=marker("ending", record) if mention else "",
    )


def _listing_less(render: Callable[[int], str]) -> str:
    """The rendering with the longest lists that fit."""
    for many in _MANY:
        body = render(many)
        if len(body) <= BODY_LIMIT:
            break
    return body


def _with_evidence(render: Callable[[str], str], record: Record) -> str:
    """The rendering with as much evidence as fits."""
    budget = BODY_LIMIT
    while len(body := render(_evidence(record, budget))) > BODY_LIMIT and budget > 0:
        budget -= len(body) - BODY_LIMIT
    return body


def _evidence(record: Record, limit: int) -> str:
    """The Failure's evidence as a code block; "" without any, or without room for it."""
    evidence = record.failure.evidence.strip() if record.failure else ""
    return fenced(shorten(evidence, limit)) if evidence and limit > 0 else ""


def filled(file: str, **values: object) -> str:
    """A template's file, rendered."""
    return _environment().get_template(file).render(**values)


def _render(template: str, **values: object) -> str:
    """One page of Markdown, with one line end at its end."""
    return filled(f"{template}.md.j2", **values).strip() + "\n"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # a command that renders nothing does not pay for it

    environment = Environment(
        loader=PackageLoader("bot.report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # this is Markdown: `bot.guard` does what escaping does for HTML
    )
    environment.globals.update({"words": words, "proofs": proofs})
    return environment
