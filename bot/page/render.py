"""A Run → one HTML document: no network, no script, everything in it escaped, at most `LIMIT` bytes. Pure."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot.claude.facts import Opener
from bot.claude.told import Call, Happened, Said
from bot.failures import failure
from bot.guard import Redactor, shorten
from bot.page.fitting import fit
from bot.page.model import Told
from bot.page.rows import rows_of
from bot.page.texts import Gate
from bot.record import Outcome, Record
from bot.report import proofs, words
from bot.report.timeline import timeline

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LIMIT = 2_000_000
"""Bytes of a page."""
_ROOMS = (1_400_000, 600_000, 200_000, 40_000, 0)
"""Bytes that Sessions and Repairs get, about: the first with which the page is no longer than `LIMIT`. What is shown of
the Record besides is bounded piece by piece, to far less.
"""
_BARS = 100
_NAME = 200
_OPENED = {
    Opener.PROMPT: "opened by a prompt",
    Opener.TASK_END: "opened because a background task had ended",
    Opener.ITSELF: "opened by the CLI itself: a line of a Monitor's, a schedule, or a Nudge, which no frame shows",
}
_LOOKS = {
    Outcome.READY: "well",
    Outcome.MERGED: "well",
    Outcome.FAILED: "ill",
    Outcome.CANCELLED: "idle",
    Outcome.SKIPPED: "idle",
}
CSS = Path(__file__).with_name("templates") / "run.css"


def run_html(told: Told, now: datetime, redactor: Redactor | None = None) -> str:
    """The page of a Run as it stands at `now` (UTC)."""
    gate = Gate(redactor)
    for room in _ROOMS:
        page = _render(fit(told, room), now, gate, told)
        if len(page.encode(errors="replace")) <= LIMIT:
            break
    return page


def _name(text: str) -> str:
    """A name, as far as one is read."""
    return shorten(text, _NAME, "end")


def _render(told: Told, now: datetime, gate: Gate, whole: Told) -> str:
    record = told.record
    drawn = timeline(record, now, _BARS)
    known = failure(record.failure.code) if record.failure else None
    return (
        _environment()
        .get_template("run.html.j2")
        .render(
            told=told,
            record=record,
            failure=known,
            verdict=verdict(record),
            look=_look(record),
            timeline=drawn,
            sections=rows_of(drawn),
            older_sessions=len(whole.sessions) - len(told.sessions),
            older_repairs=len(whole.repairs) - len(told.repairs),
            now=now,
            style=_style(),
            policy=policy(),
            inline=gate.inline,
            link=gate.link,
            gate=gate,
        )
    )


def verdict(record: Record) -> str:
    """How the Run ended, or how it stands, in a few words."""
    match record.outcome:
        case Outcome.READY:
            return "Ready for review"
        case Outcome.MERGED:
            return "Merged"
        case Outcome.CANCELLED:
            return "Cancelled"
        case Outcome.SKIPPED:
            return "Skipped"
        case Outcome.FAILED:
            title = words.title(record)
            first = title[:1] if title[1:2].isupper() else title[:1].lower()  # `CI …` stays
            return f"Stopped: {first}{title[1:]}" if title else "Stopped"
        case None:
            return record.state.capitalize() if record.parked else "At work"


def _look(record: Record) -> str:
    if record.outcome is not None:
        return _LOOKS[record.outcome]
    return "now"


def policy() -> str:
    """The Content Security Policy: nothing is loaded or run, and of styles only the page's own."""
    digest = base64.b64encode(hashlib.sha256(_css().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _css() -> str:
    return CSS.read_text(encoding="utf-8")


def _style() -> Markup:
    from markupsafe import Markup

    return Markup(_css())


@cache
def _environment() -> Environment:
    # A command that renders nothing does not pay for it.
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
    from jinja2.runtime import Context

    @pass_context
    def through_the_gate(context: Context, value: object) -> object:
        return context["gate"].finalize(value)

    environment = Environment(
        loader=PackageLoader("bot.page"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        finalize=through_the_gate,
    )
    environment.globals.update({"words": words, "proofs": proofs, "opened": _OPENED, "cut": shorten, "name": _name})
    environment.tests.update(
        {
            "call": lambda entry: isinstance(entry, Call),
            "said": lambda entry: isinstance(entry, Said),
            "happened": lambda entry: isinstance(entry, Happened),
        }
    )
    return environment
