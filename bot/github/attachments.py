"""Fetches what people attached, from GitHub's own addresses and from nowhere else.

The token is shown to the server itself alone, only for a private repository, and never to where it sends a request on;
where that may be `bot.attachments.hosts` says. What is fetched is bounded while it arrives.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from bot.attachments.hosts import Address, Hosts
from bot.clock import Deadline
from bot.failures import RunFailed
from bot.github.answers import UnreadableAnswer
from bot.github.client import TIMEOUT, Client

if TYPE_CHECKING:
    import httpx2

_REDIRECTS = 4
_ATTEMPTS = 2
_PAUSE = 2.0
"""Planned seconds before an attachment is asked for once more, after a fault of the server."""
_RENDERED = "application/vnd.github.full+json"
_UNSEEN = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_log = logging.getLogger(__name__)


class NotFetched(Exception):
    """An attachment is not to be had; the text says why."""


class _Unseen(NotFetched):
    """GitHub does not give it to whoever asks in this way."""


class _Passing(NotFetched):
    """A fault that may be over soon."""


class AttachmentSource:
    """Those of one issue."""

    def __init__(
        self, client: Client, hosts: Hosts, issue: int, addresses: Sequence[Address], is_public: Callable[[], bool]
    ) -> None:
        """`addresses` are all that may be asked for; `is_public` says whether anybody can read the repository: asked
        only where GitHub does not give something to everybody.
        """
        self._client = client
        self._hosts = hosts
        self._issue = issue
        self._addresses = addresses
        self._is_public = is_public
        self._signed_addresses: Mapping[str, str] | None = None

    def fetch(self, address: Address, limit: int, until: Deadline) -> bytes:
        """What is there, `limit` bytes at most. Raises `NotFetched`, `Cancelled`."""
        try:
            return self._followed(address.url, limit, until)
        except _Unseen:
            if not self._hosts.is_own(address.url) or self._public():
                raise
        signed = self._signed().get(address.key, "") if address.key else ""
        if signed:
            return self._followed(signed, limit, until)
        if address.repository and address.repository.lower() != self._client.name.lower():
            raise NotFetched("it belongs to another repository")
        try:
            return self._followed(address.url, limit, until, self._client.credential.current())
        except RunFailed as failed:  # there is no token to be had just now
            raise NotFetched(failed.reason) from failed
        except _Unseen as unseen:
            raise NotFetched(f"GitHub does not give it to this token ({unseen})") from None

    def _public(self) -> bool:
        try:
            return self._is_public()
        except RunFailed as failed:
            raise NotFetched(failed.reason) from failed

    def _signed(self) -> Mapping[str, str]:
        """Addresses that work without a token for some minutes, by keys: from the issue as GitHub renders it, and for
        what stands in comments, or no longer stands in the issue, from the addresses rendered by themselves.
        """
        if self._signed_addresses is None:
            wanted = [address for address in self._addresses if address.key]
            found = dict(self._hosts.signed(self._rendered_issue(), wanted))
            left = [address for address in wanted if address.key not in found]
            if left:
                found |= self._hosts.signed(self._rendered(left), left)
            self._signed_addresses = found
        return self._signed_addresses

    def _rendered_issue(self) -> str:
        repository = self._client.repository
        path = f"/issues/{self._issue}"

        def read() -> str:
            asked = {"Accept": _RENDERED}
            _, data = repository.requester.requestJsonAndCheck("GET", repository.url + path, headers=asked)
            if not isinstance(data, Mapping):
                raise UnreadableAnswer("no issue")
            return str(data.get("body_html") or "")

        return self._html(f"GET /repos/{self._client.name}{path}", read)

    def _rendered(self, addresses: Sequence[Address]) -> str:
        text = "\n\n".join(f"![]({address.url})" for address in addresses)
        given = {"text": text, "mode": "gfm", "context": self._client.name}

        def read() -> str:
            answer = self._client.repository.requester.requestJson("POST", "/markdown", input=given)
            return str(answer[2]) if answer[0] == HTTPStatus.OK else ""

        return self._html("POST /markdown", read)

    def _html(self, request: str, read: Callable[[], str]) -> str:
        try:
            return self._client.ask(request, read, repeatable=True)
        except RunFailed as failed:
            _log.warning("%s", failed.reason)
            return ""

    def _followed(self, url: str, limit: int, until: Deadline, token: str = "") -> bytes:
        """One more time after a fault of the server."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(url, limit, until, token)
            except _Passing:
                if attempt == _ATTEMPTS or until.passed():
                    raise
                self._client.clock.sleep(_PAUSE)
        raise AssertionError("an attempt returns or raises")

    def _once(self, url: str, limit: int, until: Deadline, token: str) -> bytes:
        import httpx2

        # As it is stored: what is inflated on its way has no limit that could be kept.
        shown = {"User-Agent": "nightjar", "Accept": "*/*", "Accept-Encoding": "identity"}
        with httpx2.Client(headers=shown, follow_redirects=False) as http:
            for _ in range(_REDIRECTS + 1):
                self._client.clock.cancel.check()
                credential = {"Authorization": f"token {token}"} if token and self._hosts.is_own(url) else {}
                token = ""  # for the first request alone
                waits = max(0.1, min(TIMEOUT, until.left()))
                try:
                    with http.stream("GET", url, headers=credential, timeout=waits) as answer:
                        if not answer.has_redirect_location:
                            return self._read(answer, limit, until)
                        url = self._next(answer)
                except httpx2.TimeoutException:
                    raise NotFetched("its server was too slow") from None
                except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
                    raise _Passing(f"the connection failed ({type(error).__name__})") from None
        raise NotFetched("it is sent on and on")

    def _next(self, answer: httpx2.Response) -> str:
        """Where a redirect leads. Raises `NotFetched` when that is not where GitHub keeps attachments."""
        url = str(answer.url.join(answer.headers["location"]))
        if self._hosts.may_lead_to(url):
            return url
        if self._hosts.is_own(url):
            raise _Unseen("GitHub asks for a login")
        raise NotFetched("it leads to a host where GitHub keeps no attachments; not followed")

    def _read(self, answer: httpx2.Response, limit: int, until: Deadline) -> bytes:
        if answer.status_code in _UNSEEN:
            raise _Unseen(f"GitHub answered {answer.status_code}")
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _Passing(f"GitHub answered {answer.status_code}")
        if answer.status_code != HTTPStatus.OK:
            raise NotFetched(f"GitHub answered {answer.status_code}")
        told = answer.headers.get("content-length", "")
        if told.isdecimal() and len(told) < 20 and int(told) > limit:
            raise TooLarge
        read = bytearray()
        for chunk in answer.iter_raw():
            read += chunk
            if len(read) > limit:
                raise TooLarge
            if until.passed():
                raise NotFetched("its server was too slow")
            self._client.clock.cancel.check()
        return bytes(read)


class TooLarge(NotFetched):
    """It has more bytes than were allowed."""
