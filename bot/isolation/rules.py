"""How a child is confined, as one line of JSON that `entry` is given."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Rules:
    """What `entry` does before it becomes the program that was asked for. The default: nothing."""

    no_new_privileges: bool = False
    capabilities: bool = True
    """Whether they are kept."""
    user: int = -1
    """Become this user, -1: stay who you are."""
    group: int = -1
    """With no other groups; -1: keep the groups."""
    landlock: bool = False
    sealed: tuple[str, ...] = ()
    """Nothing below can be written, made, moved or removed."""
    hidden: tuple[str, ...] = ()
    """Nothing below can be read."""
    shown: tuple[str, ...] = ()
    """Can be read all the same."""
    open: tuple[str, ...] = ()
    """Can be read and written all the same."""
    covered: tuple[str, ...] = ()
    """Sockets that are not there for the child."""

    def to_json(self) -> str:
        """As one argument."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Rules:
        """As `to_json` wrote them. Raises `ValueError`, `TypeError`."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
        }
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Confinement:
    """Puts what is started under `rules`."""

    rules: Rules = Rules()
    sudo: str = ""
    """The path of a sudo that asks for no password: to drop a group takes root."""
    folder: Path = Path("/nonexistent")
    """Of this process's own, for the environment to pass by sudo, which clears it."""

    def command(self, argv: Sequence[str], env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """What to start, and in which environment, so that `argv` runs confined in `env`. Raises `OSError`."""
        if self.rules == Rules():
            return list(argv), dict(env)
        entry = str(Path(__file__).with_name("entry.py"))
        # -B: by way of sudo it is root for a moment, and would leave bytecode that the runner's user cannot remove.
        words = [sys.executable, "-I", "-S", "-B", entry, self.rules.to_json()]
        if not self.sudo:
            return [*words, "", *argv], dict(env)
        import secrets  # here, because `entry` has no use for it and starts often

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / f"environment-{secrets.token_hex(8)}"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(dict(env), file)
        return [self.sudo, "-n", "--", *words, str(path), *argv], {"PATH": os.defpath}

    def owns(self, folder: Path) -> None:
        """Give `folder`, with all in it, to the user that the rules name, if any. Raises `OSError`."""
        if self.rules.user >= 0 and os.geteuid() == 0:
            from bot.isolation.paths import hand_over

            hand_over(folder, self.rules.user, self.rules.group)


UNCONFINED = Confinement()
"""As this process itself is."""
