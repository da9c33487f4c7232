"""Text for the world made free of secrets: known values however they are written, and what looks like a token."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote

from bot.guard.posting import ZERO_WIDTH

_SHORTEST = 6
"""A shorter value is no secret anybody could keep, and replacing it would tear ordinary words."""
_PATTERNS = (
    r"gh[pousr]_[A-Za-z0-9_.-]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"sk-ant-[A-Za-z0-9_-]{8,}",
    r"AKIA[0-9A-Z]{16}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)",
    r"(?<=[Aa]uthorization: [Bb]asic )\S+|(?<=[Aa]uthorization: [Bb]earer )\S+",
)


class Redactor:
    """Replaces known secrets, however they are written, and whatever looks like a usual token."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """`secrets`: the values; blank and very short ones are ignored, one of several lines counts by line too."""
        known = {
            part for secret in secrets for part in (secret.strip(), *_long_lines(secret)) if len(part) >= _SHORTEST
        }
        written = {form for value in known for form in _forms(value)}
        split = rf"[\s{ZERO_WIDTH}]*"
        values = [
            split.join(re.escape(char) for char in form)
            for form in sorted(written, key=lambda form: (-len(form), form))
        ]
        self._pattern = re.compile("|".join([*values, *_PATTERNS]))

    def clean(self, text: str) -> str:
        """The text with `***` in place of each secret."""
        return self._pattern.sub("***", text)

    def found(self, text: str) -> bool:
        """Whether a secret is in the text."""
        return self._pattern.search(text) is not None


def _long_lines(secret: str) -> list[str]:
    """The lines of a key file, each of which is worth hiding by itself; framing lines are not."""
    lines = [line.strip() for line in secret.strip().split("\n")]
    return [line for line in lines if len(line) >= 16 and not line.startswith("---")] if len(lines) > 1 else []


def _forms(value: str) -> set[str]:
    """How a value may be written: as it is, URL-encoded, or inside base64 at any of the three alignments."""
    forms = {value, quote(value, safe=""), quote(value)}
    raw = value.encode()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        kept = whole[(0, 2, 3)[shift] : len(whole) - (1 if (shift + len(raw)) % 3 else 0)]
        if len(kept) >= _SHORTEST:
            forms |= {kept, kept.replace("+", "-").replace("/", "_")}
    return forms
