"""Ends: what the CLI sees when the API fails, what the API sees when the CLI goes, and what is not waited for."""

from __future__ import annotations

import threading

import pytest

from bot.forwarder import ApiKey, Forwarder, Limits, Upstream
from tests.forwarder.wire import (
    KEY,
    SECONDS,
    STREAM,
    Keeper,
    Origin,
    Wire,
    chunk,
    dial,
    error_of,
    forwarding,
    ok,
    status,
)


def _asked_and(send: bytes = b"", *, reset: bool = False) -> Origin:
    def play(wire: Wire) -> None:
        wire.message()
        wire.send(send)
        if reset:
            wire.reset()

    return Origin(play)


def test_an_api_that_is_not_there_is_a_502_in_its_own_shape() -> None:
    """The CLI gets an error that it can retry, and the job log says why."""
    told: list[str] = []
    with Origin(Keeper()) as gone:
        gone.stop_listening()
        with forwarding(gone, told=told) as station, station.dial() as client:
            client.send(station.post())
            answer = client.rest()
    assert status(answer) == 502
    assert error_of(answer) == ("api_error", "Nightjar's forwarder: no answer from the model's API: connection refused")
    assert told == ["forwarder: no answer from the model's API: connection refused"]


def test_an_api_whose_name_is_unknown_is_a_502() -> None:
    """A base URL with a typo is told from a refused connection."""
    with forwarding(Upstream("api.nowhere.invalid", 443), told=[]) as station, station.dial() as client:
        client.send(station.post())
        answer = client.rest()
    assert status(answer) == 502
    assert error_of(answer)[1].endswith(("its name is not known", "took too long to connect"))


@pytest.mark.parametrize(
    ("said", "reset"),
    [
        (b"", False),
        (b"", True),
        (b"HTTP/1.1 200 OK\r\nConte", False),
        (b"SSH-2.0-x\r\n\r\n", False),
    ],
)
def test_an_api_that_hangs_up_or_talks_nonsense_before_an_answer_is_a_502(said: bytes, reset: bool) -> None:
    """As long as no byte of an answer has passed, the CLI gets a whole error instead."""
    with _asked_and(said, reset=reset) as origin, forwarding(origin, told=[]) as station, station.dial() as client:
        client.send(station.post())
        answer = client.rest()
    assert status(answer) == 502
    assert error_of(answer)[0] == "api_error"


def test_an_answer_whose_head_does_not_end_is_a_502() -> None:
    """What is no answer is not waited for, though the API goes on sending it."""

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000)
        wire.gone()

    with Origin(play) as origin, forwarding(origin, told=[]) as station, station.dial() as client:
        client.send(station.post())
        assert status(client.rest()) == 502


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(
    "said",
    [STREAM + chunk(b"event: a\n\n"), STREAM + b"ff\r\nhalf", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
)
def test_a_torn_answer_stays_torn(said: bytes, reset: bool) -> None:
    """An answer that breaks off breaks off for the CLI too, after what there was of it, with nothing added."""
    seen = threading.Event()
    told: list[str] = []

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(said)
        assert seen.wait(SECONDS)
        if reset:
            wire.reset()

    with Origin(play) as origin, forwarding(origin, told=told) as station, station.dial() as client:
        client.send(station.post())
        assert client.exactly(len(said)) == said
        seen.set()
        assert client.rest() == b""
    assert told == []


def test_a_torn_answer_without_a_length_does_not_pass_for_whole() -> None:
    """Where only the connection's end ends an answer, a reset reaches the client as one."""
    seen = threading.Event()

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        assert seen.wait(SECONDS)
        wire.reset()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        client.until(b"half")
        seen.set()
        with pytest.raises(ConnectionResetError):
            client.rest()


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("reset", [False, True])
def test_when_the_cli_goes_the_api_is_hung_up_on(begun: bool, reset: bool) -> None:
    """A killed session's request does not go on costing money, whether the answer had begun or not."""
    asked, ended = threading.Event(), threading.Event()

    def play(wire: Wire) -> None:
        wire.message()
        if begun:
            wire.send(STREAM)
        asked.set()
        assert wire.gone()
        ended.set()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        assert asked.wait(SECONDS)
        if begun:
            client.head()
        (client.reset if reset else client.close)()
        assert ended.wait(SECONDS)


def test_when_the_cli_goes_in_the_middle_of_its_request_the_api_is_hung_up_on() -> None:
    """Half a request is not kept waiting for the other half."""
    asked, ended = threading.Event(), threading.Event()

    def play(wire: Wire) -> None:
        wire.head()
        wire.exactly(4)
        asked.set()
        assert wire.gone()
        ended.set()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post(b"half" + bytes(100))[:-100])
        assert asked.wait(SECONDS)
        client.close()
        assert ended.wait(SECONDS)


def test_an_idle_connection_that_the_api_closes_is_closed() -> None:
    """The CLI sees at once that it has to dial again, and when it does, it gets an answer."""
    with _asked_and(ok()) as origin, forwarding(origin) as station:
        for _ in range(2):
            with station.dial() as client:
                client.send(station.post())
                assert client.message() == ok()
                assert client.rest() == b""
    assert origin.connections == 2


def test_a_last_answer_is_the_last() -> None:
    """After an answer that says so the connection is closed, though the API itself does not get round to it."""
    last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(last)
        wire.gone()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        assert client.rest() == last


def test_a_request_that_is_the_last_is_the_last() -> None:
    """A client that asks for the connection to be closed is obeyed, and the API is told."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post(extra="Connection: close\r\n"))
        assert client.rest() == ok()
    assert b"\r\nConnection: close\r\n" in keeper.requests[0]


def test_a_goodbye_that_nobody_asked_for_answers_nothing() -> None:
    """What an API says on an idle connection before it closes it is not taken for the answer to the next request."""

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(ok() + b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        wire.gone()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post())
        assert client.rest() == ok()


def test_an_answer_before_the_end_of_the_request_arrives() -> None:
    """A request that is too large gets the API's 413, though the CLI sends on to the end before it reads."""
    too_large = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\n{}"
    size = 64 << 20
    stuck, read = threading.Event(), threading.Event()

    def play(wire: Wire) -> None:
        wire.head()
        assert stuck.wait(SECONDS)
        wire.send(too_large)
        assert read.wait(SECONDS)

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}Content-Length: {size}\r\n\r\n".encode())
        sent = client.push(size)
        assert sent < size
        stuck.set()
        client.send(bytes(size - sent))
        assert client.rest() == too_large
        read.set()


def test_a_refusal_arrives_though_the_body_is_still_on_its_way() -> None:
    """A large request with the wrong credential gets its 401, not a reset."""
    with Origin(Keeper()) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(station.post(bytes(4 << 20), credential=""))
        assert status(client.rest()) == 401


@pytest.mark.parametrize(
    "body",
    [b"2\r\nabc\r\n", b"z\r\n", b"-1\r\n", b"2\nab\r\n", b"1;" + b"x" * 20_000, b"0\r\n" + b"X: y\r\n" * 8_000],
    ids=["longer", "no size", "negative", "bare", "endless size", "endless trailer"],
)
def test_a_body_in_broken_chunks_ends_the_connection(body: bytes) -> None:
    """A body whose chunks do not add up goes no further, and nothing after it is taken for a request."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}Transfer-Encoding: chunked\r\n\r\n".encode()
        client.send(head + body)
        assert status(client.rest()) == 400
    assert keeper.requests == []


def test_a_broken_chunk_after_the_answer_has_begun_adds_nothing_to_it() -> None:
    """No error is written into the middle of an answer."""

    def play(wire: Wire) -> None:
        wire.head()
        wire.send(STREAM)
        wire.gone()

    with Origin(play) as origin, forwarding(origin) as station, station.dial() as client:
        key = f"x-api-key: {station.placeholder}\r\n"
        client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\n{key}Transfer-Encoding: chunked\r\n\r\n".encode())
        assert client.head() == STREAM
        client.send(b"no size\r\n")
        assert client.rest() == b""


@pytest.mark.parametrize("sent", [b"", b"POST /v1/messages HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_head_is_not_waited_for(sent: bytes) -> None:
    """Whoever connects and says nothing, or dawdles over a head, is hung up on."""
    with Origin(Keeper()) as origin, forwarding(origin, limits=Limits(head_seconds=0.5)) as station:
        with station.dial() as client:
            client.send(sent)
            assert client.gone()
        with station.dial() as client:
            client.send(station.post())
            assert client.message() == ok()
            client.send(sent or b"P")
            assert client.gone()


def test_an_idle_connection_is_left_alone() -> None:
    """Between two requests a client may take its time: sessions run tools for minutes."""
    limits = Limits(head_seconds=0.5)
    with Origin(Keeper()) as origin, forwarding(origin, limits=limits) as station, station.dial() as client:
        models = f"GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: {station.placeholder}\r\n\r\n".encode()
        for request in (station.post(), models):
            client.send(request)
            assert client.message() == ok()
            client.end.settimeout(1.0)
            with pytest.raises(TimeoutError):
                client.end.recv(1)
            client.end.settimeout(SECONDS)
        client.send(station.post())
        assert client.message() == ok()


def test_a_body_that_stops_coming_is_not_waited_for() -> None:
    """A request whose body stands still is given up, and the API is not kept waiting either."""
    ended = threading.Event()

    def play(wire: Wire) -> None:
        wire.head()
        wire.gone()
        ended.set()

    limits = Limits(body_seconds=0.3)
    with Origin(play) as origin, forwarding(origin, limits=limits) as station, station.dial() as client:
        client.send(station.post(b"half" + bytes(100))[:-100])
        assert client.gone()
        assert ended.wait(SECONDS)


def test_silent_strangers_cannot_keep_the_session_out() -> None:
    """However many connections stand open without the placeholder, a request that has it gets through."""
    with Origin(Keeper()) as origin, forwarding(origin, limits=Limits(connections=4)) as station:
        strangers = [station.dial() for _ in range(12)]
        with station.dial() as client:
            client.send(station.post())
            assert client.message() == ok()
            for stranger in strangers[:8]:
                assert stranger.gone()
        for stranger in strangers:
            stranger.close()


def test_more_streams_than_allowed_are_refused_in_the_apis_shape() -> None:
    """With every place taken by a stream, one more gets 503 and the streams go on."""
    release = threading.Event()

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(STREAM)
        assert release.wait(SECONDS)
        wire.send(b"0\r\n\r\n")

    with Origin(play) as origin, forwarding(origin, limits=Limits(connections=3)) as station:
        clients = [station.dial() for _ in range(3)]
        for client in clients:
            client.send(station.post())
            assert client.head() == STREAM
        with station.dial() as client:
            answer = client.rest()
            assert status(answer) == 503
            assert error_of(answer)[0] == "overloaded_error"
        release.set()
        for client in clients:
            with client:
                assert client.exactly(5) == b"0\r\n\r\n"


def _cut_off(client: Wire) -> bool:
    try:
        while True:
            client.send(b"still here")
    except ConnectionError:
        return True


def test_a_client_that_does_not_hang_up_is_hung_up_on() -> None:
    """After a refusal the connection does not stand open for as long as the other end pleases."""
    limits = Limits(linger_seconds=0.2)
    with Origin(Keeper()) as origin, forwarding(origin, limits=limits) as station, station.dial() as client:
        client.send(station.post(credential=""))
        assert status(client.rest()) == 401
        assert _cut_off(client)


def test_closing_breaks_everything_off() -> None:
    """At a Run's end no connection, no port and no thread is left, whatever was going on."""
    asked, ended = threading.Event(), threading.Event()

    def play(wire: Wire) -> None:
        wire.message()
        wire.send(STREAM)
        asked.set()
        wire.gone()
        ended.set()

    with Origin(play) as origin:
        forwarder = Forwarder(upstream=origin.upstream, credential=ApiKey(KEY)).start()
        port = int(forwarder.environment["ANTHROPIC_BASE_URL"].rpartition(":")[2])
        placeholder = forwarder.environment["ANTHROPIC_API_KEY"]
        with dial(port) as client, dial(port) as idle:
            client.send(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {placeholder}\r\n\r\n".encode())
            assert asked.wait(SECONDS)
            forwarder.close()
            assert "forwarder" not in {thread.name for thread in threading.enumerate()}
            forwarder.close()
            assert client.gone()
            assert idle.gone()
        assert ended.wait(SECONDS)
        with pytest.raises(ConnectionRefusedError):
            dial(port)


def test_a_forwarder_is_started_once_and_has_no_address_before() -> None:
    """Mistakes in its use are told at once."""
    forwarder = Forwarder(upstream=Upstream("127.0.0.1", 9, tls=False), credential=ApiKey(KEY))
    with pytest.raises(RuntimeError, match="no address before it is started"):
        _ = forwarder.environment
    with forwarder, pytest.raises(RuntimeError, match="started once"):
        forwarder.start()
