"""Which GitHub a remote is on, where its API is, and which of somebody's tokens may be shown there. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

GITHUB = "github.com"
PUBLIC_VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN")
"""Hold a token for github.com and for the companies' places on ghe.com, as they do for GitHub's own `gh`."""
ENTERPRISE_VARIABLES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""Hold one for a server of somebody's own."""
_URL = re.compile(r"(?P<scheme>https?|ssh|git)://(?:[^@/]*@)?(?P<host>[^/:@]+)(?::(?P<port>[0-9]+))?/(?P<path>.+)")
_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:@]+):(?P<path>[^/].*)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_WEB = {"ssh.github.com": GITHUB}
"""Servers that are for ssh only, where a firewall lets nothing else through."""
_LOOPBACK = re.compile(r"127(\.[0-9]+){3}|localhost")


@dataclass(frozen=True, slots=True)
class Address:
    """A repository of a GitHub."""

    server: str
    """Where people see it: https://github.com."""
    repository: str
    """owner/name."""

    @property
    def host(self) -> str:
        """The server's name, with its port where it has one."""
        return self.server.partition("://")[2]

    @property
    def is_public(self) -> bool:
        """github.com, or a company's place on ghe.com; else an Enterprise Server."""
        return self.host == GITHUB or self.host.endswith(".ghe.com")

    @property
    def page(self) -> str:
        """The repository's page."""
        return f"{self.server}/{self.repository}"

    def api(self, environ: Mapping[str, str]) -> str:
        """Where REST paths start; a job's own variables tell it of their server."""
        told = environ.get("GITHUB_API_URL", "")
        if told and environ.get("GITHUB_SERVER_URL", "").rstrip("/") == self.server:
            return told
        if self.host == GITHUB:
            return f"https://api.{GITHUB}"
        if self.host.endswith(".ghe.com"):
            return f"https://api.{self.host}"
        return f"{self.server}/api/v3"

    def variables(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The variables whose token may be shown to this server: a token for github.com is not for whichever host a
        clone names.
        """
        if self.is_public or _is_loopback(self.host) or environ.get("GITHUB_SERVER_URL", "").rstrip("/") == self.server:
            return PUBLIC_VARIABLES
        return ENTERPRISE_VARIABLES


def address_of(url: str) -> Address | None:
    """The repository that a remote's URL names; None where that is no GitHub's: a path, or a name of one part."""
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        return None
    parts = found.groupdict()
    path = parts["path"].strip("/").removesuffix(".git")
    host = _WEB.get(parts["host"].lower(), parts["host"].lower())
    if not _NAME.fullmatch(path) or ("." not in host and not _is_loopback(host)):
        return None  # a host without a dot is an alias of somebody's ssh
    scheme, port = parts.get("scheme", "ssh"), parts.get("port")
    is_web = scheme in ("http", "https")
    # Only to this machine is a token sent unencrypted.
    shown = "http" if scheme == "http" and _is_loopback(host) else "https"
    return Address(f"{shown}://{host}{f':{port}' if port and is_web else ''}", path)


def _is_loopback(host: str) -> bool:
    return _LOOPBACK.fullmatch(host.partition(":")[0]) is not None
