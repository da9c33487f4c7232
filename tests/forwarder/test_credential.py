"""What a Session, or anybody else on the machine, can get out of the forwarder: answers, and never the credential."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.forwarder import ApiKey, BadCredential, Credential, Forwarder, OAuthToken, Upstream
from tests.forwarder.wire import KEY, TOKEN, Keeper, Origin, Station, error_of, forwarding, ok, status

KINDS = pytest.mark.parametrize(
    ("credential", "sent", "arrives"),
    [
        (ApiKey(KEY), "X-Api-Key: {}", f"X-Api-Key: {KEY}"),
        (OAuthToken(TOKEN), "Authorization: Bearer {}", f"Authorization: Bearer {TOKEN}"),
        (OAuthToken(TOKEN), "authorization: bearer {}", f"authorization: bearer {TOKEN}"),
    ],
    ids=["key", "token", "lower case"],
)


@KINDS
def test_credential_is_put_where_the_placeholder_stands(credential: Credential, sent: str, arrives: str) -> None:
    """The API gets the real credential in the header in which the CLI sent the placeholder, and every other line as it
    was.
    """
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin, credential) as station, station.dial() as client:
        extra = "anthropic-beta: oauth-2025-04-20,x\r\nX-Odd:  two  words \r\nAccept-Encoding: gzip, br, zstd\r\n"
        client.send(station.post(b'{"a":1}', credential=sent.format(station.placeholder) + "\r\n", extra=extra))
        assert status(client.message()) == 200
    assert keeper.requests == [
        f"POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n{arrives}\r\n"
        "anthropic-beta: oauth-2025-04-20,x\r\nX-Odd: two  words\r\nAccept-Encoding: gzip, br, zstd\r\n"
        'Content-Length: 7\r\n\r\n{"a":1}'.encode()
    ]


def test_credential_is_put_nowhere_else() -> None:
    """A placeholder in the query, the body or any other header stays one: nothing else can carry the credential."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        mine = station.placeholder
        client.send(
            station.post(mine.encode(), f"/v1/messages?key={mine}", f"X-Mine: {mine}\r\nCookie: x-api-key={mine}\r\n")
        )
        client.message()
    assert keeper.requests[0].count(KEY.encode()) == 1
    assert keeper.requests[0].count(mine.encode()) == 4


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "x-api-key: \r\n",
        "x-api-key: sk-ant-api03-guess\r\n",
        f"x-api-key: {KEY}\r\n",
        f"authorization: Bearer {KEY}\r\n",
        "authorization: Basic {0}\r\n",
        "authorization: {0}\r\n",
        "x-api-key: {0} \r\nx-api-key: sk-ant-api03-guess\r\n",
        "x-api-key: {0}\r\nauthorization: Bearer of-somebody-else\r\n",
        "x-api-key: {0}x\r\n",
        "x-api-key: {1}\r\n",
        "cookie: x-api-key={0}\r\n",
        "proxy-authorization: Bearer {0}\r\n",
    ],
)
def test_only_this_runs_placeholder_is_accepted(lines: str) -> None:
    """No credential, a guess, the real one itself, another Run's placeholder, or ours beside another: 401 in the API's
    shape, and the API is not even dialled.
    """
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as other, forwarding(origin) as station, station.dial() as client:
        client.send(station.post(credential=lines.format(station.placeholder, other.placeholder)))
        answer = client.rest()
    assert status(answer) == 401
    assert error_of(answer)[0] == "authentication_error"
    assert (origin.connections, keeper.requests) == (0, [])


def test_unauthenticated_head_gets_no_body() -> None:
    """The CLI's own first knock (`HEAD /`, without a credential) is answered 401 as HTTP wants it, and goes nowhere."""
    with Origin(Keeper()) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = client.rest()
    assert status(answer) == 401
    assert answer.endswith(b"\r\n\r\n")
    assert origin.connections == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("CONNECT api.example.com:443", 404),
        ("POST http://evil.example/v1/messages", 404),
        ("POST https://evil.example/v1/messages", 404),
        ("POST //evil.example/v1/messages", 404),
        ("OPTIONS *", 404),
        ("POST /v1/messages/batches", 404),
        ("POST /v1/messages/../files", 404),
        ("GET /v1/models/..", 404),
        ("GET /v1/models/%2e%2e/files", 404),
        ("POST /v1/%6dessages", 404),
        ("POST /V1/messages", 404),
        ("POST /v1/messages/", 404),
        ("GET /v1/files", 404),
        ("GET /api/oauth/profile", 404),
        ("GET /v1/organizations/users", 404),
        ("POST /v1/code/sessions", 404),
        ("TRACE /v1/messages", 405),
        ("GET /v1/messages", 405),
        ("DELETE /v1/models/x", 405),
    ],
)
def test_only_what_a_session_needs_passes(line: str, expected: int) -> None:
    """With the right placeholder, proxying, batches, files, accounts and methods that echo are refused all the same."""
    with Origin(Keeper()) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(f"{line} HTTP/1.1\r\nHost: x\r\nx-api-key: {station.placeholder}\r\n\r\n".encode())
        answer = client.rest()
    assert status(answer) == expected
    assert b"evil" not in answer
    assert station.placeholder.encode() not in answer
    assert origin.connections == 0


@pytest.mark.parametrize(
    "line", ["POST /v1/messages/count_tokens?beta=true", "GET /v1/models?limit=1000", "GET /v1/models/claude-opus-4-8"]
)
def test_the_other_paths_of_a_session_pass(line: str) -> None:
    """Counting tokens and asking for models works."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(f"{line} HTTP/1.1\r\nHost: x\r\nx-api-key: {station.placeholder}\r\n\r\n".encode())
        assert client.message() == ok()
    assert keeper.requests[0].startswith(f"{line} HTTP/1.1\r\n".encode())


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Content-Length: 4\r\nContent-Length: 4\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Content-Length: -4\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Content-Length: 4,4\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Transfer-Encoding: gzip, chunked\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}Transfer-Encoding: xchunked\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}X: a\r\n folded\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}X: a\nY: b\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}X : a\r\n\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\nHost: y\r\n{0}\r\n", 400),
        ("POST /v1/messages HTTP/1.1\r\n{0}\r\n", 400),
        ("POST /v1/mess ages HTTP/1.1\r\nHost: x\r\n{0}\r\n", 400),
        ("POST /v1/messages HTTP/1.0\r\nHost: x\r\n{0}\r\n", 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("POST /v1/messages HTTP/1.1\r\nHost: x\r\n{0}X: " + "a" * 70_000 + "\r\n\r\n", 431),
        ("X: " + "a" * 70_000, 431),
    ],
)
def test_two_readings_of_a_head_are_one_too_many(head: str, expected: int) -> None:
    """A head that two servers could read in two ways, or that is endless, is refused before anything is dialled."""
    with Origin(Keeper()) as origin, forwarding(origin) as station, station.dial() as client:
        client.send(head.format(f"x-api-key: {station.placeholder}\r\n").encode())
        answer = client.rest()
    assert status(answer) == expected
    assert error_of(answer)[0] == "invalid_request_error"
    assert origin.connections == 0


def test_what_belongs_to_the_hop_stays_on_it() -> None:
    """Connection's own headers, and those it names, do not reach the API; it cannot name away where the body ends."""
    keeper = Keeper()
    with Origin(keeper) as origin, forwarding(origin) as station, station.dial() as client:
        extra = (
            "Connection: keep-alive, X-Mine, content-length, x-api-key\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\n"
            "TE: trailers\r\nUpgrade: websocket\r\nProxy-Authorization: Basic eA==\r\n"
        )
        client.send(station.post(b"body", extra=extra))
        client.message()
    assert keeper.requests == [
        f"POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\nx-api-key: {KEY}\r\n"
        "Content-Length: 4\r\n\r\nbody".encode()
    ]


def test_a_redirect_is_shown_and_not_followed() -> None:
    """An API that redirects elsewhere gets its redirect passed on; the credential goes to no other host."""
    elsewhere = Keeper()
    with Origin(elsewhere) as other:
        redirect = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:%d/v1/messages\r\n" % other.port
        redirect += b"Content-Length: 0\r\n\r\n"
        with Origin(Keeper(redirect)) as origin, forwarding(origin) as station, station.dial() as client:
            client.send(station.post())
            assert client.message() == redirect
    assert (other.connections, elsewhere.requests) == (0, [])


def test_upgrade_is_no_way_round() -> None:
    """An API that switches protocols unasked is cut off: no bytes pass unread."""
    switching = Keeper(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
    with Origin(switching) as origin, forwarding(origin, told=[]) as station, station.dial() as client:
        client.send(station.post())
        assert status(client.rest()) == 502


def _shown(station: Station, upstream: Upstream) -> Iterator[str]:
    yield repr(station.forwarder) + str(vars(station.forwarder))
    yield repr(upstream)
    yield repr(ApiKey(KEY)) + repr(OAuthToken(TOKEN)) + str([ApiKey(KEY)])
    yield str(dict(station.forwarder.environment))


def test_nothing_shows_the_credential() -> None:
    """Neither a repr, nor the variables for the Session, nor what is said in the job log holds it."""
    told: list[str] = []
    with Origin(lambda wire: wire.close()) as origin, forwarding(origin, told=told) as station:
        with station.dial() as client:
            client.send(station.post())
            assert status(client.rest()) == 502
        shown = "".join(_shown(station, origin.upstream))
    assert KEY not in shown + "".join(told)
    assert TOKEN not in shown
    assert told


@pytest.mark.parametrize("value", ["", "two words", "line\nend", "ключ", "tab\t"])
def test_a_credential_that_cannot_be_sent_is_refused_unseen(value: str) -> None:
    """A secret with a line end in it is named by its variable, and not shown."""
    with pytest.raises(BadCredential, match="ANTHROPIC_API_KEY: one word") as caught:
        ApiKey(value)
    assert not value or value not in str(caught.value)


@KINDS
def test_a_session_gets_a_placeholder_of_the_same_kind(credential: Credential, sent: str, arrives: str) -> None:
    """The variables name the address, a placeholder that differs from Run to Run, and no proxy before the address."""
    origin = Upstream("127.0.0.1", 9, tls=False)
    job = {"NO_PROXY": "corp.example,10.0.0.1", "HTTPS_PROXY": "http://proxy:3128"}
    seen = []
    for _ in range(2):
        with Forwarder(upstream=origin, credential=credential, environ=job) as forwarder:
            given = dict(forwarder.environment)
        url = given.pop("ANTHROPIC_BASE_URL")
        assert url.startswith("http://127.0.0.1:")
        assert given.pop("NO_PROXY") == given.pop("no_proxy") == "corp.example,10.0.0.1,127.0.0.1"
        [(name, value)] = given.items()
        assert name == ("ANTHROPIC_API_KEY" if isinstance(credential, ApiKey) else "CLAUDE_CODE_OAUTH_TOKEN")
        assert value.startswith("sk-ant-api03-" if isinstance(credential, ApiKey) else "sk-ant-oat01-")
        seen.append(value)
    assert seen[0] != seen[1]
