"""What follows when refs of a repository have moved: it is recorded, pull requests follow their branch, CI starts.

The caller holds the world's lock and has moved the refs already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.sandbox.ci import CiEvent
from bot.sandbox.github import issues, pulls
from bot.sandbox.github.gitdata import ZERO
from bot.sandbox.github.world import Actor, Repository

HEADS = "refs/heads/"
SHOWN = 20  # commits named in one timeline entry


@dataclass(frozen=True, slots=True)
class RefChange:
    """A ref that moved; an `old` or `new` of forty zeros means it was created or deleted."""

    ref: str
    old: str
    new: str


def refs_changed(repository: Repository, actor: Actor, changes: Iterable[RefChange]) -> None:
    """Take note of moved refs."""
    for change in changes:
        if not change.ref.startswith(HEADS):
            repository.record(actor.login, "ref", f"{change.ref}: {change.old[:7]} -> {change.new[:7]}")
        elif change.new == ZERO:
            _branch_deleted(repository, actor, change)
        else:
            _branch_moved(repository, actor, change)


def _branch_moved(repository: Repository, actor: Actor, change: RefChange) -> None:
    branch = change.ref.removeprefix(HEADS)
    repository.record_on(branch, change.new, actor.login, "pushed", _describe(repository, branch, change))
    before = "" if change.old == ZERO else change.old
    repository.start_ci(CiEvent("push", "", change.ref, change.new, before=before), actor)
    for pull in list(repository.pulls.values()):
        if not pulls.is_open(repository, pull):
            continue
        if pull.head == branch:
            pulls.head_moved(repository, actor, pull, change.new)
        elif pull.base == branch and repository.git.is_ancestor(pull.head_sha, change.new):
            pulls.mark_merged(repository, actor.login, pull, change.new)


def _branch_deleted(repository: Repository, actor: Actor, change: RefChange) -> None:
    branch = change.ref.removeprefix(HEADS)
    repository.record_on(branch, change.old, actor.login, "branch deleted", branch)
    for pull in list(repository.pulls.values()):
        if pull.head == branch and pulls.is_open(repository, pull):
            issues.set_state(repository, actor.login, pull.number, "closed")


def _describe(repository: Repository, branch: str, change: RefChange) -> str:
    git = repository.git
    forced = change.old != ZERO and not git.is_ancestor(change.old, change.new)
    start = change.old if change.old != ZERO else git.branch(repository.default_branch)
    revisions = (
        (change.new,)
        if start is None or (branch == repository.default_branch and change.old == ZERO)
        else (f"{start}..{change.new}",)
    )
    commits = git.commits(*revisions, limit=SHOWN)
    lines = [
        f"{commit.sha[:7]} {commit.message.splitlines()[0] if commit.message else ''}" for commit in reversed(commits)
    ]
    return "\n".join([f"{branch}{' (forced)' if forced else ''}", *lines])
