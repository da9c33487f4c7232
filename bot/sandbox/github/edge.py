"""HTTP on loopback: a small threaded server with keep-alive, which hands whole requests to a function and sends what
it answers.

Bodies arrive by `Content-Length` or chunked, plain or gzip; the function sees them decoded.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bot.sandbox.github.http import HANG_UP, Reply

_EMPTY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


@dataclass(frozen=True, slots=True)
class Request:
    """A whole HTTP request. `target` is path and query as sent; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[Request], Reply]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def handle_one_request(self) -> None:
        """One request of a connection; a client that went away ends it quietly."""
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def handle_expect_100(self) -> bool:
        """Tell the client to go on, at once."""
        answer = super().handle_expect_100()
        self.wfile.flush()
        return answer

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = self._read_body(headers)
        except (ValueError, zlib.error):
            self.close_connection = True
            self.send_error(400)
            return
        reply = self.server.answer(Request(self.command, self.path, headers, body))
        if reply is HANG_UP:
            self.close_connection = True
            return
        payload = reply.payload()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status not in _EMPTY:
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD" and reply.status not in _EMPTY:
            self.wfile.write(payload)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

    def _read_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = self._read_chunks()
        else:
            body = self.rfile.read(int(headers.get("content-length") or 0))
        if body and headers.get("content-encoding", "").lower() in ("gzip", "x-gzip"):
            body = zlib.decompress(body, wbits=zlib.MAX_WBITS | 16)
        return body

    def _read_chunks(self) -> bytes:
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def version_string(self) -> str:
        """The `Server` header."""
        return "nightjar-sandbox"

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are logged by who answers them, not on stderr."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    answer: Answer

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.open: set[socket.socket] = set()
        self.guard = threading.Lock()

    def server_bind(self) -> None:
        """Bind without the reverse name look-up that the standard library makes."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, remembering it so that it can be closed."""
        with self.guard:
            self.open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.guard:
                self.open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection broken by its client is nobody's error."""


class HttpServer:
    """A server on a free port of loopback, known as `host` before it serves; `close` ends it and its connections."""

    def __init__(self) -> None:
        self._server = _Server()
        self.host = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._closed = False

    def serve(self, answer: Answer) -> None:
        """Answer requests from now on."""
        self._server.answer = answer
        self._thread.start()

    def _accept(self) -> None:
        while not self._closed:
            self._server.handle_request()

    def close(self) -> None:
        """Stop listening and hang up."""
        self._closed = True
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self._server.server_port), 1).close()  # wakes the thread
        self._thread.join()
        self._server.server_close()
        with self._server.guard:
            for connection in self._server.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
