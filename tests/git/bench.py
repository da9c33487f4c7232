"""A workspace with a real remote over authenticated HTTP, and a session's shell in its checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.guard import Redactor
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.workspace import GitWorkspace, Identity

FILES = {"a.txt": "one\n", "b.txt": "two\n", ".gitignore": "*.log\n", ".github/workflows/ci.yml": "on: push\n"}
BRANCH = "nightjar/issue-7"
REF = f"refs/heads/{BRANCH}"


class Bench:
    """A workspace with its remote, and a session's shell in its checkout."""

    def __init__(
        self,
        hub: EmbeddedGitHub,
        folder: Path,
        token: str | None = None,
        sign_off: bool = False,
        secrets: Sequence[str] = (),
    ) -> None:
        """`token` is an app's with write access unless given; `secrets` are values that must not leave."""
        known = "acme/widget"
        self.hub = hub
        self.repository: SandboxRepository = hub.create_repository(known, FILES)
        self.token = token or hub.issue_token("nightjar[bot]")
        self.folder = folder
        self.git = Git(folder, Remote(f"{hub.server_url}/{known}.git", FixedToken(self.token)), Clock(), os.environ)
        identity = Identity("nightjar", "nightjar@example.com", sign_off)
        self.workspace = GitWorkspace(self.git, identity, folder / "patches", Redactor(secrets))

    def session(self, script: str) -> str:
        """Run shell commands in the checkout, as a session would; what they printed."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_TERMINAL_PROMPT": "0"}
        done = subprocess.run(
            ["bash", "-euc", script], cwd=self.git.checkout, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def prepare(self) -> tuple[str, str]:
        """The base commit and the head."""
        return self.workspace.prepare(base="main", branch=BRANCH, checkpoint="")

    def shown(self, commit: str, path: str) -> str:
        """A file as the program's repository has it at `commit`."""
        return self.git.local("show", f"{commit}:{path}").out
