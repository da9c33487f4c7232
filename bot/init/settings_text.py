"""The settings file that `init` writes: every setting with its meaning, as a comment at its default. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from bot.setting import Setting
from bot.settings import PROFILES, SCHEMA_URL, profiles_meaning

WIDTH = 100
_CODE = re.compile("`[^`]*`")
_KEPT = "\N{NO-BREAK SPACE}"
_OPENING = (
    "The settings of Nightjar. Nothing has to be set: each setting stands here as a comment, at its default. To change "
    "one, take the `# ` before its name away. An input of the workflow goes before this file. Keys are secrets of the "
    "repository and never stand here."
)


def settings_text(settings: Iterable[Setting]) -> str:
    """The whole file; of `settings` those that a file may hold."""
    parts = [f"# yaml-language-server: $schema={SCHEMA_URL}\n{_comment(_OPENING)}"]
    parts += [f"{_comment(setting.meaning)}\n{_line(setting)}" for setting in settings if setting.in_file]
    parts.insert(2, f"{_comment(profiles_meaning())}\n# {PROFILES}:  # not set")  # beside the label
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    """Folded, but not within code: no line of it looks like a setting."""
    return textwrap.fill(
        _CODE.sub(lambda code: code[0].replace(" ", _KEPT), text),
        WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(_KEPT, " ")


def _line(setting: Setting) -> str:
    """`# name: default`; where the default is no value, what leaving it out means."""
    if setting.default:
        return f"# {setting.name}: {setting.default}"
    return f"# {setting.name}:  # {'not set' if setting.unset == 'none' else setting.unset}"
