"""What should check a commit, before anything has: from the workflow files in it, what it changes, and what the Base
branch requires. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from bot.ci.filters import EventFilter, name_passes, skip_requested, starts
from bot.ci.triggers import WorkflowError, triggers_of


@dataclass(frozen=True, slots=True)
class Pushed:
    """A commit on the Issue branch as CI meets it."""

    head: str
    branch: str = ""
    base: str = ""
    pull_request: int = 0
    """0 while there is none."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The workflow files in the commit: path → text."""
    paths: tuple[str, ...] | None = None
    """What the pull request changes; None when that is not known."""
    pushed_paths: tuple[str, ...] | None = None
    """What the last push changed; None when that is not known."""
    message: str = ""
    """The commit's message."""
    base_commit: str = ""
    """The commit of the Base branch that the head last merged; "" when it is not known."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A workflow that does not start, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What should check one commit."""

    expected: tuple[str, ...] = ()
    """Paths of the workflows that start for it."""
    optional: tuple[str, ...] = ()
    """Paths of workflows that may start: they are waited for once they have."""
    absent: tuple[Absent, ...] = ()
    """Workflows that check pushes or pull requests, but not this one."""
    required: tuple[str, ...] = ()
    """Names of checks without which the Base branch takes no merge, as far as they could be read."""
    usual: tuple[str, ...] = ()
    """Names of the checks by other services than GitHub Actions that the base commit has: they may come here too."""
    skipped: bool = False
    """A skip marker in the commit's message keeps workflows from starting."""

    @property
    def nothing(self) -> str:
        """Why no workflow checks this commit, for people."""
        why = [f"`{_file(absent.path)}` {absent.why}" for absent in self.absent]
        why = why or ["no workflow of this repository starts on a push or a pull request"]
        usual = ", ".join(f"`{name}`" for name in self.usual)
        return "; ".join([*why, f"on the base branch there is {usual}"] if usual else why)


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    action: str
    ref: str
    base: str


def expect(
    pushed: Pushed,
    *,
    required: Collection[str] = (),
    disabled: Collection[str] = (),
    dispatched: Collection[str] = (),
    usual: Collection[str] = (),
) -> Expectation:
    """What `pushed` should meet.

    `required`: names of required checks. `disabled`: paths of workflows that somebody switched off. `dispatched`:
    paths of workflows that Nightjar starts itself. `usual`: names of other services' checks on the base commit.
    """
    skipped = skip_requested(pushed.message)
    expected, optional, absent = set(dispatched), set(), []
    for path, text in pushed.files.items():
        if path in expected:
            continue
        if path in disabled:
            absent.append(Absent(path, "is switched off"))
            continue
        match _of_file(path, text, pushed, skipped):
            case "expected":
                expected.add(path)
            case "optional":
                optional.add(path)
            case Absent() as found:
                absent.append(found)
    return Expectation(
        expected=tuple(sorted(expected)),
        optional=tuple(sorted(optional)),
        absent=tuple(sorted(absent, key=lambda one: one.path)),
        required=tuple(sorted(required)),
        usual=tuple(sorted(usual)),
        skipped=skipped,
    )


def _of_file(path: str, text: str, pushed: Pushed, skipped: bool) -> str | Absent:
    """`expected`, `optional`, "" for a workflow that checks no commits, or why it is absent.

    A file that cannot be read counts as expected: GitHub starts a run that says what is wrong with it.
    """
    try:
        on = triggers_of(path, text)
    except WorkflowError:
        return "expected"
    if starts(on, _Event("pull_request_target", "synchronize", "", pushed.base), lambda: pushed.paths):
        return "expected"
    if skipped and ("push" in on or "pull_request" in on):
        return Absent(path, "is kept from starting by a skip marker in the commit's message")
    if starts(on, _Event("push", "", f"refs/heads/{pushed.branch}", ""), lambda: pushed.pushed_paths):
        return "expected"
    opened, updated = (
        starts(on, _Event("pull_request", action, "", pushed.base), lambda: pushed.paths)
        for action in ("opened", "synchronize")
    )
    if opened and updated:
        return "expected"
    if opened or updated or "workflow_run" in on:
        return "optional"
    why = [_why(name, on[name], pushed) for name in ("pull_request", "push") if name in on]
    return Absent(path, why[0]) if why else ""


def _why(event: str, rule: EventFilter, pushed: Pushed) -> str:
    """Why a workflow that starts on `event` does not start on this one."""
    if event == "pull_request":
        if rule.types is not None and not {"opened", "synchronize"} & set(rule.types):
            return f"starts when a pull request is {', '.join(rule.types)}"
        if not name_passes(pushed.base, rule.branches, rule.branches_ignore):
            return f"does not start for pull requests to `{pushed.base}`"
    elif rule.paths is None and rule.paths_ignore is None:
        return f"does not start for pushes to `{pushed.branch}`"
    return "starts for other paths only" if rule.paths is not None else "ignores the paths that were changed"


def dispatch_paths(files: Collection[str], names: Collection[str]) -> tuple[str, ...]:
    """The paths that the setting `ci-dispatch` names, by file name or by path."""
    by_name = {_file(path): path for path in files}
    return tuple(by_name.get(_file(name), f".github/workflows/{_file(name)}") for name in names)


def _file(path: str) -> str:
    return path.rpartition("/")[2]
