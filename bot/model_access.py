"""How Sessions get at the model's API: by the credential forwarder, so that none of them holds the credential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from bot.config import Config
from bot.failures import RunFailed


def model_access(
    config: Config, environ: Mapping[str, str], tell: Callable[[str], None], open_until_the_end: ExitStack
) -> Mapping[str, str]:
    """The variables for Sessions; the forwarder that they name is closed with `open_until_the_end`.

    With `pass-model-key` they hold the credential itself; without a key or token there are none, and what the job has
    for a gateway has to come by `pass-env`. Raises `RunFailed` (`config_invalid`).
    """
    key, token = config.anthropic_api_key, config.claude_code_oauth_token
    if config.pass_model_key:
        if key is not None:
            return {"ANTHROPIC_API_KEY": key.reveal()}
        return {"CLAUDE_CODE_OAUTH_TOKEN": token.reveal()} if token is not None else {}
    if key is None and token is None:
        return {}

    from bot.forwarder import ApiKey, BadCredential, BadUpstream, Forwarder, OAuthToken, Upstream  # asyncio and ssl

    try:
        credential = ApiKey(key.reveal()) if key is not None else OAuthToken(token.reveal() if token else "")
        upstream = Upstream.from_environment(environ)
        forwarder = Forwarder(upstream=upstream, credential=credential, environ=environ, tell=tell)
        return open_until_the_end.enter_context(forwarder).environment
    except (BadCredential, BadUpstream) as problem:
        raise RunFailed("config_invalid", str(problem)) from problem
