"""Where the forwarder sends what it is given: fixed when it is made, never taken from a request."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit

DEFAULT_URL = "https://api.anthropic.com"
_PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")
"""In the CLI's own order (measured with 2.1.332): the first that is set."""
_PROXY_ANSWER_BYTES = 64 * 1024


class BadUpstream(ValueError):
    """A variable of the job names no upstream, or no proxy, that can be used."""


class Unreachable(Exception):
    """The proxy would not let us through to the upstream."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy that tunnels to the upstream."""

    host: str
    port: int
    authorization: str = field(default="", repr=False)
    """The value of `Proxy-Authorization`; empty for none."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The model's API, or the gateway before it."""

    host: str
    port: int
    tls: bool = True
    prefix: str = ""
    """Goes before every path; begins with a slash when there is one, and ends with none."""
    proxy: Proxy | None = None
    ca_file: str = ""
    """Certificates to trust beside the system's."""

    @property
    def authority(self) -> str:
        """What `Host` has to be."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.tls else 80) else f"{name}:{self.port}"

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """What the job names in `ANTHROPIC_BASE_URL`, the proxy's variables and `NODE_EXTRA_CA_CERTS`.

        Raises `BadUpstream`.
        """
        url = _parsed("ANTHROPIC_BASE_URL", environ.get("ANTHROPIC_BASE_URL", "").strip() or DEFAULT_URL)
        tls = url.scheme == "https"
        if url.username is not None or url.query or url.fragment:
            raise BadUpstream("ANTHROPIC_BASE_URL: a scheme, a host, a port and a path are allowed, and nothing else")
        host = url.hostname or ""
        if not tls and not _is_loopback(host):
            raise BadUpstream("ANTHROPIC_BASE_URL: http is allowed for this machine only (127.0.0.1); use https")
        return cls(
            host=host,
            port=url.port or (443 if tls else 80),
            tls=tls,
            prefix=url.path.rstrip("/"),
            proxy=_proxy(environ, host) if tls else None,
            ca_file=environ.get("NODE_EXTRA_CA_CERTS", "") if tls else "",
        )

    def trust(self) -> ssl.SSLContext | None:
        """Which certificates are believed; None without TLS. Raises `BadUpstream` for a `ca_file` that holds none."""
        if not self.tls:
            return None
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if self.ca_file:
            try:
                context.load_verify_locations(cafile=self.ca_file)
            except OSError as error:  # ssl.SSLError is one
                raise BadUpstream("NODE_EXTRA_CA_CERTS: a file of certificates (PEM) is needed") from error
        return context


async def connect(upstream: Upstream, trust: ssl.SSLContext | None, made: Callable[[], asyncio.Protocol]) -> None:
    """Open a connection for a protocol from `made`. Raises `OSError` and `Unreachable`."""
    loop = asyncio.get_running_loop()
    name = upstream.host if trust else None
    if upstream.proxy is None:
        await loop.create_connection(made, upstream.host, upstream.port, ssl=trust, server_hostname=name)
        return
    transport, tunnel = await loop.create_connection(
        lambda: _Tunnel(loop.create_future()), upstream.proxy.host, upstream.proxy.port
    )
    try:
        transport.write(_connect_request(upstream, upstream.proxy))
        await tunnel.open
        protocol = made()
        assert trust is not None  # only https upstreams have a proxy
        secured = await loop.start_tls(transport, protocol, trust, server_hostname=name)
        assert secured is not None
        protocol.connection_made(secured)
    except BaseException:
        transport.abort()
        raise


class _Tunnel(asyncio.Protocol):
    """Waits for a proxy's word that the way is open."""

    def __init__(self, opened: asyncio.Future[None]) -> None:
        self.open = opened
        self._said = b""

    def data_received(self, data: bytes) -> None:
        self._said += data
        head, end, rest = self._said.partition(b"\r\n\r\n")
        if self.open.done() or not (end or len(self._said) > _PROXY_ANSWER_BYTES):
            return
        words = head.split(b"\r\n")[0].split(b" ")
        if rest or not end or len(words) < 2 or not words[0].startswith(b"HTTP/1.") or len(words[1]) != 3:
            self.open.set_exception(Unreachable("the proxy's answer is not one of HTTP/1.1"))
        elif not words[1].startswith(b"2"):
            status = words[1].decode("ascii", "replace")
            self.open.set_exception(Unreachable(f"the proxy refused the tunnel with status {status}"))
        else:
            self.open.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.open.done():
            self.open.set_exception(Unreachable("the proxy hung up"))


def _connect_request(upstream: Upstream, proxy: Proxy) -> bytes:
    name = f"[{upstream.host}]" if ":" in upstream.host else upstream.host
    lines = [f"CONNECT {name}:{upstream.port} HTTP/1.1", f"Host: {name}:{upstream.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()


def _proxy(environ: Mapping[str, str], host: str) -> Proxy | None:
    variable = next((name for name in _PROXY_VARIABLES if environ.get(name, "").strip()), None)
    if variable is None or _goes_round(host, no_proxy(environ)):
        return None
    text = environ[variable].strip()
    url = _parsed(variable, text if "://" in text else f"http://{text}")
    if url.scheme != "http":
        raise BadUpstream(f"{variable}: an http:// proxy is needed")
    authorization = ""
    if url.username is not None:
        pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return Proxy(url.hostname or "", url.port or 80, authorization)


def _goes_round(host: str, listed: str) -> bool:
    """Whether `host` is reached without the proxy: the list has `*`, its name or a domain above it."""
    entries = re.split(r"[,\s]+", listed.lower())
    names = [re.sub(r":\d+$", "", entry).removeprefix("*").lstrip(".") for entry in entries]
    return "*" in entries or any(name and f".{host}".endswith(f".{name}") for name in names)


def no_proxy(environ: Mapping[str, str]) -> str:
    """The hosts that the job reaches without its proxy, as a list with commas."""
    return environ.get("no_proxy") or environ.get("NO_PROXY") or ""


def _parsed(variable: str, text: str) -> SplitResult:
    wrong = f"{variable}: a URL like https://host:port is needed"
    if not text.isascii() or any(char.isspace() or not char.isprintable() for char in text):
        raise BadUpstream(wrong)
    try:
        url = urlsplit(text)
        usable = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # its message would hold the text, which may hold a password
        usable = False
    if not usable:
        raise BadUpstream(wrong)
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
