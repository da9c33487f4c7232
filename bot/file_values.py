"""The settings file's values and profiles, or everything that is wrong with it: one line for each problem."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from bot.labels import Labels
from bot.settings import PROFILES, SETTINGS
from bot.settings_file import Entries, Entry, FileInvalid, Items, Misplaced, Place, Problem, Value, raw_of, read_entries

_PROFILE = "give settings for the Runs that this label asks for, as a mapping"
_PROFILES = "give a mapping with a label's name and its settings in each entry"
_IN_PROFILES = tuple(setting.name for setting in SETTINGS.values() if setting.in_profile)


@dataclass(frozen=True, slots=True)
class FileValues:
    """What the file says. Values are under the names of `Config`'s fields; profiles under their labels."""

    values: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """In the file's order, each with the file's name, line and column."""


def read_file_values(file: bytes | str, name: str, label: str) -> FileValues:
    """What the file `name` says. `label`: the label that the inputs ask for, which goes before the file's; or ""."""
    reader = _Reader()
    try:
        entries, problems = read_entries(file)
    except FileInvalid as invalid:
        return FileValues(problems=(_line(name, invalid.problem),))
    values = reader.settings((entry for entry in entries if entry.key != PROFILES), "")
    asked = label or values.get(SETTINGS["label"].field) or SETTINGS["label"].default
    profiles: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if entry.key == PROFILES:
            profiles = reader.profiles(entry, Labels(asked))
    found = sorted((*problems, *reader.problems))
    return FileValues(values, profiles, tuple(_line(name, problem) for problem in found))


def _line(name: str, problem: Problem) -> str:
    return f"{name}:{problem.place.line}:{problem.place.column}: {problem.text}"


@dataclass(frozen=True, slots=True)
class _Reader:
    problems: list[Problem] = field(default_factory=list)

    def settings(self, entries: Iterable[Entry], within: str) -> dict[str, Any]:
        """The values of the settings among `entries`; `within` is "" for the file itself, else the profile's path."""
        values: dict[str, Any] = {}
        for entry in entries:
            path = f"{within}{entry.key}"
            wrong = _misplaced(entry.key, path, within)
            if wrong:
                self._wrong(entry.place, f"`{path}` {wrong}")
                continue
            setting = SETTINGS[entry.key]
            try:
                values[setting.field] = setting.read(raw_of(entry.value))
            except Misplaced as error:
                self._wrong(error.place, f"`{path}`: {error}")
            except ValueError as error:
                self._wrong(entry.value.place, f"`{path}`: {error}")
        return values

    def profiles(self, entry: Entry, labels: Labels) -> dict[str, Mapping[str, Any]]:
        """The settings by label under the key `labels`; `labels`: the one without a profile, and its states."""
        given = self._mapping(entry.value, PROFILES, _PROFILES)
        known: dict[str, Entry] = {}
        found: dict[str, Mapping[str, Any]] = {}
        for one in given:
            path = f"{PROFILES}.{one.key}"
            wrong = _not_for_a_profile(one.key, labels, known)
            if wrong:
                self._wrong(one.place, f"`{path}`: {wrong}")
            known.setdefault(one.key.casefold(), one)
            found[one.key] = MappingProxyType(self.settings(self._mapping(one.value, path, _PROFILE), f"{path}."))
        return found

    def _mapping(self, value: Value, path: str, allowed: str) -> tuple[Entry, ...]:
        if isinstance(value, Entries):
            return value.entries
        if isinstance(value, Items):
            wrong = "a list is not allowed"
        else:
            wrong = "text is not allowed" if value.text else "has no value"
        self._wrong(value.place, f"`{path}`: {wrong}; {allowed}")
        return ()

    def _wrong(self, place: Place, text: str) -> None:
        self.problems.append(Problem(place, text))


def _misplaced(key: str, path: str, within: str) -> str:
    """Why this key can hold no setting there; "" when it can."""
    setting = SETTINGS.get(key)
    if setting is None and not (within and key == PROFILES):
        return f"is not a setting; {_hint(key, within)}"
    if setting is not None and setting.secret:
        return (
            "must not be in a file; replace that secret, since it has been published, and give the new one as an input"
        )
    if setting is not None and not setting.in_file:
        return "must not be in the file; give it as an input"
    if within and (setting is None or not setting.in_profile):
        return "must not be in a profile, because it is for all Runs alike; give it at the top of the file"
    return ""


def _hint(key: str, within: str) -> str:
    names = _IN_PROFILES if within else (*SETTINGS, PROFILES)
    near = difflib.get_close_matches(key.lower().replace("_", "-"), names, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"a label's profile stands under `{PROFILES}`" if ":" in key and not within else "the README lists them all"


def _not_for_a_profile(label: str, labels: Labels, known: Mapping[str, Entry]) -> str:
    """Why this label can have no profile; "" when it can. To GitHub a label in other letter case is the same label."""
    same = known.get(label.casefold())
    if same is not None:
        first = f"`{same.key}` on line {same.place.line}"
        return f"is the same label to GitHub as {first}; give the profile a label of its own"
    if label.casefold() == labels.asked.casefold():
        return "is the setting `label`, whose settings are the file's own; give them at the top of the file"
    if label.casefold() in (state.casefold() for state in labels.states):
        shown = ", ".join(f"`{state}`" for state in labels.states)
        return f"is a label by which Nightjar shows how a Run stands; give the profile another than {shown}"
    return ""
