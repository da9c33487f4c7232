"""Facts of a process that has ended → what to do about the Session: done, resume, fail or cancelled. Pure.

Fields decide, wording never does: a `result` of subtype `success` can be an error, and exit code 0 can follow lost work (both measured).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from bot.claude import reasons
from bot.claude.facts import Facts
from bot.claude.frames import Result

RUNAWAY_WAKE_TURNS = 500


class Decision(StrEnum):
    """What to do now."""

    DONE = "done"
    RESUME = "resume"
    FAIL = "fail"
    CANCELLED = "cancelled"


class Stop(StrEnum):
    """Why we ended the process ourselves, if we did."""

    NOT_US = ""
    CANCEL = "cancel"
    START = "start"
    SILENCE = "silence"
    SESSION_LIMIT = "session limit"
    RUN_LIMIT = "run limit"
    NO_WAKE = "no wake"
    BAD_KEY = "bad key"
    RUNAWAY = "runaway"


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended. `exit_code` is negative for death by that signal; `limit` is the passed limit in seconds."""

    exit_code: int | None
    stop: Stop = Stop.NOT_US
    limit: float = 0.0
    last_words: str = ""
    """The last lines of stderr."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do, and why. `tasks` names what was lost, in order, each once."""

    decision: Decision
    failure: str = ""
    reason: str = ""
    tasks: tuple[str, ...] = ()


def judge(kind: str, facts: Facts, ended: Ended, *, resumed: bool) -> Verdict:
    """The verdict on one process of the Session `kind`; `resumed` when this process already was the Resume."""
    tasks = _lost_names(facts)
    if ended.stop is Stop.CANCEL:
        return Verdict(Decision.CANCELLED, tasks=tasks)
    failed = (
        _stopped(kind, facts, ended)
        or _never_began(kind, facts, ended, resumed=resumed)
        or _error_result(kind, facts)
        or _died(kind, facts, ended)
    )
    if failed:
        code, reason = failed
        return Verdict(Decision.FAIL, code, reasons.with_losses(reason, tasks), tasks)
    if tasks:
        return _lost(kind, facts, tasks, "background_lost", resumed=resumed)
    if ended.stop is Stop.NO_WAKE:
        owed = tuple(dict.fromkeys(facts.tasks[task_id].name for task_id in facts.owed))
        return _lost(kind, facts, owed, "wake_lost", resumed=resumed)
    return Verdict(Decision.DONE)


def _lost(kind: str, facts: Facts, tasks: tuple[str, ...], code: str, *, resumed: bool) -> Verdict:
    reason = reasons.wake_lost(kind, tasks) if code == "wake_lost" else reasons.background_lost(kind, tasks)
    decision = Decision.FAIL if resumed or not facts.session_id else Decision.RESUME
    return Verdict(decision, code, reason, tasks)


def _lost_names(facts: Facts) -> tuple[str, ...]:
    # A Roster that is not empty at EOF is the only trace of tasks whose process was killed by SIGKILL.
    return tuple(dict.fromkeys(task.name for task in (*facts.lost_tasks, *facts.roster)))


def _stopped(kind: str, facts: Facts, ended: Ended) -> tuple[str, str] | None:
    match ended.stop:
        case Stop.START:
            return "claude_start", reasons.start_limit(ended.limit)
        case Stop.SILENCE:
            tool = next(reversed(list(facts.open_tools.values())), "")
            return "session_silent", reasons.silent(kind, ended.limit, tool)
        case Stop.SESSION_LIMIT:
            return "session_timeout", reasons.timeout(kind, ended.limit)
        case Stop.RUN_LIMIT:
            return "session_timeout", reasons.run_time(kind)
        case Stop.BAD_KEY:
            return "claude_auth", reasons.api(kind, "the API key or token was refused")
        case Stop.RUNAWAY:
            return "session_runaway", reasons.runaway(kind, facts.wake_turns)
        case _:
            return None


def _never_began(kind: str, facts: Facts, ended: Ended, *, resumed: bool) -> tuple[str, str] | None:
    if facts.turns == 0 and not facts.in_turn:
        return "claude_start", reasons.claude_start(_last_line(ended.last_words), ended.exit_code)
    last = facts.last
    if resumed and last is not None and last.is_error and last.turns == 0 and not facts.last_init:
        return "resume_failed", reasons.resume_failed(kind, "; ".join(last.errors))
    return None


def _error_result(kind: str, facts: Facts) -> tuple[str, str] | None:
    last = facts.last
    if last is None or not last.is_error or facts.in_turn:
        return None
    return error_class(kind, facts, last)


_BY_ERROR = {
    "authentication_failed": "claude_auth",
    "billing_error": "billing",
    "model_not_found": "model_unavailable",
    "rate_limit": "usage_limit",
    "server_error": "api_unavailable",
    "overloaded": "api_unavailable",
    "invalid_request": "request_rejected",
    "max_output_tokens": "request_rejected",
}
_BY_STATUS = {401: "claude_auth", 403: "claude_auth", 404: "model_unavailable", 429: "usage_limit", 400: "billing"}


def error_class(kind: str, facts: Facts, last: Result) -> tuple[str, str]:
    """The Failure code and reason of a Turn that closed with an error; the class comes from fields alone."""
    said = last.text or "; ".join(last.errors)
    if last.subtype == "error_max_turns":
        return "max_turns", reasons.max_turns(kind, last.turns)
    if last.subtype == "error_max_budget_usd":
        return "budget_spent", reasons.budget(kind)
    if last.stop_reason == "refusal":
        return "refused", reasons.refused(kind, said)
    code = _BY_ERROR.get(facts.api_error) or _BY_STATUS.get(last.api_status or 0) or "api_unavailable"
    if code == "usage_limit":
        resets = datetime.fromtimestamp(facts.resets_at, UTC).strftime("%Y-%m-%d %H:%M UTC") if facts.resets_at else ""
        return code, reasons.usage_limit(kind, said, resets)
    return code, reasons.api(kind, said)


def _died(kind: str, facts: Facts, ended: Ended) -> tuple[str, str] | None:
    if facts.in_turn or facts.last is None:
        return "session_died", reasons.died(kind, ended.exit_code)
    return None


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
