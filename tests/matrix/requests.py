"""Names for the requests of a Run, so that the same one is found in another Run: what it is, and which of its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.sandbox.github import Act, Answer, Drop, Fault, Wait
from bot.sandbox.github.state import LoggedRequest

_CHANGING = re.compile(r"[0-9a-f]{40}|(?<=/)\d+")


@dataclass(frozen=True, slots=True)
class Named:
    """The `nth` request of one kind in a Run."""

    method: str
    shape: str
    """Path and, for git, service; commit ids and numbers are `*`."""
    nth: int

    @property
    def git(self) -> bool:
        """Whether git sends it."""
        return "/widget.git/" in self.shape

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET" and not self.shape.endswith("/git-upload-pack")

    def __str__(self) -> str:
        """As a row of the matrix."""
        short = self.shape.replace("/repos/acme/widget", "").replace("/acme/widget.git", "git:")
        return f"{self.method} {short or '/'} #{self.nth}"

    def fault(self, kind: Answer | Drop | Wait | Act, *, always: bool = False) -> Fault:
        """`kind` happens to it; `always`: and to all of its kind after it."""
        path = re.escape(self.shape).replace(r"\*", "[^/?]+")
        end = "$" if "?" in self.shape else r"(\?|$)"
        return Fault(self.method, f"^{path}{end}", kind, nth=self.nth, times=0 if always else 1)


def named(requests: Iterable[LoggedRequest]) -> Iterator[Named]:
    """The requests of one Run by name, in order."""
    seen: Counter[tuple[str, str]] = Counter()
    for request in requests:
        path = request.target if request.path.endswith("/info/refs") else request.path
        shape = _CHANGING.sub("*", path)
        seen[request.method, shape] += 1
        yield Named(request.method, shape, seen[request.method, shape])
