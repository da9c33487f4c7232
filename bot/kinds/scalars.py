"""Kinds of one value: text, words, switches, numbers, a key in PEM."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from bot.kinds.base import BLANKS, NOT_BLANK, PLAIN, Raw, Schema, either, refusal, text_of, whole, word

# Only ASCII digits, no sign, no exponent: `٣٠`, `1e9`, `10m` and `-1` are slips, not numbers to guess at.
_WHOLE = r"[0-9]{1,9}"
_DECIMAL = r"[0-9]{1,9}(\.[0-9]{1,6})?"
_TRUE_FALSE = MappingProxyType(
    {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
)
"""As YAML spells them."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text, one line unless `lines`; `pattern` must match all of it, and mean the same to JavaScript."""

    allowed: str = "one line of text"
    pattern: str = r".+"
    lines: bool = False

    @property
    def schema(self) -> Schema:
        """Any scalar; of a string, the pattern."""
        return {**PLAIN, "pattern": NOT_BLANK if self.lines else whole(self.pattern)}

    def read(self, raw: Raw) -> str:
        """The text without surrounding blanks."""
        text = text_of(raw).strip(BLANKS)
        if (not self.lines and not text.isprintable()) or not re.fullmatch(self.pattern, text, re.DOTALL):
            raise refusal(text)
        return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The words."""
        return either(self.words)

    @property
    def schema(self) -> Schema:
        """The words."""
        return {"enum": list(self.words)}

    def read(self, raw: Raw) -> str:
        """The word."""
        text = text_of(raw)
        if text not in self.words:
            raise refusal(text)
        return text


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    allowed: str = "true or false"

    @property
    def schema(self) -> Schema:
        """YAML's own, or the same as a string."""
        return {"type": ["boolean", "string"], "pattern": word(tuple(_TRUE_FALSE))}

    def read(self, raw: Raw) -> bool:
        """The truth value."""
        text = text_of(raw)
        if text not in _TRUE_FALSE:
            raise refusal(text)
        return _TRUE_FALSE[text]


def is_on(text: str) -> bool:
    """What a repository's variable means: set to anything is on, but for nothing, `false`, `no`, `off` and `0`."""
    return text.strip().lower() not in {"", "false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Switch:
    """A repository's variable, as somebody sets it in a hurry."""

    allowed: str = "anything; false, no, off and 0 mean that it is not set"

    @property
    def schema(self) -> Schema:
        """Any scalar."""
        return PLAIN

    def read(self, raw: Raw) -> bool:
        """Whether it is set."""
        return is_on(text_of(raw))


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a range."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        """The range."""
        return f"a whole number from {self.low} to {self.high}"

    @property
    def schema(self) -> Schema:
        """The range; of a string, the digits alone."""
        return {"type": ["integer", "string"], "minimum": self.low, "maximum": self.high, "pattern": f"^{_WHOLE}$"}

    def read(self, raw: Raw) -> int:
        """The number."""
        text = text_of(raw)
        if not re.fullmatch(_WHOLE, text) or not self.low <= int(text) <= self.high:
            raise refusal(text)
        return int(text)


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number above 0 (or `zero` too, with its meaning in the setting's own help), up to `high`."""

    unit: str
    high: int
    zero: bool = False

    @property
    def allowed(self) -> str:
        """The range and unit."""
        return f"{self.unit}{' from 0' if self.zero else ' above 0, up'} to {self.high}"

    @property
    def schema(self) -> Schema:
        """The range; of a string, the digits alone."""
        low = "minimum" if self.zero else "exclusiveMinimum"
        return {"type": ["number", "string"], low: 0, "maximum": self.high, "pattern": f"^{_DECIMAL}$"}

    def read(self, raw: Raw) -> float:
        """The number, in `unit`."""
        text = text_of(raw)
        if not re.fullmatch(_DECIMAL, text) or float(text) > self.high or (float(text) == 0 and not self.zero):
            raise refusal(text)
        return float(text)


_PEM = re.compile(
    r"-----BEGIN (?P<kind>RSA |)PRIVATE KEY-----\s+(?P<body>[A-Za-z0-9+/=\s]+)-----END (?P=kind)PRIVATE KEY-----"
)
_PEM_LINE = 64


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key in PEM, as GitHub hands it out. Line ends may be written as `\\n`, or have become blanks."""

    allowed: str = "the whole .pem file that GitHub made, from -----BEGIN to -----END"

    @property
    def schema(self) -> Schema:
        """A string."""
        return {"type": "string"}

    def read(self, raw: Raw) -> str:
        """The key in PEM, in lines of the usual length. Whether it is one that signs is for who uses it to see."""
        found = _PEM.fullmatch(text_of(raw).strip().replace("\\r", "").replace("\\n", "\n").strip())
        if not found:
            raise ValueError("that is no private key in PEM")
        body = "".join(found["body"].split())
        lines = [body[start : start + _PEM_LINE] for start in range(0, len(body), _PEM_LINE)]
        name = f"{found['kind']}PRIVATE KEY"
        return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----\n"])
