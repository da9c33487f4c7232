"""Nightjar's own comments on an issue, known again by the hidden line in them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ports import GitHub, IssueComment
from bot.record import Record
from bot.report.render import marker


def own_comments(record: Record, github: GitHub) -> tuple[IssueComment, ...]:
    """The comments on the issue by whoever wrote the Tracking comment, or whom the token is for: anybody can write our
    marker. All of them, where neither is known. Raises `RunFailed`.
    """
    comments = github.comments(record.trigger.issue)
    known = (comment.author for comment in comments if comment.id == record.tracking_comment)
    author = next(known, "") or github.own_login()
    return tuple(comment for comment in comments if not author or comment.author == author)


def found_in(comments: Sequence[IssueComment], kind: str, record: Record) -> int:
    """The Run's comment of that kind (`tracking`, `ending`); 0 when there is none."""
    return next((one.id for one in comments if marker(kind, record) in one.body), 0)
