"""A GitHub that remembers the comments it was told to write."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.failures import RunFailed


@dataclass
class Page:
    """Comments as GitHub would keep them; numbers in `locked` take none."""

    locked: set[int] = field(default_factory=set)
    comments: dict[int, tuple[int, str]] = field(default_factory=dict)
    edits: int = 0

    def comment(self, number: int, body: str) -> int:
        if number in self.locked:
            raise RunFailed("github_denied", f"GitHub refused a comment on #{number} with 403")
        self.comments[len(self.comments) + 1] = (number, body)
        return len(self.comments)

    def edit_comment(self, comment: int, body: str) -> None:
        number, _ = self.comments.get(comment, (7, ""))
        if number in self.locked:
            raise RunFailed("github_denied", f"GitHub refused an edit on #{number} with 403")
        self.comments[comment] = (number, body)
        self.edits += 1
