"""Text from strangers made safe to post.

Everything an issue, a check, a log or a Session says is a stranger's text. Posted by Nightjar it must notify nobody,
close nothing, load nothing, hide nothing, and never look like one of Nightjar's own markers or a command to the
runner. Where two characters together would act, U+200B goes between them: invisible, harmless in prose and in code,
and none of GitHub's matchers looks through it.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from typing import Literal

BREAK = "\u200b"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"

_CLOSING = re.compile(
    r"(?<!\w)(?P<word>close[sd]?|fix(?:es|ed)?|resolve[sd]?)[\s:*_~`\[(<]++"
    r"(?:https?://[^\s/]+/(?P<url>[\w.-]+/[\w.-]+)/(?:issues|pull|pulls|discussions)/(?P<url_number>\d+)"
    r"|(?P<repository>[\w.-]+/[\w.-]+)\#(?P<there>\d+)|(?:\#|GH-)(?P<here>\d+))",
    re.IGNORECASE,
)
"""A closing keyword before a reference, whatever markup stands between.

Possessive, so that a mile of blanks costs no time.
"""
_ENTITY = re.compile(r"&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)[#A-Za-z0-9]+;")
_ACTING = re.compile(r"[A-Za-z0-9@#/<:.!\[\]()_-]")
"""What an entity may stand for and act as: GitHub looks for mentions and references in the rendered text."""
_NESTED = 8
"""Entities within entities are followed this deep and then broken up."""
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FENCE = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_MARKER = re.compile(r"<(?=!--\s*nightjar)", re.IGNORECASE)
_SKIP = re.compile(
    r"\[(\s*(?:skip[\s_-]+(?:ci|actions|checks)|(?:ci|actions)[\s_-]+skip|no[\s_-]+ci)\s*)\]", re.IGNORECASE
)
_SKIP_TRAILER = re.compile(r"^[ \t]*skip-checks[ \t]*:.*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


def plain_lines(text: str) -> str:
    """Line ends as `\\n`, no terminal sequences, no control characters."""
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def shorten(text: str, limit: int, where: Literal["middle", "end", "start"] = "middle") -> str:
    """At most `limit` characters.

    What is left out goes from the middle (with a note), the end (with `…`) or the start (with a note).
    """
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    if where == "end":
        return text[: limit - 1].rstrip() + "…"
    note = f"\n… shortened: {len(text) - limit:,} characters or more are left out here …\n"
    head = (limit - len(note)) // 2 if where == "middle" else 0
    note = note if head else note.lstrip("\n")
    tail = limit - len(note) - head
    if tail <= 0:
        return text[:limit] if where == "middle" else text[-limit:]
    return text[:head] + note + text[-tail:]


def inert(text: str, limit: int) -> str:
    """Markdown that only shows: at most `limit` characters, every fence closed. Idempotent.

    Whole-line HTML comments are dropped; other HTML, images, mentions and closing references are broken up. Fenced
    blocks move to the first column, where nothing around them can change that GitHub reads them as code, and keep
    their text.
    """
    text = plain_lines(text)
    budget = limit
    while len(out := _neutral(shorten(text, budget))) > limit:
        budget -= len(out) - limit
    return out


def inert_line(text: str, limit: int) -> str:
    """`inert` for one line within a sentence or a list: white space collapsed, no block syntax.

    At most `limit` characters. Idempotent.
    """
    line = " ".join(plain_lines(text).split())
    budget = limit
    while len(out := _unblocked(_broken(shorten(line, budget, "end")))) > limit:
        budget -= len(out) - limit
    return out


def code(text: str, limit: int) -> str:
    """A name as inline code: one line, whatever is in it. At most `limit` characters between the backticks."""
    name = shorten(" ".join(plain_lines(text).split()).replace("`", "'"), limit, "end")
    return f"`{_unmarked(name)}`" if name else "(no name)"


def fenced(text: str, info: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside. `info`: the language."""
    text = _unmarked(plain_lines(text)).strip("\n")
    longest = max((len(list(run)) for char, run in groupby(text) if char == "`"), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{re.sub(r'[^a-z0-9-]', '', info)}\n{text}\n{fence}"


def for_job_log(text: str) -> str:
    """Text that the runner never takes for a command: no `::x::` at the start of a line, no `##[x]` anywhere."""
    text = re.sub(r"^([\s\ufeff\u180e\u200b-\u200f\u2060]*):(?=:)", r"\1: ", plain_lines(text), flags=re.MULTILINE)
    return re.sub(r"##(?=\[|vso\[)", "## ", text)


def clean_commit_text(text: str) -> str:
    """A title or commit message that keeps CI from nothing and closes nothing, and reads well in plain git."""
    text = plain_lines("".join(char for char in text if char not in ZERO_WIDTH))
    while (cleaned := _CLOSING.sub(_spelled_out, _SKIP.sub(r"(\1)", _SKIP_TRAILER.sub("", text)))) != text:
        text = cleaned
    return text


def closing(text: str) -> tuple[str, ...]:
    """What in a commit message would close an issue once it is merged, as it stands there, on one line."""
    return tuple(" ".join(match[0].split()) for match in _CLOSING.finditer(text))


def _spelled_out(match: re.Match[str]) -> str:
    """`Fixes #1` as `Fixes issue 1`, `closes a/b#2` as `closes a/b issue 2`."""
    number = match["here"] or match["there"] or match["url_number"]
    where = match["repository"] or match["url"]
    return f"{match['word']} {where + ' ' if where else ''}issue {number}"


def _neutral(text: str) -> str:
    """Prose broken up, fenced blocks moved to the first column and closed, whole-line comments dropped."""
    out: list[str] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if (after := _whole_comment(lines, at)) is not None:
            at = after
        elif (opening := _FENCE.match(lines[at])) is not None:
            if opening["lead"].strip():
                prose.append(opening["lead"].rstrip())
            block, at = _block(lines, at, opening)
            out += [*_broken_lines(prose), *block]
            prose = []
        else:
            prose.append(lines[at])
            at += 1
    return "\n".join([*out, *_broken_lines(prose)])


def _block(lines: list[str], at: int, opening: re.Match[str]) -> tuple[list[str], int]:
    """The fenced block that opens at `at`, in the first column and closed, and the line after it."""
    fence, lead = opening["fence"], opening["lead"]
    margin = r"[ \t]*" if lead else " {0,3}"
    closing = re.compile(rf"{margin}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    end = next((number for number in range(at + 1, len(lines)) if closing.match(lines[number])), len(lines))
    indent = re.compile(rf"[ \t]{{0,{len(lead)}}}")
    body = [indent.sub("", line, count=1) for line in lines[at + 1 : end]]
    return [_unmarked(line) for line in (lines[at][len(lead) :], *body, fence)], end + 1


def _whole_comment(lines: list[str], at: int) -> int | None:
    """The line after an HTML comment that fills whole lines from `at` on, or None."""
    if not re.match(r" {0,3}<!--", lines[at]):
        return None
    for number in range(at, len(lines)):
        rest = lines[number].split("<!--", 1)[1] if number == at else lines[number]
        if "-->" in rest:
            return number + 1 if not rest.split("-->", 1)[1].strip() else None
    return None


def _broken_lines(lines: list[str]) -> list[str]:
    """`_broken` for several lines, since a keyword and its reference may stand on two."""
    return _broken("\n".join(lines)).split("\n") if lines else []


def _broken(text: str) -> str:
    """Everything that acts, broken up."""
    for _ in range(_NESTED):
        text = _ENTITY.sub(_decoded_if_acting, text)
    text = re.sub(r"<(https?://[^\s<>]+)>", r"\1", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "<" + BREAK, text)
    text = re.sub(r"!(?=\[)", "!" + BREAK, text)
    text = re.sub(r"@(?=[A-Za-z0-9])", "@" + BREAK, text)
    text = _ENTITY.sub(
        lambda match: match[0] if _decoded_if_acting(match) == match[0] else "&" + BREAK + match[0][1:], text
    )
    return _CLOSING.sub(lambda match: match[0][0] + BREAK + match[0][1:], text)


def _decoded_if_acting(match: re.Match[str]) -> str:
    """What the entity stands for where that could act; other entities stay."""
    meant = html.unescape(match[0])
    return meant if len(meant) == 1 and _ACTING.match(meant) else match[0]


def _unblocked(line: str) -> str:
    """A line that starts no heading, quote, list, table or fence."""
    return re.sub(r"^(?=[#>+*=|~-]|\d+[.)](?:\s|$)|`{3})", BREAK, line)


def _unmarked(text: str) -> str:
    """Code that does not hold one of Nightjar's own markers."""
    return _MARKER.sub("<" + BREAK, text)
