"""Text for the world made free of secrets: known values however they are written, and what looks like a token."""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import quote

from bot.guard.posting import ZERO_WIDTH

_SHORTEST = 6
"""A shorter value is no secret anybody could keep, and replacing it would tear ordinary words."""
_UNMISTAKABLE = 16
"""So many letters and digits in a row are not met by chance, whatever stands between them."""
OVERLAP = 64 * 1024
"""Characters, or bytes, that two blocks of a long text share: no secret is longer, however it is split."""
_SPLIT = re.compile(rf"[\s{ZERO_WIDTH}]+")
"""What may stand between the characters of a short value."""
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")
"""What may stand between those of a long one: quotes and signs of a program as well."""
_BETWEEN_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\[nrt]|[^A-Za-z0-9])+")
"""The same in a text within a JSON document."""
_ESCAPES = re.compile(rb"\\u[0-9a-fA-F]{4}|\\[nrt]")
_BLANK = string.whitespace.encode()
_NO_WORD = bytes(byte for byte in range(256) if chr(byte) not in string.ascii_letters + string.digits)
_TOKENS = {
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9_.-]{16,}|github_pat_[A-Za-z0-9_]{16,}",
    "an Anthropic key": r"sk-ant-[A-Za-z0-9_-]{8,}",
    "an AWS access key": r"(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}",
    "a Google key": r"(?<![A-Za-z0-9+/])AIza[A-Za-z0-9_-]{35}",
    "a GitLab token": r"glpat-[A-Za-z0-9_-]{20,}",
    "an npm token": r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgEIcHlwaS[A-Za-z0-9_-]{40,}",
    "a Slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Stripe key": r"[rs]k_live_[A-Za-z0-9]{16,}",
    "a private key": (  # from its first line to its last, unless the next entry of a JSON document begins before
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
        r"(?:(?:(?!\":|-----BEGIN)[\s\S]){0,16384}?-----END [A-Z ]{0,40}PRIVATE KEY-----"
        r"|[A-Za-z0-9+/=\\\s:,-]{0,16384})"
    ),
}
_LOOKS = re.compile(
    "|".join(
        (
            *_TOKENS.values(),
            r"(?<=://)[^\s/:@\"]*:[^\s/@\"]+(?=@)",
            r"(?<=[Aa]uthorization: [Bb]asic )\S+|(?<=[Aa]uthorization: [Bb]earer )\S+",
        )
    )
)
_NEEDLES = (
    *(f"gh{kind}_" for kind in "pousr"),
    *("github_pat_", "sk-ant-", "AKIA", "AIza", "glpat-", "npm_", "pypi-AgEI", "xox", "k_live_", "PRIVATE KEY-----"),
)
"""One of them is in every token: looking for them is much faster than looking for the tokens."""
_LOGIN = re.compile(rb"://[^\s/:@\"]*:[^\s/@\"]+@")
_TOKEN = re.compile("|".join(f"({pattern})" for pattern in _TOKENS.values()))
_WORD = re.compile(r"[A-Za-z0-9+/=_.-]+")
_PIECE = re.compile(r"(?=[^\"\n]*[A-Za-z0-9])(?:[^\"\n\\]|\\[^\"\n])+")
"""A piece of a value within one line and one quotation: what is replaced, so that a JSON document remains one."""


class Redactor:
    """Replaces known secrets, however they are written, and whatever looks like a usual token."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """`secrets`: the values; more may be learned later."""
        self._short: frozenset[str] = frozenset()
        self._long: frozenset[str] = frozenset()
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Know one more value from here on. A blank or very short one is ignored, one of several lines counts by line
        too.
        """
        forms = {form for part in _parts(secret) for form in _forms(part)}
        bare = {form: _BETWEEN.sub("", form) for form in forms}
        self._long |= {word for word in bare.values() if len(word) >= _UNMISTAKABLE}
        short = {_SPLIT.sub("", form) for form, word in bare.items() if len(word) < _UNMISTAKABLE}
        self._short |= {form for form in short if len(form) >= _SHORTEST}

    def clean(self, text: str) -> str:
        """The text with `***` in place of each secret; of one that is split over lines or quotations, each piece."""
        pieces, end = [], 0
        for first, last in self._spans(text):
            found = text[first:last]
            split = '"' in found or ("\n" in found and not _LOOKS.match(found))
            pieces += [text[end:first], _PIECE.sub("***", found) if split else "***"]
            end = last
        return "".join([*pieces, text[end:]])

    def clean_blocks(self, blocks: Iterable[str]) -> Iterator[str]:
        """A long text, cleaned block after block: what is held of it at a time is a block and some more."""
        held = ""
        for block in blocks:
            held += block
            cut = len(held) - OVERLAP
            cut = next((min(cut, first) for first, last in self._spans(held) if last > cut), cut)
            if cut > 0:
                yield self.clean(held[:cut])
                held = held[cut:]
        yield self.clean(held)

    def found(self, text: str) -> bool:
        """Whether a secret is in the text."""
        return bool(self._spans(text))

    def knows(self, text: str) -> bool:
        """Whether one of the known values is in the text; what only looks like a token does not count."""
        return bool(self._known(text))

    def knows_bytes(self, data: bytes) -> bool:
        """The same for what need not be text: 16 bits a character, or no characters at all. Fast."""
        blankless = data.translate(None, _BLANK) if self._short else b""
        if any(form.encode() in blankless for form in self._short):
            return True
        folds = [data.translate(None, _NO_WORD)]
        if b"\\" in data:
            folds.append(_ESCAPES.sub(b"", data).translate(None, _NO_WORD))
        return any(form.encode() in fold for fold in folds for form in self._long)

    def found_bytes(self, data: bytes) -> bool:
        """`found` for what need not be text."""
        needles = (*_NEEDLES, "uthorization: ")
        looks = any(needle.encode() in data for needle in needles) or _LOGIN.search(data) is not None
        return self.knows_bytes(data) or (looks and self.found(data.decode("latin-1")))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets stand, in order; what overlaps is one."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted([*self._known(text), *(found.span() for found in _LOOKS.finditer(text))]):
            if merged and first < merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], last)
            else:
                merged.append((first, last))
        return merged

    def _known(self, text: str) -> list[tuple[int, int]]:
        """Where known values stand. They are looked for in the text without what may split them: a pattern that allows
        a blank after each character of a key file takes seconds to compile.
        """
        found: set[tuple[int, int]] = set()
        for between, forms in ((_SPLIT, self._short), (_BETWEEN, self._long), (_BETWEEN_ESCAPED, self._long)):
            if not forms or (between is _BETWEEN_ESCAPED and "\\" not in text):
                continue
            folded = between.sub("", text)
            places = [(start, start + len(form)) for form in forms for start in _places(form, folded)]
            if places:
                where = [*chain.from_iterable(_kept(text, between))]
                found |= {(where[start], where[end - 1] + 1) for start, end in places}
        return sorted(found)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """What looks like a usual token: what it looks like, and the word of it that is worth looking for elsewhere.

    Placeholders are left out: `ghp_xxxxxxxxxxxxxxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`, a private key without a key in it.
    """
    for found in _TOKEN.finditer(text) if any(needle in text for needle in _NEEDLES) else ():
        name = tuple(_TOKENS)[(found.lastindex or 1) - 1]
        inside = found[0].partition("KEY-----")[2].partition("-----END")[0] if name == "a private key" else found[0]
        word = max(_WORD.findall(inside), key=len, default="")
        body = re.sub(r"^(?:(?:[A-Za-z]{2,6}[_-])+|AKIA|AIza)", "", word)
        if len(set(body)) > 3 and "example" not in word.lower() and (len(word) >= 40 or name != "a private key"):
            yield name, word


def written(value: str) -> tuple[str, ...]:
    """How a value may be written, itself first, without what is too short to be hidden; each line of a key file too."""
    forms = [form for part in _parts(value) for form in sorted(_forms(part), key=lambda form: (form != part, form))]
    return tuple(dict.fromkeys(form for form in forms if "\n" not in form and len(form) >= _SHORTEST))


def _kept(text: str, between: re.Pattern[str]) -> Iterator[range]:
    """The places in `text` that are left once `between` is taken out."""
    end = 0
    for gap in between.finditer(text):
        yield range(end, gap.start())
        end = gap.end()
    yield range(end, len(text))


def _places(form: str, text: str) -> Iterator[int]:
    """Where `form` begins in `text`, overlaps included."""
    start = text.find(form)
    while start >= 0:
        yield start
        start = text.find(form, start + 1)


def _parts(secret: str) -> list[str]:
    """The value, and the lines of a key file, each of which is worth hiding by itself; framing lines are not."""
    lines = [line.strip() for line in secret.strip().split("\n")]
    long = [line for line in lines if len(line) >= _UNMISTAKABLE and not line.startswith("---")]
    return [part for part in (secret.strip(), *(long if len(lines) > 1 else [])) if len(part) >= _SHORTEST]


def _forms(value: str) -> set[str]:
    """How a value may be written: as it is, URL-encoded, in hexadecimal digits, or inside base64 at any of the three
    alignments.
    """
    raw = value.encode()
    forms = {value, quote(value, safe=""), quote(value), raw.hex()}
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        kept = whole[(0, 2, 3)[shift] : len(whole) - (1 if (shift + len(raw)) % 3 else 0)]
        if len(kept) >= _SHORTEST:
            forms |= {kept, kept.replace("+", "-").replace("/", "_")}
    return forms
