"""A GitHub App from Python: install it, suspend it, let its tokens end before their time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.sandbox.github.state import App
from bot.sandbox.github.world import World


class SandboxApp:
    """One App of the embedded GitHub. Everything here may be called from any thread."""

    def __init__(
        self, world: World, slug: str, public_key: str, permissions: Mapping[str, str], seconds: float
    ) -> None:
        """`public_key` in PEM; tokens live for `seconds`, and may do what `permissions` say."""
        self._world = world
        self.login = f"{slug}[bot]"
        with world.lock:
            world.user(self.login)
            app = App(str(world.next_id()), slug, public_key, world.next_id(), permissions, seconds, world.now())
            world.apps[app.id] = app
        self.id = app.id

    def install(self, full_name: str) -> None:
        """Give it the repository `owner/name`."""
        with self._world.lock:
            app = self._world.apps[self.id]
            self._world.apps[self.id] = replace(app, repositories=app.repositories | {full_name})

    def suspend(self) -> None:
        """Somebody suspends it: there are no new tokens, and those that there are end."""
        with self._world.lock:
            self._world.apps[self.id] = replace(self._world.apps[self.id], suspended=True)
            self.end_tokens()

    def end_tokens(self) -> None:
        """As if their hour were over: every token that it has been given until now."""
        with self._world.lock:
            for token in self._world.tokens.values():
                if token.login == self.login and token.expires_at is not None:
                    self._world.tokens[token.secret] = replace(token, expires_at=self._world.now())
