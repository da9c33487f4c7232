"""An issue's or a pull request's timeline as a person would read it on its page: plain text for a terminal, or
Markdown.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from bot.sandbox.github import SandboxRepository

_COMMENTED, _EDITED = "commented", "comment edited"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_HIDDEN = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing on the page: when, who, what, and the text that belongs to it ("" without)."""

    at: str
    who: str
    what: str
    text: str


def entries(repository: SandboxRepository, number: int) -> Iterator[Entry]:
    """The page from top to bottom. A comment stands where it was written and reads as it reads now, as on GitHub."""
    events = repository.timeline(number)
    edits = sum(event.kind == _EDITED for event in events)
    now = iter(repository.comments(number))
    for event in events:
        at = f"{event.at:%H:%M:%S}"
        if event.kind == _EDITED:
            continue
        if event.kind == _COMMENTED:
            comment = next(now)
            edited = " (edited since)" if comment.edited else ""
            yield Entry(at, event.actor, f"commented{edited}", comment.body.strip())
            continue
        first, _, rest = event.text.partition("\n")
        yield Entry(at, event.actor, f"{event.kind} {first}".strip(), rest.strip())
    if edits:
        yield Entry("", "", f"{edits} edits of comments, which notify nobody", "")


def as_text(title: str, found: Iterator[Entry]) -> str:
    """For a terminal."""
    lines = [title, "─" * len(title)]
    for entry in found:
        lines.append(f"{entry.at:8}  {entry.who} {entry.what}".rstrip())
        if entry.text:
            lines.append(textwrap.indent(_plain(entry.text), "          │ ", lambda _line: True))
    return "\n".join(lines) + "\n"


def as_markdown(title: str, found: Iterator[Entry]) -> str:
    """For a file: texts stand as quotations, so that they render as they do on GitHub."""
    lines = [f"## {title}", ""]
    for entry in found:
        lines += [f"**{entry.at} {entry.who}** {entry.what}".replace("** **", "").strip(), ""]
        if entry.text:
            lines += [textwrap.indent(_HIDDEN.sub("", entry.text).strip(), "> ", lambda _line: True), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Markdown with what only a browser shows well taken out: hidden comments, addresses of links, folds' tags."""
    shown = _LINK.sub(r"\1", _HIDDEN.sub("", text))
    shown = re.sub(r"</?(details|summary)>", "", shown)
    return re.sub(r"\n{3,}", "\n\n", shown).strip()
