"""Commands in comments: what a comment says to Nightjar, and what is to be done then. Pure.

A command stands at the beginning of a comment: `/nightjar retry`, `/nightjar stop`, `/nightjar status`, and
`/nightjar fix <what>` for a pull request of Nightjar's. What stands in the middle of a text, in a quotation or in code
is talk about commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.config import Config
from bot.record import Record, WaitsFor

_COMMAND = re.compile(r"\s*/nightjar(?:[ \t]+(?P<word>\S+))?(?P<text>(?:\s.*)?)\Z", re.IGNORECASE | re.DOTALL)


class Verb(StrEnum):
    """What can be asked for."""

    RETRY = "retry"
    STOP = "stop"
    STATUS = "status"
    FIX = "fix"


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `verb` is None for a word that is none, which then is the text."""

    verb: Verb | None
    text: str = ""
    """What follows the verb."""


def read_command(comment: str) -> Command | None:
    """The command that a comment begins with; None for any other comment."""
    found = _COMMAND.match(comment)
    if found is None:
        return None
    word, text = found["word"] or "", found["text"].strip()
    try:
        return Command(Verb(word.lower()), text)
    except ValueError:
        return Command(None, word)


def remark_in(comment: str) -> str:
    """What a comment tells a Session about the work: all of it, or what follows `retry` and `fix`; "" for nothing."""
    command = read_command(comment)
    if command is None:
        return comment
    return command.text if command.verb in (Verb.RETRY, Verb.FIX) else ""


class Act(StrEnum):
    """What is done about a command."""

    ANSWER = "it is answered, and that is all"
    BEGIN = "a Run is begun"
    END = "the Run that waits is ended here"
    CANCEL = "the job in which the Run is at work is cancelled"
    LEAVE = "the Run takes it up when it gets to it"
    TAKE_UP = "the Run that waits for CI goes on here"
    FOLLOW_UP = "a Run is begun that goes on where the last one ended"


class Answer(StrEnum):
    """What the person is told; the words are `bot.report`'s."""

    STATUS = "status"
    UNKNOWN = "unknown"
    NO_RUN = "no_run"
    UNREADABLE = "unreadable"
    OVER = "over"
    AT_WORK = "at_work"
    CLOSED = "closed"
    STOPPED = "stopped"
    STOPS = "stops"
    STOPS_LATER = "stops_later"
    FIX_WHAT = "fix_what"
    NOT_OURS = "not_ours"
    NO_PULL_REQUEST = "no_pull_request"
    REPAIRS_USED = "repairs_used"
    MONEY_USED = "money_used"
    TAKEN = "taken"
    WAITS = "waits"
    BEGUN = "begun"
    TOO_LATE = "too_late"


GOOD = frozenset({Answer.STATUS, Answer.STOPPED, Answer.STOPS, Answer.STOPS_LATER, Answer.TAKEN, Answer.WAITS})
"""Answers to what can be done."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done, and what the person is told; a Run that is begun or taken up tells how it goes itself."""

    act: Act
    answer: Answer


def _say(answer: Answer) -> Decision:
    return Decision(Act.ANSWER, answer)


def decide(command: Command, last: Record | None, config: Config, *, branch: str, going: bool) -> Decision:
    """What to do about a command, by the newest Record on the issue (None: there was no Run).

    `branch`: of the pull request that the command stands on, "" for the issue. `going`: whether the job that the Run
    was last at work in goes on.
    """
    match command.verb:
        case None:
            return _say(Answer.UNKNOWN)
        case Verb.STATUS:
            return _say(Answer.STATUS if last else Answer.NO_RUN)
        case Verb.RETRY:
            at_work = last is not None and not last.told and last.parked is None and going
            return _say(Answer.AT_WORK) if at_work else Decision(Act.BEGIN, Answer.BEGUN)
        case Verb.STOP:
            return _stop(last, going)
        case Verb.FIX:
            return _fix(command, last, config, branch)


def _stop(last: Record | None, going: bool) -> Decision:
    if last is None:
        return _say(Answer.NO_RUN)
    if last.told:
        return _say(Answer.OVER)
    if last.parked is None and going:
        return Decision(Act.CANCEL, Answer.STOPS)
    return Decision(Act.END, Answer.STOPPED)


def _fix(command: Command, last: Record | None, config: Config, branch: str) -> Decision:
    if not command.text:
        return _say(Answer.FIX_WHAT)
    if last is None:
        return _say(Answer.NO_RUN)
    if branch and last.branch != branch:
        return _say(Answer.NOT_OURS)
    if last.told and last.pull_request is None and not branch:
        return _say(Answer.NO_PULL_REQUEST)
    refused = used_up(last, config)
    if refused is not None:
        return _say(refused)
    if last.told:
        return Decision(Act.FOLLOW_UP, Answer.BEGUN)
    if last.parked is None:
        return Decision(Act.LEAVE, Answer.TAKEN)
    if last.parked.waits_for is WaitsFor.CI:
        return Decision(Act.TAKE_UP, Answer.BEGUN)
    return Decision(Act.LEAVE, Answer.WAITS)


def used_up(last: Record, config: Config) -> Answer | None:
    """Which cap leaves no room for one more Repair; None while there is some."""
    if last.repairs_taken >= (config.max_repairs if last.told else last.max_repairs):
        return Answer.REPAIRS_USED
    return Answer.MONEY_USED if last.cost_usd >= config.max_cost_usd else None
