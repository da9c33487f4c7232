"""A workflow file, read into frozen types. Pure; the vocabulary is GitHub's (workflow, job, step).

Scalars are kept as text (`true`, `3.11`, `${{ … }}`), because expressions in them are evaluated when the job runs. Only
the matrix keeps its kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from bot.ci.filters import EventFilter
from bot.ci.triggers import WorkflowError, as_mapping, as_strings, load, read_triggers
from bot.sandbox.ci.values import Value, as_text


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
        document = as_mapping(load(text), path)
        if "on" not in document:
            raise WorkflowError(f"{path}: 'on' is missing")
        on = read_triggers(document["on"])
        return _workflow(path, document, on)
    except yaml.YAMLError as error:
        return Broken(path, f"{path}: not YAML: {' '.join(str(error).split())}")
    except WorkflowError as error:
        return Broken(path, str(error), on)


def _workflow(path: str, document: Mapping[str, Any], on: Mapping[str, EventFilter]) -> Workflow:
    defaults = _run_defaults(document, "defaults")
    raw_jobs = as_mapping(document.get("jobs"), "jobs")
    if not raw_jobs:
        raise WorkflowError(f"{path}: 'jobs' is missing or empty")
    jobs = {str(name): _job(str(name), as_mapping(raw, f"jobs.{name}"), defaults) for name, raw in raw_jobs.items()}
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
    strategy = as_mapping(raw.get("strategy"), f"{where}.strategy")
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
        needs=as_strings(raw.get("needs"), f"{where}.needs"),
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
            _step(as_mapping(step, f"{where}.steps[{index}]"), f"{where}.steps[{index}]")
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
    run = as_mapping(as_mapping(raw.get("defaults"), where).get("run"), f"{where}.run")
    return _text(run.get("shell")), _text(run.get("working-directory"))


def _texts(value: Any, where: str) -> Mapping[str, str]:
    return {str(key): _text(item) for key, item in as_mapping(value, where).items()}


def _text(value: Any) -> str:
    return as_text(value)


def is_workflow_file(path: str) -> bool:
    """Whether GitHub reads `path` as a workflow: a YAML file right in `.github/workflows`."""
    pure = PurePosixPath(path)
    return pure.parent == PurePosixPath(".github/workflows") and pure.suffix in (".yml", ".yaml")
