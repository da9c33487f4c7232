"""What kind of work a diff is: which of its files are tests, and which names it brings. Pure.

Told from paths and lines alone, by the habits of many languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from bot.ports import FileChange

_TEST_PATH = re.compile(
    r"(^|/)(t|tests?|specs?|e2e|testdata|__tests__|__snapshots__)/|(^|/)(test_[^/]+|conftest\.py)$|\.(bats|t|feature)$"
    r"|(^|/)(tests?|[^/]+[._-](tests?|spec))\.(?!txt$|md$|ya?ml$|toml$|json$|lock$|ini$|cfg$)\w+$|[^/](Tests?|Spec)\.\w+$"
)
_DOCUMENTATION = re.compile(
    r"^docs?/|(^|/)docs?/.*\.txt$|\.(md|mdx|rst|adoc|png|jpe?g|gif|svg|webp|ico)$|(^|/)(mkdocs\.ya?ml|\.readthedocs\.ya?ml)$"
    # Names of files that projects keep; TODO is one of them, as README is.
    r"|(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|README|CHANGE(S|LOG)|HISTORY|NEWS|INSTALL|TODO)(\.\w+)?$"
    r"|(^|/)[A-Z_-]+\.txt$"
)
"""A text file of another name may be read by the program, as `requirements.txt` is."""
_WORD = re.compile(r"[^\W\d]\w*")
_OPTION = re.compile(r"--([A-Za-z][\w-]*)")
_PACKAGE = frozenset({"__init__", "__main__", "index", "mod", "main", "lib"})
"""Files that go by the name of their folder."""

_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|const|let|var|type|struct|enum|trait|interface|module|sub)"
    r"\s+(?:\([^)]*\)\s*)?([^\W\d]\w+)"
)
_SHARED = frozenset(
    {"src", "lib", "bin", "app", "pkg", "cmd", "internal", "packages", "index", "main", "__init__", "mod"}
)
"""Names that say nothing about what is reached by them."""


class Kind(StrEnum):
    """What a diff changes: code, whatever else with it; tests, perhaps with documentation; or documentation alone."""

    CODE = "code"
    TESTS = "tests"
    DOCUMENTATION = "documentation"


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by its path: tests, what they share, and their data."""
    return bool(_TEST_PATH.search(path))


def is_documentation(path: str) -> bool:
    """Whether a file is for people alone, by its path."""
    return not is_test(path) and bool(_DOCUMENTATION.search(path))


def kind_of(changes: Iterable[FileChange]) -> Kind:
    """What the diff changes. A comment in code is code."""
    paths = [change.path for change in changes]
    if not paths or not all(is_test(path) or is_documentation(path) for path in paths):
        return Kind.CODE
    return Kind.TESTS if any(is_test(path) for path in paths) else Kind.DOCUMENTATION


def other_tests(changes: Iterable[FileChange], files: Collection[str]) -> tuple[str, ...]:
    """Paths of test files that the diff adds or changes, beyond `files`."""
    return tuple(
        change.path for change in changes if is_test(change.path) and not change.deleted and change.path not in files
    )


def added_names(changes: Iterable[FileChange]) -> frozenset[str]:
    """Names that the diff brings outside of tests: words of new lines, options, and what new files are called by.

    A word that the same file lost elsewhere is not new. An option `--dry-run` is also `dry_run`; the file
    `src/widget/sub.py` is also `sub`, `widget/sub.py`, `widget.sub`.
    """
    found: set[str] = set()
    for change in changes:
        if is_test(change.path) or change.deleted:
            continue
        if change.new:
            found |= names_of_file(change.path)
        if not is_documentation(change.path):
            found |= set(_words(change.added)) - set(_words(change.removed))
    return frozenset(found)


def names_of_file(path: str) -> frozenset[str]:
    """What a file is called by: its path and the ends of it, with and without suffix, with `/` or `.` between."""
    parts = PurePosixPath(path).parts
    stem = parts[-1].partition(".")[0] or parts[-1]
    modules = (*parts[:-1],) if stem in _PACKAGE and len(parts) > 1 else (*parts[:-1], stem)
    tails = [parts[at:] for at in range(len(parts))]
    dotted = [modules[at:] for at in range(len(modules))]
    found = {*parts, stem, stem.replace("-", "_")}
    found |= {"/".join(tail) for tail in tails}
    found |= {between.join(tail) for tail in dotted for between in "./"}
    return frozenset(found)


def names_it_goes_by(changes: Sequence[FileChange]) -> frozenset[str]:
    """Names by which a test can reach what the diff changes outside of tests and documentation.

    Those of modules and the packages around them, and of what is defined in lines that came or went.
    """
    found: set[str] = set()
    for change in changes:
        if is_test(change.path) or is_documentation(change.path):
            continue
        *folders, name = PurePosixPath(change.path).parts
        stem = name.partition(".")[0] or name
        found |= {*folders, stem, stem.replace("-", "_")}
        found |= {word for line in (*change.added, *change.removed) for word in _DEFINED.findall(line)}
    return frozenset(found - _SHARED)


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _WORD.findall(line)
        for option in _OPTION.findall(line):
            yield from (option, option.replace("-", "_"))
