"""What in a line of a test checks something, and what only looks as if it did. Pure.

Told by the habits of many languages, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_ASSERT = re.compile(
    r"\b(?:[Aa]ssert|XCTAssert)\w*\b|\bexpect(?:_\w+)?[(!]|\.should\b|\bshould(?:Be|Equal|Throw|Have)\w*\(|\brequire\.\w+\("
    r"|\bt\.(?:Error|Fatal)f?\(|\bt\.(?:is|true|false|equal|deepEqual|throws)\(|\braises\(|#\[should_panic"
    r"|\b(?:CHECK|REQUIRE|EXPECT)\w*\(|\bverify\w*\(|\b(?:pytest|self)\.fail\(|^\s*>>> |\bcheck=True\b"
    r"|\bcheck_(?:call|output)\("
)
_GO_HELPER = re.compile(r"\b[a-z]\w+\(t, ")
_SHELL = re.compile(
    r"(?:^|[\s!;&|(])(?:\[\[?\s|test\s+[-!\"'$\w]|diff\b|cmp\b|grep\b|case\s|set\s+-\w*e|assert\w*\b)|&&|\|\||\bif\s"
)
_SHELL_CHECKS = re.compile(
    r"(?:^|[\s!;&|(])(?:\[\[?\s|test\s+[-!\"'$\w]|diff\b|cmp\b|grep\b|case\s|(?:is|like|same|expect|check|assert)\w*\s)"
)
_TOLERATED = re.compile(r"\|\|\s*(?:true|:|exit 0)(?=\s|;|$)")
_SHELL_PATH = re.compile(r"\.(sh|bash|zsh|ksh|bats|t)$")
_KNOWN = re.compile(r"\.(py|js|jsx|ts|tsx|mjs|cjs|go|rs|rb|java|kt|sh|bash|bats|t)$")
_LITERAL = r"(?:True|true|\d+|\"[^\"$`{]*\"|'[^'$`{]*')"
_ALWAYS_TRUE = re.compile(
    rf"^\s*assert\s*\(?\s*{_LITERAL}(?:\s*(?:==|is)\s*{_LITERAL})?\s*\)?\s*(?:,.*|[#;].*|//.*)?$"
    rf"|^\s*assert\b.*\bor\s+True\b|\bassert!\(\s*true\s*\)"
    rf"|\bassert(?:\.(?:ok|equal|strictEqual)|True|Equals?|_eq!)?\(\s*{_LITERAL}\s*(?:,\s*{_LITERAL}\s*)?\)"
    rf"|\bexpect\(\s*{_LITERAL}\s*\)\.to\w+\(\s*{_LITERAL}?\s*\)"
)
_TRUE_IN_SHELL = re.compile(rf"(?:\[\[?|\btest)\s+{_LITERAL}\s+(?:==?|-eq)\s+{_LITERAL}(?:\s+\]|$)|^\s*if (?:true|:);")
_COMMENT = re.compile(r"^\s*(?:#(?!\[)|//|\*|/\*)")
_STRICT = (
    re.compile(r"\bassert\s+(?P<left>.+?)\s*===?\s*(?P<right>[^,#]+)"),
    re.compile(
        r"\bassert(?:_eq!|_equals?|Equals?|Same|ListEqual|DictEqual|MultiLineEqual|\.(?:equal|strictEqual|deepEqual|"
        r"deepStrictEqual|Equal|Equalf))\((?:t,\s*)?(?P<left>.+),\s*(?P<right>.+)\)"
    ),
    re.compile(r"\bexpect\((?P<left>.+)\)\.(?:toBe|toEqual|toStrictEqual)\((?P<right>.*)\)"),
    re.compile(r"(?:\[\[?|\btest)\s+(?P<left>.+?)\s+(?:==?|-eq)\s+(?P<right>.+?)(?:\s+\]|$)"),
)
_LOOSE = re.compile(
    r"\bassert\s+(?!.*(?:==|\bis (?!not None)|approx|isclose|abs\(|\ball\())"
    r"|\bassert(?:True|NotNull|IsNotNone|In|IsInstance|Greater\w*|Less\w*|Regex)\((?!.*(?:==|[Ee]quals|abs\(|isclose))"
    r"|\.(?:toBeTruthy|toBeDefined|toContain|toMatchObject|toBeGreater\w+|toBeLess\w+)\("
    r"|\.not\.(?:toBeNull|toBeUndefined)\(|\bassert\.ok\((?!.*===?)|(?:\[\[?|\btest)\s+-n\s"
)
_NO_SUBJECT = re.compile(rf"{_LITERAL}|None|False|false|null|-?[\d._]+|.{{0,2}}", re.DOTALL)
_TOLERANCE = re.compile(
    r"\b(?P<name>abs|rel|delta|atol|rtol|abs_tol|rel_tol|tolerance|places)\s*=\s*(?P<value>\d[\d.]*(?:e[+-]?\d+)?)\b"
)
_MOST = 3_000
"""Lines that are held against each other."""
_ANY_ERROR = re.compile(r"\braises\w*\((?:Base)?Exception\b(?!.*match)|\.toThrow(?:Error)?\(\)")
_AN_ERROR = re.compile(r"\braises\w*\((?!(?:Base)?Exception\b)\w|\.toThrow(?:Error)?\([^)]")


def is_shell(path: str) -> bool:
    """Whether a file is a shell script, by its name."""
    return bool(_SHELL_PATH.search(path))


def is_code(path: str) -> bool:
    """Whether a file is in a language of which it is known here how its tests check something."""
    return bool(_KNOWN.search(path))


def can_fail(line: str, path: str) -> bool:
    """Whether a line of a test at `path` checks something that may turn out wrong."""
    if _COMMENT.match(line) or always_true(line, path):
        return False
    if is_shell(path):
        return bool(_SHELL.search(_TOLERATED.sub("", line)))
    return bool(_ASSERT.search(line) or (path.endswith(".go") and _GO_HELPER.search(line)))


def count(lines: Iterable[str], path: str) -> int:
    """Number of assertions in lines of a test at `path`."""
    pattern = _SHELL_CHECKS if is_shell(path) else _ASSERT
    return sum(len(pattern.findall(line)) for line in lines if not _COMMENT.match(line))


def always_true(line: str, path: str) -> bool:
    """Whether a line of a test at `path` asserts what cannot be wrong."""
    if not is_code(path) or _COMMENT.match(line):
        return False
    return bool((_TRUE_IN_SHELL if is_shell(path) else _ALWAYS_TRUE).search(line))


def loosened(removed: Sequence[str], added: Sequence[str]) -> Iterator[str]:
    """What the new lines of a test check less of: expressions, and names of tolerances. Of thousands, the first."""
    removed, added = removed[:_MOST], added[:_MOST]
    strict = "\n".join(_tight(subject) for line in added for subject in _subjects(line))
    loose = "\n".join(_tight(line) for line in added if _LOOSE.search(line) and not _COMMENT.match(line))
    if loose:
        subjects = dict.fromkeys(subject for line in removed for subject in _subjects(line))
        yield from (subject for subject in subjects if _tight(subject) in loose and _tight(subject) not in strict)
    if any(map(_AN_ERROR.search, removed)) and any(map(_ANY_ERROR.search, added)):
        yield "the error that is raised"
    before, after = _tolerances(removed), _tolerances(added)
    for name, value in before.items():
        if name in after and (after[name] < value if name == "places" else after[name] > value):
            yield name


def _subjects(line: str) -> list[str]:
    """What an exact comparison compares, but for literals."""
    if _COMMENT.match(line):
        return []
    for pattern in _STRICT:
        if (found := pattern.search(line)) is not None:
            sides = (found["left"].strip(), found["right"].strip())
            return [side for side in sides if not _NO_SUBJECT.fullmatch(side)] if _compares(sides) else []
    return []


def _compares(sides: tuple[str, str]) -> bool:
    """A comparison with a truth value says no more than the expression alone."""
    return not {"True", "False", "true", "false", "None", "null"} & set(sides)


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _tolerances(lines: Sequence[str]) -> dict[str, float]:
    return {found["name"]: float(found["value"]) for line in lines for found in _TOLERANCE.finditer(line)}
