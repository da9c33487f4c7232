"""Where requests go: the job's base URL, by its proxy, believed only with a certificate."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.forwarder import ApiKey, BadUpstream, Forwarder, Limits, Proxy, Upstream
from tests.forwarder.wire import KEY, SECONDS, Keeper, Origin, Wire, error_of, forwarding, ok, status

CORP = {"HTTPS_PROXY": "http://proxy.corp:3128"}


@pytest.mark.parametrize(
    ("environ", "upstream"),
    [
        ({}, Upstream("api.anthropic.com", 443)),
        ({"ANTHROPIC_BASE_URL": ""}, Upstream("api.anthropic.com", 443)),
        ({"ANTHROPIC_BASE_URL": "https://Gateway.Example/"}, Upstream("gateway.example", 443)),
        ({"ANTHROPIC_BASE_URL": "https://g.example:8443/a/b/"}, Upstream("g.example", 8443, prefix="/a/b")),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}, Upstream("127.0.0.1", 8080, tls=False)),
        ({"ANTHROPIC_BASE_URL": "http://localhost"}, Upstream("localhost", 80, tls=False)),
        ({"ANTHROPIC_BASE_URL": "http://[::1]:1"}, Upstream("::1", 1, tls=False)),
        (CORP, Upstream("api.anthropic.com", 443, proxy=Proxy("proxy.corp", 3128))),
        ({"http_proxy": "proxy.corp"}, Upstream("api.anthropic.com", 443, proxy=Proxy("proxy.corp", 80))),
        (
            {"https_proxy": "http://al:p%40ss@proxy.corp:1", **CORP},
            Upstream("api.anthropic.com", 443, proxy=Proxy("proxy.corp", 1, "Basic YWw6cEBzcw==")),
        ),
        ({**CORP, "NO_PROXY": "a.example, .anthropic.com"}, Upstream("api.anthropic.com", 443)),
        ({**CORP, "NO_PROXY": "*.anthropic.com:443"}, Upstream("api.anthropic.com", 443)),
        ({**CORP, "no_proxy": "API.anthropic.com"}, Upstream("api.anthropic.com", 443)),
        ({**CORP, "no_proxy": "*"}, Upstream("api.anthropic.com", 443)),
        (
            {**CORP, "no_proxy": "thropic.com,i.anthropic.com,com.example"},
            Upstream("api.anthropic.com", 443, proxy=Proxy("proxy.corp", 3128)),
        ),
        ({**CORP, "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, Upstream("127.0.0.1", 1, tls=False)),
        ({"NODE_EXTRA_CA_CERTS": "/ca.pem"}, Upstream("api.anthropic.com", 443, ca_file="/ca.pem")),
    ],
)
def test_the_job_says_where_the_api_is(environ: dict[str, str], upstream: Upstream) -> None:
    """The variables that the CLI itself would have followed decide."""
    assert Upstream.from_environment(environ) == upstream


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"ANTHROPIC_BASE_URL": "http://gateway.example"}, "ANTHROPIC_BASE_URL: http is allowed for this machine only"),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1.evil.example"}, "ANTHROPIC_BASE_URL: http is allowed"),
        ({"ANTHROPIC_BASE_URL": "https://al:secret@g.example"}, "ANTHROPIC_BASE_URL: a scheme, a host, a port and a"),
        ({"ANTHROPIC_BASE_URL": "https://g.example/?key=secret"}, "ANTHROPIC_BASE_URL: a scheme, a host, a port and a"),
        ({"ANTHROPIC_BASE_URL": "g.example"}, "ANTHROPIC_BASE_URL: a URL like https://host:port is needed"),
        ({"ANTHROPIC_BASE_URL": "https://g.example:secret"}, "ANTHROPIC_BASE_URL: a URL like"),
        ({"ANTHROPIC_BASE_URL": "https://g.example/a\r\nX: secret"}, "ANTHROPIC_BASE_URL: a URL like"),
        ({"https_proxy": "socks5://al:secret@proxy:1080"}, "https_proxy: a URL like"),
        ({"HTTPS_PROXY": "https://al:secret@proxy:3128"}, "HTTPS_PROXY: an http:// proxy is needed"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(environ: dict[str, str], message: str) -> None:
    """One line says which variable and what is allowed, and shows nothing of what it held."""
    with pytest.raises(BadUpstream) as caught:
        Upstream.from_environment(environ)
    assert str(caught.value).startswith(message)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("upstream", "authority"),
    [
        (Upstream("api.anthropic.com", 443), "api.anthropic.com"),
        (Upstream("g.example", 80), "g.example:80"),
        (Upstream("127.0.0.1", 80, tls=False), "127.0.0.1"),
        (Upstream("127.0.0.1", 443, tls=False), "127.0.0.1:443"),
        (Upstream("::1", 8443), "[::1]:8443"),
    ],
)
def test_the_api_is_called_by_its_own_name(upstream: Upstream, authority: str) -> None:
    """`Host` is what the CLI would have sent: without the port where it is the usual one."""
    assert upstream.authority == authority


def test_a_proxys_password_is_not_shown() -> None:
    """The repr of an upstream names its proxy without the password, in any form."""
    shown = repr(Upstream.from_environment({"https_proxy": "http://al:p%40ss@proxy.corp:1"}))
    assert "proxy.corp" in shown
    assert "p@ss" not in shown
    assert "YWw6cEBzcw" not in shown


def test_a_file_without_certificates_is_told_at_once(tmp_path: Path) -> None:
    """A wrong `NODE_EXTRA_CA_CERTS` stops the start, not the first request."""
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing\n")
    for path in (empty, tmp_path / "missing.pem"):
        with pytest.raises(BadUpstream, match="NODE_EXTRA_CA_CERTS: a file of certificates"):
            Forwarder(upstream=Upstream("127.0.0.1", 1, ca_file=str(path)), credential=ApiKey(KEY))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "origin")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "origin.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """What an origin with that certificate speaks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_certificate_that_the_job_trusts_is_accepted(certificate: Path, tls: ssl.SSLContext) -> None:
    """An https gateway with the company's own certificate works once the job names it."""
    keeper = Keeper()
    with Origin(keeper, tls) as origin:
        upstream = Upstream("127.0.0.1", origin.port, ca_file=str(certificate))
        with forwarding(upstream) as station, station.dial() as client:
            client.send(station.post(bytes(1 << 20)))
            assert client.message() == ok()
            client.send(station.post())
            assert client.message() == ok()
    assert origin.connections == 1
    assert f"\r\nHost: 127.0.0.1:{origin.port}\r\nx-api-key: {KEY}\r\n".encode() in keeper.requests[0]


@pytest.mark.parametrize(("host", "trusted"), [("127.0.0.1", False), ("localhost", True)])
def test_a_certificate_that_is_not_the_apis_gets_no_credential(
    certificate: Path, tls: ssl.SSLContext, host: str, trusted: bool
) -> None:
    """Neither an unknown certificate nor one for another name is shown a request."""
    keeper = Keeper()
    with Origin(keeper, tls) as origin:
        upstream = Upstream(host, origin.port, ca_file=str(certificate) if trusted else "")
        with forwarding(upstream, told=[]) as station, station.dial() as client:
            client.send(station.post())
            answer = client.rest()
    assert status(answer) == 502
    assert "its certificate is not accepted: " in error_of(answer)[1]
    assert keeper.requests == []


def _way(wire: Wire, port: int) -> None:
    """Carry bytes both ways, as a proxy does once the way is open."""
    with socket.create_connection(("127.0.0.1", port)) as beyond:
        up = threading.Thread(target=_carry, args=(wire.end, beyond))
        up.start()
        _carry(beyond, wire.end)
        up.join()


def _carry(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_the_jobs_proxy_is_used_and_sees_no_credential(certificate: Path, tls: ssl.SSLContext) -> None:
    """An https API behind a proxy is reached through a tunnel, with the proxy's own password and nothing of ours."""
    keeper = Keeper()
    asked: list[bytes] = []
    with Origin(keeper, tls) as origin:

        def play(wire: Wire) -> None:
            asked.append(wire.head())
            wire.send(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")
            _way(wire, origin.port)

        with Origin(play) as proxy:
            upstream = Upstream(
                "127.0.0.1", origin.port, ca_file=str(certificate), proxy=Proxy("127.0.0.1", proxy.port, "Basic eDp5")
            )
            with forwarding(upstream) as station, station.dial() as client:
                for _ in range(2):
                    client.send(station.post())
                    assert client.message() == ok()
    where = f"127.0.0.1:{origin.port}"
    expected = f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\nProxy-Authorization: Basic eDp5\r\n\r\n"
    assert asked == [expected.encode()]
    assert len(keeper.requests) == 2
    assert all(KEY.encode() in request and b"eDp5" not in request for request in keeper.requests)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "the proxy refused the tunnel with status 407"),
        (b"HTTP/1.1 200 OK\r\n\r\nextra", "the proxy's answer is not one of HTTP/1.1"),
        (b"SSH-2.0\r\n\r\n", "the proxy's answer is not one of HTTP/1.1"),
        (b"", "the proxy hung up"),
    ],
)
def test_a_proxy_that_opens_no_way_is_told(said: bytes, reason: str) -> None:
    """A proxy that refuses, hangs up or talks nonsense is a 502 that says so."""

    def play(wire: Wire) -> None:
        wire.head()
        wire.send(said)

    with Origin(play) as proxy:
        upstream = Upstream("api.example.com", 443, proxy=Proxy("127.0.0.1", proxy.port))
        with forwarding(upstream, told=[]) as station, station.dial() as client:
            client.send(station.post())
            answer = client.rest()
    assert status(answer) == 502
    assert error_of(answer)[1].endswith(reason)


def test_an_api_that_cannot_be_reached_is_not_waited_for() -> None:
    """A proxy that takes the connection and says nothing is given up, and hung up on."""
    ended = threading.Event()

    def play(wire: Wire) -> None:
        wire.head()
        wire.gone()
        ended.set()

    with Origin(play) as proxy:
        upstream = Upstream("api.example.com", 443, proxy=Proxy("127.0.0.1", proxy.port))
        limits = Limits(connect_seconds=0.2)
        with forwarding(upstream, limits=limits, told=[]) as station, station.dial() as client:
            client.send(station.post())
            answer = client.rest()
        assert ended.wait(SECONDS)
    assert status(answer) == 502
    assert error_of(answer)[1].endswith("it took too long to connect")
