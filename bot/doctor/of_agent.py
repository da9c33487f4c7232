"""claude itself, and where the code that it writes runs. Pure."""

from __future__ import annotations

from bot.doctor.facts import Answered, Facts, Hub, NoAnswer, Unknown
from bot.doctor.of_files import listed
from bot.doctor.of_token import has_own_token
from bot.doctor.words import Finding, say, unknown
from bot.failures import failure

_EVERY = "*"


def claude(facts: Facts) -> Finding:
    """Whether it can be run, and answers."""
    match facts.claude:
        case Unknown(why, remedy):
            return unknown("claude", why, remedy)
        case NoAnswer(("session_silent" | "session_timeout"), reason):
            return say("claude.silent", reason=reason.rstrip("."))
        case NoAnswer(code, reason):
            return say("claude.failed", reason=reason.rstrip("."), remedy=_in_a_line(failure(code).remedy))
        case Answered(version, seconds):
            wanted = facts.files.config.claude_version
            if version != wanted:
                return say("claude.other", version=version, wanted=wanted)
            return say("claude.answered", version=version, seconds=seconds)


def _in_a_line(remedy: str) -> str:
    """A Failure's remedy without the example below it, and without its last point."""
    return " ".join(remedy.partition("```")[0].split()).rstrip(".:")


def agent_code(facts: Facts) -> Finding:
    """What an agent wrote runs in CI, with what CI has."""
    if facts.files.unread:
        return unknown("agent-code", facts.files.unread)
    workflows = facts.files.ci.workflows
    if not workflows:
        return say("agent-code.no-ci")
    public = isinstance(facts.hub, Hub) and facts.hub.is_public_github
    if has_own_token(facts) is False and public and not facts.files.config.ci_dispatch:
        return say("agent-code.approved")
    found = sorted({name for workflow in workflows for name in workflow.secrets})
    if not found:
        return say("agent-code.plain")
    names = "all that there are" if _EVERY in found else listed(found, "and")
    return say("agent-code.exposed", secrets=names)
