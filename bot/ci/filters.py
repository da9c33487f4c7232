"""Whether an event starts a workflow: the `on:` filters, by GitHub's pattern rules. Pure.

`*` matches anything but `/`, `**` anything, `?` and `+` repeat the character before them, `[]` is a class, `\\`
escapes, and a leading `!` takes back what an earlier pattern matched (docs.github.com, "Workflow syntax", filter
pattern cheat sheet).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

PULL_REQUEST_TYPES = ("opened", "synchronize", "reopened")
SKIP_MARKERS = ("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]")
_SKIP_TRAILER = re.compile(r"\n\n(?:[\w-]+: .*\n)*skip-checks: ?true(?:\n[\w-]+: .*)*\s*\Z", re.IGNORECASE)

ChangedPaths = Callable[[], Sequence[str] | None]
"""The paths that the event changed, worked out only when a filter asks; None when that cannot be known."""


class Event(Protocol):
    """What may start a workflow: `name` is GitHub's word for it; `ref` is full; `action` and `base` are a pull
    request's.
    """

    @property
    def name(self) -> str:
        """`push`, `pull_request`, …"""

    @property
    def action(self) -> str:
        """`opened`, `synchronize`, …; else ""."""

    @property
    def ref(self) -> str:
        """`refs/heads/…` or `refs/tags/…`."""

    @property
    def base(self) -> str:
        """Name of the Base branch; else ""."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What a workflow says under one event of its `on:`; None: no such filter."""

    branches: tuple[str, ...] | None = None
    branches_ignore: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    tags_ignore: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    paths_ignore: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Defaults of the inputs of `workflow_dispatch`."""


def starts(on: Mapping[str, EventFilter], event: Event, changed: ChangedPaths) -> bool:
    """Whether a workflow with these filters runs for `event`."""
    rule = on.get(event.name)
    if rule is None:
        return False
    if event.name == "workflow_dispatch":
        return True
    if event.name in ("pull_request", "pull_request_target"):
        wanted = event.action in (PULL_REQUEST_TYPES if rule.types is None else rule.types)
        return wanted and name_passes(event.base, rule.branches, rule.branches_ignore) and paths_pass(rule, changed)
    about_branches = rule.branches is not None or rule.branches_ignore is not None
    about_tags = rule.tags is not None or rule.tags_ignore is not None
    if event.ref.startswith("refs/tags/"):
        tag = event.ref.removeprefix("refs/tags/")
        return (about_tags or not about_branches) and name_passes(tag, rule.tags, rule.tags_ignore)
    branch = event.ref.removeprefix("refs/heads/")
    passes = (about_branches or not about_tags) and name_passes(branch, rule.branches, rule.branches_ignore)
    return passes and paths_pass(rule, changed)


def name_passes(name: str, include: Sequence[str] | None, ignore: Sequence[str] | None) -> bool:
    """Whether a branch or tag name passes its filters."""
    if include is not None:
        return matches(name, include)
    return ignore is None or not matches(name, ignore)


def paths_pass(rule: EventFilter, changed: ChangedPaths) -> bool:
    """Whether the changed paths pass; as on GitHub, they do when they cannot be worked out."""
    if rule.paths is None and rule.paths_ignore is None:
        return True
    paths = changed()
    if paths is None:
        return True
    if rule.paths is not None:
        return any(matches(path, rule.paths) for path in paths)
    return any(not matches(path, rule.paths_ignore or ()) for path in paths)


def matches(text: str, patterns: Sequence[str]) -> bool:
    """Whether the last of `patterns` that says anything about `text` says yes."""
    verdict = False
    for pattern in patterns:
        if compiled(pattern.removeprefix("!")).fullmatch(text):
            verdict = not pattern.startswith("!")
    return verdict


def skip_requested(message: str) -> bool:
    """Whether a head commit's message asks GitHub to start no workflow for `push` and `pull_request`: by a marker
    anywhere, or by the trailer `skip-checks: true` at its end.
    """
    return any(marker in message.lower() for marker in SKIP_MARKERS) or _SKIP_TRAILER.search(message) is not None


_PIECE = re.compile(
    r"(?P<tree>\*\*/)|(?P<any>\*\*)|(?P<star>\*)|(?P<set>\[[^\]]+\])|(?P<repeat>[?+])|\\(?P<escaped>.)|(?P<plain>.)",
    re.S,
)
_TRANSLATED = {"tree": "(?:.*/)?", "any": ".*", "star": "[^/]*"}


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """GitHub's filter pattern as a regular expression for the whole name."""
    parts: list[str] = []
    for piece in _PIECE.finditer(pattern):
        kind = piece.lastgroup or "plain"
        if kind in ("set", "repeat"):
            parts.append(piece[kind])
        else:
            parts.append(_TRANSLATED.get(kind) or re.escape(piece[kind]))
    try:
        return re.compile("".join(parts), re.S)
    except re.error:
        return re.compile(re.escape(pattern))
