"""A repository on an embedded Enterprise Server, somebody's fresh clone of it, and the real command in that clone."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository

ROOT = Path(__file__).resolve().parents[2]
CI = """\
name: CI
on:
  push:
    branches: [main]
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: "true"
"""
FILES = {"a.txt": "one\n", ".github/workflows/ci.yml": CI}
WORKFLOW, WAKE, SETTINGS = (
    ".github/workflows/nightjar.yml",
    ".github/workflows/nightjar-wake.yml",
    ".github/nightjar.yml",
)


@dataclass(frozen=True, slots=True)
class Said:
    """What the command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines of stdout."""
        return self.out.splitlines()

    @property
    def flat(self) -> str:
        """stdout with single blanks, whatever columns it is in."""
        return re.sub(" +", " ", self.out)

    @property
    def json(self) -> Any:
        """stdout, read."""
        return json.loads(self.out)


class Desk:
    """acme/widget, and a clone of it."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.hub = hub
        self.repository: SandboxRepository = hub.create_repository("acme/widget", files)
        self.repository.set_permission("alice", "admin")
        self.token = hub.issue_token("alice", "pat")
        self.home = folder / "home"
        self.home.mkdir()
        self.clone = folder / "clone"
        self.git("clone", "-q", f"{hub.server_url}/acme/widget.git", str(self.clone), where=folder)

    def git(self, *words: str, where: Path | None = None) -> str:
        """git in the clone; what it printed."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        identity = ("-c", "user.name=alice", "-c", "user.email=alice@example.com")
        done = subprocess.run(
            ["git", *identity, *words], cwd=where or self.clone, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def environment(self, **more: str) -> dict[str, str]:
        """A user's, with little in it."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT), **more}

    def run(self, *words: str, where: Path | None = None, environ: Mapping[str, str] | None = None) -> Said:
        """`nightjar` with `words`, its output piped; `environ` is added to the user's own."""
        done = subprocess.run(
            [sys.executable, "-m", "bot", *words],
            cwd=where or self.clone,
            env=self.environment(**(environ or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def on_a_terminal(self, *words: str, **environ: str) -> str:
        """What a terminal of 80 columns gets to see."""
        ours, theirs = pty.openpty()
        environ = {"TERM": "xterm", "COLUMNS": "80", **environ}
        with subprocess.Popen(
            [sys.executable, "-m", "bot", *words],
            cwd=self.clone,
            env=self.environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        ):
            os.close(theirs)
            seen = b""
            with suppress(OSError):  # Linux tells the end so
                while part := os.read(ours, 65_536):
                    seen += part
        os.close(ours)
        return seen.decode().replace("\r\n", "\n")

    def init(self, *words: str, where: Path | None = None, **environ: str) -> Said:
        """`nightjar init`."""
        return self.run("init", *words, where=where, environ=environ)

    def read(self, path: str) -> str:
        """A file of the clone."""
        return (self.clone / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Somebody's change in the clone."""
        file = self.clone / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def push(self) -> None:
        """Commit all, and have it on GitHub."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Change")
        self.repository.commit("main", {path: self.read(path) for path in self.git("ls-files").splitlines()}, "Change")

    def made(self) -> int:
        """How often GitHub was asked to make a label."""
        return sum(1 for one in self.hub.requests if one.method == "POST" and one.path.endswith("/widget/labels"))

    def snapshot(self) -> dict[str, bytes]:
        """All files of the clone, but for git's own."""
        files = (path for path in self.clone.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {str(path.relative_to(self.clone)): path.read_bytes() for path in files}
