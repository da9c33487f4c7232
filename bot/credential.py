"""What the program shows GitHub: the token of this moment, and what to show when it stops being accepted."""

from __future__ import annotations

import re
from typing import Protocol

from bot.failures import RunFailed

_TOKEN = re.compile(r"[!-~]+")


class Credential(Protocol):
    """Where the client and git take their token from, for each request anew."""

    def current(self) -> str:
        """The token to show now. Raises `RunFailed` when there is none to be had."""

    def renew(self, refused: str) -> bool:
        """`refused` was answered with 401. Whether `current` is another one now, so that asking once more makes sense.

        Raises `RunFailed` when a new one was to be had and is not.
        """

    def fall_back(self) -> None:
        """The Run is ending: from here on any other token that is there may stand in for one that is refused."""


class FixedToken:
    """A token that somebody else made, and that nobody here can renew."""

    def __init__(self, token: str) -> None:
        """Raises `RunFailed` (`config_invalid`) for a token that no header can carry."""
        if not _TOKEN.fullmatch(token):
            # Never quoted: what is wrong with it may be a line break at the end of the real one.
            raise RunFailed(
                "config_invalid", "github-token must be one token as GitHub issued it: visible ASCII, no spaces"
            )
        self._token = token

    def current(self) -> str:
        """The token."""
        return self._token

    def renew(self, refused: str) -> bool:
        """There is no other."""
        return refused != self._token

    def fall_back(self) -> None:
        """There is nothing to fall back on."""
