"""One client's connection and the one upstream connection that belongs to it.

They live and die together: what the upstream does to its connection happens to the client's, so that the CLI sees what
it would have seen directly. A request is read as far as is needed to find the credential, and where it ends.
"""

from __future__ import annotations

import asyncio
import enum
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.forwarder.answers import Up, reason_of
from bot.forwarder.gate import Gate, Refused, answer
from bot.forwarder.limits import Limits
from bot.forwarder.messages import BLANK, BadMessage, Body, parse_request
from bot.forwarder.upstream import Unreachable, Upstream, connect

_RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Shared:
    """What all connections share."""

    gate: Gate
    upstream: Upstream
    trust: ssl.SSLContext | None
    limits: Limits
    tell: Callable[[str], object]
    """Takes lines for the job log."""
    open: set[Client] = field(default_factory=set)
    strangers: dict[Client, None] = field(default_factory=dict)
    """Those that have not shown the placeholder yet, oldest first."""

    def has_room_for(self, client: Client) -> bool:
        """Take a client in; when there are too many, in the place of the oldest stranger. False if there is none."""
        oldest = next(iter(self.strangers), None)
        full = len(self.open) >= self.limits.connections
        if full and oldest:
            self.forget(oldest)
            oldest.drop()
        self.open.add(client)
        self.strangers[client] = None
        return not full or oldest is not None

    def forget(self, client: Client) -> None:
        """The client has gone."""
        self.open.discard(client)
        self.strangers.pop(client, None)


class _Step(enum.Enum):
    HEAD = enum.auto()
    BODY = enum.auto()
    ANSWER = enum.auto()
    LEAVING = enum.auto()


class Client(asyncio.Protocol):
    """The client's end: reads requests, one after the other."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._limits = shared.limits
        self._step = _Step.HEAD
        self._held = bytearray()
        self._body: Body | None = None
        self._method = b""
        self._last = False
        self._up: Up | None = None
        self._opening: asyncio.Task[None] | None = None
        self._unsent = b""
        self._timer: asyncio.TimerHandle | None = None
        self._moved_at = 0.0
        self._up_is_full = False

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make room, and expect a request."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._loop = asyncio.get_running_loop()
        self._set_timer(self._limits.head_seconds, self.drop)
        if not self._shared.has_room_for(self):
            self._refuse(503, "too many connections at once")

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request in."""
        if self._step is _Step.LEAVING:
            return
        if self._step is _Step.HEAD and not self._held and self._timer is None:
            self._set_timer(self._limits.head_seconds, self.drop)
        self._held += data
        self._advance()

    def connection_lost(self, error: Exception | None) -> None:
        """The client has gone: so does everything that was done for it."""
        self._step = _Step.LEAVING
        self._set_timer(0, None)
        self._hang_up()
        self._shared.forget(self)

    def pause_writing(self) -> None:
        """The client reads slowly: so does the forwarder."""
        if self._up:
            self._up.transport.pause_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        if self._up:
            self._up.transport.resume_reading()

    # What the upstream's end calls.

    def upstream_is_full(self, full: bool) -> None:
        """Whether the upstream reads more slowly than the client sends."""
        self._up_is_full = full
        if not full:
            self._advance()
        self._regulate()

    def pass_back(self, data: bytes) -> None:
        """A piece of an answer."""
        self.transport.write(data)

    def answered(self, *, last: bool) -> None:
        """The answer to the current request has passed; `last`: nothing follows it on this connection."""
        if last or self._last or self._step is _Step.BODY:
            self.leave()
            return
        self._step = _Step.HEAD
        if self._held:
            self._set_timer(self._limits.head_seconds, self.drop)
            self._advance()
            self._regulate()

    def unreachable(self, reason: str) -> None:
        """No byte of an answer has come, and none will."""
        if self._step is _Step.LEAVING:
            return
        self._shared.tell(f"forwarder: no answer from the model's API: {reason}")
        self._refuse(502, f"no answer from the model's API: {reason}")

    def leave(self) -> None:
        """Send what is left to send, hang up, and give the client a moment to read it."""
        if self._step is _Step.LEAVING:
            return
        self._step = _Step.LEAVING
        self._held.clear()
        self._hang_up()
        if self.transport.is_closing():
            return
        self._linger()
        self.transport.write_eof()
        self.transport.resume_reading()  # else the client's own end would not be seen

    def drop(self) -> None:
        """End it at once."""
        self.transport.abort()

    def reset(self) -> None:
        """End it so that the client cannot take what it has for the whole."""
        found = self.transport.get_extra_info("socket")
        if found is not None:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    # A request's way.

    def _advance(self) -> None:
        try:
            if self._step is _Step.HEAD:
                self._take_head()
            if self._step is _Step.BODY:
                self._take_body()
        except (BadMessage, Refused) as error:
            self._refuse(error.status, str(error))
        else:
            self._regulate()

    def _take_head(self) -> None:
        end = self._held.find(BLANK)
        if max(end, len(self._held) if end < 0 else 0) > self._limits.head_bytes:
            raise BadMessage("the request's head is too long", 431)
        if end < 0:
            return
        request = parse_request(bytes(self._held[: end + len(BLANK)]))
        self._method = request.method
        head = self._shared.gate.pass_on(request)
        del self._held[: end + len(BLANK)]
        self._shared.strangers.pop(self, None)
        self._set_timer(0, None)
        self._last = request.closes
        self._body = request.body()
        self._step = _Step.ANSWER if self._body.done else _Step.BODY
        if self._step is _Step.BODY:
            self._moved_at = self._loop.time()
            self._watch_the_body()
        if self._up:
            self._up.ask(head, self._method)
        else:
            self._unsent = head
            self._opening = self._loop.create_task(self._open())

    def _take_body(self) -> None:
        if self._up is None or self._up_is_full or not self._held or self._body is None:
            return
        taken = self._body.take(bytes(self._held))
        self._up.transport.write(self._held[:taken])
        del self._held[:taken]
        self._moved_at = self._loop.time()
        if self._body.done:
            self._set_timer(0, None)
            self._step = _Step.ANSWER

    async def _open(self) -> None:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                await connect(self._shared.upstream, self._shared.trust, lambda: Up(self, self._limits.head_bytes))
        except TimeoutError:
            self.unreachable("it took too long to connect")
        except (OSError, Unreachable) as error:
            self.unreachable(reason_of(error))
        else:
            self._opening = None

    def upstream_is_there(self, up: Up) -> None:
        """The connection that was asked for is open."""
        if self._step is _Step.LEAVING:
            up.transport.abort()
            return
        self._up = up
        up.ask(self._unsent, self._method)
        self._unsent = b""
        self._advance()

    # Ends.

    def _refuse(self, status: int, text: str) -> None:
        if self._step is _Step.LEAVING:
            return
        if not (self._up and self._up.begun):
            self.transport.write(answer(status, text, with_body=self._method != b"HEAD"))
        self.leave()

    def _linger(self, unread: int = -1) -> None:
        """Hang up once the client has read nothing, and not hung up itself, for a while."""
        left = self.transport.get_write_buffer_size()
        if left == unread:
            self.drop()
        else:
            self._set_timer(self._limits.linger_seconds, lambda: self._linger(left))

    def _hang_up(self) -> None:
        if self._opening and self._opening is not asyncio.current_task():
            self._opening.cancel()
        self._opening = None
        if self._up:
            self._up.transport.abort()
        self._up = None

    def _regulate(self) -> None:
        if self._step is _Step.LEAVING or self.transport.is_closing():
            return
        if self._up_is_full or len(self._held) > self._limits.held_bytes:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _watch_the_body(self) -> None:
        still = self._loop.time() - self._moved_at
        if still >= self._limits.body_seconds:
            self.drop()
        else:
            self._set_timer(self._limits.body_seconds - still, self._watch_the_body)

    def _set_timer(self, seconds: float, then: Callable[[], None] | None) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, then) if then else None
