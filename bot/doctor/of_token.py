"""The token, and the secrets that the workflow would find: what Runs work with. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.facts import Facts, Hub, Refusal, Token, TokenKind, Unknown
from bot.doctor.of_files import listed
from bot.doctor.shipped import inputs_of, permissions_of, readable, secrets_in
from bot.doctor.words import MAY_NOT_LOOK, Finding, say, unknown
from bot.init.files import WORKFLOW

_NEEDED = {"contents": "write", "issues": "write", "pull-requests": "write", "actions": "write"} | dict.fromkeys(
    ("checks", "statuses"), "read"
)
"""What Nightjar's workflow gives the job's token, by the words of workflow files."""
_KEY_INPUTS = ("anthropic-api-key", "claude-code-oauth-token")


def token(facts: Facts) -> Finding:
    """Whose it is, and whether GitHub takes it."""
    match facts.token:
        case Unknown(why, remedy):
            return unknown("token", why, remedy)
        case Refusal(reason, unseen, away):
            return say("token.unseen" if unseen else "token.away" if away else "token.refused", reason=reason)
        case Token(kind, login, source):
            return say("token.given", kind=kind, owner=f", {login}" if login else "", source=source)


def permissions(facts: Facts) -> Finding:
    """What the token may do, as far as GitHub tells it."""
    given = facts.token
    if not isinstance(given, Token):
        return unknown("permissions", why_not(facts))
    if given.unreadable:
        return say("permissions.unreadable", names=listed(given.unreadable, "and"))
    if given.kind.is_persons and not given.may_push:
        return say("permissions.role", login=given.login or "its owner")
    if given.scopes is not None:
        is_public = isinstance(facts.hub, Hub) and not facts.hub.is_private
        if "repo" in given.scopes or (is_public and "public_repo" in given.scopes):
            return say("permissions.given", what=f"its scopes are {', '.join(given.scopes)}")
        return say("permissions.scopes", scopes=", ".join(given.scopes) or "none")
    if given.kind is TokenKind.JOB:
        return _of_the_workflow(facts)
    return say("permissions.writes")


def _of_the_workflow(facts: Facts) -> Finding:
    """What the workflow gives the job's token is what it has."""
    text = facts.files.workflow
    asked = permissions_of(text) if text is not None and not readable(WORKFLOW, text) else None
    if asked is None:
        return say("permissions.writes")
    missing = [f"{name}: {level}" for name, level in _NEEDED.items() if asked.get(name) not in (level, "write")]
    if missing:
        return say("permissions.workflow", names=listed(missing, "and"), file=WORKFLOW)
    return say("permissions.given", what="the workflow gives it all that a Run needs")


def has_own_token(facts: Facts) -> bool | Unknown:
    """Whether Runs have another token than the job's own: in a job the one that is there, else what the workflow would
    find.
    """
    if facts.in_job:
        return facts.token.kind is not TokenKind.JOB if isinstance(facts.token, Token) else Unknown(why_not(facts))
    if not is_readable(facts):
        return Unknown(f"there is no {WORKFLOW} that says with which token Runs work")
    inputs = inputs_of(facts.files.workflow or "")
    wanted = secrets_in(inputs.get("github-token", "")) + secrets_in(inputs.get("app-private-key", ""))
    if not wanted:
        return False
    there = _secrets_there(facts, wanted)
    return there if isinstance(there, Unknown) else bool(there)


def _secrets_there(facts: Facts, wanted: Sequence[str]) -> list[str] | Unknown:
    """Those of `wanted` that there are."""
    known = facts.hub.secrets if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    if isinstance(known, Unknown):
        return known
    there = [name for name in wanted if name in known.names]
    return there if there or known.whole else Unknown(f"{MAY_NOT_LOOK} at the organisation's secrets")


def secrets(facts: Facts) -> Finding:
    """The key for claude, by its name."""
    if facts.in_job:
        return say("secrets.given") if not facts.files.problems else unknown("secrets", "the settings are not in order")
    if not is_readable(facts):
        return unknown("secrets", f"there is no {WORKFLOW} that names any")
    inputs = inputs_of(facts.files.workflow or "")
    wanted = [name for key in _KEY_INPUTS for name in secrets_in(inputs.get(key, ""))]
    if not wanted:
        return say("secrets.unnamed", file=WORKFLOW)
    there = _secrets_there(facts, wanted)
    if isinstance(there, Unknown):
        return unknown("secrets", there.why)
    if there:
        return say("secrets.there", names=listed(there, "and"))
    return say("secrets.missing", names=listed(wanted), page=page_of(facts))


def why_not(facts: Facts) -> str:
    """Why nothing was asked of GitHub."""
    match facts.token:
        case Unknown(why):
            return why
        case Refusal():
            return "GitHub could not be asked: see token"
    return facts.hub.why if isinstance(facts.hub, Unknown) else MAY_NOT_LOOK


def page_of(facts: Facts) -> str:
    """The repository's page; "" where nobody told."""
    return facts.hub.page if isinstance(facts.hub, Hub) else ""


def is_readable(facts: Facts) -> bool:
    """Whether there is a workflow of Nightjar's that GitHub would read."""
    return facts.files.workflow is not None and not readable(WORKFLOW, facts.files.workflow)
