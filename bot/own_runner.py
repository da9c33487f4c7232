"""Whether a Run may use the runner that it is on: one of a repository's own keeps what strangers' code leaves there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.config import Config, ConfigInvalid
from bot.trigger import is_public

_REFUSED = (
    "this public repository's job is on a self-hosted runner, which strangers' code could change for later jobs; use a "
    "hosted runner, or give the input `public-self-hosted` as allow where each job has a fresh one"
)


def check_runner(config: Config, environ: Mapping[str, str], payload: object, ask: Callable[[], bool]) -> None:
    """Raises `ConfigInvalid` for a public repository on a self-hosted runner, unless `public-self-hosted` allows it.

    `ask` tells whether the repository is public where the event's `payload` does not.
    """
    if config.public_self_hosted == "allow" or environ.get("RUNNER_ENVIRONMENT") != "self-hosted":
        return
    told = is_public(payload)
    if ask() if told is None else told:
        raise ConfigInvalid([_REFUSED])
