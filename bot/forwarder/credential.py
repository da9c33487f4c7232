"""The credential that stays outside, and the placeholder that goes in. Pure but for the placeholder's randomness."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import ClassVar

_SENDABLE = re.compile(r"[!-~]+")


class BadCredential(ValueError):
    """The credential cannot stand in an HTTP header. The message does not hold it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A value that no `repr` shows. Raises `BadCredential` for one that is empty, or has spaces or line ends in it."""

    value: str = field(repr=False)
    variable: ClassVar[str]
    shape: ClassVar[str]

    def __post_init__(self) -> None:
        if not _SENDABLE.fullmatch(self.value):
            raise BadCredential(f"{self.variable}: one word of printable ASCII is allowed, without spaces or line ends")


@dataclass(frozen=True, slots=True)
class ApiKey(_Kept):
    """A key of the API; the CLI sends it as `x-api-key`."""

    variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    shape: ClassVar[str] = "sk-ant-api03-"


@dataclass(frozen=True, slots=True)
class OAuthToken(_Kept):
    """A subscription's token; the CLI sends it as `authorization: Bearer`, with headers of its own for that kind."""

    variable: ClassVar[str] = "CLAUDE_CODE_OAUTH_TOKEN"
    shape: ClassVar[str] = "sk-ant-oat01-"


Credential = ApiKey | OAuthToken


def new_placeholder(credential: Credential) -> str:
    """What a Session is given instead: of the same kind, plainly no real one, and not to be guessed."""
    return f"{credential.shape}nightjar-placeholder-{secrets.token_urlsafe(48)}"


class Swap:
    """Puts the credential where the placeholder stands in a request's headers."""

    def __init__(self, placeholder: str, credential: Credential) -> None:
        self._placeholder = placeholder.encode()
        self._real = credential.value.encode()

    def header(self, name: bytes, value: bytes) -> bytes | None:
        """A credential header's value as it goes on; None when it is not this Run's placeholder. `name`: lower case."""
        scheme = b""
        if name == b"authorization":
            word, space, value = value.partition(b" ")
            if word.lower() != b"bearer":
                return None
            scheme = word + space
        return scheme + self._real if hmac.compare_digest(value, self._placeholder) else None
