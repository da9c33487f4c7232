"""Which addresses are GitHub's own for what people attach, and where a request for one may lead. Pure.

An address that is of another form is of nobody whom the program asks: no other host is ever spoken to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

_PUBLIC = "github.com"
_OLD_IMAGES = "user-images.githubusercontent.com"
_STORES = frozenset({_OLD_IMAGES, "private-user-images.githubusercontent.com", "objects.githubusercontent.com"})
"""Where github.com keeps what people attach, with the two kinds of bucket below."""
_BUCKET = re.compile(r"github-production-(?:user-asset|repository-file)-[0-9a-f]{6}\.s3\.amazonaws\.com")
# Stricter than any parser of addresses: what one could read in two ways is none.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-\[\]-~]*)?", re.IGNORECASE
)
_MENTIONED = re.compile(r"https?://[^\s<>()\[\]\"'`\\]{1,600}", re.IGNORECASE)
_QUOTED = re.compile(r"\b(?:src|href)=\"([^\"<>\s]{1,6000})\"")
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_NAME = r"(?P<name>(?!\.{1,2}\Z)[A-Za-z0-9._%~+-]{1,255})"
_REPOSITORY = r"(?P<repository>[A-Za-z0-9-]{1,39}/(?!\.{1,2}/)[A-Za-z0-9._-]{1,100})"
_IMAGES_ON_GITHUB = (
    re.compile(rf"/user-attachments/assets/(?P<key>{_UUID})"),
    re.compile(rf"/{_REPOSITORY}/assets/[0-9]{{1,18}}/(?P<key>{_UUID})"),
)
_FILES = (
    re.compile(rf"/user-attachments/files/[0-9]{{1,18}}/{_NAME}"),
    re.compile(rf"/{_REPOSITORY}/files/[0-9]{{1,18}}/{_NAME}"),
)
_IMAGES_ON_A_SERVER = (*_IMAGES_ON_GITHUB, re.compile(rf"/storage/user/[0-9]{{1,18}}/files/(?P<key>{_UUID})"))
_ON_ITS_MEDIA_HOST = (re.compile(rf"/user/[0-9]{{1,18}}/files/(?P<key>{_UUID})"),)
_OLD_IMAGE = (re.compile(rf"/[0-9]{{1,18}}/{_NAME}"),)


@dataclass(frozen=True, slots=True)
class Address:
    """Where something that people attached is."""

    url: str
    is_image: bool
    """Uploaded as an image (or a video); else as a file."""
    name: str = ""
    """The file's name, as the address has it; "" where it has none."""
    key: str = ""
    """What a signed address of the same image has in common with it; "" where there is none."""
    repository: str = ""
    """owner/name, where the address says to which it belongs."""


@dataclass(frozen=True, slots=True)
class _Parts:
    scheme: str
    host: str
    port: str
    path: str


def _parts(url: str) -> _Parts | None:
    found = _ADDRESS.fullmatch(url)
    if found is None:
        return None
    scheme, port = found["scheme"].lower(), found["port"] or ""
    usual = {"https": "443", "http": "80"}[scheme]
    return _Parts(scheme, found["host"].lower(), "" if port == usual else port, found["path"] or "/")


class Hosts:
    """Those of one GitHub: github.com, or a server of somebody's own."""

    def __init__(self, server_url: str) -> None:
        """`server_url`: the server's address for people, without a path."""
        self._own = _parts(server_url)

    def is_own(self, url: str) -> bool:
        """Whether `url` is the server's own: nobody else is shown the token."""
        parts, own = _parts(url), self._own
        return (
            parts is not None
            and own is not None
            and (parts.scheme, parts.host, parts.port) == (own.scheme, own.host, own.port)
        )

    def may_lead_to(self, url: str) -> bool:
        """Whether GitHub may send a request for an attachment on to `url`: to where it keeps them, or to another
        attachment. A page that asks for a login is none.
        """
        parts, own = _parts(url), self._own
        if parts is None or own is None or parts.scheme != own.scheme:
            return False
        if self.is_own(url):
            return self.address(url.partition("?")[0]) is not None
        if own.host == _PUBLIC:
            return not parts.port and (parts.host in _STORES or _BUCKET.fullmatch(parts.host) is not None)
        if own.host == "127.0.0.1":  # a server for trying things out keeps its files behind another port
            return parts.host == own.host
        return parts.host.endswith(f".{own.host}") and parts.port == own.port

    def address(self, url: str) -> Address | None:
        """What `url` is the address of, if it is of a form in which GitHub gives attachments."""
        parts, own = _parts(url), self._own
        if parts is None or own is None or parts.scheme != own.scheme:
            return None
        images: Collection[re.Pattern[str]] = ()
        files: Collection[re.Pattern[str]] = ()
        if (parts.host, parts.port) == (own.host, own.port):
            images, files = (_IMAGES_ON_GITHUB if own.host == _PUBLIC else _IMAGES_ON_A_SERVER), _FILES
        elif own.host == _PUBLIC and parts.host == _OLD_IMAGES and not parts.port:
            images = _OLD_IMAGE
        elif (parts.host, parts.port) == (f"media.{own.host}", own.port):
            images = _ON_ITS_MEDIA_HOST
        for form in (*images, *files):
            if found := form.fullmatch(parts.path):
                said = found.groupdict("")
                key = said.get("key", "").lower()
                return Address(url, form in images, said.get("name", ""), key, said.get("repository", ""))
        return None

    def mentioned(self, text: str) -> Iterator[Address]:
        """The addresses of attachments in `text`, in its order; one as often as it stands there."""
        for found in _MENTIONED.finditer(text):
            address = self.address(found[0].rstrip(".,;:!?*_~"))
            if address is not None:
                yield address

    def signed(self, html: str, addresses: Collection[Address]) -> Mapping[str, str]:
        """Signed addresses in a page that GitHub rendered, of these `addresses` and of no others: by their keys."""
        wanted = {address.key for address in addresses if address.key}
        found: dict[str, str] = {}
        for quoted in _QUOTED.findall(html):
            url = quoted.replace("&amp;", "&")
            path, _, query = url.partition("?")
            key = next((key for key in wanted if key in path.lower()), "")
            if key and "jwt=" in query and not self.is_own(url) and self.may_lead_to(url):
                found.setdefault(key, url)
        return found
