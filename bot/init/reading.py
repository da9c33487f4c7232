"""What a repository's files say to `init` and to the doctor. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ci.found import FoundCi, find_ci
from bot.config import Config, read_config
from bot.init.files import OWN
from bot.settings import SETTINGS

_FIRST_ISSUE = "issue-1"
_NOTHING_MISSING = {SETTINGS["github-token"].variable: "none", SETTINGS["command"].variable: "finish"}
"""Inputs in which nothing is missing, so that only the settings file can be wrong."""


def settings_alone(text: bytes | str | None) -> Config:
    """What a settings file says, whoever will run with it. Raises `ConfigInvalid`."""
    return read_config(_NOTHING_MISSING, text)


def issue_branch(config: Config) -> str:
    """An Issue branch as there may be one."""
    return f"{config.branch_prefix}{_FIRST_ISSUE}"


def ci_of(files: Mapping[str, str], config: Config, default_branch: str) -> FoundCi:
    """The workflows among `files` (path → text) that check what a Run pushes."""
    return find_ci(files, branch=issue_branch(config), base=config.base_branch or default_branch, own=OWN)
