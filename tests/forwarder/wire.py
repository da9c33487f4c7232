"""Raw sockets on both sides of a forwarder: an origin that does what a test says, and clients that see every byte."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from bot.forwarder import ApiKey, Credential, Forwarder, Limits, Upstream

KEY = "sk-ant-api03-the-real-key"
TOKEN = "sk-ant-oat01-the-real-token"
SECONDS = 20.0
"""For anything to arrive: a hang is a failure."""


class Wire:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.end.settimeout(SECONDS)
        self.end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self.end.sendall(data)

    def until(self, mark: bytes) -> bytes:
        """Read up to `mark`, which is included."""
        while mark not in self._held:
            piece = self.end.recv(65536)
            if not piece:
                raise EOFError(f"hung up before {mark!r}: {self._held!r}")
            self._held += piece
        found, _, self._held = self._held.partition(mark)
        return found + mark

    def exactly(self, size: int) -> bytes:
        """Read that many bytes."""
        while len(self._held) < size:
            piece = self.end.recv(1 << 20)
            if not piece:
                raise EOFError(f"hung up after {len(self._held)} bytes of {size}")
            self._held += piece
        found, self._held = self._held[:size], self._held[size:]
        return found

    def head(self) -> bytes:
        """Read up to a blank line."""
        return self.until(b"\r\n\r\n")

    def message(self) -> bytes:
        """Read a head and the body it announces."""
        head = self.head()
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if b"transfer-encoding: chunked" in head.lower():
            return head + self.until(b"0\r\n\r\n")
        return head + self.exactly(int(length[1]) if length else 0)

    def rest(self) -> bytes:
        """Read until the other end hangs up. Raises `ConnectionResetError`."""
        while piece := self.end.recv(1 << 20):
            self._held += piece
        found, self._held = self._held, b""
        return found

    def push(self, size: int) -> int:
        """Send zeros until `size` have gone, or the other end has taken none for half a second; how many have gone."""
        self.end.settimeout(0.5)
        gone = 0
        with contextlib.suppress(TimeoutError):
            while gone < size:
                gone += self.end.send(bytes(min(65536, size - gone)))
        self.end.settimeout(SECONDS)
        return gone

    def gone(self) -> bool:
        """Wait until the other end has hung up, one way or the other; what it still said is thrown away."""
        with contextlib.suppress(ConnectionError):
            self.rest()
        return True

    def close(self) -> None:
        """Hang up."""
        self.end.close()

    def reset(self) -> None:
        """Hang up with a reset."""
        self.end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Origin:
    """An upstream on 127.0.0.1 that plays `play` on each connection, in a thread of its own."""

    def __init__(self, play: Callable[[Wire], None], tls: ssl.SSLContext | None = None) -> None:
        self._play = play
        self._tls = tls
        self._threads: list[threading.Thread] = []
        self._ends: list[socket.socket] = []
        self.failures: list[BaseException] = []
        self.connections = 0

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listening.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()
        return self

    @property
    def upstream(self) -> Upstream:
        """Its address."""
        return Upstream("127.0.0.1", self.port, tls=False)

    def _accept(self) -> None:
        while True:
            try:
                end, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._ends.append(end)
            thread = threading.Thread(target=self._serve, args=(end,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, end: socket.socket) -> None:
        try:
            if self._tls:
                end = self._tls.wrap_socket(end, server_side=True)
            with Wire(end) as wire:
                self._play(wire)
        except (EOFError, ConnectionError, ssl.SSLError):
            return  # the client has gone
        except BaseException as error:
            self.failures.append(error)
            raise

    def stop_listening(self) -> None:
        """Nobody is reached here any more."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._accepting.join()

    def __exit__(self, *_: object) -> None:
        self.stop_listening()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


class Station:
    """A running forwarder, an address, and what is said to it."""

    def __init__(self, forwarder: Forwarder, credential: Credential) -> None:
        self.forwarder = forwarder
        self.placeholder = forwarder.environment[credential.variable]
        self.port = int(forwarder.environment["ANTHROPIC_BASE_URL"].rpartition(":")[2])

    def dial(self) -> Wire:
        """A new connection to the forwarder."""
        return dial(self.port)

    def post(
        self, body: bytes = b"{}", path: str = "/v1/messages?beta=true", extra: str = "", credential: str | None = None
    ) -> bytes:
        """A request as the CLI would send it; `credential`: header lines in place of the right one."""
        lines = f"x-api-key: {self.placeholder}\r\n" if credential is None else credential
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{lines}{extra}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode("latin-1") + body


def dial(port: int) -> Wire:
    """A new connection to a port of 127.0.0.1."""
    return Wire(socket.create_connection(("127.0.0.1", port)))


@contextmanager
def forwarding(
    upstream: Upstream | Origin,
    credential: Credential | None = None,
    limits: Limits | None = None,
    told: list[str] | None = None,
) -> Iterator[Station]:
    """A forwarder before an upstream."""
    given = ApiKey(KEY) if credential is None else credential
    with Forwarder(
        upstream=upstream.upstream if isinstance(upstream, Origin) else upstream,
        credential=given,
        limits=limits,
        tell=print if told is None else told.append,
    ) as forwarder:
        yield Station(forwarder, given)
    if isinstance(upstream, Origin):
        assert upstream.failures == []


def ok(body: bytes = b"{}") -> bytes:
    """A plain answer."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def chunk(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Keeper:
    """An origin's play that keeps every request and gives each the same answer."""

    def __init__(self, answer: bytes | None = None) -> None:
        self.requests: list[bytes] = []
        self._answer = ok() if answer is None else answer

    def __call__(self, wire: Wire) -> None:
        while True:
            self.requests.append(wire.message())
            wire.send(self._answer)


def status(answer: bytes) -> int:
    """An answer's status."""
    return int(answer.split(b" ", 2)[1])


def error_of(answer: bytes) -> tuple[str, str]:
    """Kind and text of an error in the API's shape."""
    said = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert said["type"] == "error"
    return said["error"]["type"], said["error"]["message"]
