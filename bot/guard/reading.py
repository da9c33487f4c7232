"""Text from strangers made safe to read: what a person sees on the page, and nothing that only a machine would.

One normaliser for every path into a prompt. Characters without a shape, HTML comments, attributes, image texts, link
titles and unused definitions are taken out and entities decoded, again and again until nothing changes. Where it is
uncertain whether GitHub shows something, it goes. Code that GitHub certainly shows as code keeps its text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from itertools import compress, groupby

from bot.guard.shown_code import split

_ROUNDS = 20
"""Nobody writes text that needs more; what still changes then loses every character that Markdown and HTML act on."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_AMPERSANDS = re.compile(r"&(?:amp;|#0*38;|#x0*26;)+", re.IGNORECASE)
_HIDING = (("<!--", ("-->", "--!>")), ("<![CDATA[", ("]]>",)), ("<?", ("?>",)))
_DECLARATION = re.compile(r"<![A-Za-z][^<>]*>")
_TAG = re.compile(r"<(/?[A-Za-z][A-Za-z0-9-]*)([\s/](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>")
_BARE_ATTRIBUTES = re.compile(r"(?:\s+[A-Za-z_:][\w.:-]*+)*+\s*/?")
_OPEN_TAG = re.compile(r"^[ >]*</?[A-Za-z][A-Za-z0-9-]*\s[^<>]*\Z", re.MULTILINE)
_IMAGE = re.compile(r"!\[(?:[^\[\]]|\[[^\[\]]*\])*+\](?=[\[(])")
_LINK_TITLE = re.compile(r"(\]\([ \t]*(?:<[^<>\n]*>|[^\s()<>]+))\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))[ \t]*\)")
_DEFINITION = re.compile(
    r"^[ >]{0,6}(?P<label>\[[^\[\]\n]{1,999}\]):[ \t]*\n?[ \t]*(?P<url><[^<>\n]*>|\S+)"
    r"(?:[ \t]*\n?[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_FOOTNOTE = re.compile(r"^[ >]{0,6}(?P<label>\[\^[^\[\]\n]{1,99}\]):.*$", re.MULTILINE)
_JOINERS = "\u200c\u200d"
_VARIATIONS = "\ufe0e\ufe0f"
_DEPENDING = frozenset(f"{_JOINERS}{_VARIATIONS}\u2028\u2029\r")
"""What stays or goes by what stands beside it."""
_SEEN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Of category Cf and yet drawn: number signs of Arabic, Syriac and Kaithi."""
_SHAPELESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def visible(text: str) -> str:
    """What a person sees of `text` on GitHub.

    Idempotent: nothing hidden can be put together by taking something else out.
    """
    return _seen(text)[0]


def with_shape(text: str) -> str:
    """`text` without the characters that have no shape of their own: controls, tags, what hides or turns text round."""
    each = set(text)  # far fewer than there are characters in a long text
    if not each & _DEPENDING and all(map(_shows, each)):
        return text
    return _with_shape(text)[0]


def hidden_in(text: str) -> int:
    """How many pieces `visible` takes out: comments, attributes, image texts, titles of links, definitions that nothing
    refers to, runs of characters without a shape.
    """
    return _seen(text)[1]


def _seen(text: str) -> tuple[str, int]:
    """What is left, and how many pieces were taken out."""
    count = 0
    for _ in range(_ROUNDS):
        seen, taken = _round(text)
        count += taken
        if seen == text:
            return text, count
        text = seen
    text, broken = re.subn(r"[<>&!\[\]`~]", "", text)
    text, taken = _with_shape(text)
    return text, count + broken + taken


def as_data(text: str, nonce: str) -> str:
    """`text` between two lines that carry the Run's `nonce`; it cannot occur inside and end them early."""
    while nonce and nonce in text:
        text = text.replace(nonce, "")
    return f"[data {nonce} begins]\n{text}\n[data {nonce} ends]"


def _round(text: str) -> tuple[str, int]:
    """One round over the whole text; what is left, and how many pieces were taken out."""
    text, count = _with_shape(text.replace("\r\n", "\n").replace("\r", "\n"))
    parts = split(text)
    prose = "\n".join(parts.prose)
    prose = _ENTITY.sub(lambda match: html.unescape(match[0]), _AMPERSANDS.sub("&", prose))
    for opening, endings in _HIDING:
        prose, taken = _without_hidden(prose, opening, endings)
        count += taken
    count += sum(bool(match[2].strip(" /\t\n")) and _bare_tag(match) != match[0] for match in _TAG.finditer(prose))
    prose = _TAG.sub(_bare_tag, prose)
    for pattern, left in ((_DECLARATION, ""), (_OPEN_TAG, ""), (_IMAGE, "[image]"), (_LINK_TITLE, r"\1)")):
        prose, taken = pattern.subn(left, prose)
        count += taken
    prose, taken = _without_unused(prose)
    return parts.restored(prose), count + taken


def _without_hidden(prose: str, opening: str, endings: tuple[str, ...]) -> tuple[str, int]:
    """Without `opening` … ending, and how many there were.

    One that never ends hides the rest when it starts a line or follows a tag; within a sentence it shows.
    """
    kept: list[str] = []
    at = count = 0
    while (start := prose.find(opening, at)) >= 0:
        ends = [(end, len(ending)) for ending in endings if (end := prose.find(ending, start + len(opening))) >= 0]
        kept.append(prose[at:start])
        if ends:
            at = sum(min(ends))
            count += 1
            continue
        before = prose[:start]
        if not before.rsplit("\n", 1)[-1].strip(" >") or re.search(r"<[A-Za-z/]", before):
            return "".join(kept), count + 1
        at = start
        break
    return "".join([*kept, prose[at:]]), count


def _bare_tag(match: re.Match[str]) -> str:
    """A tag without its attributes, which nobody sees; a comparison such as `a <b && c> d` stays."""
    is_tag = any(char in match[2] for char in "=\"'") or _BARE_ATTRIBUTES.fullmatch(match[2])
    return f"<{match[1]}>" if is_tag else match[0]


def _without_unused(prose: str) -> tuple[str, int]:
    """Without definitions of links and footnotes that nothing refers to, and without the titles of the others; how many
    were taken out.
    """
    count = 0

    def left(match: re.Match[str], kept: str) -> str:
        nonlocal count
        text = kept if needed(match) else ""
        count += text.split() != match[0].split()
        return text

    def needed(match: re.Match[str]) -> bool:
        return match["label"].casefold() in uses

    body = _FOOTNOTE.sub("", _DEFINITION.sub("", prose))
    uses = frozenset(label.casefold() for label in re.findall(r"\[[^\[\]\n]{1,999}\]", body))
    prose = _DEFINITION.sub(lambda match: left(match, f"{match['label']}: {match['url']}"), prose)
    prose = _FOOTNOTE.sub(lambda match: left(match, match[0]), prose)
    return prose, count


def _with_shape(text: str) -> tuple[str, int]:
    """Only what shows, with joiners within emoji and between letters, and one variation selector behind a symbol; how
    many runs of other characters there were.
    """
    text, count = _only(_shown_each, text.replace("\u2028", "\n").replace("\u2029", "\n"))
    text, variations = _only(_variations_each, text)
    text, joiners = _only(_joiners_each, text)
    return text, count + variations + joiners


def _only(keeps: Callable[[str], list[bool]], text: str) -> tuple[str, int]:
    """The characters that `keeps` keeps, and how many runs of others there were."""
    kept = keeps(text)
    if all(kept):
        return text, 0
    runs = sum(not keep for keep, _ in groupby(kept))
    return "".join(compress(text, kept)), runs


def _shown_each(text: str) -> list[bool]:
    return [_shows(char) for char in text]


def _variations_each(text: str) -> list[bool]:
    return [char not in _VARIATIONS or (at > 0 and _symbol(text[at - 1])) for at, char in enumerate(text)]


def _joiners_each(text: str) -> list[bool]:
    last = len(text) - 1
    return [
        char not in _JOINERS or (0 < at < last and _joins(text[at - 1]) and _joins(text[at + 1]))
        for at, char in enumerate(text)
    ]


def _shows(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS or char in _VARIATIONS or char in _SEEN_FORMATS:
        return True
    if "\ufe00" <= char <= "\ufe0f" or char in _SHAPELESS or "\U000e0000" <= char <= "\U000e0fff":
        return False
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs"}


def _symbol(char: str) -> bool:
    return char not in _VARIATIONS and unicodedata.category(char) in {"So", "Sk", "Sm", "Nd", "Po"}


def _joins(char: str) -> bool:
    return char not in _JOINERS and unicodedata.category(char) in {"So", "Sk", "Sm", "Lo", "Mn", "Mc"}
