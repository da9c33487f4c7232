"""The clone's folder, as the user's own git knows it. Nothing is changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clone.address import Address, address_of

WORKFLOWS = ".github/workflows"
LARGEST_FILE = 1_000_000
"""Bytes of a workflow file that is read."""
_COMMON = ("main", "master")


class NoClone(Exception):
    """There is no clone to work in; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone with files."""

    top: Path
    address: Address | None
    no_address: str
    """Why the address is not known; "" where it is."""
    default_branch: str
    """As far as the clone knows it."""
    detached: bool
    """HEAD is on no branch."""

    def files(self) -> Mapping[str, str]:
        """The workflow files, as they are on disk: path → text."""
        folder = self.top / WORKFLOWS
        found = [path for ending in ("*.yml", "*.yaml") for path in folder.glob(ending)]
        return {
            f"{WORKFLOWS}/{path.name}": path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(found)
            if path.is_file() and path.stat().st_size <= LARGEST_FILE
        }

    def read(self, path: str) -> str | None:
        """A file's text; None where there is none, or no text."""
        try:
            return (self.top / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None


def find_clone(start: Path, environ: Mapping[str, str], remote: str) -> Clone:
    """The clone that `start` lies in; `remote` is the one that says where it comes from. Raises `NoClone`."""
    git = _Git(start, environ)
    if git("--version") is None:
        raise NoClone("git cannot be run; install it first")
    bare = git("rev-parse", "--is-bare-repository")
    if bare is None:
        why = f": {git.said}" if "dubious ownership" in git.said else ""
        raise NoClone(f"this folder is in no clone of a repository{why}; call the command in one, or `git init` first")
    if bare == "true":
        raise NoClone("this is a bare repository, which holds no files; call the command in an ordinary clone of it")
    top = git("rev-parse", "--show-toplevel")
    if top is None:
        raise NoClone("this folder is inside .git; call the command among the repository's files")
    address, why = _address(git, remote, environ)
    branch = git("symbolic-ref", "--quiet", "--short", "HEAD")
    return Clone(Path(top), address, why, _default_branch(git, remote, branch or ""), branch is None)


def _address(git: _Git, remote: str, environ: Mapping[str, str]) -> tuple[Address | None, str]:
    url = git("remote", "get-url", remote)
    if url is not None and (found := address_of(url)) is not None:
        return found, ""
    server = (environ.get("GITHUB_SERVER_URL", "") or "https://github.com").rstrip("/")
    named = address_of(f"{server}/{environ.get('GITHUB_REPOSITORY', '')}")
    if named is not None:
        return named, ""
    what = f"there is no remote `{remote}`" if url is None else f"the remote `{remote}` is no repository of a GitHub"
    return None, f"{what}; name another by --remote, or set GITHUB_REPOSITORY to owner/name"


def _default_branch(git: _Git, remote: str, current: str) -> str:
    known = git("symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote}/HEAD")
    if known is not None:
        return known.removeprefix(f"{remote}/")
    for name in _COMMON:
        if git("rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{name}") is not None:
            return name
    return current or _COMMON[0]


class _Git:
    """The user's own git; `said` is the first line of its last complaint."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = {**environ, "LC_ALL": "C"}
        self.said = ""

    def __call__(self, *words: str) -> str | None:
        """What it prints; None when it refuses or is not there."""
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            self.said = error.strerror or ""
            return None
        self.said = next(iter(os.fsdecode(done.stderr).splitlines()), "")
        return os.fsdecode(done.stdout).rstrip("\n") if done.returncode == 0 else None
