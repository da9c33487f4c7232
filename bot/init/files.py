"""The files that `init` wants in a repository. Pure but for reading the two workflows that come with the package."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.ci.found import FoundCi
from bot.init.settings_text import settings_text
from bot.settings import SETTINGS

WORKFLOW = ".github/workflows/nightjar.yml"
WAKE = ".github/workflows/nightjar-wake.yml"
SETTINGS_FILE = ".github/nightjar.yml"
OWN = (WORKFLOW, WAKE)
_PACKAGED = Path(__file__).resolve().parent / "workflows"
_CHECKOUT = Path(__file__).resolve().parents[2] / ".github" / "workflows"
_NAMED = re.compile(r"^(?P<indent> *)workflows: \[CI\]\n", re.MULTILINE)
_WATCH = re.compile(
    r"^  # The workflows that check pull requests.*?^    types: \[completed\]\n", re.MULTILINE | re.DOTALL
)
_NO_CI = """\
  # No workflow of this repository checks pull requests. When one does: `nightjar init --print {path}`.
"""
_PLAIN_NAME = re.compile(r"[A-Za-z](?:[\w ./()+-]*[\w)])?")
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is to be in the repository. `about` says in a few words what it is for."""

    path: str
    text: str
    about: str


def wanted_files(found: FoundCi) -> tuple[Wanted, ...]:
    """All of them, for a repository with this CI."""
    return (
        Wanted(WORKFLOW, shipped(WORKFLOW), "works on an issue when it gets the label"),
        Wanted(WAKE, wake_text(shipped(WAKE), found), "takes up Runs that wait, and ends lost ones"),
        Wanted(SETTINGS_FILE, settings_text(SETTINGS.values()), "every setting, as a comment at its default"),
    )


def shipped(path: str) -> str:
    """The workflow that comes with this package, from the wheel or from the checkout that it runs in."""
    name = path.rpartition("/")[2]
    packaged = _PACKAGED / name
    return (packaged if packaged.is_file() else _CHECKOUT / name).read_text(encoding="utf-8")


def wake_text(template: str, found: FoundCi) -> str:
    """The second workflow, waiting for the CI that was found; without any it waits for none."""
    names = list(dict.fromkeys(workflow.name for workflow in found.workflows))
    if not names:
        return _WATCH.sub(lambda _: _NO_CI.format(path=WAKE), template, count=1)
    text, times = _NAMED.subn(partial(_list, names), template)
    if times != 1:
        raise AssertionError("the shipped workflow names its CI in another way")
    return text


def _list(names: list[str], match: re.Match[str]) -> str:
    quoted = [name if _is_plain(name) else _quoted(name) for name in names]
    line = f"{match['indent']}workflows: [{', '.join(quoted)}]\n"
    if len(line) <= 120:
        return line
    items = "".join(f"{match['indent']}  - {name}\n" for name in quoted)
    return f"{match['indent']}workflows:\n{items}"


def _is_plain(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and name.lower() not in _WORDS_OF_YAML


def _quoted(name: str) -> str:
    """In double quotes, where everything can stand."""
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08X}" for char in name
    )
    return f'"{escaped}"'
