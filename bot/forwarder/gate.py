"""Which requests pass, and what goes on in their place. Pure."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

from bot.forwarder.credential import Swap
from bot.forwarder.messages import RequestHead, options

PATHS = (
    (re.compile(rb"/v1/messages(?:/count_tokens)?"), (b"POST",)),
    (re.compile(rb"/v1/models(?:/[0-9A-Za-z][0-9A-Za-z._:@-]*)?"), (b"GET", b"HEAD")),
)
"""All that a Session needs. Batches, files, sessions in the cloud and accounts are not: they would spend the owner's
money, or tell of the owner, where no Run looks.
"""

_CREDENTIALS = (b"x-api-key", b"authorization")
_OF_THE_HOP = {
    *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade", b"content-length", b"host"),
}
"""Not passed on; what says where the body ends, and the host, are written anew."""
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    405: "invalid_request_error",
    431: "invalid_request_error",
    503: "overloaded_error",
    505: "invalid_request_error",
}


class Refused(Exception):
    """The request does not pass; the text is for whoever sent it, and holds nothing of what was sent."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Gate:
    """Lets this Run's requests pass to one upstream, with the credential in."""

    def __init__(self, swap: Swap, host: str, prefix: str) -> None:
        """`host` is the upstream's `Host`; `prefix` goes before every path."""
        self._swap = swap
        self._host = host.encode()
        self._prefix = prefix.encode()

    def pass_on(self, head: RequestHead) -> bytes:
        """The head to send upstream in place of `head`. Raises `Refused`."""
        headers = self._swapped(head)
        path, _, _ = head.target.partition(b"?")
        methods = next((allowed for pattern, allowed in PATHS if pattern.fullmatch(path)), None)
        if methods is None:
            raise Refused(404, "only /v1/messages, /v1/messages/count_tokens and /v1/models pass this forwarder")
        if head.method not in methods:
            raise Refused(405, "this method does not pass this forwarder")
        lines = [b"%s %s%s HTTP/1.1" % (head.method, self._prefix, head.target), *headers]
        if head.length is None:
            lines.append(b"Transfer-Encoding: chunked")
        elif head.length or head.method == b"POST":
            lines.append(b"Content-Length: %d" % head.length)
        if head.closes:
            lines.append(b"Connection: close")
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _swapped(self, head: RequestHead) -> list[bytes]:
        dropped = _OF_THE_HOP | options(head.headers)
        lines = [b"Host: " + self._host]
        shown = False
        for name, value in head.headers:
            lower = name.lower()
            if lower in _CREDENTIALS:
                real = self._swap.header(lower, value)
                if real is None:
                    raise _not_ours()
                shown = True
                lines.append(name + b": " + real)
            elif lower not in dropped:
                lines.append(name + b": " + value)
        if not shown:
            raise _not_ours()
        return lines


def _not_ours() -> Refused:
    return Refused(401, "only the placeholder that this Run gave its Session is accepted here")


def answer(status: int, text: str, *, with_body: bool = True) -> bytes:
    """An answer of the forwarder's own, in the shape of the API's errors; the last one on its connection."""
    error = {"type": _KINDS.get(status, "api_error"), "message": f"Nightjar's forwarder: {text}"}
    body = json.dumps({"type": "error", "error": error}).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (body if with_body else b"")
