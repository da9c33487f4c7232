"""The settings of a rehearsal: the committed file, `--set`, the key, and what a rehearsal decides itself."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bot.config import Config, check_claude_path, read_config
from bot.rehearsal import words
from bot.rehearsal.ci_choice import CiWay, choose
from bot.rehearsal.source import CannotRehearse, Source
from bot.sandbox.cli import ClaudeNotBundled, bundled_claude
from bot.settings import SETTINGS

_RESERVED = ("command", "job-status", "base-branch", "wait", "usage-wait-minutes", "ci-dispatch", "ci-start-minutes")
_KEYS = {"ANTHROPIC_API_KEY": "anthropic-api-key", "CLAUDE_CODE_OAUTH_TOKEN": "claude-code-oauth-token"}
_SCRIPTED_KEY = "scripted"
_WAYS_OUT = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("ANTHROPIC_BASE_URL", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ"),
)
"""How this machine gets at the model's API."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of the command line that is about settings."""

    sets: tuple[str, ...] = ()
    max_cost_usd: str | None = None
    scripted: bool = False
    ci: str = "auto"
    """What `--ci` says, one of `WAYS`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the Run is started with. `inputs` are by their names and hold the key; so may `environment`."""

    config: Config
    inputs: Mapping[str, str]
    environment: Mapping[str, str]
    key: str
    """The variable that the key is from; "" where `pass-env` passes something else."""
    claude: str
    """A program, or "" for one that the Run installs."""
    scripted: bool
    ci: CiWay


def make_plan(asked: Asked, source: Source, environ: Mapping[str, str]) -> Plan:
    """Raises `CannotRehearse`, and `ConfigInvalid` for settings that are wrong."""
    given = dict(_read_set(one) for one in asked.sets)
    if asked.max_cost_usd is not None:
        given["max-cost-usd"] = asked.max_cost_usd
    own = {
        "base-branch": source.base,
        "wait": "inline",  # nobody would take a parked Run up
        "usage-wait-minutes": "0",
        "ci-dispatch": "none",  # a push starts CI here
        "ci-start-minutes": "1",  # and at once
        "github-token": "sandbox",
    }
    variable, key = ("", _SCRIPTED_KEY) if asked.scripted else _key(environ)
    keys = {_KEYS.get(variable, "anthropic-api-key"): key} if key else {}
    inputs = {**given, **own, **keys}
    variables = {SETTINGS[name].variable: value for name, value in inputs.items()}
    # Whether pass-env makes up for the key is known when the file has been read.
    stand_in = {} if key else {SETTINGS["anthropic-api-key"].variable: _SCRIPTED_KEY}
    config = read_config({**variables, **stand_in}, source.settings)
    config = config.for_label(config.label)
    if not key and not config.pass_env:
        raise CannotRehearse(words.NO_KEY)
    check_claude_path(config)
    claude = _claude(config, asked.scripted, environ)
    wanted = () if asked.scripted else (*_WAYS_OUT, *config.pass_env)
    passed = {name: text for name, text in environ.items() if any(fnmatchcase(name, one) for one in wanted)}
    # An empty input is one that was not given; the job's own defaults must not stand in for it.
    whole = {"anthropic-api-key": "", **inputs, "claude-path": claude}
    del whole["github-token"]
    ci = choose(asked.ci, config, environ)
    return Plan(config, whole, passed, variable, claude, asked.scripted, ci)


def _read_set(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    name = name.strip()
    if not equals or not name:
        raise CannotRehearse(words.BAD_SET.format(given=given))
    setting = SETTINGS.get(name)
    if setting is None:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), SETTINGS, n=1)
        raise CannotRehearse(words.UNKNOWN_SET.format(name=name, hint=f"; is it {near[0]}?" if near else ""))
    if name in _RESERVED or name in ("app-id", "github-token", "app-private-key", "paused"):
        raise CannotRehearse(words.RESERVED_SET.format(name=name))
    if setting.secret:
        raise CannotRehearse(words.SECRET_SET.format(name=name, how=words.BY_ENVIRONMENT))
    return name, value


def _key(environ: Mapping[str, str]) -> tuple[str, str]:
    """The variable and the key in it."""
    return next(((name, text) for name in _KEYS if (text := environ.get(name, "").strip())), ("", ""))


def _claude(config: Config, scripted: bool, environ: Mapping[str, str]) -> str:
    found = config.claude_path or shutil.which("claude", path=environ.get("PATH"))
    if found or not scripted:
        return found or ""
    try:
        return str(bundled_claude())
    except ClaudeNotBundled as missing:
        raise CannotRehearse(str(missing)) from missing
