"""Commits of a small project, a Session that has been at work in its checkout, and the Trials of a Run beside it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.claude.surroundings import Folders, Surroundings
from bot.clock import Clock
from bot.config import read_config
from bot.guard import Redactor
from bot.proof.facts import Ran
from bot.sandbox.github import EmbeddedGitHub
from bot.trials import ConfinedTrials
from tests.git.bench import Bench

SECRET = "sk-scripted-" + "Zq7w" * 8
PATH = "/usr/local/bin:/usr/bin:/bin"


class Yard:
    """One Run's folders below `RUNNER_TEMP`, with what a Session has committed and what it has planted."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub, path: str = PATH) -> None:
        self.temp = folder / "work" / "_temp"
        self.home = folder / "home"
        self.home.mkdir()
        self.commands = self.temp / "_runner_file_commands"
        self.commands.mkdir(parents=True)
        self.run_folder = self.temp / "nightjar" / "run-1-1"
        self.bench = Bench(hub, self.run_folder)
        self.base, _ = self.bench.prepare()
        self.checkout = self.bench.git.checkout
        self.session_home, self.handover = self.run_folder / "claude", self.run_folder / "handover"
        for own in (self.session_home, self.handover):
            own.mkdir()
        self.trial = self.run_folder / "trial"
        self.said: list[str] = []
        self.set_up = 0
        self._path = path

    def commits(self, script: str) -> str:
        """The commit that a Session makes with `script`."""
        self.bench.session(script)
        return self.bench.workspace.collect("work")

    def trials(self, *, clock: Clock | None = None, run_minutes: float = 60, **settings: str) -> ConfinedTrials:
        """Those of a Run with these settings, by their names in an environment."""
        clock = clock or Clock()
        config = read_config({**self.environ, **{f"INPUT_{name}": text for name, text in settings.items()}}, None)
        folders = Folders(
            checkout=self.trial / "tree",
            logs=self.temp / "nightjar" / "logs",
            handover=self.trial / "reports",
            claude_home=self.trial / "home",
            install=self.temp / "nightjar" / "cli",
            shown=(self.bench.git.bare,),
        )
        return ConfinedTrials(
            *(config, Surroundings(config, folders, self.environ, lambda _: None), clock),
            clock.deadline("run-timeout-minutes", run_minutes * 60),
            git=self.bench.git,
            redactor=Redactor([SECRET]),
            say=self.said.append,
            set_up=self._count,
        )

    def run(self, command: str, commit: str = "", *, laid_over: Sequence[str] = (), of: str = "") -> Ran:
        """What `command` does on `commit`, or else on the base commit."""
        return self.trials().run(commit or self.base, command, laid_over=laid_over, of=of, minutes=5)

    @property
    def environ(self) -> dict[str, str]:
        """The job's."""
        return {
            "PATH": self._path,
            "HOME": str(self.home),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ENV": str(self.commands / "set_env_1"),
            "GITHUB_OUTPUT": str(self.commands / "set_output_1"),
            "GITHUB_ACTIONS": "true",
            "INPUT_GITHUB_TOKEN": "ghs_" + "Jk3v" * 10,
            "INPUT_ANTHROPIC_API_KEY": SECRET,
            "ANTHROPIC_API_KEY": SECRET,
            "NPM_TOKEN": "npm-" + "Jk3v" * 10,
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
        }

    def _count(self) -> None:
        self.set_up += 1


@contextmanager
def furnished(role: str, path: str = PATH) -> Iterator[Yard]:
    """A yard whose program is root and has a user of its own for Trials (`own-user`); or one that has none, whether it
    is root or not (`same-user`).
    """
    if role == "own-user" and os.geteuid() != 0:
        pytest.skip("takes root")
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="nightjar-trials-") as name:
        folder = Path(name)
        folder.chmod(0o755 if role == "own-user" else 0o700)
        with EmbeddedGitHub(folder / "hub", ci=False) as hub:
            yield Yard(folder, hub, path)


@pytest.fixture
def yard() -> Iterator[Yard]:
    """A yard for one test."""
    with furnished("same-user") as made:
        yield made


@pytest.fixture(params=["own-user", "same-user"])
def any_yard(request: pytest.FixtureRequest) -> Iterator[Yard]:
    """A yard for one test, in each role."""
    with furnished(request.param) as made:
        yield made
