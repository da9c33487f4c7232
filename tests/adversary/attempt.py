"""One attempt of a Session on the runner, as a shell script."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.isolation.kernel import LANDLOCK_LEAST, landlock_version

KEY = "sk-scripted-" + "Zq7w" * 8
TOKEN = "ghs_" + "Jk3v" * 10
"""What the job has beside Nightjar's own token."""
ROLES = ("own-user", "root", "plain")
"""Sessions of a root program as a user of their own; as root without capabilities; and those of a plain user."""

NONE: tuple[str, ...] = ()
ROOT = ("own-user",)
BOTH = (*ROOT, "plain")

FILES = LANDLOCK_LEAST
SIGNALS = 6
"""The version of Landlock that keeps them in."""
_NAME = re.compile(r"@([a-z0-9-]+)@")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt; `what` completes "a Session …"."""

    id: str
    what: str
    script: str
    """Ends with 0 when it succeeds."""
    control: tuple[str, ...] = BOTH
    """For whom it succeeds where nothing is isolated: the attempt itself works."""
    landlock: int = 0
    """The version that it takes to keep a Session from it which is no user of its own; 0: it takes none."""
    impossible: Callable[[], str] = str
    """Why there is nothing to try on this machine; "" where there is."""

    @property
    def names(self) -> frozenset[str]:
        """The places and addresses of the runner that it would have to guess."""
        return frozenset(_NAME.findall(self.script))

    def lacking(self, role: str) -> str:
        """Why nothing keeps a Session of this role from it here; "" where it has to be kept."""
        missing = role != "own-user" and landlock_version() < self.landlock
        return f"this kernel has no Landlock of version {self.landlock}" if missing else ""


def python(code: str) -> str:
    """A script that runs `code` with the system's Python."""
    return f"python3 - <<'END'\n{code}\nEND"


def filled(script: str, names: Mapping[str, str]) -> str:
    """`script` with the places and addresses in it."""
    return _NAME.sub(lambda found: names[found[1]], script)
