"""The Runs of a repository that are not over, as their Records stand on its refs: `bot.ports.Queue` on real git.

`refs/nightjar/open/<n>` is where the journal of issue n stands while its Run is not over; `refs/nightjar/slot/<k>` is
held by a Run that is at work. Both move with the journal, in one push that is taken whole or not at all, so that what
stands here is never half a step old. Looking costs no request of the API's hourly limit.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.git import Git, unreachable
from bot.ports import OpenRuns
from bot.record import Record
from bot.stored import UnreadableRecord, from_json

JOURNAL = "refs/nightjar/issue-"
OPEN = "refs/nightjar/open/"
SLOT = "refs/nightjar/slot/"
ASKED = "refs/nightjar/asked/"
"""Requests that no Run has taken yet, by issue (`bot.inbox`)."""
FILE = "record.json"
_LOOKS = 5
"""Times that refs are listed and fetched until they have stood still in between."""


class OpenRunRefs:
    """Reads them from the remote, into a repository of their own: a Record brings its Run's work along otherwise."""

    def __init__(self, git: Git, log: Callable[[str], None]) -> None:
        """`git` is for this alone; `log` hears of Records that cannot be read."""
        self._git = git
        self._log = log

    def others(self, issue: int = 0) -> OpenRuns:
        """All that are not over, except the one on `issue`. Raises `RunFailed`."""
        for _ in range(_LOOKS):
            refs = self._listed()
            numbers = sorted(int(name) for ref in refs if (name := ref.removeprefix(OPEN)) != ref and name.isdigit())
            found = {number: refs[f"{OPEN}{number}"] for number in numbers if number != issue}
            if self._fetched(found):
                break
        records = (self._record(number, commit) for number, commit in found.items())
        slots = {int(name) for ref in refs if (name := ref.removeprefix(SLOT)) != ref and name.isdigit()}
        asked = {int(name) for ref in refs if (name := ref.removeprefix(ASKED).partition("/")[0]).isdigit()}
        return OpenRuns(tuple(record for record in records if record is not None), frozenset(slots), frozenset(asked))

    def _listed(self) -> dict[str, str]:
        self._git.open()
        done = self._git.network("ls-remote", "--quiet", self._git.remote.url, f"{OPEN}*", f"{SLOT}*", f"{ASKED}*")
        if done.code:
            raise unreachable("the Runs that are not over could not be read", done)
        return {ref: commit for commit, _, ref in (line.partition("\t") for line in done.out.splitlines())}

    def _fetched(self, found: dict[int, str]) -> bool:
        """Whether the newest Record of each is here, without what came before it. Not where one moved on between the
        list and the fetch: one that ended then has git fetch none, and who is in line cannot be told without them.
        """
        lacking = [number for number, commit in found.items() if not self._has(commit)]
        if not lacking:
            return True
        words = ("fetch", "--quiet", "--no-tags", "--depth", "1", self._git.remote.url)
        done = self._git.network(*words, *(f"+{OPEN}{number}:{OPEN}{number}" for number in lacking))
        if done.code and "couldn't find remote ref" not in done.err:  # a Run that ended just now is no longer open
            raise unreachable("the Records of the Runs that are not over could not be fetched", done)
        return all(self._has(found[number]) for number in lacking)

    def _has(self, commit: str) -> bool:
        return not self._git.local("cat-file", "-e", commit, check=False).code

    def _record(self, number: int, commit: str) -> Record | None:
        if not self._has(commit):
            return None  # it moves on all the time: whoever moves it looks after it
        try:
            return from_json(self._git.local("cat-file", "blob", f"{commit}:{FILE}", check=False).out)
        except UnreadableRecord as unreadable:
            self._log(f"The Run on issue #{number} is left alone: {unreadable}.")
            return None
