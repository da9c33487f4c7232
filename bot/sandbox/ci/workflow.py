"""A workflow file, read into frozen types. Pure; the vocabulary is GitHub's (workflow, job, step).

Scalars are kept as text (`true`, `3.11`, `${{ … }}`), because expressions in them are evaluated when the job runs. Only
the matrix keeps its kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from bot.sandbox.ci.filters import EventFilter
from bot.sandbox.ci.values import Value, as_text

if TYPE_CHECKING:
    import yaml


class WorkflowError(ValueError):
    """A workflow file that GitHub would refuse: what and where, in one line."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `run` is its script, or `uses` its action."""

    name: str
    id: str
    run: str
    uses: str
    condition: str
    env: Mapping[str, str]
    shell: str
    working_directory: str
    continue_on_error: str
    timeout_minutes: str


@dataclass(frozen=True, slots=True)
class Job:
    """One job as written: with a matrix it becomes several."""

    id: str
    name: str
    needs: tuple[str, ...]
    condition: str
    matrix: Value
    fail_fast: str
    env: Mapping[str, str]
    shell: str
    working_directory: str
    continue_on_error: str
    timeout_minutes: str
    outputs: Mapping[str, str]
    steps: tuple[Step, ...]
    unsupported: str
    """What this job asks for and the sandbox does not have (`container`, ...), or empty."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow that can be read."""

    path: str
    name: str
    on: Mapping[str, EventFilter]
    env: Mapping[str, str]
    jobs: Mapping[str, Job]


@dataclass(frozen=True, slots=True)
class Broken:
    """A workflow that cannot be read; `on` is what could be read of its triggers (None: not even those)."""

    path: str
    problem: str
    on: Mapping[str, EventFilter] | None = field(default=None)


def read_workflow(path: str, text: str) -> Workflow | Broken:
    """Read one workflow file."""
    import yaml  # here, because it is slow to import

    on: Mapping[str, EventFilter] | None = None
    try:
        document = _mapping(yaml.load(text, Loader=_loader()), path)
        if "on" not in document:
            raise WorkflowError(f"{path}: 'on' is missing")
        on = read_triggers(document["on"])
        return _workflow(path, document, on)
    except yaml.YAMLError as error:
        return Broken(path, f"{path}: not YAML: {' '.join(str(error).split())}")
    except WorkflowError as error:
        return Broken(path, str(error), on)


@lru_cache(maxsize=1)
def _loader() -> type[yaml.SafeLoader]:
    """YAML 1.2's plain scalars, as GitHub reads them: `on` and `yes` are strings, only `true` and `false` are booleans,
    dates are text.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {}
    for tag, expression, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("merge", r"<<", "<"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{expression})$"), list(first))
    # SafeLoader's own constructor reads 010 as octal and 1:30 as sexagesimal; neither exists in YAML 1.2.
    Loader.add_constructor(
        "tag:yaml.org,2002:int", lambda loader, node: int(node.value, 16 if "x" in node.value else 10)
    )
    return Loader


def read_triggers(on: Any) -> Mapping[str, EventFilter]:
    """`on:` in any of its forms: a name, a list of names, a map. Raises `WorkflowError`."""
    if isinstance(on, Mapping):
        return {str(name): _filter(str(name), rule) for name, rule in on.items()}
    return {name: EventFilter() for name in _strings(on, "on")}


def _filter(event: str, rule: Any) -> EventFilter:
    if not isinstance(rule, Mapping):
        return EventFilter()  # `push:` with nothing under it, or the list of `schedule:`
    where = f"on.{event}"
    lists = {key: _strings(rule[key], f"{where}.{key}") for key in rule if key in _FILTER_KEYS}
    for key in ("branches", "tags", "paths"):
        if key in lists and f"{key}-ignore" in lists:
            raise WorkflowError(f"{where}: {key} and {key}-ignore exclude each other")
    inputs = _mapping(rule.get("inputs"), f"{where}.inputs")
    return EventFilter(
        **{key.replace("-", "_"): patterns for key, patterns in lists.items()},
        inputs={
            str(name): _text(_mapping(spec, f"{where}.inputs.{name}").get("default")) for name, spec in inputs.items()
        },
    )


_FILTER_KEYS = frozenset({"branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore", "types"})


def _workflow(path: str, document: Mapping[str, Any], on: Mapping[str, EventFilter]) -> Workflow:
    defaults = _run_defaults(document, "defaults")
    raw_jobs = _mapping(document.get("jobs"), "jobs")
    if not raw_jobs:
        raise WorkflowError(f"{path}: 'jobs' is missing or empty")
    jobs = {str(name): _job(str(name), _mapping(raw, f"jobs.{name}"), defaults) for name, raw in raw_jobs.items()}
    _check_needs(jobs)
    return Workflow(path, _text(document.get("name")) or path, on, _texts(document.get("env"), "env"), jobs)


def _check_needs(jobs: Mapping[str, Job]) -> None:
    """Raise `WorkflowError` for a need that is not there or that, in the end, needs itself."""
    settled: set[str] = set()
    for job in jobs.values():
        for need in job.needs:
            if need not in jobs:
                raise WorkflowError(f"jobs.{job.id}.needs: there is no job {need!r}")
    while len(settled) < len(jobs):
        ready = {name for name, job in jobs.items() if name not in settled and settled.issuperset(job.needs)}
        if not ready:
            raise WorkflowError(f"jobs: {', '.join(sorted(jobs.keys() - settled))} need each other in a circle")
        settled |= ready


def _job(name: str, raw: Mapping[str, Any], workflow_defaults: tuple[str, str]) -> Job:
    where = f"jobs.{name}"
    strategy = _mapping(raw.get("strategy"), f"{where}.strategy")
    shell, directory = _run_defaults(raw, f"{where}.defaults")
    unsupported = next((key for key in ("uses", "container", "services") if raw.get(key)), "")
    steps = raw.get("steps")
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        if not unsupported:
            raise WorkflowError(f"{where}.steps: a list of steps is needed")
        steps = []
    return Job(
        id=name,
        name=_text(raw.get("name")),
        needs=_strings(raw.get("needs"), f"{where}.needs"),
        condition=_text(raw.get("if")),
        matrix=strategy.get("matrix"),
        fail_fast=_text(strategy.get("fail-fast", True)),
        env=_texts(raw.get("env"), f"{where}.env"),
        shell=shell or workflow_defaults[0],
        working_directory=directory or workflow_defaults[1],
        continue_on_error=_text(raw.get("continue-on-error")),
        timeout_minutes=_text(raw.get("timeout-minutes")),
        outputs=_texts(raw.get("outputs"), f"{where}.outputs"),
        steps=tuple(
            _step(_mapping(step, f"{where}.steps[{index}]"), f"{where}.steps[{index}]")
            for index, step in enumerate(steps)
        ),
        unsupported=unsupported,
    )


def _step(raw: Mapping[str, Any], where: str) -> Step:
    run, uses = _text(raw.get("run")), _text(raw.get("uses"))
    if bool(run) == bool(uses):
        raise WorkflowError(f"{where}: a step has either 'run' or 'uses'")
    return Step(
        name=_text(raw.get("name")),
        id=_text(raw.get("id")),
        run=run,
        uses=uses,
        condition=_text(raw.get("if")),
        env=_texts(raw.get("env"), f"{where}.env"),
        shell=_text(raw.get("shell")),
        working_directory=_text(raw.get("working-directory")),
        continue_on_error=_text(raw.get("continue-on-error")),
        timeout_minutes=_text(raw.get("timeout-minutes")),
    )


def _run_defaults(raw: Mapping[str, Any], where: str) -> tuple[str, str]:
    """`defaults.run`: shell and working directory."""
    run = _mapping(_mapping(raw.get("defaults"), where).get("run"), f"{where}.run")
    return _text(run.get("shell")), _text(run.get("working-directory"))


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise WorkflowError(f"{where}: a mapping is needed, not {type(value).__name__}")
    return value


def _texts(value: Any, where: str) -> Mapping[str, str]:
    return {str(key): _text(item) for key, item in _mapping(value, where).items()}


def _strings(value: Any, where: str) -> tuple[str, ...]:
    """A string or a list of strings."""
    items = [] if value is None else value if isinstance(value, list) else [value]
    if any(isinstance(item, (Mapping, list)) for item in items):
        raise WorkflowError(f"{where}: a string or a list of strings is needed")
    return tuple(_text(item) for item in items)


def _text(value: Any) -> str:
    return as_text(value)


def is_workflow_file(path: str) -> bool:
    """Whether GitHub reads `path` as a workflow: a YAML file right in `.github/workflows`."""
    pure = PurePosixPath(path)
    return pure.parent == PurePosixPath(".github/workflows") and pure.suffix in (".yml", ".yaml")
