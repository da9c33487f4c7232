"""What in a diff changes how tests are run, rather than what they say. Pure.

CI, build files, settings of test runners; and code that can tell that it is being tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.difference import is_documentation, is_test
from bot.guard import code
from bot.ports import FileChange

_CI = re.compile(
    r"^(\.gitlab-ci\.ya?ml|\.circleci/.+|Jenkinsfile|azure-pipelines\.ya?ml|\.travis\.ya?ml|bitbucket-pipelines\.ya?ml"
    r"|\.buildkite/.+|\.drone\.ya?ml|\.?appveyor\.ya?ml|\.woodpecker(/.+|\.ya?ml)|\.cirrus\.ya?ml|\.github/actions/.+"
    r"|\.ci/.+)$"
)
_BUILD = re.compile(
    r"(^|/)(GNUmakefile|[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml|tox\.ini|noxfile\.py|package\.json|composer\.json|Rakefile"
    r"|[\w-]*(check|test|ci)[\w-]*\.sh)$"
)
_RUNNERS = re.compile(
    r"(^|/)(pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|(jest|vitest|karma|ava|playwright)\.(config|conf)\.\w+"
    r"|\.mocharc\.\w+|package\.json|phpunit\.xml(\.dist)?|\.rspec)$"
)
_CHECKS = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|\.coveragerc|\.?codecov\.ya?ml|\.nycrc(\.json)?|package\.json"
    r"|(jest|vitest|karma)\.(config|conf)\.\w+|sonar-project\.properties|[Mm]akefile|build\.gradle(\.kts)?|pom\.xml)$"
    r"|^\.github/workflows/"
)
_TOLERATED = re.compile(
    r"\|\|\s*(true|:)(?=\s|[;\"')]|$)|continue-on-error:\s*true|--exit-zero\b|\|\|\s*exit 0\b|set \+e\b"
)
_RUNS_TESTS = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|ava|prove|bats|phpunit|rspec|ctest)\b|\b(go|cargo|npm|yarn|pnpm|mvn"
    r"|gradle|dotnet|make|mix|rake|swift|node|deno|bun) (run |--)?test\b|\btests?/|\btest[\w-]*\.(sh|py|js)\b"
)
_RUNS_NOTHING = re.compile(
    r"\"(test|check|test:\w+|pretest)\"\s*:\s*\"(\s*|true|:|exit 0|echo [^&|;\"]*)\""
    r"|^\t@?(true|:|exit 0|echo [^&|;]*)\s*$"
)
_LEFT_OUT = re.compile(
    r"--ignore(-glob)?=\S*|--deselect[ =]\S*|\s-k[ =]?[\"']?not \w+|\"?testPathIgnorePatterns\"?"
    r"|--exclude-dir[ =]\S*test\S*"
)
_THRESHOLD = re.compile(
    r"(?P<name>fail[-_]under|threshold|min(?:imum)?[-_]?coverage|coverage[-_]?min"
    r"|\b(?:branches|functions|lines|statements)\b)(?P<more>[\w.-]*+)\W{1,9}(?P<value>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
"""Its name has what stands right before it as well."""
_NAME = re.compile(r"[\w.-]*$")
_OF_COVERAGE = re.compile(r"fail[-_]under|coverage", re.IGNORECASE)
_UNDER_TEST = re.compile(
    r"\bPYTEST_CURRENT_TEST\b|[\"'](?:pytest|unittest)[\"'] in sys\.modules|\bJEST_WORKER_ID\b|\bHARNESS_ACTIVE\b"
    r"|\btesting\.Testing\(\)|\bBATS_TEST_\w+"
)
_DEPENDENCY = re.compile(r"\"[^\"]+\"\s*:\s*\"[\^~<>=*]*\d|^\s*deps\b")
_WORKFLOWS = ".github/workflows/"
_SHOWN = 120


def running(changes: Sequence[FileChange]) -> Iterator[str]:
    """One sentence each, without a full stop; Markdown."""
    builds = [change for change in changes if _BUILD.search(change.path) and not is_test(change.path)]
    for change in changes:
        yield from _continuous(change)
        if is_documentation(change.path):
            continue
        path = code(change.path, _SHOWN)
        if any(_tolerates(line, change.path) for line in change.added):
            yield f"{path} lets a command fail without being noticed"
        yield from _left_out(change, path)
        yield from _thresholds(change, path)
        if not is_test(change.path):
            told = next((found[0] for line in change.added if (found := _UNDER_TEST.search(line))), "")
            if told:
                yield f"{path} can tell whether it is being tested: {code(told, _SHOWN)}"
    yield from _no_longer(builds)


def _continuous(change: FileChange) -> Iterator[str]:
    """CI's own files, and who has to review what."""
    path, done = code(change.path, _SHOWN), "deleted" if change.deleted else "changed"
    if change.path.startswith(_WORKFLOWS):
        yield f"the workflow {path} was {done}"
    elif _is_ci(change.path):
        yield f"{path}, which CI goes by, was {done}"
    elif change.path.rpartition("/")[2] == "CODEOWNERS":
        yield f"{path} was changed"


def _is_ci(path: str) -> bool:
    return path.startswith(_WORKFLOWS) or bool(_CI.search(path))


def _tolerates(line: str, path: str) -> bool:
    """Whether a line goes on after a check that failed. What else a program or a test lets fail is its own business."""
    if not _TOLERATED.search(line):
        return False
    if is_test(path):
        return not re.search(r"\$\(|set \+e", line)
    return bool(_RUNS_TESTS.search(line) or _BUILD.search(path) or _RUNNERS.search(path) or _is_ci(path))


def _no_longer(builds: Sequence[FileChange]) -> Iterator[str]:
    """Commands that ran tests and are gone, where no build file got one."""
    if any(_runs(line) for change in builds for line in change.added):
        return
    for change in builds:
        gone = next((line.strip() for line in change.removed if _runs(line)), "")
        if gone:
            yield f"{code(change.path, _SHOWN)} no longer runs {code(gone, _SHOWN)}"


def _runs(line: str) -> bool:
    """Whether a line of a build file runs tests."""
    return bool(_RUNS_TESTS.search(line)) and not _RUNS_NOTHING.search(line) and not _DEPENDENCY.search(line)


def _left_out(change: FileChange, path: str) -> Iterator[str]:
    """Tests that are left out when the others are run."""
    if not (_RUNNERS.search(change.path) or _BUILD.search(change.path)):
        return
    before = {found[0].strip() for line in change.removed for found in _LEFT_OUT.finditer(line)}
    now = [found[0].strip() for line in change.added for found in _LEFT_OUT.finditer(line)]
    new = next((what for what in now if what not in before), "")
    if new:
        yield f"{path} leaves tests out: {code(new, _SHOWN)}"


def _thresholds(change: FileChange, path: str) -> Iterator[str]:
    before, after = _values(change.removed), _values(change.added)
    for name, value in before.items():
        if not (_OF_COVERAGE.search(name) or _CHECKS.search(change.path)):
            continue
        if name not in after and _OF_COVERAGE.search(name) and not after:
            yield f"{code(name, _SHOWN)}, which was {value:g}, is gone from {path}"
        elif after.get(name, value) < value:
            yield f"{code(name, _SHOWN)} in {path} was lowered from {value:g} to {after[name]:g}"


def _values(lines: Sequence[str]) -> dict[str, float]:
    found = ((line, match) for line in lines for match in _THRESHOLD.finditer(line))
    return {
        _before(line[: match.start()]) + match["name"] + match["more"]: float(match["value"]) for line, match in found
    }


def _before(text: str) -> str:
    """The part of a name that `text` ends with."""
    return str(_NAME.findall(text[-_SHOWN:])[0])
