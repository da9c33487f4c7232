"""Keeps the Record: in one file of the runner, and as commits on a ref of the repository, `refs/nightjar/issue-<n>`.

The ref is claim, lock and journal in one. It only ever moves fast-forward, so that of two Runs on one issue one is
refused; `git log` of it reads the Run; a Session, which holds no credential, can write neither it nor the file. While
the Run is not over, `refs/nightjar/open/<n>` moves with it, and a slot that the Run takes is one more ref of the same
push (`bot.open_runs`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bot.failures import RunFailed
from bot.git import Done, Git, evidence, last_line, unreachable
from bot.open_runs import FILE, JOURNAL, OPEN, SLOT
from bot.ports import SlotTaken
from bot.record import Record
from bot.steps import next_step
from bot.stored import from_json, to_json

_IDENTITY = ("-c", "user.name=nightjar", "-c", "user.email=nightjar@users.noreply.github.com")


class RunJournal:
    """The `Journal` port of one Run."""

    def __init__(self, path: Path, git: Git, issue: int, clean: Callable[[str], str]) -> None:
        """`path` is the file on the runner; `clean` takes secrets out: a Session's words are in the Record."""
        self._path = path
        self._clean = clean
        self._git = git
        self._ref = f"{JOURNAL}{issue}"
        self._open_ref = f"{OPEN}{issue}"
        self._parent = ""
        self._is_open = False
        self._slots: dict[int, str] = {}
        """Slots that this Run holds, and what their refs stand at."""

    @property
    def newest(self) -> str:
        """The commit of the newest save on the ref; "" before there is one."""
        return self._parent

    def last(self) -> Record | None:
        """The Record that the newest Run on this issue left on the ref; this Run's claim builds on it.

        Raises `UnreadableRecord`, `RunFailed`.
        """
        self._git.open()
        refs = self._remote_refs()
        self._parent = refs.get(self._ref, "")
        self._is_open = self._open_ref in refs
        if not self._parent:
            return None
        done = self._git.network("fetch", "--quiet", "--no-tags", self._git.remote.url, self._ref)
        if done.code:
            raise unreachable("the last Run's Record could not be fetched", done)
        record = from_json(self._git.local("cat-file", "blob", f"{self._parent}:{FILE}", check=False).out)
        held = refs.get(f"{SLOT}{record.slot}", "")
        self._slots = {record.slot: held} if held and self._is_ours(held) else {}
        return record

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
        checkpoint of what a Session wrote. The slot that the Record holds is taken in the same push, others are given
        back.

        Raises `SlotTaken`, and `RunFailed`: `overtaken` when another Run has moved the ref meanwhile.
        """
        self.save(record)
        commit = self._commit(record, work)
        wanted = {record.slot: self._slots.get(record.slot, commit)} if record.slot else {}
        given_back = {slot: held for slot, held in self._slots.items() if slot not in wanted}
        specs = [f"{commit}:{self._ref}"]
        if not record.told:
            specs.append(f"{commit}:{self._open_ref}")
        elif self._is_open:
            specs.append(f":{self._open_ref}")
        specs += [f"{held}:{SLOT}{slot}" for slot, held in wanted.items() if slot not in self._slots]
        specs += [f":{SLOT}{slot}" for slot in given_back]
        leases = [f"--force-with-lease={SLOT}{slot}:{held}" for slot, held in given_back.items()]
        words = ("push", "--quiet", "--porcelain", "--atomic", *leases, self._git.remote.url, *specs)
        done = self._git.network(*words)
        if done.code and not self._came_through(done, commit, record):
            if not work:
                raise unreachable("the Record could not be pushed", done)
            # The remote does not take what the Session wrote; why, the push of the Issue branch tells.
            return self.publish(record)
        self._parent, self._is_open, self._slots = commit, not record.told, wanted
        return record

    def _commit(self, record: Record, work: str) -> str:
        blob = self._git.local("hash-object", "-w", "--stdin", given=self._text(record)).out.strip()
        tree = self._git.local("mktree", given=f"100644 blob {blob}\t{FILE}\n").out.strip()
        parents = [word for commit in (self._parent, work) if commit for word in ("-p", commit)]
        words = ("commit-tree", tree, *parents, "-m", _subject(record))
        return self._git.local(*_IDENTITY, *words).out.strip()

    def _came_through(self, done: Done, commit: str, record: Record) -> bool:
        """What the remote's refs say of a push that did not go well. Raises `RunFailed`, `SlotTaken`."""
        if "rejected]" not in done.out:
            raise unreachable("the Record could not be pushed", done)
        refs = self._remote_refs()
        there = refs.get(self._ref, "")
        if there == commit:  # a push whose answer was lost is refused when git sends it again
            return True
        if there != self._parent:
            raise self._overtaken(done)
        if record.slot and record.slot not in self._slots and f"{SLOT}{record.slot}" in refs:
            raise SlotTaken
        return False

    def _remote_refs(self) -> dict[str, str]:
        """The journal, its open ref and the slots, as the remote has them now."""
        words = ("ls-remote", "--quiet", self._git.remote.url, self._ref, self._open_ref, f"{SLOT}*")
        done = self._git.network(*words)
        if done.code:
            raise unreachable("the Record's ref could not be read", done)
        return {ref: commit for commit, _, ref in (line.partition("\t") for line in done.out.splitlines())}

    def _is_ours(self, commit: str) -> bool:
        """Whether a slot stands at a commit of this journal."""
        return not self._git.local("merge-base", "--is-ancestor", commit, self._parent, check=False).code

    def _text(self, record: Record) -> str:
        return self._clean(to_json(record))

    @staticmethod
    def _overtaken(done: Done) -> RunFailed:
        said = done.out + done.err
        reason = f"another Run has taken this issue over: its Record was refused ({last_line(said)})"
        return RunFailed("overtaken", reason, evidence(said))


def _subject(record: Record) -> str:
    """What `git log` of the ref reads."""
    if record.parked is not None:
        return f"{record.state}: waits for {record.parked.waits_for}"
    return str(record.outcome or next_step(record))
