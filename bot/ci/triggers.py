"""The `on:` of a workflow file, read as GitHub reads it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bot.ci.filters import EventFilter

if TYPE_CHECKING:
    import yaml

_FILTER_KEYS = frozenset({"branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore", "types"})


class WorkflowError(ValueError):
    """A workflow file that GitHub would refuse: what and where, in one line."""


def triggers_of(path: str, text: str) -> Mapping[str, EventFilter]:
    """The events that start the workflow file `path`, each with its filters. Raises `WorkflowError`."""
    import yaml  # here, because it is slow to import

    try:
        document = load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise WorkflowError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if "on" not in as_mapping(document, path):
        raise WorkflowError(f"{path}: 'on' is missing")
    return read_triggers(document["on"])


def load(text: str) -> Any:
    """The document in a workflow file. Raises `yaml.YAMLError`."""
    import yaml

    return yaml.load(text, Loader=_loader())


@lru_cache(maxsize=1)
def _loader() -> type[yaml.SafeLoader]:
    """YAML 1.2's plain scalars, as GitHub reads them: `on` and `yes` are strings, only `true` and `false` are booleans,
    dates are text.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {}
    for tag, expression, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("merge", r"<<", "<"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{expression})$"), list(first))
    # SafeLoader's own constructor reads 010 as octal and 1:30 as sexagesimal; neither exists in YAML 1.2.
    Loader.add_constructor(
        "tag:yaml.org,2002:int", lambda loader, node: int(node.value, 16 if "x" in node.value else 10)
    )
    return Loader


def read_triggers(on: Any) -> Mapping[str, EventFilter]:
    """`on:` in any of its forms: a name, a list of names, a map. Raises `WorkflowError`."""
    if isinstance(on, Mapping):
        return {str(name): _filter(str(name), rule) for name, rule in on.items()}
    return {name: EventFilter() for name in as_strings(on, "on")}


def _filter(event: str, rule: Any) -> EventFilter:
    if not isinstance(rule, Mapping):
        return EventFilter()  # `push:` with nothing under it, or the list of `schedule:`
    where = f"on.{event}"
    lists = {key: as_strings(rule[key], f"{where}.{key}") for key in rule if key in _FILTER_KEYS}
    for key in ("branches", "tags", "paths"):
        if key in lists and f"{key}-ignore" in lists:
            raise WorkflowError(f"{where}: {key} and {key}-ignore exclude each other")
    inputs = as_mapping(rule.get("inputs"), f"{where}.inputs")
    return EventFilter(
        **{key.replace("-", "_"): patterns for key, patterns in lists.items()},
        inputs={
            str(name): as_scalar(as_mapping(spec, f"{where}.inputs.{name}").get("default"))
            for name, spec in inputs.items()
        },
    )


def as_mapping(value: Any, where: str) -> Mapping[str, Any]:
    """A mapping, empty for nothing. Raises `WorkflowError`."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise WorkflowError(f"{where}: a mapping is needed, not {type(value).__name__}")
    return value


def as_strings(value: Any, where: str) -> tuple[str, ...]:
    """A string or a list of strings. Raises `WorkflowError`."""
    items = [] if value is None else value if isinstance(value, list) else [value]
    if any(isinstance(item, (Mapping, list)) for item in items):
        raise WorkflowError(f"{where}: a string or a list of strings is needed")
    return tuple(as_scalar(item) for item in items)


def as_scalar(value: Any) -> str:
    """A scalar as GitHub writes it into a text; "" for nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, ".15g") if isinstance(value, int | float) else str(value)
