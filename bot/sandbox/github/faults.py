"""Scripted trouble: which requests to the embedded GitHub go wrong, and how.

`hub.faults.add(Fault("POST", r"/pulls$", Answer(502, stored=True)))` lets the next such request do its work and loses
the answer. REST, git over HTTP and the log store all pass through here. The first fault in the order of adding that is
due takes a request; every fault that names the request counts it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from bot.sandbox.github.edge import Request
from bot.sandbox.github.http import HANG_UP, Reply

SECONDARY_LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by integration",
    429: "API rate limit exceeded",
    500: "Server Error",
    502: "Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer with this status instead; `stored` does the request's work first. `body` is JSON, or text sent as HTML;
    without one it is GitHub's error for the status."""

    status: int
    body: Mapping[str, object] | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stored: bool = False

    def reply(self) -> Reply:
        """What goes over the wire."""
        if isinstance(self.body, str):
            return Reply(self.status, self.body.encode(), self.headers, "text/html; charset=utf-8")
        message = _MESSAGES.get(self.status) or HTTPStatus(self.status).phrase
        usual = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(self.status)}
        return Reply(self.status, usual if self.body is None else dict(self.body), self.headers)


def secondary_limit(retry_after: int | None = None, status: int = 403) -> Answer:
    """GitHub's "slow down": 403 or 429, with or without the seconds to wait, and plenty of primary budget left."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer(status, {"message": SECONDARY_LIMIT, "documentation_url": "https://docs.github.com/rest"}, headers)


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without a word; `stored` does the request's work first."""

    stored: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Keep the request waiting until `until` is set (or the embedded GitHub closes), then serve it as usual."""

    until: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Act:
    """Call `do` and close the connection: something happens while the client waits. `stored` does the request's work
    first."""

    do: Callable[[], object]
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` happens to the `nth` request from now (and, in a row, `times` of them; 0: to all from then on) of this
    method ("": any) whose path and query `path` is found in (a regular expression)."""

    method: str
    path: str
    kind: Answer | Drop | Wait | Act
    nth: int = 1
    times: int = 1

    def names(self, request: Request) -> bool:
        """Whether this is about such a request."""
        return self.method in ("", request.method) and re.search(self.path, request.target) is not None

    def due(self, count: int) -> bool:
        """Whether the `count`th such request is one to go wrong."""
        return count >= self.nth and (self.times == 0 or count < self.nth + self.times)


class Faults:
    """The faults of one embedded GitHub; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, int] = {}
        self._faults: list[Fault] = []
        self._closed = False

    def add(self, *faults: Fault) -> None:
        """Let these happen."""
        with self._lock:
            self._faults += faults

    def clear(self) -> None:
        """Let nothing more go wrong; requests that wait are served."""
        with self._lock:
            cleared, self._faults, self._counts = self._faults, [], {}
        for fault in cleared:
            if isinstance(fault.kind, Wait):
                fault.kind.until.set()

    def close(self) -> None:
        """Hang up on requests that wait."""
        self._closed = True
        self.clear()

    def answer(self, request: Request, work: Callable[[], Reply]) -> Reply:
        """What the request gets; `work` serves it as usual."""
        match self._due(request):
            case Answer(stored=stored) as kind:
                if stored:
                    work()
                return kind.reply()
            case Drop(stored=stored):
                if stored:
                    work()
                return HANG_UP
            case Act(do=do, stored=stored):
                if stored:
                    work()
                do()
                return HANG_UP
            case Wait(until=until):
                until.wait()
                if self._closed:
                    return HANG_UP
        return work()

    def _due(self, request: Request) -> Answer | Drop | Wait | Act | None:
        found: Answer | Drop | Wait | Act | None = None
        with self._lock:
            for index, fault in enumerate(self._faults):
                if fault.names(request):
                    count = self._counts[index] = self._counts.get(index, 0) + 1
                    if found is None and fault.due(count):
                        found = fault.kind
        return found
