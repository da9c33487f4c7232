"""Which parts of a Markdown text GitHub certainly shows as code.

Hidden text must not pass for code, so every doubt counts against it: a fence in a place where its end cannot be told,
or inside HTML, makes the rest of the text prose. Code spans count on one line only, and not behind anything that
could be a tag.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TAGLIKE = re.compile(r"<[A-Za-z/!?]")
_PREFIX = r"(?:[\s>]|(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\n]*\]:)(?=[\s>]))*"
_HTML_BLOCK = re.compile(_PREFIX + r"<[A-Za-z/!?]")
_RAW_BLOCK = re.compile(_PREFIX + r"<(pre|script|style|textarea)\b", re.IGNORECASE)
_RAW_END = re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
_COMMENT_BLOCK = re.compile(r" {0,3}<!--")
_FENCELIKE = re.compile(_PREFIX + r"(?:`{3,}[^`]*$|~{3,})")
_FENCE = re.compile(r"(?P<lead>[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_SPAN = re.compile(r"(?<![\\`])(`{1,9})(?!`)[^\n]*?(?<!`)\1(?!`)")
PLACE = re.compile("\0(\\d+)\0")


@dataclass(slots=True)
class Split:
    """Prose with a numbered place for each piece of code."""

    prose: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)

    def place(self, code: str) -> str:
        """Keep `code`; what stands for it in the prose."""
        self.codes.append(code)
        return f"\0{len(self.codes) - 1}\0"

    def restored(self, prose: str) -> str:
        """`prose` with its code back; a place that is gone takes its code along."""
        return PLACE.sub(lambda match: self.codes[int(match[1])], prose).replace("\0", "")


def split(text: str) -> Split:
    """`text` (without NUL, line ends `\\n`) as prose and code."""
    parts = Split()
    lines = text.split("\n")
    at = 0
    tainted = False
    while at < len(lines):
        end = _block_end(lines, at)
        if end is None:
            parts.prose += lines[at:]
            break
        if _FENCE.match(lines[at]):
            parts.prose.append(parts.place("\n".join(lines[at:end])))
            tainted = False
        elif end > at + 1 or _HTML_BLOCK.match(lines[at]):
            parts.prose += lines[at:end]
            tainted = False
        else:
            line, tainted = _line(lines[at], tainted and bool(lines[at].strip()), parts)
            parts.prose.append(line)
        at = end
    return parts


def _block_end(lines: list[str], at: int) -> int | None:
    """The line after the block or the line of prose at `at`; None: from here on nothing is certain."""
    if _COMMENT_BLOCK.match(lines[at]):
        rest = "\n".join(lines[at:]).split("<!--", 1)[1]
        return None if "-->" not in rest else at + 1 + rest.split("-->", 1)[0].count("\n")
    if _FENCELIKE.match(lines[at]):
        return _fence_end(lines, at)
    if not _HTML_BLOCK.match(lines[at]):
        return at + 1 if "<!--" not in lines[at] or "-->" in lines[at].split("<!--")[-1] else _unclosed(lines, at)
    raw = _RAW_BLOCK.match(lines[at])
    end = at
    while end < len(lines) and (lines[end].strip() or raw) and not (raw and _RAW_END.search(lines[end])):
        end += 1
    end = min(end + 1, len(lines))
    block = "\n".join(lines[at:end])
    doubtful = "<!--" in block and "-->" not in block.split("<!--")[-1]
    return None if doubtful or any(_FENCELIKE.match(line) for line in lines[at:end]) else end


def _unclosed(lines: list[str], at: int) -> int | None:
    """A line of prose with an open comment: harmless as long as nothing later could be hidden by it or end it."""
    later = "\n".join(lines[at + 1 :])
    return None if "-->" in later or "`" in later.split("\n\n")[0] else at + 1


def _fence_end(lines: list[str], at: int) -> int | None:
    """The line after the fenced block, or None when GitHub might see its end elsewhere."""
    opening = _FENCE.match(lines[at])
    if opening is None:
        return None
    lead = re.sub(r"[^>]", " ", opening["lead"])
    closing = re.compile(rf" {{0,3}}{re.escape(opening['fence'][0])}{{{len(opening['fence'])},}}[ \t]*$")
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if not line.startswith(lead) and not (line.rstrip() == lead.rstrip() or (not line.strip() and ">" not in lead)):
            return None
        if closing.match(line[len(lead) :]):
            return number + 1
    return None if lead else len(lines)


def _line(line: str, tainted: bool, parts: Split) -> tuple[str, bool]:
    """One line with its code spans put aside, and whether something like a tag has been seen in its paragraph."""
    out: list[str] = []
    done = 0
    for span in _SPAN.finditer(line):
        tainted = tainted or _TAGLIKE.search(line[done : span.start()]) is not None
        if tainted:
            break
        out += [line[done : span.start()], parts.place(span[0])]
        done = span.end()
    return "".join([*out, line[done:]]), tainted or _TAGLIKE.search(line[done:]) is not None
