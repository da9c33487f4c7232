"""What one setting is: its name, how it is read, and where it may be given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot.kinds import Flag, Folder, Kind, Raw, RefPart, Text

# NUL ends an argument early; a lone surrogate, which YAML can escape and a variable can hold, has no bytes at all; a
# byte order mark inside a text is a slip that nobody sees.
_UNUSABLE = re.compile("[\0\ud800-\udfff\ufeff]")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Where `default` is "", `unset` tells people, and `absent` the code, what leaving it out means."""

    name: str
    kind: Kind
    default: str
    help: str
    unset: str = "none"
    absent: Any = None
    secret: bool = False
    in_file: bool = True
    one_run: bool = True
    """Whether it makes sense for one Run: then it may stand in a profile, if it may stand in the file at all."""
    expression: str = ""

    @property
    def field(self) -> str:
        """The name of the `Config` field."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """The environment variable in which `action.yml` hands the input over."""
        return f"INPUT_{self.name.replace('-', '_').upper()}"

    @property
    def default_value(self) -> Any:
        """What `Config` holds when nobody gives anything."""
        return self.kind.read(self.default) if self.default else self.absent

    @property
    def in_profile(self) -> bool:
        """Whether it may stand in a profile of the file."""
        return self.in_file and self.one_run

    def read(self, raw: Raw) -> Any:
        """The value. Raises `ValueError`: what is wrong and what is allowed; of a secret nothing is shown."""
        try:
            if any(_UNUSABLE.search(text) for text in _texts(raw)):
                raise ValueError("there is a character that no text can have")
            return self.kind.read(raw)
        except ValueError as error:
            wrong = "the value is not allowed" if self.secret else str(error)
            raise ValueError(f"{wrong}; give {self.kind.allowed}") from None

    @property
    def meaning(self) -> str:
        """The help, and what may be given."""
        obvious = self.secret or isinstance(self.kind, (Text, RefPart, Folder, Flag)) or self.name == "command"
        allowed = "" if obvious else f" Give {self.kind.allowed}."
        return f"{self.help}{allowed}{'' if self.in_file else ' As an input only.'}"


def _texts(raw: Raw) -> Iterable[str]:
    if isinstance(raw, str):
        return (raw,)
    return raw if isinstance(raw, tuple) else (*raw, *raw.values())
