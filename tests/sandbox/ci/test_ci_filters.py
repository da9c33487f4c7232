"""Which events start a workflow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.ci.filters import matches, skip_requested, starts
from bot.sandbox.ci import CiEvent
from bot.sandbox.ci.workflow import Broken, Workflow, read_workflow

JOBS = "\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}\n"


def push(branch: str) -> CiEvent:
    """A push to `branch`."""
    return CiEvent("push", "", f"refs/heads/{branch}", "c0ffee")


def tag(name: str) -> CiEvent:
    """A push of a tag."""
    return CiEvent("push", "", f"refs/tags/{name}", "c0ffee")


def pull(action: str = "opened", base: str = "main") -> CiEvent:
    """A pull request from nightjar/issue-7."""
    return CiEvent("pull_request", action, "refs/heads/nightjar/issue-7", "c0ffee", base=base, number=7)


def dispatch() -> CiEvent:
    """A dispatch of a workflow on main."""
    return CiEvent("workflow_dispatch", "", "refs/heads/main", "c0ffee", workflow="ci.yml")


CASES: list[tuple[str, CiEvent, Sequence[str] | None, bool]] = [
    ("on: push", push("main"), [], True),
    ("on: push", pull(), [], False),
    ("'on': push", push("main"), [], True),
    ("on: [push, pull_request]", pull(), [], True),
    ("on:\n  push:\n  pull_request:", push("x/y"), [], True),
    ("on: {issues: {types: [labeled]}, workflow_dispatch: {}}", push("main"), [], False),
    ("on: {issues: {types: [labeled]}, workflow_dispatch: {}}", dispatch(), [], True),
    ("on: push", dispatch(), [], False),
    ("on: {push: {branches: [main, 'releases/**']}}", push("main"), [], True),
    ("on: {push: {branches: [main, 'releases/**']}}", push("releases/1/x"), [], True),
    ("on: {push: {branches: [main, 'releases/**']}}", push("nightjar/issue-7"), [], False),
    ("on: {push: {branches: main}}", push("main"), [], True),
    ("on: {push: {branches: ['*']}}", push("a/b"), [], False),
    ("on: {push: {branches: ['**']}}", push("a/b"), [], True),
    ("on: {push: {branches: ['releases/**', '!releases/**-alpha']}}", push("releases/2-alpha"), [], False),
    ("on: {push: {branches: ['releases/**', '!releases/**-alpha']}}", push("releases/2"), [], True),
    ("on: {push: {branches-ignore: ['nightjar/**']}}", push("nightjar/issue-7"), [], False),
    ("on: {push: {branches-ignore: ['nightjar/**']}}", push("main"), [], True),
    ("on: {push: {branches: [main]}}", tag("v1"), [], False),
    ("on: {push: {tags: ['v*']}}", tag("v1"), [], True),
    ("on: {push: {tags: ['v*']}}", push("v1"), [], False),
    ("on: {push: {tags-ignore: ['v*']}}", tag("v1"), [], False),
    ("on: {push: {branches: [main], tags: ['v*']}}", push("main"), [], True),
    ("on: push", tag("v1"), [], True),
    ("on: {push: {paths: ['src/**']}}", push("main"), ["src/a.py", "README.md"], True),
    ("on: {push: {paths: ['src/**']}}", push("main"), ["README.md"], False),
    ("on: {push: {paths: ['src/**']}}", push("main"), None, True),
    ("on: {push: {paths: ['src/**']}}", tag("v1"), ["README.md"], True),
    ("on: {push: {paths: ['**.py', '!docs/**']}}", push("main"), ["docs/conf.py"], False),
    ("on: {push: {paths: ['!docs/**', '**.py']}}", push("main"), ["docs/conf.py"], True),
    ("on: {push: {paths-ignore: ['docs/**', '*.md']}}", push("main"), ["docs/a.txt", "README.md"], False),
    ("on: {push: {paths-ignore: ['docs/**', '*.md']}}", push("main"), ["docs/a.txt", "src/a.py"], True),
    ("on: pull_request", pull("synchronize"), [], True),
    ("on: pull_request", pull("reopened"), [], True),
    ("on: pull_request", pull("ready_for_review"), [], False),
    ("on: {pull_request: {types: [ready_for_review]}}", pull("ready_for_review"), [], True),
    ("on: {pull_request: {types: [ready_for_review]}}", pull("opened"), [], False),
    ("on: {pull_request: {branches: [main]}}", pull(base="main"), [], True),
    ("on: {pull_request: {branches: [main]}}", pull(base="develop"), [], False),
    ("on: {pull_request: {branches-ignore: [main]}}", pull(base="main"), [], False),
    ("on: {pull_request: {paths: ['src/**']}}", pull(), ["README.md"], False),
]


@pytest.mark.parametrize(("on", "event", "changed", "expected"), CASES)
def test_an_event_starts_the_workflows_whose_filters_it_passes(
    on: str, event: CiEvent, changed: Sequence[str] | None, expected: bool
) -> None:
    """Every form of `on:` decides as GitHub's documentation says."""
    workflow = read_workflow(".github/workflows/ci.yml", on + JOBS)
    assert isinstance(workflow, Workflow), workflow
    assert starts(workflow.on, event, lambda: changed) is expected


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("feature/*", ["feature/my-branch"], ["feature/a/b", "feature"]),
        ("feature/**", ["feature/a", "feature/a/b"], ["feature"]),
        ("*feature", ["mona-feature", "feature"], ["x/feature"]),
        ("v2*", ["v2", "v2.0"], ["v3"]),
        ("v[12].[0-9]+.[0-9]+", ["v1.10.1", "v2.0.0"], ["v3.0.0", "v1.x.0"]),
        ("*.jsx?", ["page.js", "page.jsx"], ["a/page.js"]),
        ("*.js", ["app.js"], ["src/app.js"]),
        ("**.js", ["index.js", "js/index.js"], ["index.jsx"]),
        ("docs/*", ["docs/README.md"], ["docs/a/b.md"]),
        ("docs/**/*.md", ["docs/README.md", "docs/mona/hello.md", "docs/a/b/c.md"], ["README.md"]),
        ("**/docs/**", ["docs/hello.md", "dir/docs/my-file.txt"], ["mydocs/x"]),
        ("**/README.md", ["README.md", "js/README.md"], ["xREADME.md"]),
        ("**/*src/**", ["a/src/app.js", "my-src/code/js/app.js"], ["srcs/a"]),
        ("**/migrate-*.sql", ["migrate-1.sql", "db/sept/migrate-v1.sql"], ["db/migrate.sql"]),
        (r"a\*b", ["a*b"], ["axb"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_patterns_match_as_in_githubs_cheat_sheet(pattern: str, yes: list[str], no: list[str]) -> None:
    """`*`, `**`, `?`, `+` and `[]` mean what GitHub's filter patterns mean, not what a shell's do."""
    assert [name for name in yes + no if matches(name, [pattern])] == yes


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Fix\n\n[skip ci]", True),
        ("[CI SKIP] x", True),
        ("[no ci]", True),
        ("[skip actions]", True),
        ("[actions skip]", True),
        ("skip ci", False),
        ("Fix\n\n\nskip-checks: true", True),
        ("Fix\n\nWhy\n\nskip-checks:true\n", True),
        ("Fix\n\nskip-checks: true\nSigned-off-by: dana <dana@example.com>", True),
        ("Fix\n\nskip-checks: false", False),
        ("Fix\n\nskip-checks: true\n\nis what the issue says", False),
    ],
)
def test_a_commit_message_can_ask_for_no_ci(message: str, expected: bool) -> None:
    """The five markers of GitHub's documentation count anywhere in the message, the trailer at its end."""
    assert skip_requested(message) is expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("on: [push\njobs", "not YAML"),
        ("jobs: {}", "'on' is missing"),
        ("on: push\njobs: {}", "'jobs' is missing or empty"),
        ("- a", "a mapping is needed, not list"),
        ("on: {push: {branches: [a], branches-ignore: [b]}}" + JOBS, "branches and branches-ignore exclude each other"),
        ("on: push\njobs: {a: {needs: b, steps: [{run: x}]}}", "jobs.a.needs: there is no job 'b'"),
        (
            "on: push\njobs: {a: {needs: b, steps: [{run: x}]}, b: {needs: a, steps: [{run: x}]}}",
            "jobs: a, b need each other in a circle",
        ),
        ("on: push\njobs: {a: {runs-on: x}}", "jobs.a.steps: a list of steps is needed"),
        (
            "on: push\njobs: {a: {steps: [{run: x, uses: y@v1}]}}",
            "jobs.a.steps[0]: a step has either 'run' or 'uses'",
        ),
    ],
)
def test_a_workflow_that_github_would_refuse_is_broken(text: str, problem: str) -> None:
    """The problem names the place in the file."""
    workflow = read_workflow(".github/workflows/ci.yml", text)
    assert isinstance(workflow, Broken)
    assert problem in workflow.problem
    assert "\n" not in workflow.problem
