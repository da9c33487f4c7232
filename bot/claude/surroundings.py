"""Where Sessions live: a home of their own, what they see of the job's environment, and how they are confined."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bot.claude.environment import listed, session_environment, toolchains
from bot.claude.hiding import SCRUB, check_sandbox, check_tools
from bot.config import Config
from bot.failures import RunFailed
from bot.isolation.choice import Choice, Places, choose, files_of, look, relaxed
from bot.isolation.rules import UNCONFINED, Confinement

USER_NAME = "nightjar"


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a Run keeps its things; none of it lies in the checkout."""

    checkout: Path
    logs: Path
    handover: Path
    claude_home: Path
    """The home of Sessions, with the CLI's own settings and conversations: fresh for each Run."""
    install: Path
    shown: tuple[Path, ...] = ()
    """What a Session may read among the runner's temporary files, where all else there is hidden from it."""


class Surroundings:
    """Those of one Run's Sessions. They are confined once `settle` has been called."""

    def __init__(
        self, config: Config, folders: Folders, environ: Mapping[str, str], progress: Callable[[str], None]
    ) -> None:
        """`environ` is the job's; `progress` takes lines for the job log."""
        self._config = config
        self.folders = folders
        self._environ = environ
        self.progress = progress
        self._kept = session_environment(environ, [secret.reveal() for secret in config.secrets()], config.pass_env)
        self.confinement = UNCONFINED

    @property
    def tools(self) -> dict[str, str]:
        """The environment of what needs no model: `setup`, the check command, the CLI's installation."""
        home = self.folders.claude_home
        path = self._kept.variables.get("PATH", os.defpath)
        variables = {
            **self._kept.variables,
            **toolchains(self._environ, Path.is_dir),
            "HOME": str(home),
            "TMPDIR": str(self._temporary),
            "PATH": os.pathsep.join([path, str(home / ".local" / "bin")]),  # where pip installs for a user
        }
        if self._as_somebody:
            variables |= {"USER": USER_NAME, "LOGNAME": USER_NAME}
        return variables

    def variables(self, model: Mapping[str, str]) -> dict[str, str]:
        """A Session's environment, but for what the CLI itself is told. `model`: where it finds the model's API and
        what it shows there, a placeholder or, with `pass-model-key`, the key.
        """
        home = self.folders.claude_home
        own = {"CLAUDE_CONFIG_DIR": str(home / ".claude"), "CLAUDE_CODE_TMPDIR": str(self._temporary), **model}
        if self._config.pass_model_key:
            own[SCRUB] = "1"
        if os.geteuid() == 0 and not self._as_somebody:
            own["IS_SANDBOX"] = "1"  # the CLI refuses to bypass permissions as root without it
        return {**self.tools, **own}

    def make_folders(self) -> None:
        """Make those that have to be there."""
        for folder in (self.folders.logs, self._temporary, self.folders.claude_home / ".claude"):
            folder.mkdir(parents=True, exist_ok=True)

    def settle(self, claude: Path | None = None) -> Confinement:
        """Decide how all that runs code from the branch is confined, and say so. `claude`: the CLI, where Sessions are
        to come. Raises `RunFailed`.
        """
        chosen = self._choice(claude)
        self.confinement = chosen.confinement
        self.progress(f"isolation `{self._config.isolation}`: {chosen.said}")
        for gap in chosen.gaps:
            self.progress(f"isolation: {gap}")
        if self._kept.dropped:
            self.progress(f"Sessions do not get these variables of the job: {listed(self._kept.dropped)}")
        self.hand_over(self.folders.claude_home)
        return self.confinement

    def hand_over(self, folder: Path) -> None:
        """Make a folder that the program has written the Sessions' own, where they run as somebody else."""
        self.confinement.owns(folder)

    def _choice(self, claude: Path | None) -> Choice:
        config, path = self._config, self._kept.variables.get("PATH", os.defpath)
        if config.pass_model_key:
            check_tools(path, self._temporary)
        chosen = relaxed() if config.isolation == "relaxed" else self._strict(claude, path)
        if config.pass_model_key and claude is not None:
            check_sandbox(chosen.confinement, path)
        return chosen

    def _strict(self, claude: Path | None, path: str) -> Choice:
        config, places = self._config, self._places(claude)
        mounts = config.pass_model_key and claude is not None
        chosen = choose(look(places, path), places, files_of(places, path), mounts=mounts)
        if config.pass_model_key and os.geteuid() == 0 and chosen.confinement.rules.user < 0:
            raise RunFailed(
                "config_invalid",
                "`pass-model-key` does not go with `isolation: strict` for a root whose tools no other user can run: "
                "claude cannot hide the key then; run the job as another user, or leave it out",
            )
        return chosen

    def _places(self, claude: Path | None) -> Places:
        folders, environ = self.folders, self._environ
        workspace, tools = environ.get("GITHUB_WORKSPACE", ""), environ.get("RUNNER_TOOL_CACHE", "")
        named = [
            Path(value)
            for name, value in self._kept.variables.items()
            if Path(value).is_absolute() and any(fnmatchcase(name, pattern) for pattern in self._config.pass_env)
        ]
        return Places(
            home=Path(environ.get("HOME", "") or Path.home()),
            temp=Path(environ.get("RUNNER_TEMP", "") or folders.logs.parent),
            workspace=Path(workspace) if workspace else None,
            claude=claude,
            session=(folders.checkout, folders.claude_home, folders.handover),
            shown=(folders.install, *folders.shown, *named),
            control=folders.logs.parent / "control",
            tools=Path(tools) if tools else None,
        )

    @property
    def _temporary(self) -> Path:
        return self.folders.claude_home / "tmp"

    @property
    def _as_somebody(self) -> bool:
        return os.geteuid() == 0 and self.confinement.rules.user >= 0
