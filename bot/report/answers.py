"""What people are told who ask for something by a comment: one catalogue, and the place in the Tracking comment where
an answer stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.guard import inert_line
from bot.record import Record
from bot.report import words

_BEGIN, _END = "<!-- nightjar:answer -->", "<!-- nightjar:answered -->"
_BLOCK = re.compile(rf"{_BEGIN}.*?{_END}\s*", re.DOTALL)
_DETAIL = 500

COMMANDS = "`/nightjar status`, `/nightjar stop`, `/nightjar retry` and, for a pull request, `/nightjar fix <what>`"

ANSWERS: Mapping[str, str] = {
    "status": "{status}",
    "unknown": f"That is no command. There are {COMMANDS}.",
    "no_run": "There was no Run on this issue yet. Its label, or `/nightjar retry`, asks for one.",
    "unreadable": (
        "What the newest Run on this issue left cannot be read, so that nothing can be said or done about it. "
        "`nightjar show` says why; the label, or `/nightjar retry`, asks for a fresh Run."
    ),
    "over": "The Run is over: there is nothing to stop.",
    "at_work": "A Run is at work on this already. `/nightjar stop` ends it.",
    "closed": "The issue is closed. Open it again, then ask once more.",
    "stopped": "The Run is stopped. The comment below says what was kept.",
    "stops": "The Run is being stopped; its last comment will say what was kept.",
    "stops_later": "The Run stops before its next Session or push: it could not be stopped at once ({detail}).",
    "fix_what": "Say what is to be fixed, in the same comment: `/nightjar fix <what>`.",
    "not_ours": "This is not the pull request of the newest Run on an issue, so that there is nothing to repair here.",
    "no_pull_request": "There is no open pull request to repair. `/nightjar retry` asks for a Run on the issue.",
    "repairs_used": (
        "Of {repairs} that the Run may make (`max-repairs`) none is left, and one by request counts like any other. "
        "`/nightjar retry` asks for a Run with Repairs of its own."
    ),
    "money_used": (
        "The {cost} that the Run may cost are spent (`max-cost-usd`). `/nightjar retry` asks for another Run."
    ),
    "taken": "The Run is at work; it makes this Repair as soon as it gets to it, before it ends.",
    "waits": "The Run {waits}, and makes this Repair then.",
    "begun": "A Run is begun.",
    "too_late": (
        "The Run was over before it got to this Repair, and GitHub started no job to make it ({detail}). Ask once more "
        "in a new comment: the job of that comment makes it."
    ),
}
"""By `bot.commands.Answer`."""


def answer(said: str, command: str, who: str, url: str, record: Record | None, doing: str, detail: str = "") -> str:
    """One answer, as Markdown in one line. `command`: what was asked, as people write it. `record`: the newest on the
    issue. `doing`: what its Run does now, or how it ended.
    """
    facts = {"status": "", "repairs": "Repairs", "cost": "dollars", "waits": "waits"}
    if record is not None:
        facts = {
            "status": doing,
            "repairs": words.count(record.max_repairs, "Repair"),
            "cost": words.money(record.cost_usd),
            "waits": words.waits(record, None),
        }
    text = ANSWERS[said].format(**facts, detail=inert_line(detail, _DETAIL))
    return f"{words.mention(who)} asked {words.link(words.name(command), url)}: {text}"


def with_answer(comment: str, text: str) -> str:
    """A Tracking comment with the answer at its top, in the place of an older one."""
    return f"{_BEGIN}\n> {text}\n{_END}\n\n{_BLOCK.sub('', comment)}"


def plain(text: str) -> str:
    """An answer for the job log: without the links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
