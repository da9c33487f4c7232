"""The scripted model's HTTP: a Messages API on 127.0.0.1, streaming and not.

Answers `POST /v1/messages` and `POST /v1/messages/count_tokens`, `HEAD` and `GET` on `/`, and 404 to the rest. Every
wait in it goes through the clock it was given and ends at once when the model is closed; `close` leaves no thread.
"""

from __future__ import annotations

import hmac
import json
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from bot.clock import Clock, Deadline
from bot.sandbox.model import messages
from bot.sandbox.model.messages import BadRequest, ModelRequest
from bot.sandbox.model.playback import Playback
from bot.sandbox.model.script import Fault, Reply, Script


class _Closing(Exception):
    """The model was closed while a request waited."""


class ScriptedModel:
    """Plays a Script to whoever asks; a context manager, or `start` and `close`.

    With `api_key`, a request that carries another key or none (in `x-api-key` or as a bearer token) gets 401, takes no
    item of the script and is not among `requests`. Delays are real seconds, or follow `clock`.
    """

    def __init__(self, script: Script, *, api_key: str | None = None, clock: Clock | None = None) -> None:
        self._playback = Playback(script)
        self._api_key = api_key
        self._limit: Callable[[str, float], Deadline] = Clock.reaction if clock is None else clock.deadline
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._requests: list[ModelRequest] = []
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Listen on a free port of 127.0.0.1, once. Raises `OSError` if there is none."""
        if self._server is not None:
            raise RuntimeError("a scripted model is started once; make another one")
        self._server = _Server(self)
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.1,), name="scripted-model", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Break off what is waiting or being streamed, and end every thread. Closing twice does nothing."""
        self._closing.set()
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.drop_all()
        self._server.server_close()
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """What `ANTHROPIC_BASE_URL` has to be. Raises `RuntimeError` before `start`."""
        if self._server is None:
            raise RuntimeError("the scripted model has no address before it is started")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Every request for an answer so far, in order of arrival."""
        with self._changed:
            return tuple(self._requests)

    @property
    def overruns(self) -> int:
        """How many answers were asked for after a conversation's script had ended, or with no conversation left."""
        with self._changed:
            return self._playback.overruns

    def wait_for(self, holds: Callable[[tuple[ModelRequest, ...]], bool], until: Deadline) -> bool:
        """Wait until the requests so far satisfy `holds`; False if `until` passes first."""
        with self._changed:
            return self._changed.wait_for(lambda: holds(tuple(self._requests)), until.left())

    def answer(self, body: bytes, headers: Mapping[str, str]) -> tuple[ModelRequest, Reply | Fault]:
        """Take a request down and say what it gets. Raises `BadRequest`."""
        parsed = messages.parse_request(body, headers, Clock.now())
        with self._changed:
            request, item = self._playback.take(parsed)
            self._requests.append(request)
            self._changed.notify_all()
        return request, item

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether the request carries the right key."""
        if self._api_key is None:
            return True
        keys = (headers.get("x-api-key", ""), headers.get("authorization", "").removeprefix("Bearer "))
        return any(hmac.compare_digest(key.encode(), self._api_key.encode()) for key in keys)

    def pause(self, what: str, seconds: float) -> None:
        """Wait `seconds` of the script. Raises `_Closing` as soon as the model is closed."""
        if self._closing.wait(self._limit(what, seconds).left()):
            raise _Closing


class _Server(ThreadingHTTPServer):
    """The listening socket, and the connections that have to be broken off at the end."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # HTTPServer's own would look up the host's name, which can take seconds without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        assert isinstance(request, socket.socket)
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def drop_all(self) -> None:
        """Break off every open connection, so that no thread goes on reading from one."""
        with self._lock:
            for connection in self._open:
                _hang_up(connection)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], (ConnectionError, _Closing)):  # a client that left is nobody's error
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what was asked is in `ScriptedModel.requests`."""

    def do_HEAD(self) -> None:
        self._send(200 if urlsplit(self.path).path == "/" else 404, {})

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/":
            self._send(200, {"service": "scripted model"})
        else:
            self._not_found()

    def do_POST(self) -> None:
        body = self._body()
        path = urlsplit(self.path).path
        if body is None:
            self.close_connection = True
            self._fail(400, "invalid_request_error", "a Content-Length is needed")
        elif path not in ("/v1/messages", "/v1/messages/count_tokens"):
            self._not_found()
        elif not self.server.model.admits(self._headers()):
            self._fail(401, "authentication_error", "invalid x-api-key")
        elif path == "/v1/messages/count_tokens":
            self._send(200, {"input_tokens": messages.estimated_tokens(body)})
        else:
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        model = self.server.model
        try:
            request, item = model.answer(body, self._headers())
        except BadRequest as error:
            self._fail(400, "invalid_request_error", str(error))
            return
        model.pause("the delay of a reply", item.delay_seconds)
        if isinstance(item, Reply):
            self._play(request, item)
        else:
            self._break(request, item)

    def _play(self, request: ModelRequest, reply: Reply) -> None:
        if not request.streamed:
            self._send(200, messages.as_message(reply, request.model))
            return
        self._begin_stream(_EVENTS)
        self._stream(messages.as_events(reply, request.model), reply.pace_seconds)
        self._end_stream()

    def _break(self, request: ModelRequest, fault: Fault) -> None:
        if fault.status is not None:
            self._fail(fault.status, fault.kind_of_error, fault.message, fault.headers)
            return
        if not fault.drop_connection:
            self._begin_stream(_EVENTS if request.streamed else _JSON)
        if request.streamed and not fault.drop_connection:
            events = messages.as_events(Reply(text=fault.text), request.model)
            self._stream(islice(events, 1 if fault.cut_after_events is None else fault.cut_after_events))
        self.server.model.pause("a stalled stream", fault.stall_seconds or 0)
        self.close_connection = True
        _hang_up(self.connection)

    def _stream(self, events: Iterable[Mapping[str, object]], pace_seconds: float = 0.0) -> None:
        for event in events:
            if event["type"] == "content_block_delta":
                self.server.model.pause("the pace of a stream", pace_seconds)
            self._chunk(messages.as_sse(event))

    def _begin_stream(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", messages.new_request_id())
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def _not_found(self) -> None:
        self._fail(404, "not_found_error", f"there is no {self.command} {urlsplit(self.path).path} here")

    def _fail(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        request_id = messages.new_request_id()
        self._send(status, messages.as_error(kind, message, request_id), {"request-id": request_id, **(headers or {})})

    def _send(self, status: int, answer: Mapping[str, object], headers: Mapping[str, str] | None = None) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", _JSON)
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self) -> bytes | None:
        """The request's body, read whole so that the connection can be used again; None if its length is not known."""
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionAbortedError("the client left in the middle of its request")
        return body

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}


_JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"


def _hang_up(connection: socket.socket) -> None:
    """End a connection that may have ended already; a thread that reads from it wakes up."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
