"""What the CLI said last on stderr: bounded whatever it prints, and fit to be shown once secrets are taken out."""

from __future__ import annotations

import re

MAX_LINES = 40
MAX_BYTES = 4096
_RAW_BYTES = 1 << 16
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class LastWords:
    """Takes stderr as it arrives."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._raw = b""
        self._cut = False

    def feed(self, chunk: bytes) -> None:
        """Take in what was printed."""
        raw = self._raw + chunk
        self._cut = self._cut or len(raw) > _RAW_BYTES
        self._raw = raw[-_RAW_BYTES:]

    def note(self, line: str) -> None:
        """Add a line of our own."""
        begun = self._raw and not self._raw.endswith(b"\n")
        self.feed(f"{chr(10) * bool(begun)}{line}\n".encode())

    @property
    def text(self) -> str:
        """At most `MAX_LINES` lines and `MAX_BYTES` bytes without control characters. A word is whole or not there:
        half a secret would not be known as one.
        """
        said = self._raw.decode("utf-8", errors="replace")
        plain = _CONTROLS.sub("", _ESCAPES.sub("", said)).rstrip("\n").encode()
        cut = plain[-MAX_BYTES:]
        if self._cut or len(cut) < len(plain):
            cut = b"".join(re.split(rb"\s", cut, maxsplit=1)[1:])
        return "\n".join(cut.decode("utf-8", errors="ignore").split("\n")[-MAX_LINES:])
