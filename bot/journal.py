"""Keeps the Record: in one file of the runner, and as commits on a ref of the repository, `refs/nightjar/issue-<n>`.

The ref is claim, lock and journal in one. It only ever moves fast-forward, so that of two Runs on one issue one is
refused; `git log` of it reads the Run; a Session, which holds no credential, can write neither it nor the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bot.failures import RunFailed
from bot.git import Git, evidence, last_line, unreachable
from bot.record import Record, from_json, to_json
from bot.steps import next_step

_FILE = "record.json"
_IDENTITY = ("-c", "user.name=nightjar", "-c", "user.email=nightjar@users.noreply.github.com")


class RunJournal:
    """The `Journal` port of one Run."""

    def __init__(self, path: Path, git: Git, issue: int, clean: Callable[[str], str]) -> None:
        """`path` is the file on the runner; `clean` takes secrets out: a Session's words are in the Record."""
        self._path = path
        self._clean = clean
        self._git = git
        self._ref = f"refs/nightjar/issue-{issue}"
        self._parent = ""

    def last(self) -> Record | None:
        """The Record that the newest Run on this issue left on the ref; this Run's claim builds on it.

        Raises `UnreadableRecord`, `RunFailed`.
        """
        self._git.open()
        self._parent = self._git.remote_ref(self._ref)
        if not self._parent:
            return None
        done = self._git.network("fetch", "--quiet", "--no-tags", self._git.remote.url, self._ref)
        if done.code:
            raise unreachable("the last Run's Record could not be fetched", done)
        return from_json(self._git.local("cat-file", "blob", f"{self._parent}:{_FILE}", check=False).out)

    def save(self, record: Record) -> Record:
        """Write the file, whole or not at all; the same Record."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(self._text(record))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        return record

    def publish(self, record: Record, *, work: str = "") -> Record:
        """Save it, and push it onto the ref; the same Record. `work` is a commit that goes with it, as a parent: a
        checkpoint of what a Session wrote.

        Raises `RunFailed`: `handed_over` when another Run has moved the ref meanwhile.
        """
        self.save(record)
        blob = self._git.local("hash-object", "-w", "--stdin", given=self._text(record)).out.strip()
        tree = self._git.local("mktree", given=f"100644 blob {blob}\t{_FILE}\n").out.strip()
        parents = [word for commit in (self._parent, work) if commit for word in ("-p", commit)]
        words = ("commit-tree", tree, *parents, "-m", str(record.outcome or next_step(record)))
        commit = self._git.local(*_IDENTITY, *words).out.strip()
        done = self._git.network("push", "--quiet", "--porcelain", self._git.remote.url, f"{commit}:{self._ref}")
        # A push whose answer was lost is refused when git sends it again.
        if done.code and not ("rejected]" in done.out and self._git.remote_ref(self._ref) == commit):
            raise (
                self._refused(done.out + done.err)
                if "[rejected]" in done.out
                else unreachable("the Record could not be pushed", done)
            )
        self._parent = commit
        return record

    def _text(self, record: Record) -> str:
        return self._clean(to_json(record))

    @staticmethod
    def _refused(said: str) -> RunFailed:
        reason = f"another Run has taken this issue over: its Record was refused ({last_line(said)})"
        return RunFailed("handed_over", reason, evidence(said))
