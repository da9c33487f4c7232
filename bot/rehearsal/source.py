"""What a rehearsal takes from the user's repository: the commit that it starts from, and what is no part of it. Nothing
is written there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clone.folder import Clone
from bot.config import SETTINGS_FILE
from bot.rehearsal import words

_GITLINK = "160000 "


class CannotRehearse(Exception):
    """There is nothing to rehearse with; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class Source:
    """The repository as the rehearsal sees it."""

    top: Path
    repository: str
    """owner/name; `local/<folder>` where the clone names no repository of a GitHub."""
    base: str
    """The branch's name."""
    commit: str
    settings: bytes | None
    """The settings file as committed; None without one."""
    left_out: tuple[str, ...]
    """A line for each thing that is no part of the rehearsal."""


def read_source(clone: Clone, branch: str | None, remote: str, environ: Mapping[str, str]) -> Source:
    """The commit that `branch` (None: HEAD) names. Raises `CannotRehearse`."""
    git = _Git(clone.top, environ)
    if git.text("rev-parse", "--is-shallow-repository") == "true":
        raise CannotRehearse(words.SHALLOW)
    if git.text("config", "--get", "extensions.partialClone"):
        raise CannotRehearse(words.PARTIAL)
    base, commit = _base(git, clone, branch, remote)
    name = clone.address.repository if clone.address else f"local/{_slug(clone.top.name)}"
    settings = git.bytes("cat-file", "blob", f"{commit}:{SETTINGS_FILE}")
    return Source(clone.top, name, base, commit, settings, tuple(_left_out(git, clone, branch, base, commit)))


def _base(git: _Git, clone: Clone, branch: str | None, remote: str) -> tuple[str, str]:
    """The branch's name and its commit."""
    if branch is None:
        commit = git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not commit:
            raise CannotRehearse(words.NO_COMMIT)
        return git.text("symbolic-ref", "--quiet", "--short", "HEAD") or clone.default_branch, commit
    for ref in (f"refs/heads/{branch}", f"refs/remotes/{remote}/{branch}"):
        if commit := git.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"):
            return branch, commit
    raise CannotRehearse(words.NO_BRANCH.format(branch=branch, remote=remote))


def _left_out(git: _Git, clone: Clone, branch: str | None, base: str, commit: str) -> list[str]:
    lines = []
    if clone.detached and branch is None:
        lines.append(words.DETACHED.format(base=base, commit=commit[:10]))
    changed = [one for one in git.text("status", "--porcelain", "--untracked-files=all").splitlines() if one]
    if changed:
        lines.append(words.UNCOMMITTED.format(count=len(changed), files="file" if len(changed) == 1 else "files"))
    if any(line.startswith(_GITLINK) for line in git.text("ls-tree", "-r", commit).splitlines()):
        lines.append(words.SUBMODULES)
    if git.text("grep", "-l", "filter=lfs", commit, "--", ":(glob)**/.gitattributes"):
        lines.append(words.LFS)
    return lines


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "repository"


class _Git:
    """The user's own git, which is asked and told nothing: it takes no locks and starts no hook or monitor."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = {**environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}

    def bytes(self, *arguments: str) -> bytes | None:
        """What it prints; None when it refuses."""
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments],
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else None

    def text(self, *arguments: str) -> str:
        """What it prints; "" when it refuses."""
        return (self.bytes(*arguments) or b"").decode("utf-8", "replace").rstrip()
