"""What people attach to issues and comments: where it is, who gets it, and how GitHub renders it.

As on github.com: what is attached in a public repository is everybody's. Of a private one a person's older token gets
images and files, and a job's, an App's or a newer token gets neither; images have signed addresses in what GitHub
renders, which work without a token for five minutes. All of it lies on another host, to which the server redirects.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
import time
import uuid
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from bot.sandbox.github.edge import Request
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import Attachment, Token
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Repository, World

LIFETIME = 300
"""Seconds that a signed address is good for."""
_PLACE = re.compile(r"/(?:user-attachments|[^/]+/[^/]+)/(?:assets|files)/[^\s()<>\"']+")
_STORED = "/user-attachments-store/"


def attach(repository: Repository, name: str, content: bytes, *, image: bool, older: bool) -> Attachment:
    """Keep something that somebody uploaded while writing. `older`: its address has the form that names the
    repository.
    """
    world = repository.world
    number, key = world.next_id(), str(uuid.uuid4())
    top = f"/{repository.full_name}" if older else "/user-attachments"
    owner = f"/{number}" if older else ""
    path = f"{top}/assets{owner}/{key}" if image else f"{top}/files/{number}/{name}"
    attachment = Attachment(number, repository.full_name, path, name, content, key if image else "")
    world.attachments[path] = attachment
    return attachment


def is_asked(path: str) -> bool:
    """Whether a request to the server is for something attached."""
    return _PLACE.fullmatch(path) is not None


def answer(world: World, site: Site, path: str, token: Token | None) -> Reply:
    """A request to the server: on to where it is kept, or 404 for whoever may not have it."""
    with world.lock:
        attachment = world.attachments.get(path)
        if attachment is None:
            return _page(404, "Not Found")
        repository = world.repositories[attachment.repository.lower()]
        older_token = token is not None and token.scopes is not None
        if repository.private and not (older_token and token is not None and repository.can(token.login, "read")):
            return _page(404, "Not Found")
        return Reply(302, headers={"Location": signed(site, world, attachment, "X-Amz-Signature")})


def signed(site: Site, world: World, attachment: Attachment, by: str, until: float | None = None) -> str:
    """An address that works without a token `until` then (epoch seconds; by default for `LIFETIME`)."""
    expiry = str(int(time.time() + LIFETIME if until is None else until))
    ending = attachment.name.rpartition(".")[2]
    kept = f"{attachment.id}-{attachment.key}.{ending}" if attachment.key else f"{attachment.id}"
    return f"{site.storage}{_STORED}{kept}?{by}={_sign(world.signing_key, kept, expiry)}&expires={expiry}"


def _sign(key: bytes, kept: str, expiry: str) -> str:
    return hmac.new(key, f"{kept}.{expiry}".encode(), hashlib.sha256).hexdigest()


def is_stored(path: str) -> bool:
    """Whether a request to the store is for something attached."""
    return path.startswith(_STORED)


def stored(world: World, request: Request) -> Reply:
    """A request to the store."""
    parts = urlsplit(request.target)
    query = parse_qs(parts.query)
    kept = parts.path.removeprefix(_STORED)
    expiry = query.get("expires", ["0"])[0]
    signature = (query.get("jwt") or query.get("X-Amz-Signature") or [""])[0]
    if "authorization" in request.headers:
        return _page(400, "InvalidArgument: Only one auth mechanism allowed")
    right = hmac.compare_digest(signature.encode(), _sign(world.signing_key, kept, expiry).encode())
    if not right or int(expiry) < time.time():
        return _page(403, "AccessDenied: Request has expired")
    with world.lock:
        number = kept.partition("-")[0].partition(".")[0]
        found = next((one for one in world.attachments.values() if str(one.id) == number), None)
    if found is None:
        return _page(404, "NoSuchKey")
    return Reply(200, found.content, content_type="application/octet-stream")


def rendered(site: Site, repository: Repository, text: str) -> str:
    """`text` as GitHub renders it, as far as attachments are concerned: each of a private repository that is an image
    has a signed address.
    """
    world = repository.world

    def place(found: re.Match[str]) -> str:
        attachment = world.attachments.get(found[0].removeprefix(site.host))
        if attachment is None or not attachment.key or not repository.private:
            return found[0]
        return signed(site, world, attachment, "jwt")

    parts = []
    for line in text.split("\n\n"):
        for alternative, url in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", line):
            there = html.escape(re.sub(re.escape(site.host) + _PLACE.pattern, place, url))
            image = f'<img src="{there}" alt="{html.escape(alternative)}" style="max-width: 100%;">'
            parts.append(f'<a target="_blank" rel="noopener noreferrer" href="{there}">{image}</a>')
        parts.append(html.escape(re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)))
    return f'<p dir="auto">{"".join(parts)}</p>'


def wants_html(headers: Mapping[str, str]) -> bool:
    """Whether who asks wants the text rendered beside the text."""
    return "application/vnd.github.full+json" in headers.get("accept", "")


def _markdown(call: Call) -> Reply:
    text, context = call.text("text"), call.text("context", "")
    owner, _, name = context.partition("/")
    repository = call.world.repository(owner, name)
    page = html.escape(text) if repository is None else rendered(call.site, repository, text)
    return Reply(200, page.encode(), content_type="text/html; charset=utf-8")


def _page(status: int, text: str) -> Reply:
    return Reply(status, f"<html><body>{text}</body></html>".encode(), content_type="text/html; charset=utf-8")


ROUTES = (Route("POST", "/markdown", _markdown),)
