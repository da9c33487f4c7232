"""The upstream's end of a connection: sends a request, passes the answer back.

An answer passes byte for byte; it is read only to know when it has ended, and what its end means.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from typing import Protocol

from bot.forwarder.messages import BLANK, AnswerHead, BadMessage, EndlessBody, parse_answer


class Asker(Protocol):
    """Whose requests an upstream connection answers."""

    def upstream_is_there(self, up: Up) -> None:
        """The connection is open."""

    def upstream_is_full(self, full: bool) -> None:
        """Whether the upstream reads more slowly than the client sends."""

    def pass_back(self, data: bytes) -> None:
        """A piece of an answer."""

    def answered(self, *, last: bool) -> None:
        """The answer to the current request has passed; `last`: nothing follows it on this connection."""

    def unreachable(self, reason: str) -> None:
        """No byte of an answer has passed, and none will."""

    def leave(self) -> None:
        """The connection is over; the client has all there is."""

    def reset(self) -> None:
        """The connection is over, and what the client has must not pass for the whole."""


class Up(asyncio.Protocol):
    """The upstream's end: passes answers back."""

    def __init__(self, asker: Asker, head_bytes: int) -> None:
        self._asker = asker
        self._head_bytes = head_bytes
        self._method: bytes | None = None
        self._head = b""
        self._answer: AnswerHead | None = None
        self.begun = False
        """Something of the answer to the current request has passed."""

    def ask(self, head: bytes, method: bytes) -> None:
        """Send a request's head; what comes next from the upstream is the answer."""
        self._method, self._answer, self._head, self.begun = method, None, b"", False
        self.transport.write(head)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._asker.upstream_is_there(self)

    def data_received(self, data: bytes) -> None:
        if self._method is None:
            self._asker.leave()  # nothing was asked: a server that says goodbye before it hangs up
            return
        try:
            passing, rest = self._read(data)
        except BadMessage as error:
            self._fail(str(error))
            return
        if passing:
            self.begun = True
            self._asker.pass_back(passing)
        if self._answer and self._answer.body.done:
            last = self._answer.closes or bool(rest)
            self._method, self._answer, self.begun = None, None, False
            self._asker.answered(last=last)

    def _read(self, data: bytes) -> tuple[bytes, bytes]:
        """What of `data` belongs to the answer and can pass now, and what comes after the answer."""
        passing = b""
        while data and not (self._answer and self._answer.body.done):
            if self._answer is None:
                self._head, data = self._head + data, b""
                head, blank, rest = self._head.partition(BLANK)
                if len(head) > self._head_bytes:
                    raise BadMessage("the answer's head is too long")
                if not blank:
                    break
                found = parse_answer(head + blank, self._method or b"")
                passing, data, self._head = passing + head + blank, rest, b""
                self._answer = None if found.interim else found
            else:
                taken = self._answer.body.take(data)
                passing, data = passing + data[:taken], data[taken:]
        return passing, data

    def connection_lost(self, error: Exception | None) -> None:
        whole = error is None and self._answer is not None and isinstance(self._answer.body, EndlessBody)
        if self._method is None or whole:
            self._asker.leave()
        elif self._answer and isinstance(self._answer.body, EndlessBody):
            self._asker.reset()
        else:
            self._fail(reason_of(error) if isinstance(error, OSError) else "it hung up")

    def _fail(self, reason: str) -> None:
        if self.begun:
            self._asker.leave()
        else:
            self._asker.unreachable(reason)

    def pause_writing(self) -> None:
        self._asker.upstream_is_full(True)

    def resume_writing(self) -> None:
        self._asker.upstream_is_full(False)


def reason_of(error: Exception) -> str:
    """Why there is no answer, in a few words without addresses."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "the TLS handshake failed"
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    if isinstance(error, OSError):
        return os.strerror(error.errno).lower() if error.errno else "the connection failed"
    return str(error)
