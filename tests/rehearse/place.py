"""Somebody's own repository with a workflow, and the real command in it."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clock import Clock
from bot.sandbox.cli import bundled_claude

ROOT = Path(__file__).resolve().parents[2]
SCALE = "30"
CI = """\
name: CI
on:
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: python3 -m unittest -v
"""
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": (
        "import unittest\n\nimport calc\n\n\n"
        "class Calc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
    ),
    ".github/workflows/ci.yml": CI,
}
SETTINGS = ".github/nightjar.yml"
FILE = "nightjar-rehearsal.md"


@dataclass(frozen=True, slots=True)
class Said:
    """What the command printed, and its exit code."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    """Where it was interrupted: how long what it had started lived on."""

    def after(self, heading: str) -> str:
        """What stands below a line."""
        return self.out.partition(f"\n{heading}\n")[2]


class Place:
    """A repository without a remote, with one commit on main."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.top = folder / "widget"
        self.temp = folder / "temp"
        self.path = os.environ["PATH"]
        for one in (self.home, self.top, self.temp):
            one.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit(files)
        self.issue = self.text("issue.md", "Add subtraction\n\nWe need `sub(a, b)`.\n")

    def git(self, *words: str) -> str:
        """git in the repository; what it printed."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ("-c", "user.name=alice", "-c", "user.email=alice@example.com")
        done = subprocess.run(
            ["git", *who, *words], cwd=self.top, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Files of the working tree."""
        for path, text in files.items():
            (self.top / path).parent.mkdir(parents=True, exist_ok=True)
            (self.top / path).write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str]) -> None:
        """Write files and commit all."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Change")

    def text(self, name: str, text: str) -> str:
        """A file outside the repository; its path."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def snapshot(self) -> dict[str, str]:
        """Every file of the repository, git's own and the working tree's, by a hash of what is in it."""
        found = (path for path in self.top.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.top)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(found)
        }

    def environment(self, **more: str) -> dict[str, str]:
        """A user's, with little in it; no claude is on PATH."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.temp), "PYTHONPATH": str(ROOT), "NIGHTJAR_TIME_SCALE": SCALE}
        return {"PATH": self.path, **own, **more}

    def start(self, *words: str, where: Path | None = None, **environ: str) -> subprocess.Popen[str]:
        """`nightjar rehearse`, with its output piped and nothing on stdin."""
        return subprocess.Popen(
            [sys.executable, "-m", "bot", "rehearse", *words],
            cwd=where or self.top,
            env=self.environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rehearse(self, *words: str, where: Path | None = None, **environ: str) -> Said:
        """The command from start to end."""
        process = self.start(*words, where=where, **environ)
        out, err = process.communicate()
        return Said(process.returncode, out, err)

    def scripted(self, *words: str) -> Said:
        """With the fixed script, on the issue."""
        return self.rehearse("--issue", self.issue, "--scripted", "-o", str(self.kept), *words)

    def real(self, model_url: str, *words: str) -> subprocess.Popen[str]:
        """With the real claude, a key, and a model of the test's own in the place of the API."""
        claude = f"claude-path={bundled_claude()}"
        given = ("--issue", self.issue, "--yes", "-o", str(self.kept), "--set", claude, *words)
        return self.start(*given, ANTHROPIC_API_KEY="sk-ant-of-alice", ANTHROPIC_BASE_URL=model_url)

    def interrupt(self, process: subprocess.Popen[str], seen: Callable[[str], bool], gone: Callable[[], bool]) -> Said:
        """Ctrl-C as soon as a line that is `seen` was printed; `seconds` is how long it took then until `gone`."""
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if seen(line):
                process.send_signal(signal.SIGINT)
                break
        asked = Clock.now()
        limit = Clock.reaction("gone", 60)
        while not (gone() or limit.passed()):
            Clock.pause(0.05)
        seconds = Clock.now() - asked
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Said(process.returncode, "".join(lines) + out, err, seconds)

    @property
    def kept(self) -> Path:
        """Where the tests have it kept."""
        return self.folder / "kept"
