"""Facts of a process that has ended → what to do about the Session: done, resume, retry, fail or cancelled. Pure.

Fields decide, wording never does: a `result` of subtype `success` can be an error, and exit code 0 can follow lost
work (both measured).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from bot.claude import reasons
from bot.claude.facts import Facts, Life
from bot.claude.frames import Result

RUNAWAY_WAKE_TURNS = 500


class Decision(StrEnum):
    """What to do now."""

    DONE = "done"
    RESUME = "resume"
    RETRY = "retry"
    """A transient API failure ended it: to be taken up again after a while, as long as the Run's retries last; else it
    is a failure.
    """
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
    """How the process ended. `exit_code` is negative for death by that signal; `limit`: the passed one, in seconds."""

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
    resets_at: str = ""
    """When the usage limit is reset, where a field said so: ISO 8601, UTC."""


def judge(kind: str, facts: Facts, ended: Ended, *, resumed: bool) -> Verdict:
    """The verdict on one process of the Session `kind`; `resumed` when the Session's one Resume is used up."""
    tasks = _lost_names(facts)
    if ended.stop is Stop.CANCEL:
        return Verdict(Decision.CANCELLED, reason=reasons.cancelled(kind), tasks=tasks)
    failed = (
        _stopped(kind, facts, ended)
        or _never_began(kind, facts, ended)
        or _died(kind, facts, ended)
        or _error_result(kind, facts)
    )
    if failed:
        code, reason = failed
        again = code in TRANSIENT and ended.stop in {Stop.NOT_US, Stop.NO_WAKE} and facts.session_id
        decision = Decision.RETRY if again else Decision.FAIL
        resets_at = _iso(facts.resets_at) if code == "usage_limit" else ""
        return Verdict(decision, code, reasons.with_losses(reason, tasks), tasks, resets_at)
    if tasks:
        return _lost(kind, facts, tasks, "background_lost", resumed=resumed)
    if facts.owed:
        never_woken = tuple(dict.fromkeys(facts.tasks[task_id].name for task_id in facts.owed))
        return _lost(kind, facts, never_woken, "wake_lost", resumed=resumed)
    return Verdict(Decision.DONE)


def _lost(kind: str, facts: Facts, tasks: tuple[str, ...], code: str, *, resumed: bool) -> Verdict:
    reason = reasons.wake_lost(kind, tasks) if code == "wake_lost" else reasons.background_lost(kind, tasks)
    decision = Decision.FAIL if resumed or not facts.session_id else Decision.RESUME
    return Verdict(decision, code, reason, tasks)


def _lost_names(facts: Facts) -> tuple[str, ...]:
    # A Roster that is not empty at EOF is the only trace of tasks whose process was killed by SIGKILL; and of a task
    # that we stopped,
    # leaving the level can be all that is heard.
    stopped = (task for task in facts.tasks.values() if task.counts and task.stopped_by_us and task.life is Life.GONE)
    return tuple(dict.fromkeys(task.name for task in (*facts.lost_tasks, *stopped, *facts.roster)))


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
    if facts.refused_auth:
        return "claude_auth", reasons.api(kind, "the API key or token was refused")
    if facts.wake_turns > RUNAWAY_WAKE_TURNS:
        return "session_runaway", reasons.runaway(kind, facts.wake_turns)
    return None


def _never_began(kind: str, facts: Facts, ended: Ended) -> tuple[str, str] | None:
    last = facts.last
    if facts.begun or facts.in_turn:
        return None
    if last is None:
        return "claude_start", reasons.claude_start(_last_line(ended.last_words), ended.exit_code)
    if (
        last.subtype == "error_during_execution" and last.turns == 0
    ):  # measured: what `--resume` of an unknown conversation prints, and nothing else
        return "resume_failed", reasons.resume_failed(kind, "; ".join(last.errors))
    return None


def _died(kind: str, facts: Facts, ended: Ended) -> tuple[str, str] | None:
    last = facts.last
    if facts.in_turn or last is None or (facts.unclosed and not last.is_error):
        return "session_died", reasons.died(kind, ended.exit_code, torn=facts.torn)
    return None


def _error_result(kind: str, facts: Facts) -> tuple[str, str] | None:
    last = facts.last
    return error_class(kind, facts, last) if last is not None and last.is_error else None


TRANSIENT = frozenset({"api_unavailable"})
"""Failures that time alone can mend: overloaded, server errors, no connection. A usage limit is not one of them."""
_BY_ERROR = {
    "authentication_failed": "claude_auth",
    "billing_error": "billing",
    "model_not_found": "model_unavailable",
    "rate_limit": "usage_limit",
    "server_error": "api_unavailable",
    "overloaded": "api_unavailable",
    "connection": "api_unavailable",
    "invalid_request": "request_rejected",
    "max_output_tokens": "request_rejected",
}
"""By the CLI's own class; `unknown` is left to the status."""
_BY_STATUS = {
    400: "billing",  # an API key's spending limit is a 400 of class `unknown`, and no field sets it apart
    401: "claude_auth",
    402: "billing",
    403: "claude_auth",
    404: "model_unavailable",
    408: "api_unavailable",
    429: "usage_limit",
}
_BY_TERMINAL_REASON = {"api_error": "api_unavailable", "prompt_too_long": "request_rejected"}


def error_class(kind: str, facts: Facts, last: Result) -> tuple[str, str]:
    """The Failure code and reason of a Turn that closed with an error; the class comes from fields alone."""
    said = last.text or "; ".join(last.errors)
    if last.subtype == "error_max_turns":
        return "max_turns", reasons.max_turns(kind, last.turns)
    if last.subtype == "error_max_budget_usd":
        return "budget_spent", reasons.budget(kind)
    if last.stop_reason == "refusal":
        return "refused", reasons.refused(kind, said)
    if last.terminal_reason.startswith("aborted"):
        return "session_died", reasons.interrupted(kind)
    code = (
        _BY_ERROR.get(facts.api_error) or _by_status(last.api_status) or _BY_TERMINAL_REASON.get(last.terminal_reason)
    )
    if code is None:
        return "session_died", reasons.broken(kind, said)
    if code == "usage_limit":
        return code, reasons.usage_limit(kind, said, _moment(facts.resets_at))
    return code, reasons.api(kind, said)


def _by_status(status: int | None) -> str | None:
    if status is None or status < 400:
        return None
    return _BY_STATUS.get(status, "api_unavailable" if status >= 500 else "request_rejected")


def _moment(seconds: int | None) -> str:
    iso = _iso(seconds)
    return f"{iso[:10]} {iso[11:16]} UTC" if iso else ""


def _iso(seconds: int | None) -> str:
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return ""  # no moment that a calendar knows


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
