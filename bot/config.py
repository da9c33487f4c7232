"""Inputs and the settings file become one frozen `Config`, or one list of everything that is wrong with them.

An input goes before a profile of the file, a profile before the rest of the file, the file before the default: an
input is the word of the workflow's author for every Run. An empty input is one that was not given. The file
holds no secrets, and its text is read as data: no aliases, no tags, bounded in size and depth. Each problem
is one line that says where it is, what it is and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bot.file_values import FileValues, read_file_values
from bot.labels import Labels
from bot.settings import EVERY_KIND, SETTINGS

SETTINGS_FILE = ".github/nightjar.yml"
_APP = ("app-id", "app-private-key")


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
class Profile:
    """Settings for the Runs that one label asks for."""

    label: str
    values: Mapping[str, Any]
    """By `Config`'s fields; only those that count."""
    overridden: tuple[str, ...]
    """Names of the settings that do not count, because an input goes before them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the settings that count, in the order of the settings."""
        return tuple(setting.name for setting in SETTINGS.values() if setting.field in self.values)


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
    proof: str
    protected_paths: tuple[str, ...]
    protected_paths_action: str
    draft: str
    git_user_name: str
    git_user_email: str
    sign_off: bool
    merge: str
    repair_on_review: bool
    reviewers: tuple[str, ...]
    wait: str
    ci_dispatch: tuple[str, ...]
    transcripts: str
    command: str
    job_status: str
    labels: Mapping[str, Profile]
    """The settings file's profiles by label."""
    profile: Profile | None
    """The one whose settings are these; None for the file's own."""

    def for_label(self, label: str) -> Config:
        """The settings for a Run that `label` asks for: with its profile's, if it has one."""
        profile = self.labels.get(label)
        return self if profile is None else replace(self, **profile.values, profile=profile)

    @property
    def asking(self) -> Labels:
        """The labels of all Runs under these settings."""
        return Labels(self.label, tuple(self.labels))

    def instructions_for(self, kind: str) -> str:
        """The owners' text for a Session of `kind`; "" when there is none."""
        texts = (self.instructions.get(EVERY_KIND, ""), self.instructions.get(kind, ""))
        return "\n\n".join(text for text in texts if text)

    def secrets(self) -> tuple[Secret, ...]:
        """Every secret that was given, for whoever keeps them out of texts."""
        given = (self.github_token, self.app_private_key, self.anthropic_api_key, self.claude_code_oauth_token)
        return tuple(secret for secret in given if secret is not None)


def read_config(inputs: Mapping[str, str], file: bytes | str | None, file_name: str = SETTINGS_FILE) -> Config:
    """The `Config` from the `INPUT_…` variables among `inputs` and the settings file (None: there is no file).

    Raises `ConfigInvalid` with every problem of both.
    """
    values: dict[str, Any] = {setting.field: setting.default_value for setting in SETTINGS.values()}
    given = {name: text for name, setting in SETTINGS.items() if (text := inputs.get(setting.variable, "").strip())}
    found = FileValues() if file is None else read_file_values(file, file_name, given.get("label", ""))
    values |= found.values
    problems = list(found.problems)
    for name, text in given.items():
        setting = SETTINGS[name]
        try:
            value = setting.read(text)
        except ValueError as error:
            problems.append(f"input `{name}`: {error}")
        else:
            values[setting.field] = Secret(value) if setting.secret else value
    problems += _missing(values, inputs)
    if problems:
        raise ConfigInvalid(problems)
    profiles = {label: _profile(label, said, given) for label, said in found.profiles.items()}
    return Config(**values, labels=MappingProxyType(profiles), profile=None)


def _profile(label: str, said: Mapping[str, Any], given: Iterable[str]) -> Profile:
    """The profile, without what an input goes before."""
    overridden = {SETTINGS[name].field: name for name in given if SETTINGS[name].field in said}
    values = {field: value for field, value in said.items() if field not in overridden}
    return Profile(label, MappingProxyType(values), tuple(overridden.values()))


def check_claude_path(config: Config) -> None:
    """Look whether `claude-path`, where it is set, is a program. Raises `ConfigInvalid`."""
    if config.claude_path is None:
        return
    path = Path(config.claude_path)
    if not path.is_file() or not path.stat().st_mode & 0o111:
        raise ConfigInvalid(
            [f"`claude-path`: there is no program {config.claude_path!r}; give {SETTINGS['claude-path'].kind.allowed}"]
        )


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
