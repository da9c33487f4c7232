"""What is said to people where they speak: reactions to their comments and reviews; and what their reviews say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.github.client import Client, Refused

_REACT = "mutation($input: AddReactionInput!) { addReaction(input: $input) { reaction { content } } }"
_ANOTHER_NAME = {"+1": "THUMBS_UP", "-1": "THUMBS_DOWN"}
"""What GraphQL calls them; others are called the same, in capital letters."""
_PAGE = 100
_PAGES = 3
"""No more remarks are looked through: far more than a Session can heed."""


class Conversation:
    """The comments and reviews of one repository. Methods raise `RunFailed`, where nothing else is said."""

    def __init__(self, client: Client) -> None:
        """Nothing is asked of GitHub yet."""
        self._client = client

    def react_to_comment(self, comment: int, reaction: str) -> None:
        """React to a comment on an issue or pull request; reacting twice is once."""
        path = f"/issues/comments/{comment}/reactions"
        self._ask("POST", path, {"content": reaction})

    def react_to_review(self, review: str, reaction: str) -> None:
        """React to a review, given by its node id, which REST has no way to."""
        given = {"input": {"subjectId": review, "content": _ANOTHER_NAME.get(reaction, reaction.upper())}}
        query = partial(self._client.repository.requester.graphql_query, _REACT, given)
        self._client.ask("POST /graphql addReaction", query, repeatable=True)

    def text_of(self, comment: int) -> str | None:
        """A comment's text; None when it is gone."""
        try:
            return str(self._ask("GET", f"/issues/comments/{comment}").get("body") or "")
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def review_remarks(self, number: int, review: int) -> tuple[str, ...]:
        """What a review of pull request `number` says of single lines, each with its place, oldest first.

        By the list of all such remarks, newest first: the list of one review's tells no lines.
        """
        found: list[str] = []
        query = f"sort=created&direction=desc&per_page={_PAGE}"
        for page in range(1, _PAGES + 1):
            rows = self._ask("GET", f"/pulls/{number}/comments?{query}&page={page}")
            found += [_remark(row) for row in rows if row.get("pull_request_review_id") == review]
            if len(rows) < _PAGE:
                break
        return tuple(reversed(found))

    def _ask(self, method: str, path: str, given: object = None) -> Any:
        requester, url = self._client.repository.requester, self._client.repository.url + path
        request = f"{method} /repos/{self._client.name}{path.partition('?')[0]}"

        def send() -> Any:
            _, data = requester.requestJsonAndCheck(method, url, input=given)
            return data

        return self._client.ask(request, send, repeatable=True)


def _remark(row: Mapping[str, Any]) -> str:
    line = row.get("line") or row.get("original_line")
    place = f"{row.get('path')}, line {line}" if line else str(row.get("path"))
    return f"{place}: {row.get('body')}"
