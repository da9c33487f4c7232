"""What about the named test, and the command that runs it, a reviewer should look at. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.difference import added_names, is_documentation, is_test, names_it_goes_by
from bot.guard import code
from bot.ports import FileChange
from bot.proof.facts import Claim, Proof, Verdict
from bot.suspicion.assertions import can_fail, is_code, is_shell
from bot.suspicion.hollow import hollow

_SHOWN = 120
_LISTED = 3
_LONGEST = 2000
_PYTHON = re.compile(r"^[ \t]*(?:async )?def (?P<name>\w+)")
_SCRIPT = re.compile(r"^[ \t]*(?:it|test)(?:\.\w+)*\(\s*[\"'`](?P<name>[^\"'`]*)")
_GO = re.compile(r"^func (?P<name>\w+)")
_STARTS = {
    ".py": _PYTHON,
    ".js": _SCRIPT,
    ".jsx": _SCRIPT,
    ".ts": _SCRIPT,
    ".tsx": _SCRIPT,
    ".mjs": _SCRIPT,
    ".go": _GO,
}
_TESTS = re.compile(
    r"^[ \t]*(?:(?:async )?def test|class \w*Test|func Test|(?:it|test|describe)\(|#\[test\]|@Test\b|>>> )"
    r"|^[ \t]*(?:echo|printf)[ \t]+[\"']?(?:not )?ok\b|\b1\.\.\$?\w",
    re.MULTILINE,
)
_IMPORTED = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]{0,2000}\)|.+)"
    r"|import[ \t]+(?P<whole>[\w.]+)(?:[ \t]+as[ \t]+(?P<alias>\w+))?[ \t]*$"
    r"|(?:import|const|let|var)\s{1,9}(?P<script>\{[^}]{0,2000}\}|\w+)\s{0,9}(?:=\s{0,9}require\(|from)\s{0,9}"
    r"[\"'](?P<path>[^\"'\n]+)[\"'])",
    re.MULTILINE,
)
_OF_TESTS = re.compile(r"test|help|support|util|assert|common")
"""What modules are called that tests share."""
_IMPORT = re.compile(r"\s*(?:from|import)\b|.*\brequire\(")
_SOURCED = re.compile(r"^[ \t]*(?:\.|source|load)[ \t]+(?P<path>[^;&|#\n]+)", re.MULTILINE)
_NOTHING = re.compile(r"\s*(?:true|:|exit 0|(?:echo|printf)\b[^&|;`$]*)\s*")
_LOOKS = re.compile(r"\s*!?\s*(?:grep|egrep|fgrep|rg|ls|cat|stat|find|wc|head|tail|git|test|\[\[?)\s[^$`<(]*")
"""Commands that look at files, and run nothing of them."""
_MASKED = re.compile(r"(?:\|\||;)\s*(?:true|:|exit 0)\s*$|\|\|\s*(?:true|:|exit 0|echo\b)")
_CONFIGURES_TESTS = re.compile(
    r"(^|/)(\.?pytest\.ini|tox\.ini|setup\.cfg|sitecustomize\.py|usercustomize\.py|\.coveragerc|\.mocharc\.\w+"
    r"|(jest|vitest|karma|ava|playwright)\.(config|conf)\.\w+|phpunit\.xml(\.dist)?|\.rspec)$"
)


def about_the_named_test(
    claim: Claim, texts: Mapping[str, str], changes: Sequence[FileChange], proof: Proof
) -> tuple[str, ...]:
    """One sentence each, without a full stop; Markdown.

    `texts`: what the named files hold on the head, those that can be read. `changes`: the whole diff.
    """
    texts = {path: _cut(text) for path, text in texts.items()}
    found = [
        *_command(claim),
        *_no_tests(claim, texts, changes),
        *_idle(claim, texts, changes),
        *_apart(texts, changes, proof),
        *hollow(texts, changes),
    ]
    return tuple(dict.fromkeys(found))


def _cut(text: str) -> str:
    """The same with lines that are read in no time: a longer one is data."""
    return "\n".join(line[:_LONGEST] for line in text.splitlines())


def _command(claim: Claim) -> Iterator[str]:
    """A command that cannot fail, or that runs something else."""
    shown = code(claim.command, _SHOWN)
    lines = [line for line in claim.command.splitlines() if line.strip()]
    commands = [part for line in lines for part in re.split(r"&&|\|\||[;|]", line) if part.strip()]
    if all(_NOTHING.fullmatch(part) or _LOOKS.fullmatch(part) for part in commands):
        yield f"the command {shown} runs no test"
    elif any(_MASKED.search(line) for line in lines):
        yield f"the command {shown} hides whether the test failed"
    else:
        others = _others(claim)
        if others:
            yield f"the command {shown} names {_listed(others)}, and none of the named test files"


def _others(claim: Claim) -> list[str]:
    """Test files that the command names, where it names none of the claim's own and no folder of theirs."""
    words = [word.strip("\"'").partition("::")[0] for word in claim.command.split()]
    bare = re.split(r"[^\w-]+", claim.command)
    for path in map(PurePosixPath, claim.files):
        folders = {str(folder) for folder in path.parents}
        if path.name in claim.command or path.stem in bare or folders & {word.rstrip("/") for word in words}:
            return []
    return [word for word in words if is_test(word) and re.search(r"\.\w+$", word) and not re.search(r"[*?\[$]", word)]


def _no_tests(claim: Claim, texts: Mapping[str, str], changes: Sequence[FileChange]) -> Iterator[str]:
    """Named files that are no tests, by path and by what is in them; a new script that checks something is one."""
    new = {change.path for change in changes if change.new}
    for path in claim.files:
        text = texts.get(path, "")
        checks = path in new and _checks(path, text.splitlines())
        if not (is_test(path) or checks or _TESTS.search(text)):
            yield f"the named file {code(path, _SHOWN)} does not look like a test"


def _idle(claim: Claim, texts: Mapping[str, str], changes: Sequence[FileChange]) -> Iterator[str]:
    """Tests that check nothing: all in a named file, else those that the diff adds. In doubt nothing is said."""
    names = added_names(changes)
    if any(not _can_be_told(path, texts.get(path), names) for path in claim.files):
        return
    added = {change.path: frozenset(change.added) for change in changes}
    for path in claim.files:
        text, shown = texts[path], code(path, _SHOWN)
        helpers = _imported(text) - names
        if not _checks(path, text.splitlines(), helpers):
            yield f"the named test {shown} asserts nothing"
            continue
        blocks = [*_blocks(path, text.splitlines())]
        helpers |= {block.name for block in blocks if not block.is_test and _checks(path, block.lines)}
        tests = [block for block in blocks if block.is_test and block.header in added.get(path, ())]
        idle = [block.name for block in tests if not _checks(path, block.lines, helpers)]
        if idle:
            one = len(idle) == 1
            yield f"the new test{'' if one else 's'} {_listed(idle)} in {shown} assert{'s' if one else ''} nothing"


def _can_be_told(path: str, text: str | None, names: Collection[str]) -> bool:
    """Whether it shows in a file if its tests check something; not where a script takes functions from another one.
    `names` are the work's own.
    """
    if text is None or not is_code(path):
        return False
    sourced = [PurePosixPath(found["path"].strip("\"' \t")).name for found in _SOURCED.finditer(text)]
    return not is_shell(path) or all(name.partition(".")[0] in names for name in sourced)


def _checks(path: str, lines: Sequence[str], helpers: frozenset[str] = frozenset()) -> bool:
    """Whether something in the lines can fail a test, or calls what may."""
    return any(
        can_fail(line, path) or (helpers and not helpers.isdisjoint(re.findall(r"\w+", line)))
        for line in lines
        if line.strip() and not _IMPORT.match(line)
    )


def _imported(text: str) -> frozenset[str]:
    """Names that a test takes from other files of the tests."""
    found = [
        match["names"] or match["alias"] or match["whole"] or match["script"]
        for match in _IMPORTED.finditer(text)
        if _OF_TESTS.search(match["module"] or match["whole"] or match["path"])
    ]
    return frozenset(word for names in found for word in re.findall(r"\w+", names))


def _blocks(path: str, lines: Sequence[str]) -> Iterator[_Block]:
    """From where a function or a test begins to where the next does."""
    suffix = PurePosixPath(path).suffix
    pattern = _STARTS.get(suffix)
    starts = [(at, found) for at, line in enumerate(lines) if pattern and (found := pattern.match(line))]
    for (at, found), end in zip(starts, [*(at for at, _ in starts[1:]), len(lines)], strict=False):
        body = (lines[at][found.end() :], *lines[at + 1 : end])
        yield _Block(found["name"], lines[at], body, _is_test_name(suffix, found["name"]))


@dataclass(frozen=True, slots=True)
class _Block:
    """A function, or a test."""

    name: str
    header: str
    """Its first line."""
    lines: Sequence[str]
    """Without its name."""
    is_test: bool


def _is_test_name(suffix: str, name: str) -> bool:
    return name.startswith("test") if suffix == ".py" else name.startswith("Test") if suffix == ".go" else True


def _apart(texts: Mapping[str, str], changes: Sequence[FileChange], proof: Proof) -> Iterator[str]:
    """A named test that has nothing to do with the diff, or a diff that has nothing but tests in it."""
    work = [change for change in changes if not is_test(change.path) and not is_documentation(change.path)]
    if proof.verdict is Verdict.PROVED:
        if all(_CONFIGURES_TESTS.search(change.path) for change in work):
            yield "nothing but tests, and what configures them, was changed: that alone makes the named test pass"
        return
    names = names_it_goes_by(work)
    if names and texts and not any(_mentions(text, names) for text in texts.values()):
        yield f"the named test mentions nothing that the diff changes ({_listed([change.path for change in work])})"


def _mentions(text: str, names: frozenset[str]) -> bool:
    return not names.isdisjoint(re.findall(r"\w+", text)) or any(
        name in text for name in names if not name.isidentifier()
    )


def _listed(texts: Sequence[str]) -> str:
    shown = ", ".join(code(text, _SHOWN) for text in texts[:_LISTED])
    return shown if len(texts) <= _LISTED else f"{shown} and {len(texts) - _LISTED} more"
