"""What git knows of a Run: the saves of its Record, and the diff that a Repair made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from bot.git import Git
from bot.record import RepairEntry
from bot.report.terminal import Save

SAVES = 101
"""Saves that are read: one more than are printed, so that it can be said that there are more."""
DIFF_BYTES = 512 * 1024
_FILES = 200
_COMMIT = re.compile(r"[0-9a-f]{40,64}")

Local = Callable[..., str]
"""Runs git without a network, with these words; what it printed, "" where it refused."""


class History(Protocol):
    """What git knows of one Run."""

    def diff(self, repair: RepairEntry) -> str:
        """What it changed; "" where that is not to be had."""

    def saves(self) -> Sequence[Save]:
        """The journal, newest first."""


class Fetched:
    """That of a Run whose ref was fetched, or of one of which there is nothing but its Record."""

    def __init__(self, local: Local = lambda *_: "", known: Sequence[Save] = ()) -> None:
        """`known`: its journal, newest first."""
        self._local = local
        self._known = known

    def diff(self, repair: RepairEntry) -> str:
        """What a Repair changed: its commits came with the ref."""
        words = diff_words(repair)
        return self._local(*words) if words else ""

    def saves(self) -> Sequence[Save]:
        """The journal."""
        return self._known


class RunHistory:
    """That of the Run of this job, in the program's own repository."""

    def __init__(self, git: Git, newest: Callable[[], str]) -> None:
        """`newest` tells the commit of the journal's newest save, or ""."""
        self._git = git
        self._newest = newest

    def diff(self, repair: RepairEntry) -> str:
        """What a Repair changed, cut at `DIFF_BYTES`."""
        words = diff_words(repair)
        if not words or not self._git.bare.is_dir():
            return ""
        with self._git.reading(*words, given="") as out:
            return out.read(DIFF_BYTES).decode(errors="replace")

    def saves(self) -> Sequence[Save]:
        """The journal up to the newest save that is on the ref."""
        commit = self._newest()
        return saves(lambda *words: self._git.local(*words, check=False).out, commit) if commit else ()


def saves(local: Local, commit: str) -> tuple[Save, ...]:
    """The journal up to `commit`, newest first. A save's other parent is work that was checkpointed with it."""
    options = ("--first-parent", "--no-show-signature", "--no-color", f"--max-count={SAVES}", "--format=%ct %s")
    lines = local("log", *options, commit, "--").splitlines()
    found = (line.partition(" ") for line in lines)
    return tuple(Save(datetime.fromtimestamp(int(at), UTC), said) for at, _, said in found if at.isdigit())


def diff_words(repair: RepairEntry) -> tuple[str, ...]:
    """How git is asked for what a Repair changed itself, without what a merge of the base brought; () for nothing."""
    if not (_COMMIT.fullmatch(repair.before) and _COMMIT.fullmatch(repair.after) and repair.files):
        return ()
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "--find-renames")
    paths = (f":(top,literal){path}" for path in repair.files[:_FILES])
    return ("-c", "core.quotePath=false", "diff", *options, repair.before, repair.after, "--", *paths)
