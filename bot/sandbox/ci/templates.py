"""Expressions where workflows hold them: inside text, as a whole value, and as an `if:`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.sandbox.ci.expressions import STATUS_FUNCTIONS, Expression, Scope, compile_expression
from bot.sandbox.ci.values import ExpressionError, Value, as_text, truthy

_PLACE = re.compile(r"\$\{\{((?:'[^']*'|[^'])*?)\}\}", re.S)


def check_text(text: str) -> None:
    """Raise `ExpressionError` when an expression inside `text` cannot be read."""
    for place in _PLACE.finditer(text):
        compile_expression(place[1].strip())
    if "${{" in _PLACE.sub("", text):
        raise ExpressionError(f"'${{{{' without '}}}}' in {text[:80]!r}")


def expand(text: str, scope: Scope) -> str:
    """`text` with its expressions replaced by their values."""
    return _PLACE.sub(lambda place: as_text(compile_expression(place[1].strip()).evaluate(scope)), text)


def resolve(value: Value, scope: Scope) -> Value:
    """A YAML value with its expressions evaluated; one that is a single expression keeps its kind (`${{ fromJSON(…)
    }}`).
    """
    if isinstance(value, str):
        whole = _PLACE.fullmatch(value.strip())
        return compile_expression(whole[1].strip()).evaluate(scope) if whole else expand(value, scope)
    if isinstance(value, Mapping):
        return {key: resolve(item, scope) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [resolve(item, scope) for item in value]
    return value


def read_condition(text: str) -> Expression:
    """An `if:`, with or without `${{ }}`; empty means `success()`. Raises `ExpressionError`."""
    whole = _PLACE.fullmatch(text.strip())
    inner = (whole[1] if whole else text).strip()
    if "${{" in inner:
        raise ExpressionError(f"the sandbox cannot read an if: that is partly inside '${{{{ }}}}': {text!r}")
    return compile_expression(inner or "success()")


def condition_holds(text: str, scope: Scope) -> bool:
    """Whether an `if:` lets a job or step run. Without a status function it asks for `success()` too."""
    condition = read_condition(text)
    if not condition.functions & STATUS_FUNCTIONS and scope.status != "success":
        return False
    return truthy(condition.evaluate(scope))
