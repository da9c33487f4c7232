"""The settings file as entries with their places: YAML read as data, and only as much of YAML as settings need.

Scalars are taken as they are written (`5`, `yes` and `1e3` are text here; each setting's kind reads them), so
that YAML's own guesses change nothing. Anchors, aliases, tags other than the plain ones, more than one document, and
files beyond the bounds are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.kinds import Raw
from bot.labels import MAX_LABEL

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 65_536
MAX_DEPTH = 4
_BYTE_ORDER_MARK = "\ufeff"
_PREFIX = "tag:yaml.org,2002:"
_PLAIN = frozenset(
    _PREFIX + name for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value")
)
_SAID = 200
"""Characters of what YAML's parser says."""
_KEY = re.compile(r"(\w[\w.:-]*?) *:(?:\s|$)")
_ENDS = ("end of stream", "<stream end>")
_REMEDIES = (
    ("'\\t'", "indent with spaces, not tabs"),
    ("mapping values", "give each setting a line, and put text with a colon in it in quotes"),
    ("cannot start any token", "put such text in quotes"),
    ("escape character", "write \\\\ for a backslash, or take single quotes"),
    *((end, "close the quotes or the bracket that begins here") for end in _ENDS),
)
"""What is allowed, by what YAML's parser says."""
_LINES = "write a line `setting: value` for each setting, and indent what belongs to it by spaces, all of it alike"
_MAPPING = "must be a mapping, a line `setting: value` for each setting"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in the file, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something that is wrong with the file."""

    place: Place
    text: str


class FileInvalid(Exception):
    """Nothing of the file can be read, and why."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(place, text)


class Misplaced(ValueError):
    """A value whose shape no setting has, and where it is."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(text)
        self.place = place


@dataclass(frozen=True, slots=True)
class Scalar:
    """One text; "" for null."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    place: Place
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping."""

    place: Place
    entries: tuple[Entry, ...]


Value = Scalar | Items | Entries


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping, with its own place and its value."""

    key: str
    place: Place
    value: Value


def read_entries(file: bytes | str) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The file's entries in order, and what is wrong with those that are left out. Raises `FileInvalid`."""
    import yaml

    text = _text(file if isinstance(file, bytes) else file.encode("utf-8", errors="surrogatepass"))
    try:
        _check_shape(text)
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context)[:_SAID]
        began = error.context_mark if any(end in problem for end in _ENDS) else None
        remedy = next((remedy for sign, remedy in _REMEDIES if sign in problem), _LINES)
        place = _place(began or error.problem_mark or error.context_mark)
        raise _invalid(text, place, f"is not valid YAML: {problem}; {remedy}") from error
    except yaml.reader.ReaderError as error:
        said = f"there is the character U+{ord(text[error.position]):04X}, which YAML does not allow; take it out"
        raise _invalid(text, _place_of(text, error.position), said) from error
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == f"{_PREFIX}null"):
        return (), ()
    if not isinstance(root, yaml.MappingNode):
        raise FileInvalid(_place(root.start_mark), _MAPPING)
    builder = _Builder([])
    return builder.entries(root, ""), tuple(builder.problems)


def raw_of(value: Value) -> Raw:
    """What a setting's kind reads: a text, a list of texts, or texts by key. Raises `Misplaced`."""
    if isinstance(value, Items):
        return tuple(_plain(item) for item in value.values)
    if isinstance(value, Entries):
        return {entry.key: _plain(entry.value) for entry in value.entries}
    if not value.text.strip():
        raise Misplaced(value.place, "has no value; leave the line out for the default")
    return value.text


def _plain(value: Value) -> str:
    if not isinstance(value, Scalar):
        raise Misplaced(value.place, "is nested too deeply; give plain text there")
    if not value.text.strip():
        raise Misplaced(value.place, "has no value there; leave it out")
    return value.text


def _text(data: bytes) -> str:
    """The text of a file in UTF-8, with or without a mark that says so. Raises `FileInvalid`."""
    try:
        text = data.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        said = f"is not UTF-8: there is the byte 0x{data[error.start]:02x}; save the file as UTF-8"
        raise _invalid(before, _place_of(before, len(before)), said) from error
    if len(text) > MAX_CHARACTERS:
        said = f"has {len(text)} characters, and this is the first too many; at most {MAX_CHARACTERS} are allowed"
        raise FileInvalid(_place_of(text, MAX_CHARACTERS), said)
    return text


def _invalid(text: str, place: Place, said: str) -> FileInvalid:
    """With the setting's name, as far as lines tell it where YAML is not read: the last one that begins a line."""
    lines = reversed(text.split("\n")[: place.line])
    key = next((found[1] for line in lines if (found := _KEY.match(line))), "")
    return FileInvalid(place, f"`{key}`: {said}" if key.isprintable() and 0 < len(key) <= MAX_LABEL else said)


def _check_shape(text: str) -> None:
    """Refuse what could blow up or surprise before anything is built from it."""
    import yaml

    depth = documents = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            said = f"the alias *{str(event.anchor)[:MAX_LABEL]} is not allowed; write the value out"
            raise _invalid(text, _place(event.start_mark), said)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            said = f"the anchor &{event.anchor[:MAX_LABEL]} is not allowed; write values out wherever they are needed"
            raise _invalid(text, _place(event.start_mark), said)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise FileInvalid(_place(event.start_mark), "a second document begins here; only one is allowed")
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                said = f"is nested deeper than any setting; at most {MAX_DEPTH} levels are allowed"
                raise _invalid(text, _place(event.start_mark), said)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes values of YAML's nodes; what cannot be one is a problem, and left out."""

    problems: list[Problem]

    def entries(self, node: yaml.MappingNode, within: str) -> tuple[Entry, ...]:
        """The entries of the mapping `within`, the names of the keys around it; "" for the file itself."""
        return tuple(self._entries(node, within))

    def _entries(self, node: yaml.MappingNode, within: str) -> Iterator[Entry]:
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            place = _place(key_node.start_mark)
            key = self._key(key_node, within)
            if not key:
                continue
            path = f"{within}{key}"
            if key in first:
                self.problems.append(Problem(place, f"`{path}`: is given twice, first on line {first[key]}"))
                continue
            first[key] = place.line
            value = self._value(value_node, path)
            if value is not None:
                yield Entry(key, place, value)

    def _key(self, node: yaml.Node, within: str) -> str:
        import yaml

        key = str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag in _PLAIN else ""
        if key.isprintable() and 0 < len(key) <= MAX_LABEL and key == key.strip():
            return key
        inside = f"`{within.removesuffix('.')}`: " if within else ""
        said = f"{inside}a name must be plain text of at most {MAX_LABEL} characters in one line"
        self.problems.append(Problem(_place(node.start_mark), said))
        return ""

    def _value(self, node: yaml.Node, path: str) -> Value | None:
        import yaml

        place = _place(node.start_mark)
        if node.tag not in _PLAIN:
            said = f"`{path}`: the tag {node.tag.removeprefix(_PREFIX)[:MAX_LABEL]!r} is not allowed; write plain text"
            self.problems.append(Problem(place, said))
            return None
        if isinstance(node, yaml.MappingNode):
            return Entries(place, self.entries(node, f"{path}."))
        if isinstance(node, yaml.SequenceNode):
            values = [self._value(item, path) for item in node.value]
            return Items(place, tuple(value for value in values if value is not None))
        return Scalar(place, "" if node.tag == f"{_PREFIX}null" else str(node.value))


class _Mark(Protocol):
    line: int
    column: int


def _place(mark: _Mark | None) -> Place:
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _place_of(text: str, index: int) -> Place:
    before = text[:index]
    return Place(before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)
