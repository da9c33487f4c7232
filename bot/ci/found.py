"""Which workflows of a repository check what Nightjar pushes, by their files: their names, what starts them, and which
secrets they hand to the code. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bot.ci.expectation import Pushed, expect
from bot.ci.filters import EventFilter
from bot.ci.triggers import WorkflowError, load, triggers_of

_STARTED_BY_WORK = ("pull_request", "pull_request_target", "push")
_SECRET = re.compile(r"\bsecrets\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*['\"]([A-Za-z_]\w*)['\"]\s*\])")
_EVERY_SECRET = re.compile(r"\btoJSON\(\s*secrets\s*\)", re.IGNORECASE)
_JOBS_OWN = "GITHUB_TOKEN"


@dataclass(frozen=True, slots=True)
class CiWorkflow:
    """A workflow that starts for an Issue branch or its pull request."""

    path: str
    name: str
    """As GitHub lists it, and as `workflow_run` calls it: its `name`, else its path."""
    started_by: tuple[str, ...]
    """Of `pull_request`, `pull_request_target` and `push`, what it names."""
    dispatchable: bool
    """Whether it can be started by `workflow_dispatch` too."""
    secrets: tuple[str, ...]
    """Names of the secrets that it uses, but for the job's own token; `*` for all of them."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FoundCi:
    """The CI of a repository, and the files that could not be read, each with why."""

    workflows: tuple[CiWorkflow, ...] = ()
    unreadable: tuple[str, ...] = ()


def find_ci(files: Mapping[str, str], *, branch: str, base: str, own: Collection[str] = ()) -> FoundCi:
    """What starts for a pull request from `branch` to `base`. `files`: path → text; `own`: Nightjar's paths."""
    workflows, unreadable = [], []
    for path, text in sorted(files.items()):
        if path in own:
            continue
        try:
            document, on = parsed(path, text)
        except WorkflowError as error:
            unreadable.append(str(error))
            continue
        started_by = tuple(name for name in _STARTED_BY_WORK if name in on)
        starting = expect(Pushed(head="", branch=branch, base=base, files={path: text}))
        if started_by and (starting.expected or starting.optional):
            name = str(document.get("name") or path)
            secrets = tuple(sorted(set(_secrets(document))))
            workflows.append(CiWorkflow(path, name, started_by, "workflow_dispatch" in on, secrets))
    return FoundCi(tuple(workflows), tuple(unreadable))


@lru_cache(maxsize=64)
def parsed(path: str, text: str) -> tuple[Mapping[str, Any], Mapping[str, EventFilter]]:
    """A workflow file's document, and what starts it; nobody changes either. Raises `WorkflowError`."""
    on = triggers_of(path, text)
    return load(text), on


def watched_names(text: str) -> tuple[str, ...]:
    """The workflows that a file's `workflow_run` waits for, by name; () for a file without, or an unreadable one."""
    try:
        document, _ = parsed("", text)
    except WorkflowError:
        return ()
    on = document["on"]
    rule = on.get("workflow_run") if isinstance(on, Mapping) else None
    names = rule.get("workflows") if isinstance(rule, Mapping) else None
    found = names if isinstance(names, list) else [names] if names is not None else []
    return tuple(str(name) for name in found)


def _secrets(value: Any) -> Iterator[str]:
    """Names of secrets in a document's values; comments are no part of it."""
    if isinstance(value, Mapping):
        if value.get("secrets") == "inherit":
            yield "*"
        for inner in value.values():
            yield from _secrets(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _secrets(inner)
    elif isinstance(value, str):
        names = (match[1] or match[2] for match in _SECRET.finditer(value))
        yield from (name for name in names if name.upper() != _JOBS_OWN)
        if _EVERY_SECRET.search(value):
            yield "*"
