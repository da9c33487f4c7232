"""Kinds that name a place: a branch, a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.kinds.base import BLANKS, PLAIN, Raw, Schema, refusal, text_of, whole


@dataclass(frozen=True, slots=True)
class RefPart:
    """A branch's name, or with `suffix` the beginning of one, as git allows it (git-check-ref-format)."""

    allowed: str
    suffix: str = ""

    @property
    def schema(self) -> Schema:
        """The characters that a name may have."""
        return {**PLAIN, "pattern": whole(r"[^\x00-\x20\x7f~^:?*\[\\]+")}

    def read(self, raw: Raw) -> str:
        """The name."""
        text = text_of(raw).strip(BLANKS)
        name = text + self.suffix
        bad = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.$|/$|^[-/]|^refs/", name)
        parts = name.split("/")
        if (
            bad
            or len(name) > 200
            or name == "@"
            or any(part.startswith(".") or part.endswith(".lock") for part in parts)
        ):
            raise refusal(text)
        return text


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder inside the checkout."""

    allowed: str = "a folder inside the repository, as a relative path"

    @property
    def schema(self) -> Schema:
        """No absolute path, none of Windows."""
        return {**PLAIN, "pattern": whole(r"[^/~\\][^\\]*")}

    def read(self, raw: Raw) -> str:
        """The path with `/` between its parts and none at the end."""
        text = text_of(raw).strip(BLANKS)
        parts = [part for part in text.split("/") if part not in ("", ".")]
        if not text.isprintable() or text.startswith(("/", "~")) or "\\" in text or ".." in parts or ".git" in parts:
            raise refusal(text)
        return "/".join(parts) or "."
