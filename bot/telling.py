"""An answer to a command goes where people look: into the Tracking comment, or into a comment where there is none."""

from __future__ import annotations

from dataclasses import dataclass

from bot.commands import Answer
from bot.own_comments import found_in, own_comments
from bot.record import Record
from bot.report import answers, words
from bot.report.render import BODY_LIMIT
from bot.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Heard:
    """A command, as far as its answer names it."""

    written: str
    """As people write it, without what follows it: `/nightjar fix`."""
    by: str
    url: str
    number: int
    """The issue or pull request that is commented on where there is no Tracking comment."""


def tell(said: Answer, heard: Heard, last: Record | None, wiring: Wiring, detail: str = "") -> str:
    """Answer; the answer as the job log shows it. `last`: the newest Run on the issue. Raises `RunFailed`."""
    tracking = _tracking_comment(last, wiring) if last else 0
    shown = wiring.conversation.text_of(tracking) if tracking else None
    doing = _doing(last, there=shown is not None)
    text = answers.answer(said, heard.written, heard.by, heard.url, last, doing, detail)
    answered = answers.with_answer(shown, text) if shown is not None else ""
    if 0 < len(answered) <= BODY_LIMIT:
        wiring.github.edit_comment(tracking, answered)
    else:
        wiring.github.comment(heard.number, text)
    return answers.plain(text)


def _tracking_comment(last: Record, wiring: Wiring) -> int:
    """The newest Run's; what others see of its Record may be older than the comment."""
    return last.tracking_comment or found_in(own_comments(last, wiring.github), "tracking", last)


def _doing(last: Record | None, *, there: bool) -> str:
    """How the newest Run stands. What one at work is doing its Tracking comment knows, where it is still there, and
    its Record tells later.
    """
    if last is None:
        return ""
    if last.parked is None and not last.told:
        return "The Run is at work. This comment shows how far it is." if there else "The Run is at work."
    return f"{words.headline(last, words.waits(last, None))} {words.totals(last)} so far."
