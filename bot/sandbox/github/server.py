"""The HTTP edge of the embedded GitHub: who is asking, which route, what it costs, and the log of every request.

One request goes: scripted faults → credential → git, GraphQL or REST route → rate budget → permission → handler → ETag
→ log.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from bot.sandbox.github import (
    attachments,
    git_http,
    graphql,
    rest_actions,
    rest_apps,
    rest_checks,
    rest_issues,
    rest_pulls,
    rest_repository,
    rest_rules,
    rest_timeline,
    webhooks,
)
from bot.sandbox.github.edge import Request
from bot.sandbox.github.faults import Faults
from bot.sandbox.github.http import HANG_UP, Call, Reply, Route
from bot.sandbox.github.state import LoggedRequest, Token
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Refused, World, not_found

_log = logging.getLogger(__name__)
# The first that matches counts: a branch's protection before the branch, whose name may hold slashes.
ROUTES: tuple[Route, ...] = (
    *rest_actions.ROUTES,
    *rest_checks.ROUTES,
    *rest_issues.ROUTES,
    *rest_timeline.ROUTES,
    *rest_pulls.ROUTES,
    *rest_rules.ROUTES,
    *rest_repository.ROUTES,
    *attachments.ROUTES,
)
DOCUMENTATION = "https://docs.github.com/rest"
_GIT = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")
_OPEN_METHODS = ("GET", "HEAD")


class Application:
    """Answers every request to the embedded GitHub's own host."""

    def __init__(self, world: World, site: Site, faults: Faults) -> None:
        self.world = world
        self.site = site
        self.faults = faults

    def answer(self, request: Request) -> Reply:
        """Answer and log one request."""
        path = urlsplit(request.target).path
        git = _GIT.fullmatch(path)
        token = self._token(request.headers)
        reply = self.faults.answer(request, lambda: self._serve(request, path, git, token))
        web = git is not None or attachments.is_asked(path)
        counted = not web and reply is not HANG_UP and not (reply.status == 304 and token)
        if not web and reply is not HANG_UP:
            reply = self._charged(reply, token, counted)
        with self.world.changed:
            kind = token.kind if token else ""
            carried = "authorization" in request.headers
            logged = LoggedRequest(request.method, request.target, reply.status, kind, counted, carried)
            self.world.requests.append(logged)
            self.world.changed.notify_all()
        return reply

    def _serve(self, request: Request, path: str, git: re.Match[str] | None, token: Token | None) -> Reply:
        try:
            by_app = rest_apps.asked(path.removeprefix(self.site.prefix))
            if token is None and "authorization" in request.headers and not by_app:
                raise Refused(401, "Bad credentials")
            if git:
                return self._git(git, request, token)
            if attachments.is_asked(path):
                return attachments.answer(self.world, self.site, path, token)
            return _conditional(request, self._rest(path, request, token))
        except Refused as refused:
            return git_http.unauthorized() if git and refused.status == 401 else _error(refused)
        except Exception:
            # A fault of ours: the client gets GitHub's 500, whoever runs the sandbox gets the traceback.
            _log.exception("%s %s", request.method, path)
            return Reply(500, {"message": "Server Error"})

    def _token(self, headers: Mapping[str, str]) -> Token | None:
        """The known token that a request carries."""
        given = headers.get("authorization")
        if given is None:
            return None
        scheme, _, secret = given.strip().partition(" ")
        if scheme.lower() == "basic":
            try:
                secret = base64.b64decode(secret, validate=True).decode().partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                secret = ""
        with self.world.lock:
            token = self.world.tokens.get(secret.strip())
            return None if token and token.expires_at and token.expires_at <= self.world.now() else token

    def _git(self, found: re.Match[str], request: Request, token: Token | None) -> Reply:
        with self.world.lock:
            repository = self.world.repository(found[1], found[2])
        if repository is None:
            return (
                git_http.unauthorized()
                if token is None
                else Reply(404, b"Repository not found.\n", content_type="text/plain")
            )
        return git_http.answer(self.site, repository, found[3], request, token)

    def _rest(self, path: str, request: Request, token: Token | None) -> Reply:
        route, names = self._route(request.method, path)
        if token and self._spent(token):
            # GitHub says 403 or 429; what tells it from a permission is that nothing remains.
            raise Refused(403, f"API rate limit exceeded for {token.login}.")
        call = Call(
            self.world,
            self.site,
            path,
            names,
            dict(parse_qsl(urlsplit(request.target).query, keep_blank_values=True)),
            _body(request),
            request.headers,
            token,
        )
        with self.world.lock:
            _permit(call, route, request.method)
            repository = self.world.repository(names.get("owner", ""), names.get("repo", ""))
            before = len(repository.events) if repository else 0
            reply = route.handler(call)
            if repository is not None:
                webhooks.announce(self.site, repository, repository.events[before:], call.actor)
            return reply

    def _route(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        if (method, path) == ("POST", "/api/graphql" if self.site.prefix else "/graphql"):
            return graphql.ROUTE, {}
        if path.startswith(self.site.prefix):
            wanted = "GET" if method == "HEAD" else method
            for route in (*ROUTES, *rest_apps.ROUTES):
                names = route.match(path[len(self.site.prefix) :]) if route.method == wanted else None
                if names is not None:
                    return route, names
        raise not_found()

    def _spent(self, token: Token) -> bool:
        with self.world.lock:
            return self.world.rates.spent(token)

    def _charged(self, reply: Reply, token: Token | None, counted: bool) -> Reply:
        with self.world.lock:
            headers = self.world.rates.charge(token, int(counted))
        identity = {
            "X-GitHub-Request-Id": uuid.uuid4().hex[:24].upper(),
            "X-GitHub-Media-Type": "github.v3; format=json",
        }
        if token and token.scopes is not None:
            identity["X-OAuth-Scopes"] = ", ".join(token.scopes)
        given = {name.lower() for name in reply.headers}
        more = {name: value for name, value in {**headers, **identity}.items() if name.lower() not in given}
        return replace(reply, headers={**reply.headers, **more})


def _body(request: Request) -> Mapping[str, object]:
    """The JSON body; a bare list (which GitHub takes for labels) is read as `{"labels": [...]}`."""
    if not request.body:
        return {}
    try:
        body = json.loads(request.body)
    except ValueError as error:
        raise Refused(400, "Problems parsing JSON") from error
    if isinstance(body, list):
        return {"labels": body}
    if not isinstance(body, dict):
        raise Refused(400, "Body should be a JSON object")
    return body


def _permit(call: Call, route: Route, method: str) -> None:
    """Refuse (401, 403, 404) what the token may not do."""
    if route.scope == rest_apps.SCOPE:
        return
    if call.token is None:
        if method not in _OPEN_METHODS:
            raise Refused(401, "Requires authentication")
        return
    if not route.scope:
        return
    scopes = [route.scope]
    if route.scope == "issues" and _about_pull(call):
        # Whatever the documentation says, who has `issues: write` alone may not speak or react on a pull request.
        speaks = method == "POST" and call.path.endswith(("/comments", "/reactions"))
        scopes = ["pull_requests"] if speaks else ["issues", "pull_requests"]
    repository = call.repository
    allowed = any(call.token.allows(scope, route.level) for scope in scopes)
    if call.token.kind == "pat" and repository.private and not repository.can(call.token.login, "read"):
        raise not_found()
    if call.token.kind == "pat" and route.scope == "contents" and route.level == "write":
        allowed = allowed and repository.can(call.token.login, "write")
    if not allowed:
        raise Refused(
            403, f"Resource not accessible by {'personal access token' if call.token.kind == 'pat' else 'integration'}"
        )


def _about_pull(call: Call) -> bool:
    """Whether an issue of the path is a pull request, or a comment is on one: mostly either permission will do."""
    repository = call.repository
    if "comment" in call.names:
        comment = repository.comments.get(call.number("comment"))
        return comment is not None and comment.number in repository.pulls
    return "number" in call.names and call.number() in repository.pulls


def _error(refused: Refused) -> Reply:
    body: dict[str, object] = {"message": refused.message, "documentation_url": DOCUMENTATION}
    body |= {"status": str(refused.status)} if refused.errors is None else {"errors": list(refused.errors)}
    return Reply(refused.status, body)


def _conditional(request: Request, reply: Reply) -> Reply:
    """Add a strong ETag to what was read (GitHub's are weak only where it compressed the answer), and answer 304 to who
    has it already."""
    if request.method != "GET" or reply.status != 200:
        return reply
    tag = f'"{hashlib.sha256(reply.payload()).hexdigest()}"'
    headers = {**reply.headers, "ETag": tag, "Cache-Control": "private, max-age=60, s-maxage=60"}
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Reply(304, headers=headers)
    return replace(reply, headers=headers)
