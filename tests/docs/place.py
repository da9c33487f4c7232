"""Where the docs' commands are run: somebody's clone of a repository on an embedded GitHub, with a Run on issue 7."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.journal import RunJournal
from bot.sandbox.github import EmbeddedGitHub
from tests.docs.pages import ROOT
from tests.init.desk import FILES, Desk, Said
from tests.page.stage import PREFIX
from tests.test_show import CLAIMED, FAILED, PARKED

RECORDING = ROOT / "tests" / "claude" / "recordings" / "a_happy.jsonl"
SECONDS = 150.0


class Place:
    """The clone, and a shell in it that finds `nightjar` and a `gh` that knows alice's token."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub) -> None:
        self._desk = Desk(folder, hub, FILES)
        self._hub = hub
        self._folder = folder
        self._programs = folder / "programs"
        self._programs.mkdir()
        self._program("nightjar", f'exec "{sys.executable}" -m bot "$@"')
        self._program("gh", f'test "$*" = "auth token" && echo {self._desk.token}')
        login = hub.server_url.replace("://", f"://x-access-token:{self._desk.token}@")
        self._desk.git("config", "--global", f"url.{login}.insteadOf", hub.server_url)
        for key, value in (("user.name", "alice"), ("user.email", "alice@example.com")):
            self._desk.git("config", "--global", key, value)
        (self._desk.home / ".nightjar-token").write_text(self._desk.token, encoding="ascii")
        for name in ("ANTHROPIC_API_KEY", "NIGHTJAR_TOKEN"):
            self._desk.repository.name_secret(name)

    def set_up(self) -> None:
        """Have Nightjar in the repository, as after the README's first steps."""
        self._desk.init(GH_TOKEN=self._desk.token)
        self._desk.push()

    def had_a_run(self) -> None:
        """A Run on issue 7 that has failed, and its artifact unpacked in the clone."""
        remote = Remote(f"{self._hub.server_url}/acme/widget.git", FixedToken(self._hub.issue_token("nightjar[bot]")))
        git = Git(self._folder / "runner", remote, Clock(scale=1000), os.environ)
        journal = RunJournal(self._folder / "record.json", git, 7, lambda text: text)
        journal.last()
        for saved in (CLAIMED, PARKED, FAILED):
            journal.publish(saved)
        logs = self._desk.clone / "nightjar-run"
        logs.mkdir()
        shutil.copy(RECORDING, logs / f"{PREFIX}-implement.jsonl")

    def type(self, *commands: str) -> Said:
        """What a shell prints, which stops at the first command that fails."""
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
            cwd=self._desk.clone,
            env=self._desk.environment(PATH=path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def _program(self, name: str, script: str) -> None:
        file = self._programs / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)
