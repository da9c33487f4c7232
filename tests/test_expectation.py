"""Which workflows a pushed commit should meet."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ci.expectation import Absent, Expectation, Pushed, dispatch_paths, expect

PATH = ".github/workflows/ci.yml"
PUSHED = Pushed(
    head="1" * 40,
    branch="nightjar/issue-1",
    base="main",
    paths=("src/a.py", "docs/a.md"),
    pushed_paths=("docs/a.md",),
    message="Work",
)


def of(text: str, **changes: object) -> Expectation:
    """What a commit with this one workflow should meet."""
    return expect(replace(PUSHED, files={PATH: text}, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "on",
    [
        "on: push",
        "on: [push]",
        "on: pull_request",
        "on:\n  pull_request:\n    branches: [main]",
        "on:\n  pull_request:\n    branches-ignore: ['release/**']",
        "on:\n  push:\n    branches: ['**']",
        "on:\n  push:\n    branches: ['nightjar/**']",
        "on:\n  pull_request:\n    paths: ['src/**']",
        "on:\n  pull_request:\n    paths-ignore: ['docs/**']",
        "on:\n  push:\n    paths: ['docs/**']",
        "on:\n  pull_request_target:",
        "on:\n  pull_request:\n    types: [opened, synchronize, ready_for_review]",
        "on:\n  push:\n    branches: [main]\n  pull_request:",
    ],
)
def test_expected(on: str) -> None:
    """The filters of the workflow let this commit through."""
    assert of(on).expected == (PATH,)


@pytest.mark.parametrize(
    ("on", "why"),
    [
        ("on:\n  push:\n    branches: [main]", "does not start for pushes to `nightjar/issue-1`"),
        ("on:\n  push:\n    tags: ['v*']", "does not start for pushes to `nightjar/issue-1`"),
        ("on:\n  push:\n    paths: ['src/**']", "starts for other paths only"),
        ("on:\n  push:\n    paths-ignore: ['docs/**']", "ignores the paths that were changed"),
        ("on:\n  pull_request:\n    branches: ['release/**']", "does not start for pull requests to `main`"),
        ("on:\n  pull_request:\n    paths: ['web/**']", "starts for other paths only"),
        ("on:\n  pull_request:\n    types: [ready_for_review]", "starts when a pull request is ready_for_review"),
    ],
)
def test_absent(on: str, why: str) -> None:
    """A workflow that checks changes, but not this one, is named with the filter that keeps it out."""
    found = of(on)
    assert (found.expected, found.optional) == ((), ())
    assert found.absent == (Absent(PATH, why),)
    assert found.nothing == f"`ci.yml` {why}"


@pytest.mark.parametrize("on", ["on: workflow_dispatch", "on: {schedule: [{cron: '1 1 * * *'}]}", "on: workflow_call"])
def test_workflow_that_checks_no_changes(on: str) -> None:
    """It is neither expected nor missed."""
    assert of(on) == Expectation()
    assert of(on).nothing == "no workflow of this repository starts on a push or a pull request"


@pytest.mark.parametrize("on", ["on: {workflow_run: {workflows: [CI]}}", "on: {pull_request: {types: [opened]}}"])
def test_optional(on: str) -> None:
    """What starts only after other workflows, or only at the opening, may or may not come."""
    assert of(on).optional == (PATH,)
    assert of(on).expected == ()


@pytest.mark.parametrize(
    "text", ["on: [push\n", "jobs: {}\n", "- push\n", "on: {push: {branches: [a], branches-ignore: [b]}}"]
)
def test_file_that_cannot_be_read_is_expected(text: str) -> None:
    """GitHub starts a run that says what is wrong with it."""
    assert of(text).expected == (PATH,)


def test_paths_that_are_not_known_pass() -> None:
    """As on GitHub, a filter that cannot be worked out lets the workflow start."""
    assert of("on: {push: {paths: [src/**]}}", pushed_paths=None).expected == (PATH,)


def test_skip_marker() -> None:
    """A marker in the message keeps push and pull_request from starting, and says so."""
    found = of("on: [push, pull_request]", message="Explain\n\n[skip ci]")
    assert (found.expected, found.skipped) == ((), True)
    assert "skip marker" in found.nothing
    assert of("on: pull_request_target", message="Explain [no ci]").expected == (PATH,)


def test_switched_off_and_dispatched() -> None:
    """A workflow that somebody disabled is absent; one that Nightjar starts itself is expected whatever it says."""
    pushed = replace(PUSHED, files={PATH: "on: push", ".github/workflows/e2e.yml": "on: workflow_dispatch"})
    paths = dispatch_paths(pushed.files, ["e2e.yml"])
    found = expect(pushed, disabled=[PATH], dispatched=paths, required=["b", "a"])
    assert found.expected == (".github/workflows/e2e.yml",)
    assert found.absent == (Absent(PATH, "is switched off"),)
    assert found.required == ("a", "b")
    assert dispatch_paths((), ["new.yml"]) == (".github/workflows/new.yml",)


@given(st.text(max_size=80))
def test_whatever_a_file_holds(text: str) -> None:
    """No text of a stranger's makes it fail."""
    found = of(text)
    assert len(found.expected) + len(found.optional) + len(found.absent) <= 1
