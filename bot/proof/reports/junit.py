"""JUnit XML, in the dialects of pytest, surefire, gradle, jest and Go's converters. A stranger's file: no document
type, no entities, no more than a few levels.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.parsers import expat

from bot.proof.reports.report import LONGEST_MESSAGE, Report, Sorting

_DEEPEST = 30
_LONGEST_HEADLINE = 1000
# By these words of an `error` pytest and unittest's reporter tell what they met before or around the test itself.
_COLLECTION = ("collection failure", "failed to import test module")
_AROUND = ("failed on setup", "failed on teardown")
# Stand-ins for tests where a package or class did not come to be.
_NOT_BUILT = ("[build failed]", "[setup failed]", "initializationError")


class _Unsafe(Exception):
    """The file holds what no runner writes."""


class _Reader:
    """Follows one file; what a `testcase` holds decides where it goes."""

    def __init__(self, found: Sorting) -> None:
        self.suites = 0
        self._found = found
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._ended = ""
        self._type = ""
        self._headline = ""
        self._message = ""
        self._suite_file = ""
        self._text: list[str] = []
        self._inside = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unsafe
        if tag in ("testsuite", "testsuites"):
            self.suites += 1
            self._suite_file = attributes.get("file", "")
        elif tag == "testcase":
            self._case, self._ended, self._type, self._headline, self._message = attributes, "", "", "", ""
        elif self._case is not None and tag in ("failure", "error", "skipped") and not self._ended:
            self._ended, self._inside, self._text = tag, tag, []
            self._type, self._headline = attributes.get("type", ""), attributes.get("message", "")

    def data(self, text: str) -> None:
        if self._inside:
            self._text.append(text)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == self._inside:
            self._inside = ""
            text = "".join(self._text)
            told = (self._type, self._headline[:_LONGEST_HEADLINE], text[_LONGEST_HEADLINE - LONGEST_MESSAGE :])
            self._message = "\n".join(filter(None, told))
        elif tag == "testcase" and self._case is not None:
            self._sort(self._case)
            self._case = None

    def _sort(self, case: dict[str, str]) -> None:
        name, place = case.get("name", ""), case.get("classname", "")
        file = case.get("file") or self._suite_file or place
        found, said = self._found, self._headline.lower()
        error = self._ended == "error"
        if self._ended == "":
            where = found.passed
        elif self._ended == "skipped":
            where = found.skipped
        elif name in _NOT_BUILT or (error and said.startswith(_COLLECTION)):
            where = found.not_loaded
        elif error and said.startswith(_AROUND):
            where = found.errors
        else:
            where = found.failed
        found.add(where, name, file or (name if where is found.not_loaded else ""), self._message)


def read_junit(texts: Iterable[str]) -> Report | None:
    """What these report files tell together; files that are something else, or unsafe, tell nothing."""
    found, suites = Sorting(), 0
    for text in texts:
        one = Sorting()
        if not (suites_here := _read(text, one)):
            continue
        suites += suites_here
        for mine, theirs in zip(vars(found).values(), vars(one).values(), strict=True):
            mine.extend(theirs)
    return found.report("JUnit XML") if suites else None


def _read(text: str, found: Sorting) -> int:
    """Sort the cases of one file into `found`; the number of suites, 0 where the file is not one to read."""
    reader = _Reader(found)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except (expat.ExpatError, _Unsafe):
        return 0
    return reader.suites


def _refuse(*_: object) -> None:
    raise _Unsafe
