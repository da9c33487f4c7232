"""REST: what a GitHub App asks for itself, with a JWT that is signed with its key: its installation on a repository,
and tokens of that installation.

Checked as GitHub does, and refused in its words: the signature against the App's public key, the App's id, and a life
of at most ten minutes that has begun.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.sandbox.github import views
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import App
from bot.sandbox.github.views import Json
from bot.sandbox.github.world import Refused, not_found

SCOPE = "app"
"""In place of a token's permission: these are asked by an App itself."""
LONGEST = 600
"""Seconds that a JWT may be good for."""
_UNREADABLE = "A JSON web token could not be decoded"
_BAD_START = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
_BAD_END = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion "
    "expires"
)


def _asking(call: Call) -> App:
    """The App whose JWT it is. Raises `Refused`."""
    import jwt.types

    token = call.headers.get("authorization", "").partition(" ")[2]
    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError as error:
        raise Refused(401, _UNREADABLE) from error
    app = call.world.apps.get(str(claims.get("iss", "")))
    if app is None:
        raise Refused(404, "Integration not found")
    now = call.world.now().timestamp()
    start, end = claims.get("iat"), claims.get("exp")
    if not isinstance(start, int) or start > now:
        raise Refused(401, _BAD_START)
    if not isinstance(end, int) or end <= now:
        raise Refused(401, _BAD_END)
    if end > now + LONGEST:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    # Times were judged above, by GitHub's rules.
    unchecked: jwt.types.Options = {"verify_exp": False, "verify_iat": False, "verify_nbf": False}
    try:
        jwt.decode(token, app.public_key, algorithms=["RS256"], options=unchecked)
    except jwt.PyJWTError as error:
        raise Refused(401, _UNREADABLE) from error
    return app


def _installation(call: Call) -> Reply:
    app, repository = _asking(call), call.repository
    if repository.full_name not in app.repositories:
        raise not_found()
    world, site = call.world, call.site
    address = f"{site.api}/app/installations/{app.installation}"
    body: Json = {
        "id": app.installation,
        "account": views.user(site, world.user(repository.owner)),
        "repository_selection": "selected",
        "access_tokens_url": f"{address}/access_tokens",
        "repositories_url": f"{site.api}/installation/repositories",
        "html_url": f"{site.host}/organizations/{repository.owner}/settings/installations/{app.installation}",
        "app_id": int(app.id),
        "target_id": world.user(repository.owner).id,
        "target_type": "Organization",
        "permissions": dict(app.permissions),
        "events": [],
        "created_at": views.time(app.created_at),
        "updated_at": views.time(app.created_at),
        "single_file_name": None,
        "app_slug": app.slug,
        "suspended_by": None,
        "suspended_at": None,
    }
    return Reply(200, body)


def _access_token(call: Call) -> Reply:
    app, world = _asking(call), call.world
    if call.number("installation") != app.installation:
        raise not_found()
    if app.suspended:
        raise Refused(403, "This installation has been suspended")
    wanted = call.texts("repositories") or []
    owned = {name.partition("/")[2]: name for name in app.repositories}
    if not set(wanted) <= owned.keys():
        raise Refused(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    token = world.issue_token(f"{app.slug}[bot]", "app", app.permissions)
    ends = world.now() + timedelta(seconds=app.token_seconds)
    world.tokens[token.secret] = replace(token, expires_at=ends)
    body: Json = {
        "token": token.secret,
        "expires_at": views.time(ends),
        "permissions": dict(token.permissions),
        "repository_selection": "selected" if wanted else "all",
    }
    return Reply(201, body)


ROUTES = (
    Route("GET", "/repos/{owner}/{repo}/installation", _installation, SCOPE),
    Route("POST", "/app/installations/{installation}/access_tokens", _access_token, SCOPE),
)


def asked(path: str) -> bool:
    """Whether `path`, below the API's address, is one that an App asks for itself."""
    return any(route.match(path) is not None for route in ROUTES)
