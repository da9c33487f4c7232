"""One remote and as many runners as a test needs, each with git of its own: what waits on refs is seen from any."""

from __future__ import annotations

import os
from pathlib import Path

from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.inbox import RequestRefs
from bot.journal import RunJournal
from bot.open_runs import OpenRunRefs
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository


class Runners:
    """A remote, and as many runners as are asked for."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub) -> None:
        self._folder = folder
        self._remote = Remote(f"{hub.server_url}/acme/widget.git", FixedToken(hub.issue_token("nightjar[bot]")))
        self.hub = hub
        self.repository: SandboxRepository = hub.create_repository("acme/widget", {"a.txt": "one\n"})
        self.heard: list[str] = []
        self._number = 0

    def journal(self, issue: int) -> RunJournal:
        """The journal of a Run on a runner of its own, which has looked at the ref."""
        git = self.git()
        journal = RunJournal(git.bare.parent / "record.json", git, issue, lambda text: text)
        journal.last()
        return journal

    def queue(self) -> OpenRunRefs:
        """What another runner sees."""
        return OpenRunRefs(self.git(), self.heard.append)

    def requests(self) -> RequestRefs:
        """What people ask of Runs, as another runner sees it."""
        return RequestRefs(self.git(), self.heard.append)

    def git(self) -> Git:
        """Another runner's repository."""
        self._number += 1
        return Git(self._folder / f"{self._number}", self._remote, Clock(scale=1000), os.environ)

    @property
    def refs(self) -> set[str]:
        """Nightjar's refs."""
        return {ref.removeprefix("refs/nightjar/") for ref in self.repository.refs() if "/nightjar/" in ref}
