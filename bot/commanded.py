"""Who asks for what with a comment or a review: the event's payload → a command, or ignored and why. Pure.

A comment is heard as it was when it was written: what is edited into it later asks for nothing. As with labels, nothing
that the payload says about permission is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.commands import Command, Verb, read_command
from bot.request import Request, Wants
from bot.trigger import Asked, BadEvent, Ignored

EVENTS = ("issue_comment", "pull_request_review")
CHANGES_REQUESTED = "changes_requested"
_LONGEST = 16_000
"""Characters of what is asked for that a Session is told: some hundred remarks of a review."""


@dataclass(frozen=True, slots=True)
class Commanded:
    """Somebody asks for something with a comment, or with a review."""

    command: Command
    number: int
    """The issue or pull request that it stands on."""
    on_pull_request: bool
    id: int
    """The comment's, or the review's."""
    review: str
    """The review's node id; "" for a comment."""
    url: str
    asked_by: str
    is_bot: bool
    at: str
    """ISO 8601, UTC."""
    title: str | None = None
    """The issue's; None where the payload carries another thing."""
    body: str = ""
    implied: bool = False
    """Nobody wrote a command: a review requests changes, which is one where the settings say so."""

    @property
    def by_bot(self) -> bool:
        """Whether an App asks, or the token of a job."""
        return self.is_bot or self.asked_by.endswith("[bot]")

    def request(self, wants: Wants, workflow: str, text: str = "") -> Request:
        """What the Run is asked for."""
        return Request(wants, self.id, self.asked_by, self.at, self.url, text[:_LONGEST], workflow)

    def asked(self, issue: int, label: str) -> Asked:
        """The same person asking for a Run on `issue`, with the settings that `label` stands for."""
        own = not self.on_pull_request
        return Asked(
            issue=issue,
            asked_by=self.asked_by,
            is_bot=self.is_bot,
            label=label,
            at=self.at,
            title=self.title if own else None,
            body=self.body if own else "",
        )


def read_commanded(name: str, payload: object, now: str) -> Commanded | Ignored:
    """What the comment or review asks for. `now`: ISO 8601, for a payload without a time. Raises `BadEvent`."""
    if not isinstance(payload, dict):
        raise BadEvent("the event's payload is not a JSON object")
    return _comment(payload, now) if name == "issue_comment" else _review(payload, now)


def _comment(payload: Mapping[str, Any], now: str) -> Commanded | Ignored:
    issue, comment = payload.get("issue"), payload.get("comment")
    if not isinstance(issue, dict) or not isinstance(comment, dict) or not isinstance(issue.get("number"), int):
        raise BadEvent(
            "the event's payload has no issue or no comment; run the workflow on issue_comment: types: [created]"
        )
    if payload.get("action") != "created":
        return Ignored(f"the comment was {payload.get('action')}, not written just now")
    command = read_command(str(comment.get("body") or ""))
    if command is None:
        return Ignored("the comment does not begin with a command to Nightjar")
    pull_request = bool(issue.get("pull_request"))
    return Commanded(
        command,
        number=issue["number"],
        on_pull_request=pull_request,
        review="",
        title=None if pull_request else str(issue.get("title") or ""),
        body="" if pull_request else str(issue.get("body") or ""),
        **_by(comment, comment.get("created_at"), now),
    )


def _review(payload: Mapping[str, Any], now: str) -> Commanded | Ignored:
    pull_request, review = payload.get("pull_request"), payload.get("review")
    if not isinstance(pull_request, dict) or not isinstance(review, dict):
        raise BadEvent(
            "the event's payload has no pull request or no review; "
            "run the workflow on pull_request_review: types: [submitted]"
        )
    if payload.get("action") != "submitted":
        return Ignored(f"the review was {payload.get('action')}, not submitted")
    state, body = str(review.get("state") or "").lower(), str(review.get("body") or "").strip()
    command = read_command(body)
    if command is None and state != CHANGES_REQUESTED:
        return Ignored(f"the review ({state or 'without a state'}) begins with no command and requests no changes")
    return Commanded(
        command or Command(Verb.FIX, body),
        number=int(pull_request.get("number") or 0),
        on_pull_request=True,
        review=str(review.get("node_id") or ""),
        implied=command is None,
        **_by(review, review.get("submitted_at"), now),
    )


def _by(written: Mapping[str, Any], at: object, now: str) -> dict[str, Any]:
    user = written.get("user")
    user = user if isinstance(user, dict) else {}
    return {
        "id": int(written.get("id") or 0),
        "url": str(written.get("html_url") or ""),
        "asked_by": str(user.get("login") or ""),
        "is_bot": user.get("type") == "Bot",
        "at": str(at or now),
    }
