"""A credential that does not run out: tokens of a GitHub App's installation, minted with the App's key.

A token lives for an hour. It is replaced some minutes before its end, and when GitHub refuses it; a fresh one that is
refused too, or a refusal to mint, is the end of the credential, and nothing is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from bot.clock import Clock
from bot.credential import Credential
from bot.failures import RunFailed
from bot.github.answers import UnreadableAnswer
from bot.github.client import Client, Refused

T = TypeVar("T")

MARGIN = 5 * 60.0
"""Planned seconds before its end at which a token is replaced."""
FRESH = 60.0
"""Planned seconds in which a token is not refused for its age."""
SETTLING = 3.0
"""Planned seconds to give a token that was minted for a request that had been refused: GitHub's own hosts learn of it
one after the other.
"""
JWT_SECONDS, JWT_BACKDATED = 540, 60
"""How long an App's JWT is good for (GitHub allows 600 s), and how far its beginning lies in the past."""
UNNAMED_SKEW = -300.0
"""Seconds to set our clock back by when the JWT is refused and GitHub does not say what time it is."""
SKEW_THAT_MATTERS = 30.0
"""Seconds by which a clock has to be wrong for a JWT to be refused for it."""
NEEDED = {"contents": "write", "issues": "write", "pull_requests": "write"}
"""Permissions without which no Run gets to its end."""


@dataclass(frozen=True, slots=True)
class AppKey:
    """A GitHub App's id and its private key in PEM."""

    app: str
    pem: str


@dataclass(frozen=True, slots=True)
class _Minted:
    value: str
    expires_at: datetime
    made: float
    """Monotonic seconds."""
    renewed: bool
    """Whether it was minted because the one before was refused."""


class AppCredential:
    """The installation of one App on one repository. Implements `bot.credential.Credential`."""

    def __init__(
        self,
        key: AppKey,
        api_url: str,
        repository: str,
        clock: Clock,
        *,
        learned: Callable[[str], None],
        fallback: Credential | None,
    ) -> None:
        """`learned` hears of each token before it is used, so that it is shown nowhere. `fallback` stands in while the
        Run is ending.

        Raises `RunFailed` (`config_invalid`) for a key that cannot sign.
        """
        self._app = _App(key, clock)
        self._client = Client(api_url, repository, self._app, clock)
        self._clock = clock
        self._learned = learned
        self._fallback = fallback
        self._ending = False
        self._installation = 0
        self._token: _Minted | None = None
        self._refusal: tuple[str, str] | None = None
        """Code and reason, once GitHub has refused the App: nothing is asked for it after that."""

    def current(self) -> str:
        """The installation's token, minted when there is none or the last one is about to end.

        Raises `RunFailed`: `app_refused` when there never was one, else `token_expired`.
        """
        if self._refusal is None and self._due():
            self._mint(renewed=False)
        if self._refusal is None and self._token is not None:
            return self._token.value
        if self._ending and self._fallback is not None:
            return self._fallback.current()
        raise RunFailed(*(self._refusal or ("internal", "the App has neither a token nor a refusal")))

    def renew(self, refused: str) -> bool:
        """Mint another one, once."""
        token = self._token
        if self._refusal is None and token is not None and token.value == refused:
            if token.renewed and self._clock.now() - token.made < FRESH / self._clock.scale:
                self._refusal = "token_expired", "GitHub refused a token that it had just given to the App"
            else:
                self._mint(renewed=True)
        return self.current() != refused

    def fall_back(self) -> None:
        """From here on the fallback, where there is one, stands in when GitHub refuses the App."""
        self._ending = True

    def close(self) -> None:
        """Close the connections that were opened."""
        self._client.close()

    def _due(self) -> bool:
        if self._token is None:
            return True
        left = (self._token.expires_at - self._clock.today()).total_seconds()
        return left < MARGIN / self._clock.scale

    def _mint(self, *, renewed: bool) -> None:
        """A new token, or the App's refusal. Raises `RunFailed` when GitHub cannot be reached."""
        try:
            token, missing = self._asked_for(renewed)
        except Refused as refused:
            if refused.code == "github_unavailable":
                raise
            self._refusal = self._refused(refused)
            return
        self._learned(token.value)
        if missing:
            self._refusal = "app_refused", f"App {self._app.id} lacks permissions on {self._client.name}: {missing}"
            return
        self._token = token
        if renewed:
            self._clock.sleep(SETTLING)

    def _asked_for(self, renewed: bool) -> tuple[_Minted, str]:
        """The token, and what it lacks for a Run."""
        if not self._installation:
            path = f"/repos/{self._client.name}/installation"
            self._installation = self._as_app("GET", path, lambda data: int(data["id"]))
        only = {"repositories": [self._client.name.partition("/")[2]]}

        def read(data: Mapping[str, Any]) -> tuple[_Minted, str]:
            granted = data.get("permissions") or {}
            wanting = [
                f"{name}: {level}" for name, level in NEEDED.items() if granted.get(name) not in (level, "admin")
            ]
            ends = datetime.fromisoformat(data["expires_at"])
            return _Minted(str(data["token"]), ends, self._clock.now(), renewed), ", ".join(wanting)

        return self._as_app("POST", f"/app/installations/{self._installation}/access_tokens", read, only)

    def _as_app(self, method: str, path: str, parse: Callable[[Any], T], given: Mapping[str, Any] | None = None) -> T:
        """What `parse` makes of the answer to the App itself. A clock that is wrong is set right once, by GitHub's."""

        def read() -> T:
            _, data = self._client.repository.requester.requestJsonAndCheck(method, path, input=given)
            try:
                return parse(data)
            except (KeyError, TypeError, ValueError) as error:
                raise UnreadableAnswer(f"not what GitHub sends for {path}") from error

        # A POST is sent again without harm: a token too many is minted.
        asked = partial(self._client.ask, f"{method} {path}", read, repeatable=True)
        try:
            return asked()
        except Refused as refused:
            if refused.answer.status != HTTPStatus.UNAUTHORIZED or not self._app.set_clock(refused.answer.date):
                raise
            return asked()

    def _refused(self, refused: Refused) -> tuple[str, str]:
        app, name = f"App {self._app.id}", self._client.name
        match refused.answer.status:
            case HTTPStatus.UNAUTHORIZED:
                what = f"GitHub does not take `app-private-key` for {app}"
            case HTTPStatus.NOT_FOUND:
                what = f"{app} is not installed on {name}, or there is no such App"
            case _:
                what = f"GitHub gives {app} no token for {name}"
        code, when = ("token_expired", "the App's token could not be renewed: ") if self._token else ("app_refused", "")
        return code, f"{when}{what} ({refused.reason})"


class _App:
    """The App itself: a JWT for each request, signed with its key. A `Credential`, too."""

    def __init__(self, key: AppKey, clock: Clock) -> None:
        """Raises `RunFailed` (`config_invalid`) for a key that cannot sign."""
        self.id = key.app
        self._pem = key.pem
        self._clock = clock
        self._skew = 0.0
        """Seconds that GitHub's clock is ahead of ours."""
        try:
            self.current()
        except Exception as error:  # whatever the library makes of a key that is none, the key must not be shown
            raise RunFailed(
                "config_invalid", "input `app-private-key`: that is no RSA private key; give the one that GitHub made"
            ) from error

    def current(self) -> str:
        """A JWT that GitHub takes now."""
        import jwt

        now = int(self._clock.today().timestamp() + self._skew)
        claims = {"iat": now - JWT_BACKDATED, "exp": now + JWT_SECONDS, "iss": self.id}
        return jwt.encode(claims, self._pem, algorithm="RS256")

    def renew(self, refused: str) -> bool:
        """Only a clock that is wrong could be the reason: see `set_clock`."""
        return False

    def fall_back(self) -> None:
        """There is nothing to fall back on."""

    def set_clock(self, date: float | None) -> bool:
        """GitHub says that it is `date`, in epoch seconds; without one our clock is set back. Whether that makes a
        difference.
        """
        skew = UNNAMED_SKEW if date is None else date - self._clock.today().timestamp()
        if abs(skew - self._skew) < SKEW_THAT_MATTERS:
            return False
        self._skew = skew
        return True
