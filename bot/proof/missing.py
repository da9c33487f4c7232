"""The name whose absence made a test fail, read from what the failure says. Pure.

Where the code under test meets such an error somewhere inside itself, that is the code's own failure, and from the
point of view of the test nothing is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PYTHON_IMPORTS = (
    r"ImportError: cannot import name '([\w.]+)'",
    r"ModuleNotFoundError: No module named '([\w.]+)'",
    r"fixture '(\w+)' not found",
)
# What Python meets when code is used; of a builtin type it is a value gone wrong, not a lack.
_BUILTIN = "NoneType|str|int|float|bool|list|dict|tuple|set|bytes|function|generator|coroutine|method"
_PYTHON_USES = (
    rf"AttributeError: (?:type object |module )?'(?!(?:{_BUILTIN})')[\w.]+' (?:object )?has no attribute '(\w+)'",
    r"NameError: name '(\w+)' is not defined",
    r"TypeError: .*got an unexpected keyword argument '(\w+)'",
    r"FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\n]+)'",
)
# What compilers and module loaders say: wherever they say it, something is not there.
_NOT_THERE = (
    r"does not provide an export named '([\w$]+)'",
    r"Cannot find (?:module|package|name) '([^'\n]+)'",
    r"Failed to resolve import \"([^\"\n]+)\"",
    r"has no exported member '([\w$]+)'",
    r"TS2339: Property '([\w$]+)' does not exist",
    r": undefined: ([\w.]+)",
    r"has no field or method (\w+)",
    r"(?:no required module provides package|: package) ([\w./-]+)(?: is not in (?:std|GOROOT)|; to add it)",
    r"cannot find (?:function|value|type|struct, variant or union type|macro|trait|method|attribute)[\w ,]* `(\w+)`",
    r"no (?:method|function or associated item|associated item|variant or associated item)[\w ,]* named `(\w+)`",
    r"unresolved import `(?:\w+::)*(\w+)`",
    r"cannot find symbol\n(?:.*\n){0,4}?.*symbol:\s+(?:method|class|variable)\s+(\w+)",
    r"error: package ([\w.]+) does not exist",
)
_JAVASCRIPT_USES = (
    r"\b([\w$]+)\)? is not a (?:function|constructor)\b",
    r"\b([\w$]+) is not defined\b",
)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.MULTILINE)


_PYTHON_MISSING, _PYTHON_MET = _any_of(_PYTHON_IMPORTS), _any_of(_PYTHON_USES)
_MISSING, _JAVASCRIPT_MET = _any_of(_NOT_THERE), _any_of(_JAVASCRIPT_USES)
_SHELL_MET = re.compile(
    r"^(?:# *)?([^\s:]+): (?:line )?\d+: (?:\.: cannot open )?([\w./-]+): "
    r"(?:command not found|not found|No such file(?: or directory)?)$",
    re.MULTILINE,
)
_PYTHON = re.compile(r"^E  |^Traceback \(most recent call last\):", re.MULTILINE)
_PYTHON_SAYS = re.compile(r"^(?:E +)?((?:[\w.]+: |fixture ').*)$", re.MULTILINE)
_ASSERTED = re.compile(
    r"^(?:E +)?(?:AssertionError\b|assert |Failed: )|ERR_ASSERTION|^ *name: 'AssertionError'|\bAssertionFailedError\b|"
    r"\bComparisonFailure\b|\bassertion .*failed\b",
    re.MULTILINE,
)
_PYTHON_FRAME = re.compile(r'^(?:  File "([^"\n]+)", line \d+|([^\s:]+\.\w+):\d+: )', re.MULTILINE)
_JAVASCRIPT_FRAME = re.compile(r"\(?(?:file://)?(/[^\s():]+):\d+:\d+\)?$", re.MULTILINE)
_RUNTIME = re.compile(r"/lib/python\d|/(?:site|dist)-packages/|/node_modules/|^<")
_CAPTURED = re.compile(r"^-+ Captured \w+", re.MULTILINE)
_ENDING = re.compile(r"\.(?:[cm]?[jt]sx?|sh|bash|py|json|ya?ml|toml|txt|csv)$")
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 100


def missing_name(message: str, files: Sequence[str] = ()) -> str:
    """The name that `message` says is not there: of a module its last part, of a file its name without folders and
    ending. "" when it says no such thing, when an assertion failed, or when it was met outside the named `files`.
    """
    text = "\n".join(line[:1000] for line in message[-_LONGEST_TEXT:].splitlines())
    if captured := _CAPTURED.search(text):
        text = text[: captured.start()]
    if _ASSERTED.search(text):
        return ""
    return _in_python(text, files) or ("" if _PYTHON.search(text) else _in_others(text, files))


def _in_python(text: str, files: Sequence[str]) -> str:
    said = "\n".join(_PYTHON_SAYS.findall(text))
    frames = [one or other for one, other in _PYTHON_FRAME.findall(text)]
    return _found(_PYTHON_MISSING, said) or _met(_PYTHON_MET, said, frames[::-1], files)


def _in_others(text: str, files: Sequence[str]) -> str:
    return (
        _found(_MISSING, text)
        or _met(_JAVASCRIPT_MET, text, _JAVASCRIPT_FRAME.findall(text), files)
        or next((_last_part(name) for script, name in _SHELL_MET.findall(text) if _in_named([script], files)), "")
    )


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return _last_part(next(filter(None, match.groups()))) if match else ""


def _met(pattern: re.Pattern[str], text: str, frames: Sequence[str], files: Sequence[str]) -> str:
    """What is found, where the innermost of `frames` that is not the language's own is in a named file."""
    own = [frame for frame in frames if not _RUNTIME.search(frame)]
    return _found(pattern, text) if _in_named(own, files) else ""


def _in_named(frames: Sequence[str], files: Sequence[str]) -> bool:
    """Whether the first of `frames` is in one of `files`; also where nothing is known of the one or the other."""
    return not frames or not files or any(f"/{frames[0]}".endswith(f"/{file}") for file in files)


def _last_part(name: str) -> str:
    last = _ENDING.sub("", name.strip("./").rpartition("/")[2])
    return last.rpartition(".")[2][:_LONGEST_NAME]
