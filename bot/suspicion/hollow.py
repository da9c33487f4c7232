"""Named tests that fail before and pass after, and yet show nothing of what the code does. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from bot.difference import is_documentation, is_test
from bot.guard import code
from bot.ports import FileChange

_SHOWN = 120
_LONGEST = 500
"""Characters of a line; a longer one is data."""
_CODE = re.compile(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kt|php|c|cc|cpp|h|cs|swift|sh|bash|pl)$|(?:^|/)(?:bin|s?bin|scripts)/[^./]+$"
)
"""Files that are run; others are read by programs, and a test may well read them too."""
_EVERYWHERE = frozenset({"__init__", "__main__", "index", "lib", "main", "mod"})
"""Files of these names are told apart by their folders."""
_READS = re.compile(
    r"\.read_(?:text|bytes)\(|\bopen\(|\breadFile(?:Sync)?\(|\bos\.ReadFile\(|\bread_to_string\(|\bgetsource\("
)
_RUNS = re.compile(
    r"\b(?:subprocess|runpy|run_path|importlib|__import__|exec|spawn(?:Sync)?|execFile(?:Sync)?|child_process|Popen"
    r"|system|Command|CliRunner)\b"
)
_SHELL_LOOKS = re.compile(r"\s*(?:if\s+)?(?:!\s*)?(?:[ef]?grep|rg|cat|head|tail|sed|awk|wc|test|\[\[?)\s")
_GIVES_A_NAME = re.compile(r"\s*(?:const |let |var )?(\w+)\s*=[^=]")
_BETWEEN = re.compile(r"&&|\|\||[;|]")
_RUNS_INSIDE = re.compile(r"\$\(|`|<\(")
_CONDITION = re.compile(r"\b(?:if|elif|case|when)\b(?P<condition>.*)")
_COMPARED = re.compile(r"===?\s*(?P<value>\"[^\"]+\"|'[^']+'|-?\d[\d._]*)|-eq\s+(?P<number>-?\d+)")
_ANSWERS = re.compile(r"\b(?:return|echo|print)\b(?P<answer>.*)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CONSTANT = re.compile(r"[\[\](){}\d\s,.:+_-]*")
_TELLING = 4
"""Characters that an answer has at least that nobody gives by chance."""


def hollow(texts: Mapping[str, str], changes: Sequence[FileChange]) -> Iterator[str]:
    """One sentence each, without a full stop; Markdown. `texts`: what the named files hold on the head."""
    work = [change for change in changes if not is_test(change.path) and not is_documentation(change.path)]
    for path, text in texts.items():
        read = next((change.path for change in work if _only_reads(text, change)), "")
        if read:
            yield f"the named test {code(path, _SHOWN)} reads the source {code(read, _SHOWN)} and runs none of it"
    for change in work:
        line = next((line for text in texts.values() for line in _answered(change, text)), "")
        if line:
            shown = code(change.path, _SHOWN)
            yield f"{shown} has the named test's own input and answer in it: {code(line, _SHOWN)}"


def _only_reads(text: str, change: FileChange) -> bool:
    """Whether a test takes a file of the work for a text, and runs none of it."""
    path = PurePosixPath(change.path)
    name = f"{path.parent.name}/{path.name}" if path.stem in _EVERYWHERE else path.name
    lines = text.splitlines()
    found = [line for line in lines if name in line]
    if not found or not _CODE.search(change.path) or _RUNS.search(text):
        return False
    imports = rf"^\s*(?:from|import|const|let|var|use)\b.*\b{re.escape(path.stem)}\b(?!\.)"
    return not re.search(imports, text, re.MULTILINE) and all(_reads(line, name, lines) for line in found)


def _reads(line: str, name: str, lines: Sequence[str]) -> bool:
    """Whether a line that has the file's name only reads the file, or gives it a name that is only read from."""
    if _READS.search(line):
        return True
    if (given := _GIVES_A_NAME.match(line)) is not None:
        uses = [other for other in lines if other != line and re.search(rf"\b{given[1]}\b", other)]
        return bool(uses) and all(map(_READS.search, uses))
    parts = [part for part in _BETWEEN.split(line) if name in part]
    return all(_SHELL_LOOKS.match(part) and not _RUNS_INSIDE.search(part) for part in parts)


def _answered(change: FileChange, text: str) -> Iterator[str]:
    """Conditions on two or more values whose answer stands with all of them in one line of the test."""
    tested = [_tight(line) for line in text.splitlines()]
    added = [line[:_LONGEST] for line in change.added]
    for line, after in zip(added, [*added, ""][1:], strict=True):
        found = _CONDITION.search(line)
        values = [value or number for value, number in _COMPARED.findall(found["condition"])] if found else []
        answer = _constant(line) or _constant(after)
        if len(values) > 1 and answer:
            wanted = [re.compile(rf"(?<![\w.]){re.escape(_tight(one))}(?![\w.])") for one in (*values, answer)]
            if any(all(one.search(line) for one in wanted) for line in tested):
                yield line.strip()


def _constant(line: str) -> str:
    """What a line answers, when that is a value that says something; else ""."""
    found = _ANSWERS.search(line)
    answer = found["answer"].strip(" \t;") if found else ""
    return answer if len(answer) >= _TELLING and _CONSTANT.fullmatch(_QUOTED.sub("", answer)) else ""


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')
