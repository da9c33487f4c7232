"""What becomes of a pull request's text when it is told anew: Nightjar's own parts are, a person's words stay. Pure.

Hidden lines part the body: the Proof (below its first line, with which the body opens) or what to look at, the text,
what it took. The one before the text holds a digest of the title and of the text as Nightjar wrote them, by which it
knows whether somebody has changed them since. Nobody else's text brings such lines in (`bot.guard`).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from bot.ports import PullRequestText

_PARTS = re.compile(
    r"(?P<before>(?:[^\n]*\n)*?)"
    r"(?P<proof>(?:[^\n]*\n<!-- nightjar:proof -->\n.*?|<!-- nightjar:look -->\n.*?)?)"
    r"<!-- nightjar:text (?P<title>[0-9a-f]{8}) (?P<words>[0-9a-f]{8}) -->\n(?P<text>.*?)"
    r"<!-- nightjar:made -->\n(?P<made>.*?)<!-- nightjar:end -->(?P<after>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A body, taken apart; with the digests of title and text as Nightjar last wrote them."""

    before: str
    proof: str
    title: str
    words: str
    text: str
    made: str
    after: str


def signed(written: PullRequestText) -> PullRequestText:
    """A text as rendered, with the digests by which it is known later."""
    parts = _parts(written.body)
    if parts is None:
        return written
    parts = replace(parts, title=_digest(written.title), words=_digest(parts.text))
    return replace(written, body=_body(parts))


def rewritten(there: PullRequestText, new: PullRequestText, limit: int) -> PullRequestText:
    """`new`, a signed text, in the place of what stands `there`, without what somebody else wrote being lost: a changed
    title or text, and what was put before or after. Of a body with no part of Nightjar's left all is theirs; the Proof
    goes above it. Where more than `limit` characters would come of it, what it took is left out, then all is left as it
    stands.
    """
    ours = _parts(new.body)
    if ours is None:
        return new
    theirs = _parts(there.body.replace("\r\n", "\n"))
    if theirs is None:
        kept, title = replace(ours, text=f"{there.body.strip()}\n"), there.title
    else:
        text = ours.text if _digest(theirs.text) == theirs.words else theirs.text
        kept = replace(ours, before=theirs.before, text=text, after=theirs.after)
        title = new.title if _digest(there.title) == theirs.title else there.title
    for parts in (kept, replace(kept, made="")):
        if len(body := _body(parts)) <= limit:
            return PullRequestText(title, body)
    return there


def _parts(body: str) -> _Parts | None:
    found = _PARTS.fullmatch(body)
    return _Parts(**found.groupdict()) if found else None


def _body(parts: _Parts) -> str:
    text = f"<!-- nightjar:text {parts.title} {parts.words} -->\n{parts.text}"
    made = f"<!-- nightjar:made -->\n{parts.made}<!-- nightjar:end -->"
    return f"{parts.before}{parts.proof}{text}{made}{parts.after}"


def _digest(text: str) -> str:
    """Of the words alone: GitHub and editors are free with white space."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]
