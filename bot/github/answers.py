"""What GitHub's refusals mean, whichever library met them: an exception becomes one `Answer`, and nothing else is read
from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

_MESSAGE_LIMIT = 500
_LIBRARIES = frozenset(
    {"github", "ghapi", "fastspec", "fasttransport", "fastcore", "httpx2", "requests", "urllib3", "json"}
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request that failed was answered."""

    status: int
    """HTTP status; 0 when no answer came, or one that cannot be read."""
    message: str
    """GitHub's own words, with the details of a validation error; bounded."""
    reached: bool = True
    """Whether GitHub may have got the request and acted on it."""
    retry_after: float | None = None
    """Seconds that GitHub asks to wait."""
    reset_at: float | None = None
    """Epoch seconds at which a used-up rate limit starts anew."""
    date: float | None = None
    """Epoch seconds by GitHub's own clock."""
    limited: bool = False
    """A rate limit, primary or secondary: not a refusal, and not acted on."""

    @property
    def transient(self) -> bool:
        """No fault of the request: a server error, no answer, an unreadable one."""
        return self.status in (0, 408) or self.status >= 500

    def without(self, secret: str) -> Answer:
        """The same Answer with `secret` masked in its message."""
        return replace(self, message=self.message.replace(secret, "***"))


def answer_of(error: Exception) -> Answer | None:
    """The Answer behind an exception of PyGithub, ghapi or what is below them; None when it is none of theirs."""
    return _of_pygithub(error) or _of_ghapi(error) or _of_reading(error)


def _of_pygithub(error: Exception) -> Answer | None:
    import requests
    from github import BadAttributeException, GithubException

    if isinstance(error, GithubException):
        headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
        return _answer(error.status, error.data, headers)
    if isinstance(error, BadAttributeException):
        return Answer(0, f"GitHub answered with something else than expected: {type(error.actual_value).__name__}")
    if isinstance(error, requests.exceptions.RequestException):
        return Answer(0, _cause(error), reached=not _never_connected(error))
    return None


def _never_connected(error: Exception) -> bool:
    import requests
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    inner = error.args[0] if error.args else None
    return isinstance(error, requests.exceptions.ConnectTimeout) or (
        isinstance(inner, MaxRetryError) and isinstance(inner.reason, NewConnectionError)
    )


def _of_ghapi(error: Exception) -> Answer | None:
    import httpx2
    from ghapi.core import APIError

    if isinstance(error, APIError):
        if error.response is not None:
            return _answer(error.response.status_code, error.raw, dict(error.response.headers))
        error = error.raw if isinstance(error.raw, Exception) else error
    if isinstance(error, httpx2.HTTPStatusError):
        return _answer(error.response.status_code, error.response.text, dict(error.response.headers))
    if isinstance(error, httpx2.TransportError | httpx2.StreamError | httpx2.DecodingError):
        return Answer(0, _cause(error), reached=not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout))
    return None


def _of_reading(error: Exception) -> Answer | None:
    """A body that is no JSON, or of another shape than GitHub's: a proxy's page, a torn answer."""
    if isinstance(error, OSError):
        return Answer(0, _cause(error))
    if isinstance(error, UnreadableAnswer):
        return Answer(0, f"the answer cannot be read ({_cause(error)})")
    if _raised_in(error).partition(".")[0] not in _LIBRARIES:
        return None  # a mistake of our own
    if type(error) is RuntimeError:  # PyGithub: a redirect to another host, a GraphQL answer without the asked path
        return Answer(301, _cause(error))
    return Answer(0, f"the answer cannot be read ({_cause(error)})")


def _raised_in(error: Exception) -> str:
    """Name of the module that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return str(trace.tb_frame.f_globals.get("__name__", "")) if trace else ""


class UnreadableAnswer(Exception):
    """An answer with status 200 that lacks what GitHub always sends."""


def _cause(error: Exception) -> str:
    """The innermost reason, which is the one that says something; bounded."""
    inner: BaseException = error
    while inner.__cause__ is not None or inner.__context__ is not None:
        inner = inner.__cause__ or inner.__context__ or inner
    return f"{type(inner).__name__}: {inner}"[:_MESSAGE_LIMIT]


def _answer(status: int, data: object, headers: Mapping[str, str]) -> Answer:
    message, kinds = _words(data)
    remaining = headers.get("x-ratelimit-remaining")
    # GitHub does not always send the headers with a secondary limit; only then do the words have to do.
    limited = (
        status == 429
        or "RATE_LIMITED" in kinds
        or (status == 403 and ("retry-after" in headers or remaining == "0" or "rate limit" in message.lower()))
    )
    return Answer(
        status=status,
        message=message[:_MESSAGE_LIMIT],
        limited=limited,
        retry_after=_number(headers.get("retry-after")),
        reset_at=_number(headers.get("x-ratelimit-reset")) if remaining == "0" else None,
        date=_date(headers.get("date", "")),
    )


def _words(data: object) -> tuple[str, frozenset[str]]:
    """GitHub's message with its details, and the types of GraphQL errors."""
    if not isinstance(data, Mapping):
        return " ".join(str(data or "").split()), frozenset()
    parts = [str(data.get("message") or data.get("data") or "").strip()]
    errors = data.get("errors")
    kinds = set()
    for detail in errors if isinstance(errors, list) else []:
        if isinstance(detail, Mapping):
            kinds.add(str(detail.get("type", "")))
            words = (detail.get(key) for key in ("resource", "field", "code"))
            parts.append(str(detail.get("message") or " ".join(str(word) for word in words if word)))
        else:
            parts.append(str(detail))
    return "; ".join(" ".join(part.split()) for part in parts if part), frozenset(kinds)


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
