"""GitHub's `${{ }}` expressions, as far as the sandbox's workflows need them. Pure.

Literals, contexts (`a.b`, `a['b']`, `a.*.b`), `! == != < <= > >= && ||`, and the functions of `FUNCTIONS`. What cannot
be read raises `ExpressionError` when it is compiled, so that a job fails before its first step and not in the middle.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from bot.sandbox.ci.values import FUNCTIONS, ExpressionError, Value, as_number, equal, every, look_up, truthy

CONTEXTS = frozenset(
    {"env", "github", "inputs", "job", "matrix", "needs", "runner", "secrets", "steps", "strategy", "vars"}
)
STATUS_FUNCTIONS = frozenset({"always", "success", "failure", "cancelled"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can see: the contexts, and how things stand (`success`, `failure`, `cancelled` or, for jobs,
    `skipped`).
    """

    contexts: Mapping[str, Value]
    status: str = "success"


Compiled: TypeAlias = Callable[[Scope], Value]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that could be read."""

    text: str
    evaluate: Compiled
    functions: frozenset[str]


_TOKEN = re.compile(
    r"\s*(?:(?P<string>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)|(?P<op>==|!=|<=|>=|&&|\|\||[!<>()\[\].,*]))"
)
_COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": lambda left, right: operator.lt(as_number(left), as_number(right)),
    "<=": lambda left, right: operator.le(as_number(left), as_number(right)),
    ">": lambda left, right: operator.gt(as_number(left), as_number(right)),
    ">=": lambda left, right: operator.ge(as_number(left), as_number(right)),
}
_LITERALS: Mapping[str, Value] = {"true": True, "false": False, "null": None}


class _Parser:
    """Recursive descent over the tokens; each level returns what evaluates it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens(text)
        self.at = 0
        self.functions: set[str] = set()

    def _tokens(self, text: str) -> list[tuple[str, str]]:
        tokens, position, source = [], 0, text.rstrip()
        while position < len(source):
            found = _TOKEN.match(source, position)
            if not found:
                raise ExpressionError(f"cannot read {source[position:].strip()[:40]!r} in the expression {text!r}")
            kind = found.lastgroup or ""
            tokens.append((kind, found[kind]))
            position = found.end()
        return tokens

    def parse(self) -> Compiled:
        result = self._either()
        if self.at < len(self.tokens):
            raise self._unexpected()
        return result

    def _unexpected(self) -> ExpressionError:
        what = repr(self.tokens[self.at][1]) if self.at < len(self.tokens) else "end"
        return ExpressionError(f"unexpected {what} in the expression {self.text!r}")

    def _take(self, *wanted: str) -> str:
        """The next token when it is one of the operators `wanted`, else ''."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "op" and self.tokens[self.at][1] in wanted:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def _expect(self, wanted: str) -> None:
        if not self._take(wanted):
            raise self._unexpected()

    def _either(self) -> Compiled:
        left = self._both()
        while self._take("||"):
            left = _or(left, self._both())
        return left

    def _both(self) -> Compiled:
        left = self._comparison()
        while self._take("&&"):
            left = _and(left, self._comparison())
        return left

    def _comparison(self) -> Compiled:
        left = self._unary()
        while sign := self._take(*_COMPARISONS):
            left = _compare(_COMPARISONS[sign], left, self._unary())
        return left

    def _unary(self) -> Compiled:
        if self._take("!"):
            operand = self._unary()
            return lambda scope: not truthy(operand(scope))
        return self._accessors(self._primary())

    def _accessors(self, holder: Compiled) -> Compiled:
        while sign := self._take(".", "["):
            if sign == "[":
                key = self._either()
                self._expect("]")
            elif self._take("*"):
                holder = _access_all(holder)
                continue
            else:
                if self.at >= len(self.tokens) or self.tokens[self.at][0] != "name":
                    raise self._unexpected()
                key = _constant(self.tokens[self.at][1])
                self.at += 1
            holder = _access(holder, key)
        return holder

    def _primary(self) -> Compiled:
        if self._take("("):
            inner = self._either()
            self._expect(")")
            return inner
        if self.at >= len(self.tokens) or self.tokens[self.at][0] == "op":
            raise self._unexpected()
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "string":
            return _constant(text[1:-1].replace("''", "'"))
        if kind == "number":
            return _constant(float(text))
        if self._take("("):
            return self._call(text)
        if text in _LITERALS:
            return _constant(_LITERALS[text])
        if text.lower() not in CONTEXTS:
            raise ExpressionError(
                f"{text!r} in the expression {self.text!r} is none of the contexts {', '.join(sorted(CONTEXTS))}"
            )
        return lambda scope: scope.contexts.get(text.lower())

    def _call(self, name: str) -> Compiled:
        arguments: list[Compiled] = []
        while not self._take(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._either())
        function = name.lower()
        self.functions.add(function)
        if function in STATUS_FUNCTIONS and not arguments:
            return lambda scope: function in ("always", scope.status)
        known = FUNCTIONS.get(function)
        if known is None or not known[0] <= len(arguments) <= known[1]:
            raise ExpressionError(
                f"the sandbox has no function {name}() with {len(arguments)} arguments, in {self.text!r}"
            )
        return lambda scope: known[2](*(argument(scope) for argument in arguments))


def _constant(value: Value) -> Compiled:
    return lambda scope: value


def _access(holder: Compiled, key: Compiled) -> Compiled:
    return lambda scope: look_up(holder(scope), key(scope))


def _access_all(holder: Compiled) -> Compiled:
    return lambda scope: every(holder(scope))


def _compare(comparison: Callable[[Value, Value], bool], left: Compiled, right: Compiled) -> Compiled:
    return lambda scope: comparison(left(scope), right(scope))


def _or(left: Compiled, right: Compiled) -> Compiled:
    return lambda scope: value if truthy(value := left(scope)) else right(scope)


def _and(left: Compiled, right: Compiled) -> Compiled:
    return lambda scope: right(scope) if truthy(value := left(scope)) else value


@lru_cache(maxsize=512)
def compile_expression(text: str) -> Expression:
    """Read the text between `${{` and `}}`. Raises `ExpressionError`."""
    parser = _Parser(text)
    return Expression(text, parser.parse(), frozenset(parser.functions))
