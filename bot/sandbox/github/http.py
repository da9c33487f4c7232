"""One REST request as a handler sees it, and what a handler may answer with.

A `Call` gives typed access to path, query and body; bad input becomes GitHub's own 422 or 400. A `Route` ties a
method and a path pattern (`/repos/{owner}/{repo}/issues/{number}`; a name ending in `*` takes several segments) to a
handler and the permission it needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

from bot.sandbox.github.state import Token
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Actor, Refused, Repository, World, not_found

DEFAULT_PAGE, LARGEST_PAGE = 30, 100
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: `body` is sent as JSON, bytes as they are, None as nothing."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"

    def payload(self) -> bytes:
        """The bytes to send."""
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


HANG_UP = Reply(0)
"""No answer: the connection is closed."""


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request, its path matched."""

    world: World
    site: Site
    path: str
    names: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    token: Token | None

    @property
    def actor(self) -> Actor:
        """Who is asking."""
        return Actor(self.token.login, self.token.kind) if self.token else Actor("ghost")

    @property
    def repository(self) -> Repository:
        """The repository of the path. Raises `Refused` (404) when it is not there or not visible."""
        found = self.world.repository(self.names["owner"], self.names["repo"])
        if found is None or (found.private and self.token is None):
            raise not_found()
        return found

    def number(self, name: str = "number") -> int:
        """A whole number of the path. Raises `Refused` (404) for anything else."""
        if not self.names[name].isdigit():
            raise not_found()
        return int(self.names[name])

    def text(self, key: str, default: str | None = None) -> str:
        """A text of the body. Raises `Refused` (422) when it is of another type, or missing without a default."""
        value = self.body.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, value, "a string")
        return value

    def maybe_text(self, key: str) -> str | None:
        """A text of the body, None when it is null or not given."""
        return None if self.body.get(key) is None else self.text(key)

    def flag(self, key: str, default: bool = False) -> bool:
        """A yes or no of the body."""
        value = self.body.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "a boolean")
        return value

    def texts(self, key: str) -> list[str] | None:
        """A list of texts of the body, None when not given; an object with a `name` counts as its name, as GitHub has
        it for labels."""
        value = self.body.get(key)
        if value is None:
            return None
        items = (
            [item.get("name") if isinstance(item, dict) else item for item in value]
            if isinstance(value, list)
            else [None]
        )
        if any(not isinstance(item, str) for item in items):
            raise self._wrong(key, value, "an array of strings")
        return [str(item) for item in items]

    @staticmethod
    def _wrong(key: str, value: object, wanted: str) -> Refused:
        if value is None:
            return Refused(422, f'Invalid request.\n\n"{key}" wasn\'t supplied.')
        return Refused(422, f"Invalid request.\n\nFor 'properties/{key}', {json.dumps(value)} is not {wanted}.")

    def paged(self, rows: Iterable[Row], view: Callable[[Row], object], wrap: str = "") -> Reply:
        """One page of `rows` with its `Link` header; `wrap` puts the page under that key beside `total_count`."""
        everything = list(rows)
        size = min(max(self._query_number("per_page", DEFAULT_PAGE), 1), LARGEST_PAGE)
        page = max(self._query_number("page", 1), 1)
        last = max(1, -(-len(everything) // size))
        shown = [view(row) for row in everything[(page - 1) * size : page * size]]
        links = []
        if page > 1:
            links += [("prev", page - 1), ("first", 1)]
        if page < last:
            links += [("next", page + 1), ("last", last)]
        headers = (
            {"Link": ", ".join(f'<{self._page_url(number)}>; rel="{name}"' for name, number in links)} if links else {}
        )
        return Reply(200, {"total_count": len(everything), wrap: shown} if wrap else shown, headers)

    def _query_number(self, key: str, default: int) -> int:
        value = self.query.get(key, "")
        return int(value) if value.isdigit() else default

    def _page_url(self, page: int) -> str:
        return f"{self.site.host}{self.path}?{urlencode({**self.query, 'page': str(page)})}"


Handler = Callable[[Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """`scope` and `level` name the permission a token needs ("" for none)."""

    method: str
    pattern: str
    handler: Handler
    scope: str = ""
    level: str = "read"

    def match(self, path: str) -> Mapping[str, str] | None:
        """The names in a path (still quoted there, as a name may hold a slash), or None when it is another path."""
        found = _compiled(self.pattern).fullmatch(path)
        return {name: unquote(value) for name, value in found.groupdict().items()} if found else None


_PATTERNS: dict[str, re.Pattern[str]] = {}


def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern not in _PATTERNS:
        text = re.sub(r"\{(\w+)\*\}", r"(?P<\1>.*)", pattern)
        _PATTERNS[pattern] = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", text))
    return _PATTERNS[pattern]
