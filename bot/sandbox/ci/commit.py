"""The commit under test: read from the bare repository, merged for a pull request, checked out for a job."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bot.sandbox.ci.events import OF_PULL_REQUESTS, CiEvent
from bot.sandbox.ci.workflow import is_workflow_file

CONFLICT_EXIT = 1
"""What `git merge-tree --write-tree` exits with when the merge has conflicts (git-merge-tree(1))."""


class GitError(RuntimeError):
    """A git command that failed: which, where, and what it said."""


def git(directory: Path, *arguments: str, ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[bytes]:
    """Run git in `directory`, with no configuration but the repository's own. Raises `GitError`."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _MERGER.items()},
    }
    command = ["git", "-C", str(directory), *arguments]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in ok:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git {' '.join(arguments)} in {directory}: exit {done.returncode}: {said}")
    return done


_MERGER = {"NAME": "GitHub", "EMAIL": "noreply@github.com"}


@dataclass(frozen=True)
class TestedCommit:
    """A commit whose workflows run. `sha` is what is checked out: for a pull request the merge of head into base."""

    __test__ = False  # no test class, whatever its name tells pytest

    repository: Path
    event: CiEvent
    sha: str

    @property
    def ref(self) -> str:
        """`GITHUB_REF`."""
        return f"refs/pull/{self.event.number}/merge" if self.event.name in OF_PULL_REQUESTS else self.event.ref

    @property
    def full_name(self) -> str:
        """`owner/name`, from where the bare repository lies."""
        return f"{self.repository.parent.name}/{self.repository.name.removesuffix('.git')}"

    @cached_property
    def message(self) -> str:
        """The message of the head commit."""
        return git(self.repository, "log", "-1", "--format=%B", self.event.sha).stdout.decode("utf-8", "replace")

    @cached_property
    def changed_paths(self) -> tuple[str, ...] | None:
        """What the push or the pull request changed; None when git cannot tell."""
        try:
            before = self._before()
            command = ("diff", "--name-only", "--no-renames", "-z", before, self.event.sha) if before else ()
            return _names(
                git(self.repository, *(command or ("ls-tree", "-r", "-z", "--name-only", self.event.sha))).stdout
            )
        except GitError:
            return None

    def _before(self) -> str:
        """What to compare with; empty when everything is new. A new branch is compared with where it left the default
        branch.
        """
        if self.event.before.strip("0"):
            return self.event.before
        trunk = f"refs/heads/{self.event.base}" if self.event.base else "HEAD"
        found = git(self.repository, "merge-base", trunk, self.event.sha, ok=(0, 1, 128)).stdout.decode().strip()
        return "" if found == self.event.sha else found

    def check_out(self, directory: Path) -> None:
        """Make `directory` a clean checkout, with `origin` set: detached for a pull request, else on the branch."""
        git(directory.parent, "init", "--quiet", "--template=", "-b", "main", str(directory))
        git(directory, "remote", "add", "origin", str(self.repository.resolve()))
        serve = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
        git(directory, "fetch", "--quiet", "--no-tags", f"--upload-pack={serve}", "origin", self.sha)
        branch = self.ref.removeprefix("refs/heads/")
        target = ["--detach"] if branch == self.ref else ["-B", branch]
        git(directory, "checkout", "--quiet", "--force", *target, self.sha)


def workflow_files(repository: Path, sha: str) -> Mapping[str, str]:
    """The text of each workflow file of a commit, by path, in order."""
    listed = _names(git(repository, "ls-tree", "-r", "-z", "--name-only", sha, "--", ".github/workflows").stdout)
    return {
        path: git(repository, "cat-file", "blob", f"{sha}:{path}").stdout.decode("utf-8", "replace")
        for path in sorted(listed)
        if is_workflow_file(path)
    }


def _names(listing: bytes) -> tuple[str, ...]:
    return tuple(name for name in listing.decode("utf-8", "surrogateescape").split("\0") if name)


def tested_commit(repository: Path, event: CiEvent) -> TestedCommit | None:
    """The commit that `event` asks to test; None for a pull request that conflicts with its base. Raises `GitError`."""
    if event.name not in OF_PULL_REQUESTS:
        return TestedCommit(repository, event, event.sha)
    base = git(repository, "rev-parse", "--verify", f"refs/heads/{event.base}^{{commit}}").stdout.decode().strip()
    merged = git(repository, "merge-tree", "--write-tree", base, event.sha, ok=(0, CONFLICT_EXIT))
    if merged.returncode == CONFLICT_EXIT:
        return None
    tree = merged.stdout.decode().split()[0]
    message = f"Merge {event.sha} into {base}"
    commit = git(repository, "commit-tree", tree, "-p", base, "-p", event.sha, "-m", message).stdout.decode().strip()
    return TestedCommit(repository, event, commit)
