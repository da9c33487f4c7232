"""`strategy.matrix` → the combinations it stands for, and the names of the jobs they become. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.templates import expand, resolve
from bot.sandbox.ci.values import ExpressionError, Value, as_text
from bot.sandbox.ci.workflow import Job

Combination: TypeAlias = Mapping[str, Value]


def combinations(matrix: Value, scope: Scope) -> tuple[Combination, ...]:
    """The combinations in GitHub's order; without a matrix, one that is empty. Raises `ExpressionError`."""
    resolved = resolve(matrix, scope)
    if resolved is None:
        return ({},)
    if not isinstance(resolved, Mapping):
        raise ExpressionError(f"strategy.matrix: a mapping is needed, not {as_text(resolved)[:80]!r}")
    axes = {name: _items(name, values) for name, values in resolved.items() if name not in ("include", "exclude")}
    excluded = _entries(resolved, "exclude")
    found = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    kept = [one for one in found if not any(_agrees(one, rule, rule) for rule in excluded)]
    return tuple(_with_included(kept, _entries(resolved, "include"), axes))


def _with_included(
    kept: list[dict[str, Value]], entries: Sequence[Combination], axes: Mapping[str, object]
) -> list[dict[str, Value]]:
    """An entry joins each combination whose axes it does not contradict, and is one of its own when there is none."""
    originals = list(kept)
    result = list(kept)
    for entry in entries:
        shared = [name for name in entry if name in axes]
        joined = [one for one in originals if _agrees(one, entry, shared)]
        for one in joined:
            one.update(entry)
        if not joined:
            result.append(dict(entry))
    return result


def _agrees(one: Combination, other: Combination, names: Sequence[str] | Mapping[str, object]) -> bool:
    return all(name in one and one[name] == other[name] for name in names)


def _items(name: str, values: Value) -> Sequence[Value]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise ExpressionError(f"strategy.matrix.{name}: a list that is not empty is needed")
    return values


def _entries(matrix: Mapping[str, Value], name: str) -> list[Combination]:
    if name not in matrix:
        return []
    entries = [item for item in _items(name, matrix[name]) if isinstance(item, Mapping)]
    if len(entries) != len(_items(name, matrix[name])):
        raise ExpressionError(f"strategy.matrix.{name}: a list of mappings is needed")
    return entries


def job_name(job: Job, combination: Combination, scope: Scope) -> str:
    """The name of a job's check: its own with expressions expanded, else with the combination's values, as in `test
    (3.11)`.
    """
    if "${{" in job.name:
        return expand(job.name, scope)
    values = ", ".join(as_text(value) for value in combination.values() if not isinstance(value, (Mapping, list)))
    return f"{job.name or job.id} ({values})" if values else job.name or job.id
