"""The values of GitHub's expressions: their truth, text, numbers and comparisons, and the functions on them. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"


class ExpressionError(ValueError):
    """An expression that the sandbox cannot read."""


def truthy(value: Value) -> bool:
    """GitHub's truth: false, 0, NaN, '' and null are false."""
    return not (
        value is None
        or value is False
        or value == ""
        or (isinstance(value, (int, float)) and (value == 0 or math.isnan(value)))
    )


def as_text(value: Value) -> str:
    """A value as it appears in a string."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return format(value, ".15g")
    if isinstance(value, str):
        return value
    return "Array" if isinstance(value, Sequence) else "Object"


def as_number(value: Value) -> float:
    """A value coerced to a number, NaN where that has no meaning."""
    if value is None or value == "":
        return 0.0
    if isinstance(value, (bool, int, float)):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return math.nan


def equal(left: Value, right: Value) -> bool:
    """GitHub's loose equality: strings without case, unlike kinds as numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    if isinstance(left, (Mapping, list, tuple)) or isinstance(right, (Mapping, list, tuple)):
        return left is right
    if left is None and right is None:
        return True
    return as_number(left) == as_number(right)


class Filtered(list["Value"]):
    """What `.*` found: a property of it is that of each element that has one."""


def every(holder: Value) -> Value:
    """`.*`: the elements of a list, the values of an object; nothing of anything else."""
    if isinstance(holder, Mapping):
        return Filtered(holder.values())
    return Filtered(holder if isinstance(holder, (list, tuple)) else ())


def look_up(holder: Value, key: Value) -> Value:
    """A property or an index; null when it is not there. Property names have no case."""
    if isinstance(holder, Filtered) and isinstance(key, str):
        return Filtered(found for one in holder if (found := look_up(one, key)) is not None)
    if isinstance(holder, Mapping):
        name = as_text(key)
        if name in holder:
            return holder[name]
        return next((value for known, value in holder.items() if known.lower() == name.lower()), None)
    if isinstance(holder, (list, tuple)) and isinstance(key, (int, float)) and 0 <= key < len(holder):
        item: Value = holder[int(key)]
        return item
    return None


def contains(holder: Value, item: Value) -> bool:
    """`contains()`: an element of a list, or a part of a string without case."""
    if isinstance(holder, (list, tuple)):
        return any(equal(element, item) for element in holder)
    return _plain(holder, item) and as_text(item).lower() in as_text(holder).lower()


def starts_with(text: Value, part: Value) -> bool:
    """`startsWith()`: without case; false for lists and objects."""
    return _plain(text, part) and as_text(text).lower().startswith(as_text(part).lower())


def ends_with(text: Value, part: Value) -> bool:
    """`endsWith()`: without case; false for lists and objects."""
    return _plain(text, part) and as_text(text).lower().endswith(as_text(part).lower())


def _plain(*values: Value) -> bool:
    """Whether none of these is a list or an object."""
    return not any(isinstance(value, (Mapping, list, tuple)) for value in values)


def formatted(template: Value, *values: Value) -> str:
    """`format()`: `{0}` and so on; doubled braces are braces."""

    def fill(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        index = int(found[1])
        if index >= len(values):
            raise ExpressionError(f"format() has no value for {found[0]}")
        return as_text(values[index])

    return re.sub(r"\{\{|\}\}|\{(\d+)\}", fill, as_text(template))


def joined(items: Value, separator: Value = ",") -> str:
    """`join()`."""
    parts = items if isinstance(items, (list, tuple)) else [items]
    return as_text(separator).join(as_text(part) for part in parts)


def from_json(text: Value) -> Value:
    """`fromJSON()`."""
    try:
        value: Value = json.loads(as_text(text))
    except ValueError as error:
        raise ExpressionError(f"fromJSON() got {as_text(text)[:80]!r}: {error}") from error
    return value


FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., Value]]] = {
    "contains": (2, 2, contains),
    "startswith": (2, 2, starts_with),
    "endswith": (2, 2, ends_with),
    "format": (1, 99, formatted),
    "join": (1, 2, joined),
    "tojson": (1, 1, lambda value: json.dumps(value, indent=2)),
    "fromjson": (1, 1, from_json),
}
