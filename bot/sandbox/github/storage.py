"""The log store: where a job log's signed address leads.

As on GitHub it is another host than the API, the signature in the address is the only credential, and a request that
carries an `Authorization` header as well is refused (400).
"""

from __future__ import annotations

import hashlib
import hmac
import time
from urllib.parse import parse_qs, urlsplit

from bot.sandbox.github import attachments
from bot.sandbox.github.edge import Request
from bot.sandbox.github.http import Reply
from bot.sandbox.github.world import World

LIFETIME = 600  # seconds an address is good for, as on GitHub


def signed_address(storage: str, key: bytes, job: int) -> str:
    """An address of a job's log that works without a token for `LIFETIME` seconds."""
    expiry = str(int(time.time()) + LIFETIME)
    return f"{storage}/logs/{job}.txt?se={expiry}&sig={_sign(key, str(job), expiry)}"


def _sign(key: bytes, job: str, expiry: str) -> str:
    return hmac.new(key, f"{job}.{expiry}".encode(), hashlib.sha256).hexdigest()


def answer(world: World, request: Request) -> Reply:
    """Answer one request to the log store."""
    parts = urlsplit(request.target)
    if attachments.is_stored(parts.path):
        return attachments.stored(world, request)
    query = parse_qs(parts.query)
    job = parts.path.removeprefix("/logs/").removesuffix(".txt")
    expiry, signature = query.get("se", [""])[0], query.get("sig", [""])[0]
    if "authorization" in request.headers:
        return _refusal(
            400, "InvalidAuthenticationInfo", "Authentication information is not given in the correct format."
        )
    if (
        not hmac.compare_digest(signature.encode(), _sign(world.signing_key, job, expiry).encode())
        or int(expiry) < time.time()
    ):
        return _refusal(403, "AuthenticationFailed", "Server failed to authenticate the request.")
    with world.lock:
        for repository in world.repositories.values():
            check = repository.checks.get(int(job))
            if check is not None and check.log is not None:
                return Reply(200, check.log, content_type="text/plain; charset=utf-8")
    return _refusal(404, "BlobNotFound", "The specified blob does not exist.")


def _refusal(status: int, code: str, message: str) -> Reply:
    text = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Reply(status, text.encode(), content_type="application/xml")
