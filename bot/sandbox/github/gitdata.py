"""Git plumbing in one bare repository: what the embedded GitHub reads from and writes to git data.

Nothing here knows about issues or pull requests. Commands run without the machine's own git configuration. Needs git
2.38 or newer (`merge-tree --write-tree`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

ZERO = "0" * 40
_FIELDS = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x1e"
_STATUS = {"A": "added", "D": "removed", "M": "modified", "T": "changed", "R": "renamed", "C": "copied"}


class GitError(Exception):
    """A git command failed; the text is what git said."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when, as a commit records it."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit as git knows it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff; `patch` is None for a binary file."""

    path: str
    previous: str | None
    status: str
    additions: int
    deletions: int
    blob: str
    patch: str | None


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a tree: `kind` is blob, tree or commit."""

    path: str
    mode: str
    kind: str
    sha: str
    size: int


def environment() -> dict[str, str]:
    """This process's environment without any git setting of the machine or of a surrounding hook."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


_CONFIG = """[http]
    receivepack = true
[uploadpack]
    allowAnySHA1InWant = true
[receive]
    hideRefs = refs/pull
[gc]
    auto = 0
"""


class GitData:
    """One bare repository at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, default_branch: str) -> GitData:
        """A new bare repository whose HEAD is `default_branch`."""
        path.mkdir(parents=True)
        git = cls(path)
        git.run("init", "--quiet", "--bare", f"--initial-branch={default_branch}", "--template=", str(path))
        with (path / "config").open("a", encoding="utf-8") as config:
            config.write(_CONFIG)
        return git

    def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """The output of a git command. Raises `GitError`."""
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env=environment() | dict(env or {}),
        )
        if done.returncode != 0:
            raise GitError(
                done.stderr.decode(errors="replace").strip() or f"git {arguments[0]} ended with {done.returncode}"
            )
        return done.stdout

    def text(self, *arguments: str) -> str:
        """The output of a git command as one stripped text. Raises `GitError`."""
        return self.run(*arguments).decode(errors="replace").strip()

    def refs(self) -> dict[str, str]:
        """Every ref and the object it names."""
        lines = self.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def resolve(self, name: str) -> str | None:
        """The commit id that `name` (branch, tag, full ref or commit id, in that order) stands for; None when there
        is none."""
        if not name or name.startswith("-"):
            return None
        for candidate in (f"refs/heads/{name}", f"refs/tags/{name}", name):
            try:
                return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}")
            except GitError:
                continue
        return None

    def branch(self, name: str) -> str | None:
        """The tip of a branch; None when there is no such branch."""
        try:
            return self.text("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        except GitError:
            return None

    def set_ref(self, ref: str, new: str, old: str | None = None) -> None:
        """Move or create `ref`; with `old`, only from there. Raises `GitError`."""
        self.run("update-ref", ref, new, *(() if old is None else (old,)))

    def delete_ref(self, ref: str) -> None:
        """Delete `ref`. Raises `GitError`."""
        self.run("update-ref", "-d", ref)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` contains `older`."""
        try:
            self.run("merge-base", "--is-ancestor", older, newer)
        except GitError:
            return False
        return True

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor; None for unrelated histories."""
        try:
            return self.text("merge-base", one, other)
        except GitError:
            return None

    def merge(self, base: str, head: str) -> str | None:
        """The tree of a real merge of `head` into `base`; None when they conflict."""
        try:
            return self.text("merge-tree", "--write-tree", "--no-messages", base, head).splitlines()[0]
        except GitError:
            return None

    def commits(self, *revisions: str, limit: int = 250) -> tuple[CommitInfo, ...]:
        """The commits of a `git log` range, newest first. Raises `GitError`."""
        output = self.run("log", f"--max-count={limit}", f"--format={_FIELDS}", *revisions, "--").decode(
            errors="replace"
        )
        return tuple(_commit(record) for record in output.split("\x1e") if record.strip())

    def commit(self, sha: str) -> CommitInfo:
        """One commit. Raises `GitError`."""
        return self.commits(sha, limit=1)[0]

    def count(self, base: str, head: str) -> int:
        """How many commits `head` has that `base` has not."""
        return int(self.text("rev-list", "--count", f"{base}..{head}"))

    def diff(self, base: str | None, head: str) -> tuple[FileChange, ...]:
        """The files changed from `base` (None: the empty tree) to `head`, as `git diff` shows them."""
        start = base or self.run("hash-object", "-t", "tree", "--stdin").decode().strip()
        raw = self.run("diff", "--raw", "--no-abbrev", "-z", "-M", start, head).decode(errors="replace").split("\0")
        changes: list[FileChange] = []
        while raw and raw[0]:
            meta, path = raw.pop(0).split(" "), raw.pop(0)
            letter = meta[4][0]
            previous = path if letter in "RC" else None
            path = raw.pop(0) if letter in "RC" else path
            blob = meta[2] if letter == "D" else meta[3]
            paths = [path] if previous is None else [previous, path]
            patch = self.run("diff", "-M", start, head, "--", *paths).decode(errors="replace")
            hunks = patch[patch.find("\n@@") + 1 :].rstrip("\n") if "\n@@" in patch else None
            signs = [line[:1] for line in (hunks or "").splitlines()]
            changes.append(FileChange(path, previous, _STATUS[letter], signs.count("+"), signs.count("-"), blob, hunks))
        return tuple(changes)

    def entries(self, revision: str, path: str) -> tuple[TreeEntry, ...]:
        """The entry at `path`, or everything in it when it is a folder ("" is the root); nothing without such a
        path."""
        clean = path.strip("/")
        found = self._list_tree(revision, clean) if clean else ()
        if not clean or (found and found[0].kind == "tree"):
            return self._list_tree(revision, f"{clean}/" if clean else "")
        return found

    def _list_tree(self, revision: str, path: str) -> tuple[TreeEntry, ...]:
        output = self.run("ls-tree", "-l", "-z", revision, *(("--", path) if path else ())).decode(errors="replace")
        entries = []
        for record in output.split("\0"):
            if record:
                meta, name = record.split("\t", 1)
                mode, kind, sha, size = meta.split()
                entries.append(TreeEntry(name, mode, kind, sha, int(size) if size.isdigit() else 0))
        return tuple(entries)

    def blob(self, sha: str) -> bytes:
        """The bytes of a blob. Raises `GitError`."""
        return self.run("cat-file", "blob", sha)

    def file(self, revision: str, path: str) -> bytes | None:
        """The bytes of a file at a revision; None when it is not there."""
        try:
            return self.run("cat-file", "blob", f"{revision}:{path}")
        except GitError:
            return None

    def write_commit(self, parent: str | None, files: Mapping[str, str | None], message: str, author: Signature) -> str:
        """A commit on `parent` with `files` changed (None deletes), made without a checkout. A file that starts with
        `#!` is executable."""
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{os.urandom(6).hex()}")}
        try:
            self.run("read-tree", *((parent,) if parent else ("--empty",)), env=index)
            lines = [self._index_line(path, content) for path, content in files.items()]
            self.run("update-index", "-z", "--index-info", stdin="".join(lines).encode(), env=index)
            tree = self.run("write-tree", env=index).decode().strip()
        finally:
            Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        return self.commit_tree(tree, [parent] if parent else [], message, author)

    def _index_line(self, path: str, content: str | None) -> str:
        if content is None:
            return f"0 {ZERO}\t{path}\0"
        blob = self.run("hash-object", "-w", "--stdin", stdin=content.encode()).decode().strip()
        return f"{'100755' if content.startswith('#!') else '100644'} {blob}\t{path}\0"

    def commit_tree(self, tree: str, parents: Sequence[str], message: str, author: Signature) -> str:
        """A commit of `tree`; author and committer are the same."""
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", author.name), ("EMAIL", author.email), ("DATE", author.date.isoformat()))
        }
        flags = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", tree, *flags, stdin=message.encode(), env=who).decode().strip()


def _commit(record: str) -> CommitInfo:
    sha, tree, parents, *people, message = record.lstrip("\n").split("\x00")
    an, ae, at, cn, ce, ct = people
    return CommitInfo(
        sha,
        tree,
        tuple(parents.split()),
        Signature(an, ae, datetime.fromisoformat(at)),
        Signature(cn, ce, datetime.fromisoformat(ct)),
        message.rstrip("\n"),
    )
