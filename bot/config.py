"""Inputs and the settings file become one frozen `Config`, or one list of everything that is wrong with them.

An input goes before the file, the file before the default. An empty input is one that was not given. The file
holds no secrets, and its text is read as data: no aliases, no tags, bounded in size and depth. Each problem
is one line that says where it is, what it is and what is allowed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.kinds import Raw
from bot.settings import EVERY_KIND, SETTINGS, Setting
from bot.settings_file import Entry, FileInvalid, read_entries

SETTINGS_FILE = ".github/nightjar.yml"
_APP = ("app-id", "app-private-key")

# NUL ends an argument early; a lone surrogate, which YAML can escape and a variable can hold, has no bytes at all.
_UNUSABLE = re.compile("[\0\ud800-\udfff]")


class ConfigInvalid(Exception):
    """The settings cannot be used. `problems` has a line for each reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that is shown only to whoever asks for it by name."""

    value: str

    def reveal(self) -> str:
        """The value itself, for the one place that uses it."""
        return self.value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one Run; `bot/settings.py` says what each means. Fields that end in `_minutes` are minutes."""

    label: str
    required_permission: str
    allowed_bots: tuple[str, ...]
    max_working: int
    paused: bool
    public_self_hosted: str
    github_token: Secret | None
    app_id: str | None
    app_private_key: Secret | None
    anthropic_api_key: Secret | None
    claude_code_oauth_token: Secret | None
    pass_env: tuple[str, ...]
    pass_model_key: bool
    model: str | None
    claude_version: str
    claude_path: str | None
    claude_args: tuple[str, ...]
    permission_mode: str
    isolation: str
    background: bool
    background_wait_minutes: float
    nudge_minutes: float
    instructions: Mapping[str, str]
    max_repairs: int
    repeat_limit: int
    max_cost_usd: float
    run_timeout_minutes: float
    usage_wait_minutes: float
    session_timeout_minutes: float
    silence_timeout_minutes: float
    ci_start_minutes: float
    ci_timeout_minutes: float
    base_branch: str | None
    branch_prefix: str
    working_directory: str
    setup: tuple[str, ...]
    check_command: str | None
    protected_paths: tuple[str, ...]
    protected_paths_action: str
    draft: str
    git_user_name: str
    git_user_email: str
    sign_off: bool
    merge: str
    reviewers: tuple[str, ...]
    wait: str
    ci_dispatch: tuple[str, ...]
    command: str
    job_status: str

    def instructions_for(self, kind: str) -> str:
        """The owners' text for a Session of `kind`; "" when there is none."""
        texts = (self.instructions.get(EVERY_KIND, ""), self.instructions.get(kind, ""))
        return "\n\n".join(text for text in texts if text)

    def secrets(self) -> tuple[Secret, ...]:
        """Every secret that was given, for whoever keeps them out of texts."""
        given = (self.github_token, self.app_private_key, self.anthropic_api_key, self.claude_code_oauth_token)
        return tuple(secret for secret in given if secret is not None)


def read_config(inputs: Mapping[str, str], file_text: str | None, file_name: str = SETTINGS_FILE) -> Config:
    """The `Config` from the `INPUT_…` variables among `inputs` and the settings file's text (None: there is no file).

    Raises `ConfigInvalid` with every problem of both.
    """
    problems: list[str] = []
    values: dict[str, Any] = {setting.field: setting.default_value for setting in SETTINGS.values()}
    for entry in _entries(file_text, file_name, problems):
        setting = _known(entry, problems)
        if setting is not None:
            _set(values, setting, entry.raw, f"{entry.where}: `{setting.name}`", problems)
    for setting in SETTINGS.values():
        given = inputs.get(setting.variable, "")
        if given.strip():
            _set(values, setting, given, f"input `{setting.name}`", problems)
    problems += _missing(values, inputs)
    if problems:
        raise ConfigInvalid(problems)
    return Config(**values)


def check_claude_path(config: Config) -> None:
    """Look whether `claude-path`, where it is set, is a program. Raises `ConfigInvalid`."""
    if config.claude_path is None:
        return
    path = Path(config.claude_path)
    if not path.is_file() or not path.stat().st_mode & 0o111:
        raise ConfigInvalid(
            [f"`claude-path`: there is no program {config.claude_path!r}; give {SETTINGS['claude-path'].kind.allowed}"]
        )


def _entries(file_text: str | None, file_name: str, problems: list[str]) -> list[Entry]:
    if file_text is None:
        return []
    try:
        return read_entries(file_text, file_name)
    except FileInvalid as error:
        problems.append(str(error))
        return []


def _known(entry: Entry, problems: list[str]) -> Setting | None:
    """The setting that an entry of the file is for, if the file may hold it."""
    setting = SETTINGS.get(entry.key)
    if entry.problem:
        problems.append(f"{entry.where}: `{entry.key}`: {entry.problem}")
        return None
    if setting is None:
        near = difflib.get_close_matches(entry.key.lower().replace("_", "-"), SETTINGS, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "the README lists them all"
        problems.append(f"{entry.where}: `{entry.key}` is not a setting; {hint}")
        return None
    if setting.secret:
        problems.append(
            f"{entry.where}: `{setting.name}` must not be in a file; "
            "replace that secret, since it has been published, and give the new one as an input"
        )
        return None
    if not setting.in_file:
        problems.append(f"{entry.where}: `{setting.name}` must not be in the file; give it as an input")
        return None
    return setting


def _set(values: dict[str, Any], setting: Setting, raw: Raw, where: str, problems: list[str]) -> None:
    try:
        if any(_UNUSABLE.search(text) for text in _texts(raw)):
            raise ValueError("there is a character that no text can have")
        value = setting.kind.read(raw)
    except ValueError as error:
        wrong = "the value is not allowed" if setting.secret else str(error)
        problems.append(f"{where}: {wrong}; give {setting.kind.allowed}")
        return
    values[setting.field] = Secret(value) if setting.secret else value


def _texts(raw: Raw) -> Iterable[str]:
    if isinstance(raw, str):
        return (raw,)
    return raw if isinstance(raw, tuple) else (*raw, *raw.values())


def _missing(values: Mapping[str, Any], inputs: Mapping[str, str]) -> list[str]:
    """What must be given, alone or in one of two ways."""
    problems = []
    given = [name for name in _APP if inputs.get(SETTINGS[name].variable, "").strip()]
    if len(given) == 1:
        (lacking,) = (name for name in _APP if name not in given)
        problems.append(f"input `{lacking}`: is missing; give it together with `{given[0]}`, or none of the two")
    if values["github_token"] is None and not given:
        problems.append(
            "input `github-token`: is missing; give the job's token or an App's, for example ${{ github.token }}"
        )
    if values["command"] == "finish":
        return problems  # it holds no Session
    keys = [values["anthropic_api_key"], values["claude_code_oauth_token"]]
    if None not in keys:
        problems.append("inputs `anthropic-api-key` and `claude-code-oauth-token`: both are given; give one of them")
    if keys == [None, None] and not values["pass_env"]:
        problems.append(
            "input `anthropic-api-key`: is missing; give it or `claude-code-oauth-token` from a repository secret"
        )
    return problems
