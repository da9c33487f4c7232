"""Reads that cost nothing while nothing has changed: a GET is repeated with the ETag of its last answer, and GitHub
does not count a 304.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from bot.github.answers import UnreadableAnswer
from bot.github.client import PAGE, Client

T = TypeVar("T")

_KEPT = 64
"""Answers that are remembered at most: those of one commit with thousands of checks, and what belongs to the Run."""


class Reader:
    """Conditional GETs below one repository."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.counted = 0
        """Requests so far that count against the rate limit."""
        self._known: OrderedDict[str, tuple[str, Any]] = OrderedDict()

    def get(self, path: str, parse: Callable[[Any], T]) -> T:
        """What `parse` makes of the JSON at `path` (`/pulls/1`, with its query). Raises `Refused`."""
        request = f"GET /repos/{self.client.name}{path.partition('?')[0]}"

        def read() -> T:
            try:
                return parse(self._once(path))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise UnreadableAnswer(f"not what GitHub sends for {path}") from error

        return self.client.ask(request, read)

    def _once(self, path: str) -> Any:
        repository = self.client.repository
        tag, data = self._known.get(path, ("", None))
        asked = {"If-None-Match": tag} if tag else {}
        status, headers, text = repository.requester.requestJson("GET", repository.url + path, headers=asked)
        if status == HTTPStatus.NOT_MODIFIED:
            self._known.move_to_end(path)
            return data
        self.counted += 1
        data = _read(status, text)
        if status >= HTTPStatus.BAD_REQUEST:
            raise repository.requester.createException(status, headers, data)
        self._known[path] = (str(headers.get("etag", "")), data)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return data

    def rows(self, path: str, key: str, parse: Callable[[Any], T]) -> tuple[tuple[T, ...], bool]:
        """All rows of a counted list, read page by page, and whether they are as many as GitHub counts. Raises
        `Refused`.

        A row may move to another page meanwhile: it then comes twice, or not at all.
        """
        found: list[T] = []
        for page in self._pages(path, key, parse):
            batch, count = page
            found += batch
            if not batch or len(found) >= count:
                return tuple(found), len(found) == count
        raise AssertionError("the pages never end")

    def _pages(self, path: str, key: str, parse: Callable[[Any], T]) -> Iterator[tuple[list[T], int]]:
        joint = "&" if "?" in path else "?"

        def page_of(data: Any) -> tuple[list[T], int]:
            return [parse(row) for row in data[key]], int(data["total_count"])

        number = 0
        while True:
            number += 1
            yield self.get(f"{path}{joint}per_page={PAGE}&page={number}", partial(page_of))


def _read(status: int, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        if status < HTTPStatus.BAD_REQUEST:
            raise
        return {"message": text}
