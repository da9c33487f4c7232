"""A runner on which a program like Nightjar's starts a child: real processes, as root and as a plain user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.adversary.attempt import KEY, TOKEN

ROOT = Path(__file__).parents[2]
NOBODY = 65_534
_TAKEN = ("__init__.py", "cancel.py", "clock.py", "isolation", "claude/__init__.py", "claude/guard_process.py")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_NEEDED = (3, 11)


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a script."""

    code: int
    said: str
    gaps: list[str]
    left: int
    """Processes of the child that were still there when its guard had gone."""
    printed: str

    @property
    def succeeded(self) -> bool:
        """Whether the script ended with 0: what it tried was possible."""
        return self.code == 0


class Runner:
    """Folders as a runner has them, and a program of its own that belongs to the runner's user."""

    def __init__(self, folder: Path, role: str) -> None:
        """`role`: `plain`, `root` (whose tools no other user reaches) or `own-user` (root, whose tools all reach)."""
        self.role = role
        self.folder = folder
        self.home = folder / "home"
        self.temp = folder / "work" / "_temp"
        self.workspace = folder / "work" / "widget"
        self.commands = self.temp / "_runner_file_commands"
        self.record = self.temp / "nightjar" / "record.json"
        self.logs = self.temp / "nightjar" / "logs"
        self.program = folder / "work" / "_actions" / "acme" / "nightjar" / "v1"
        run = self.temp / "nightjar" / "run-1-1"
        self.checkout, self.session_home, self.handover = (run / name for name in ("checkout", "claude", "handover"))
        self.python = _python(role == "plain")
        self.path = _SYSTEM_PATH
        self._furnish()

    def _furnish(self) -> None:
        own = (self.checkout, self.session_home / "tmp", self.handover)
        for path in (*own, self.commands, self.logs, self.home / ".docker", self.workspace / ".git" / "hooks"):
            path.mkdir(parents=True)
        (self.workspace / ".git" / "config").write_text(f"extraheader = {TOKEN}\n")
        (self.home / ".docker" / "config.json").write_text(TOKEN)
        (self.home / ".gitconfig").write_text("")
        (self.commands / "set_env_1").write_text("")
        (self.logs / "another.jsonl").write_text("")
        self.record.write_text("{}")
        for name in _TAKEN:
            source, target = ROOT / "bot" / name, self.program / "bot" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        shutil.copy(ROOT / "bot/claude/descendants.py", self.program / "bot/claude/descendants.py")
        shutil.copy(Path(__file__).with_name("program.py"), self.program / "program.py")
        if self.role == "root":
            closed = self.folder / "closed"
            closed.mkdir(mode=0o700)
            self.path = f"{closed}:{self.path}"
        if self.role == "plain" and os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    @property
    def names(self) -> dict[str, str]:
        """Places by the names that attempts know them by."""
        places = {name: getattr(self, name) for name in ("commands", "home", "logs", "record", "workspace")}
        places |= {"code": self.program, "nightjar": self.record.parent}
        return {name: str(place) for name, place in places.items()} | {"own-token-1": "ghs_", "own-token-2": "x" * 40}

    def play(self, script: str, *, strict: bool = True, mounts: bool = False) -> Played:
        """Have the program run `script` in its child; `strict` is the isolation, without it nothing at all is shut."""
        places = {
            "home": str(self.home),
            "temp": str(self.temp),
            "workspace": str(self.workspace),
            "claude": "/bin/bash",
            "session": [str(path) for path in (self.checkout, self.session_home, self.handover)],
            "shown": [],
            "control": str(self.temp / "nightjar" / "control"),
        }
        order = {"places": places, "path": self.path, "strict": strict, "script": script, "mounts": mounts}
        user = NOBODY if self.role == "plain" and os.geteuid() == 0 else None
        done = subprocess.run(
            [self.python, str(self.program / "program.py"), json.dumps(order)],
            env={"PATH": self.path, "INPUT_GITHUB_TOKEN": KEY, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert said["secret"] == len(KEY)
        return Played(said["code"], said["said"], said["gaps"], said["left"], done.stderr)


def _python(for_anybody: bool) -> str:
    """A Python for the program; one that every user can run, if need be."""
    if not (for_anybody and os.geteuid() == 0):
        return sys.executable
    for found in ("/usr/bin/python3", "/usr/local/bin/python3"):
        words = [found, "-c", f"import sys; sys.exit(sys.version_info < {_NEEDED})"]
        if Path(found).exists() and not subprocess.run(words, user=NOBODY, check=False).returncode:
            return found
    pytest.skip("there is no Python here that a plain user could run")


ROLES = ("plain", "root", "own-user")


@contextmanager
def furnished(role: str) -> Iterator[Runner]:
    """A runner whose program is a plain user's, or root's in one of the ways that it is confined in."""
    if role != "plain" and os.geteuid() != 0:
        pytest.skip("takes root")
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="nightjar-isolation-") as folder:
        Path(folder).chmod(0o755)
        yield Runner(Path(folder), role)


@pytest.fixture(params=ROLES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """A runner for one test, in each role."""
    with furnished(request.param) as made:
        yield made
