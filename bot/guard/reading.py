"""Text from strangers made safe to read: what a person sees on the page, and nothing that only a machine would.

One normaliser for every path into a prompt. Characters without a shape, HTML comments, attributes, image texts, link
titles and unused definitions are taken out and entities decoded, again and again until nothing changes. Where it is
uncertain whether GitHub shows something, it goes. Code that GitHub certainly shows as code keeps its text.
"""

from __future__ import annotations

import html
import re
import unicodedata

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
_SEEN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Of category Cf and yet drawn: number signs of Arabic, Syriac and Kaithi."""
_SHAPELESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def visible(text: str) -> str:
    """What a person sees of `text` on GitHub.

    Idempotent: nothing hidden can be put together by taking something else out.
    """
    for _ in range(_ROUNDS):
        seen = _round(text)
        if seen == text:
            return text
        text = seen
    return _with_shape(re.sub(r"[<>&!\[\]`~]", "", text))


def as_data(text: str, nonce: str) -> str:
    """`text` between two lines that carry the Run's `nonce`; it cannot occur inside and end them early."""
    while nonce and nonce in text:
        text = text.replace(nonce, "")
    return f"[data {nonce} begins]\n{text}\n[data {nonce} ends]"


def _round(text: str) -> str:
    """One round over the whole text."""
    parts = split(_with_shape(text.replace("\r\n", "\n").replace("\r", "\n")))
    prose = "\n".join(parts.prose)
    prose = _ENTITY.sub(lambda match: html.unescape(match[0]), _AMPERSANDS.sub("&", prose))
    for opening, endings in _HIDING:
        prose = _without_hidden(prose, opening, endings)
    prose = _OPEN_TAG.sub("", _TAG.sub(_bare_tag, _DECLARATION.sub("", prose)))
    prose = _LINK_TITLE.sub(r"\1)", _IMAGE.sub("[image]", prose))
    return parts.restored(_without_unused(prose))


def _without_hidden(prose: str, opening: str, endings: tuple[str, ...]) -> str:
    """Without `opening` … ending.

    One that never ends hides the rest when it starts a line or follows a tag; within a sentence it shows.
    """
    kept: list[str] = []
    at = 0
    while (start := prose.find(opening, at)) >= 0:
        ends = [(end, len(ending)) for ending in endings if (end := prose.find(ending, start + len(opening))) >= 0]
        kept.append(prose[at:start])
        if ends:
            at = sum(min(ends))
            continue
        before = prose[:start]
        if not before.rsplit("\n", 1)[-1].strip(" >") or re.search(r"<[A-Za-z/]", before):
            return "".join(kept)
        at = start
        break
    return "".join([*kept, prose[at:]])


def _bare_tag(match: re.Match[str]) -> str:
    """A tag without its attributes, which nobody sees; a comparison such as `a <b && c> d` stays."""
    is_tag = any(char in match[2] for char in "=\"'") or _BARE_ATTRIBUTES.fullmatch(match[2])
    return f"<{match[1]}>" if is_tag else match[0]


def _without_unused(prose: str) -> str:
    """Without definitions of links and footnotes that nothing refers to, and without the titles of the others."""

    def needed(match: re.Match[str]) -> bool:
        return match["label"].casefold() in uses

    body = _FOOTNOTE.sub("", _DEFINITION.sub("", prose))
    uses = frozenset(label.casefold() for label in re.findall(r"\[[^\[\]\n]{1,999}\]", body))
    prose = _DEFINITION.sub(lambda match: f"{match['label']}: {match['url']}" if needed(match) else "", prose)
    return _FOOTNOTE.sub(lambda match: match[0] if needed(match) else "", prose)


def _with_shape(text: str) -> str:
    """Only what shows, with joiners within emoji and between letters, and one variation selector behind a symbol."""
    text = "".join(char for char in text.replace("\u2028", "\n").replace("\u2029", "\n") if _shows(char))
    text = "".join(
        char for at, char in enumerate(text) if char not in _VARIATIONS or (at > 0 and _symbol(text[at - 1]))
    )
    return "".join(
        char
        for at, char in enumerate(text)
        if char not in _JOINERS or (0 < at < len(text) - 1 and _joins(text[at - 1]) and _joins(text[at + 1]))
    )


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
