"""The token that somebody gives a command at a terminal: a file, or a variable that is meant for that GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clone.address import Address
from bot.credential import FixedToken
from bot.failures import RunFailed

_LARGEST = 4096


class NoToken(Exception):
    """There is none, or none that can be used; the text says why."""


@dataclass(frozen=True, slots=True)
class OwnToken:
    """The credential, and where it is from."""

    credential: FixedToken
    source: str


def own_token(address: Address, environ: Mapping[str, str], file: str | None) -> OwnToken | None:
    """The token for `address`; None when nobody gave one. Raises `NoToken` for one that cannot be used."""
    if file is not None:
        return _checked(_read(Path(file)), f"the file {file}")
    for name in address.variables(environ):
        if environ.get(name, "").strip():
            return _checked(environ[name].strip(), name)
    return None


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_LARGEST).decode("ascii", errors="replace").strip()
    except OSError as error:
        raise NoToken(f"the file {file} with the token cannot be read: {error.strerror}") from error


def _checked(text: str, source: str) -> OwnToken:
    try:
        return OwnToken(FixedToken(text), source)
    except RunFailed as failed:
        raise NoToken(f"{source} holds no token: it must be visible ASCII, without spaces") from failed
