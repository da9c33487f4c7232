"""The settings file as entries with line numbers: YAML read as data, and only as much of YAML as settings need.

Scalars are taken as they are written (`5`, `yes` and `1e3` are text here; each setting's kind reads them), so
that YAML's own guesses change nothing. Aliases, tags other than the plain ones, more than one document, and
files beyond the bounds are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.kinds import Raw

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 65_536
MAX_DEPTH = 4
MAX_NAME = 80
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value")
)


class FileInvalid(Exception):
    """The file as a whole cannot be read; the text is one line with its name and, where known, the line number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One top-level key: `where` is `<file>:<line>`; `problem` says why `raw` could not be taken, or is empty."""

    key: str
    raw: Raw
    where: str
    problem: str = ""


def read_entries(text: str, name: str) -> list[Entry]:
    """The entries of the file `name`, in order. Raises `FileInvalid`."""
    import yaml

    if len(text) > MAX_CHARACTERS:
        raise FileInvalid(f"{name}: has {len(text)} characters; at most {MAX_CHARACTERS} are allowed")
    try:
        _check_shape(text, name)
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        tabs = " (indent with spaces, not tabs)" if "'\\t'" in str(error.problem) else ""
        raise FileInvalid(f"{name}{line}: is not valid YAML: {error.problem or error.context}{tabs}") from error
    except yaml.YAMLError as error:
        raise FileInvalid(f"{name}: is not valid YAML: {str(error).splitlines()[0]}") from error
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag.endswith(":null")):
        return []
    if not isinstance(root, yaml.MappingNode):
        raise FileInvalid(f"{name}:{_line(root)}: must be a mapping, a line `setting: value` for each setting")
    return _entries(root, name)


def _check_shape(text: str, name: str) -> None:
    """Refuse what could blow up or surprise before anything is built from it."""
    import yaml

    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        where = f"{name}:{event.start_mark.line + 1}" if event.start_mark else name
        if isinstance(event, yaml.AliasEvent):
            raise FileInvalid(f"{where}: the alias *{event.anchor} is not allowed; write the value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise FileInvalid(f"{where}: is nested deeper than any setting")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _entries(root: yaml.MappingNode, name: str) -> list[Entry]:
    first: dict[str, int] = {}
    entries = []
    for key_node, value_node in root.value:
        where = f"{name}:{_line(key_node)}"
        try:
            key = _scalar(key_node)
        except ValueError:
            key = ""
        if not key.isprintable() or not 0 < len(key) <= MAX_NAME:
            raise FileInvalid(f"{where}: the name of a setting must be plain text")
        if key in first:
            entries.append(Entry(key, "", where, f"is given twice, first on line {first[key]}"))
            continue
        first[key] = _line(key_node)
        try:
            entries.append(Entry(key, _raw(value_node), where))
        except ValueError as error:
            entries.append(Entry(key, "", where, str(error)))
    return entries


def _raw(node: yaml.Node) -> Raw:
    """A scalar as text, a list as a tuple of text, a mapping as texts by key. Raises `ValueError` saying why not."""
    import yaml

    if node.tag not in _PLAIN:
        raise ValueError(f"the tag {node.tag.removeprefix('tag:yaml.org,2002:')!r} is not allowed; write plain text")
    if isinstance(node, yaml.SequenceNode):
        return tuple(_scalar(item) for item in node.value)
    if isinstance(node, yaml.MappingNode):
        texts: dict[str, str] = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node)
            if key in texts:
                raise ValueError(f"the key {key[:MAX_NAME]!r} is given twice")
            texts[key] = _scalar(value_node)
        return texts
    text = _scalar(node)
    if not text.strip():
        raise ValueError("has no value; leave the line out for the default")
    return text


def _scalar(node: yaml.Node) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise ValueError("is nested too deeply; give plain text there")
    if node.tag not in _PLAIN:
        raise ValueError(f"the tag {node.tag.removeprefix('tag:yaml.org,2002:')!r} is not allowed; write plain text")
    value: Any = node.value
    return "" if node.tag.endswith(":null") else str(value)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
