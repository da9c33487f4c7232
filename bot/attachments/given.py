"""What a Run's Sessions have of what people attached."""

from __future__ import annotations

from dataclasses import dataclass

from bot.attachments.plan import Skipped

_REASONS = 5


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

    def notes(self) -> tuple[str, ...]:
        """What people are to know of it: how many were not given, and why; without a word of a stranger's."""
        if not self.skipped:
            return ()
        reasons = tuple(dict.fromkeys(one.why for one in self.skipped))
        more = f"; and {len(reasons) - _REASONS} other reasons" if len(reasons) > _REASONS else ""
        count = len(self.skipped)
        said = "1 attachment was" if count == 1 else f"{count} attachments were"
        return (f"{said} not given to the Sessions: {'; '.join(reasons[:_REASONS])}{more}.",)


NOTHING = Attachments()
"""Nothing was attached."""
