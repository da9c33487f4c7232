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
from bot.sandbox.ci.subscriptions import Subscriptions, read_subscriptions
from bot.sandbox.ci.values import Value, as_text

PERMISSIONS = (
    *("actions", "attestations", "checks", "contents", "deployments", "discussions", "id-token", "issues", "models"),
    *("packages", "pages", "pull-requests", "security-events", "statuses"),
)
"""What `permissions:` may name."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The group that a workflow or job runs in, and whether it waits for the one that holds it; both may be
    expressions.
    """

    group: str
    cancel_in_progress: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `run` is its script, or `uses` its action, with `inputs`."""

    name: str
    id: str
    run: str
    uses: str
    inputs: Mapping[str, str]
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
    permissions: Mapping[str, str] | None
    """What its token may do, as the API names it (`pull_requests`); None: as the workflow says."""
    concurrency: Concurrency | None
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
    subscriptions: Subscriptions
    permissions: Mapping[str, str] | None
    concurrency: Concurrency | None


@dataclass(frozen=True, slots=True)
class Broken:
    """A workflow that cannot be read; `on` and `subscriptions` are what could be read of its triggers (None: not even
    those).
    """

    path: str
    problem: str
    on: Mapping[str, EventFilter] | None = None
    subscriptions: Subscriptions = field(default_factory=Subscriptions)


def read_workflow(path: str, text: str) -> Workflow | Broken:
    """Read one workflow file."""
    import yaml  # here, because it is slow to import

    on: Mapping[str, EventFilter] | None = None
    subscriptions = Subscriptions()
    try:
        document = as_mapping(load(text), path)
        if "on" not in document:
            raise WorkflowError(f"{path}: 'on' is missing")
        on = read_triggers(document["on"])
        subscriptions = read_subscriptions(document["on"])
        return _workflow(path, document, on, subscriptions)
    except yaml.YAMLError as error:
        return Broken(path, f"{path}: not YAML: {' '.join(str(error).split())}")
    except WorkflowError as error:
        return Broken(path, str(error), on, subscriptions)


def _workflow(
    path: str, document: Mapping[str, Any], on: Mapping[str, EventFilter], subscriptions: Subscriptions
) -> Workflow:
    defaults = _run_defaults(document, "defaults")
    raw_jobs = as_mapping(document.get("jobs"), "jobs")
    if not raw_jobs:
        raise WorkflowError(f"{path}: 'jobs' is missing or empty")
    jobs = {str(name): _job(str(name), as_mapping(raw, f"jobs.{name}"), defaults) for name, raw in raw_jobs.items()}
    _check_needs(jobs)
    return Workflow(
        path=path,
        name=_text(document.get("name")) or path,
        on=on,
        env=_texts(document.get("env"), "env"),
        jobs=jobs,
        subscriptions=subscriptions,
        permissions=_permissions(document.get("permissions"), "permissions"),
        concurrency=_concurrency(document.get("concurrency"), "concurrency"),
    )


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
        permissions=_permissions(raw.get("permissions"), f"{where}.permissions"),
        concurrency=_concurrency(raw.get("concurrency"), f"{where}.concurrency"),
        unsupported=unsupported,
    )


def _permissions(value: Any, where: str) -> Mapping[str, str] | None:
    if value is None:
        return None
    if value in ("read-all", "write-all"):
        return {name.replace("-", "_"): value.removesuffix("-all") for name in PERMISSIONS}
    given = _texts(value, where)
    for name, level in given.items():
        if name not in PERMISSIONS or level not in ("read", "write", "none"):
            allowed = f"read, write or none for one of {', '.join(PERMISSIONS)}"
            raise WorkflowError(f"{where}: {name}: {level} is unknown; allowed is {allowed}")
    return {name.replace("-", "_"): level for name, level in given.items()}


def _concurrency(value: Any, where: str) -> Concurrency | None:
    if value is None:
        return None
    if isinstance(value, str):
        return Concurrency(value)
    given = as_mapping(value, where)
    if not _text(given.get("group")):
        raise WorkflowError(f"{where}: a group is needed")
    return Concurrency(_text(given["group"]), _text(given.get("cancel-in-progress")))


def _step(raw: Mapping[str, Any], where: str) -> Step:
    run, uses = _text(raw.get("run")), _text(raw.get("uses"))
    if bool(run) == bool(uses):
        raise WorkflowError(f"{where}: a step has either 'run' or 'uses'")
    return Step(
        name=_text(raw.get("name")),
        id=_text(raw.get("id")),
        run=run,
        uses=uses,
        inputs=_texts(raw.get("with"), f"{where}.with"),
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
