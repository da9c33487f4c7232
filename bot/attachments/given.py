"""What a Run's Sessions have of what people attached."""

from __future__ import annotations

from dataclasses import dataclass

from bot.attachments.plan import Skipped


@dataclass(frozen=True, slots=True)
class Given:
    """One file that a Session can read."""

    path: str
    kind: str
    """`image`, `text` or `archive`."""
    size: int
    """Bytes that were attached."""
    url: str
    """How the text calls it, from a stranger."""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Attachments:
    """All of them, and what there is none of."""

    given: tuple[Given, ...] = ()
    skipped: tuple[Skipped, ...] = ()
