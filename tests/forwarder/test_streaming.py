"""What passes through: every byte as it was sent, when it was sent, in both directions."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.forwarder.wire import (
    KEY,
    SECONDS,
    STREAM,
    Keeper,
    Origin,
    Station,
    Wire,
    chunk,
    dial,
    forwarding,
    ok,
    status,
)

LIMITED = (
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\nanthropic-ratelimit-unified-status: rejected\r\n"
    b"Anthropic-RateLimit-Unified-Reset: 1795966268\r\nx-should-retry: false\r\nrequest-id: req_1\r\n"
    b'content-type: application/json\r\nContent-Length: 52\r\n\r\n{"type":"error","error":{"type":"rate_limit_error"}}'
)
OVERLOADED = (
    b"HTTP/1.1 529 \r\nX-Odd:   kept   \r\nTransfer-Encoding: chunked\r\n\r\n"
    b'1f;ext=1\r\n{"type":"overloaded_error","a":\r\n2\r\n1}\r\n0\r\nX-Trailer: t\r\n\r\n'
)
UNKNOWN = b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
EMPTY = b"HTTP/1.1 204 No Content\r\nrequest-id: r\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\x00\xff}"
OLD = b"HTTP/1.0 200 OK\r\n\r\nto the end"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("answer", [LIMITED, OVERLOADED, UNKNOWN, EMPTY, ENDLESS, OLD, EARLY])
def test_an_answer_is_the_same_as_without_the_forwarder(answer: bytes) -> None:
    """Usage limits, overload, refusals and odd answers reach the CLI byte for byte, headers included."""

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(answer)

    with Origin(play) as origin, forwarding(origin) as station:
        with dial(origin.port) as client:
            client.send(station.post())
            direct = client.rest()
        with station.dial() as client:
            client.send(station.post())
            through = client.rest()
    assert through == direct == answer


def test_events_arrive_as_they_are_sent() -> None:
    """Each event of a stream is with the client before the API sends the next one, even half a line."""
    seen = threading.Semaphore(0)
    pieces = [STREAM, chunk(b"event: a\ndata: 1\n\n"), b"9\r\nevent: b\n", b"\r\n", chunk(b"\n"), b"0\r\n\r\n"]

    def play(wire: Wire) -> None:
        wire.message()
        for piece in pieces:
            wire.send(piece)
            assert seen.acquire(timeout=SECONDS)

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        for piece in pieces:
            assert client.exactly(len(piece)) == piece
            seen.release()


def test_a_request_arrives_as_it_is_sent() -> None:
    """Each piece of a request's body is with the API before the client sends the next one."""
    seen = threading.Semaphore(0)
    pieces = [chunk(b'{"a":'), b"2;x=y\r\n1", b"}\r\n", b"0\r\nX-T: 1\r\n\r\n"]

    def play(wire: Wire) -> None:
        head = wire.head()
        assert b"Transfer-Encoding: chunked\r\n" in head
        assert b"Content-Length" not in head
        for piece in pieces:
            assert wire.exactly(len(piece)) == piece
            seen.release()
        wire.send(ok())

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}Transfer-Encoding: Chunked\r\n\r\n".encode())
        for piece in pieces:
            client.send(piece)
            assert seen.acquire(timeout=SECONDS)
        assert client.message() == ok()


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_of_any_size_pass_whole(chunked: bool) -> None:
    """30 MB go up and come back the same, with their length said beforehand and in chunks."""
    part = bytes(range(256)) * 4096
    parts = 30
    sent = [chunk(part) for _ in range(parts)] + [b"0\r\n\r\n"] if chunked else [part] * parts
    announced = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(part) * parts}"
    size = sum(map(len, sent))

    def play(wire: Wire) -> None:
        wire.head()
        body = wire.exactly(size)
        wire.send(f"HTTP/1.1 200 OK\r\n{announced}\r\n\r\n".encode())
        wire.send(body)

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}{announced}\r\n\r\n".encode())
        for piece in sent:
            client.send(piece)
        client.head()
        assert hashlib.sha256(client.exactly(size)).digest() == hashlib.sha256(b"".join(sent)).digest()


@pytest.mark.parametrize("towards", ["client", "origin"])
def test_nothing_is_heaped_up_for_whoever_reads_slowly(towards: str) -> None:
    """While one side does not read, the other cannot send on: the forwarder holds a little, not all of a long body."""
    endless = 1 << 30
    stuck = threading.Event()

    pushed = 0

    def play(wire: Wire) -> None:
        nonlocal pushed
        wire.head()
        if towards == "client":
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % endless)
            pushed = wire.push(endless)
            stuck.set()
        stuck.wait(SECONDS)

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        length = endless if towards == "origin" else 0
        client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}Content-Length: {length}\r\n\r\n".encode())
        if towards == "origin":
            pushed = client.push(endless)
            stuck.set()
        assert stuck.wait(SECONDS)
    assert pushed < 64 << 20  # what the kernel holds for three sockets, and a little


def test_one_connection_carries_request_after_request() -> None:
    """A client that keeps its connection keeps one to the API, through answers with and without bodies."""
    keeper = Keeper(EMPTY)
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        for number in range(5):
            client.send(station.post(b"x" * number))
            assert client.head() == EMPTY
        client.send(f"HEAD /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: {station.placeholder}\r\n\r\n".encode())
        assert client.head() == EMPTY
    assert origin.connections == 1
    assert len(keeper.requests) == 6
    assert all(KEY.encode() in request for request in keeper.requests)


def test_each_request_on_a_connection_needs_the_placeholder() -> None:
    """A second request without it is refused, though the first had it."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        client.message()
        client.send(station.post(credential=""))
        assert status(client.rest()) == 401
    assert len(keeper.requests) == 1


def test_a_request_in_a_body_is_a_body() -> None:
    """What looks like another request inside a body gets no credential and no answer of its own."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        inner = station.post()
        client.send(station.post(inner))
        assert client.message() == ok()
    assert len(keeper.requests) == 1
    assert keeper.requests[0].endswith(inner)


def test_requests_sent_ahead_are_answered_in_turn() -> None:
    """A client that does not wait for answers gets them in order, and the API sees one request at a time."""

    def play(wire: Wire) -> None:
        while True:
            body = wire.message().partition(b"\r\n\r\n")[2]
            wire.end.setblocking(False)
            with pytest.raises(BlockingIOError):
                wire.end.recv(1)
            wire.end.settimeout(SECONDS)
            wire.send(ok(body))

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(b"".join(station.post(b"%d" % number) for number in range(20)))
        assert [client.message() for _ in range(20)] == [ok(b"%d" % number) for number in range(20)]


def test_leave_to_send_a_body_is_passed_on() -> None:
    """`Expect: 100-continue` works: the API's word comes through, then the body goes up, then the answer comes."""

    def play(wire: Wire) -> None:
        assert b"Expect: 100-continue" in wire.head()
        wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        wire.send(ok(wire.exactly(4)))

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        request = station.post(b"body", extra="Expect: 100-continue\r\n")
        client.send(request[:-4])
        assert client.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(request[-4:])
        assert client.message() == ok(b"body")


def test_a_gateways_path_goes_before_every_path() -> None:
    """With a base URL that has a path, the API's paths come after it."""
    keeper = Keeper()
    with Origin(keeper) as origin:
        upstream = type(origin.upstream).from_environment(
            {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{origin.port}/team/anthropic/"}
        )
        with forwarding(upstream) as station, station.dial() as client:
            client.send(station.post())
            client.message()
    assert keeper.requests[0].startswith(b"POST /team/anthropic/v1/messages?beta=true HTTP/1.1\r\n")


def test_64_streams_at_once() -> None:
    """64 sessions' worth of streams, all open at the same moment, each come through whole and their own."""
    streams, events = 64, 20
    together = threading.Barrier(streams, timeout=SECONDS)

    def body(number: bytes) -> bytes:
        return b"".join(chunk(b"data: %s-%d\n\n" % (number, event)) for event in range(events)) + b"0\r\n\r\n"

    def play(wire: Wire) -> None:
        number = wire.message().partition(b"\r\n\r\n")[2]
        wire.send(STREAM)
        together.wait()
        for event in range(events):
            wire.send(chunk(b"data: %s-%d\n\n" % (number, event)))
        wire.send(b"0\r\n\r\n")

    def ask(station: Station, number: int) -> bytes:
        with station.dial() as client:
            client.send(station.post(b"%d" % number))
            return client.message()

    with Origin(play) as origin, forwarding(origin) as station, ThreadPoolExecutor(streams) as pool:
        answers = list(pool.map(lambda number: ask(station, number), range(streams)))
    assert answers == [STREAM + body(b"%d" % number) for number in range(streams)]
