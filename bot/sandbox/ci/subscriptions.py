"""What a workflow's `on:` says beyond the filters that all events share, and whether an event starts it. Pure.

Branches, tags, paths and the events that a test suite's workflow lives on are the matter of `bot.ci.filters`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.ci import filters
from bot.ci.filters import ChangedPaths, EventFilter
from bot.ci.triggers import WorkflowError, as_mapping, as_scalar, as_strings
from bot.sandbox.ci.events import CiEvent
from bot.sandbox.ci.values import Value, as_number

FILTERED = ("push", "pull_request", "workflow_dispatch")


class BadInputs(ValueError):
    """Inputs that GitHub refuses, in its words."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of `workflow_dispatch`; `options` is empty but for a `choice`."""

    kind: str
    required: bool
    default: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """`workflows` are the names under `workflow_run`, `crons` the times under `schedule`, `inputs` those of
    `workflow_dispatch`.
    """

    workflows: tuple[str, ...] = ()
    crons: tuple[str, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)


def read_subscriptions(on: Any) -> Subscriptions:
    """Read `on:`. Raises `WorkflowError`."""
    if not isinstance(on, Mapping):
        return Subscriptions()
    dispatch = as_mapping(on.get("workflow_dispatch"), "on.workflow_dispatch")
    inputs = as_mapping(dispatch.get("inputs"), "on.workflow_dispatch.inputs")
    return Subscriptions(
        workflows=_workflows(on),
        crons=_crons(on.get("schedule")),
        inputs={str(name): _input(str(name), spec) for name, spec in inputs.items()},
    )


def _workflows(on: Mapping[str, Any]) -> tuple[str, ...]:
    if "workflow_run" not in on:
        return ()
    names = as_strings(as_mapping(on["workflow_run"], "on.workflow_run").get("workflows"), "on.workflow_run.workflows")
    if not names:
        raise WorkflowError("on.workflow_run.workflows: the names of workflows are needed")
    return names


def _crons(schedule: Any) -> tuple[str, ...]:
    if schedule is None:
        return ()
    lines = [as_mapping(one, "on.schedule") for one in schedule] if isinstance(schedule, list) else []
    crons = tuple(as_scalar(line.get("cron")) for line in lines)
    if not crons or not all(len(cron.split()) == 5 for cron in crons):
        raise WorkflowError("on.schedule: a list of `cron:` with five fields each is needed")
    return crons


def _input(name: str, spec: Any) -> Input:
    where = f"on.workflow_dispatch.inputs.{name}"
    given = as_mapping(spec, where)
    return Input(
        kind=as_scalar(given.get("type")) or "string",
        required=given.get("required") is True,
        default=as_scalar(given.get("default")),
        options=as_strings(given.get("options"), f"{where}.options"),
    )


def asks_for(
    on: Mapping[str, EventFilter], subscriptions: Subscriptions, event: CiEvent, changed: ChangedPaths
) -> bool:
    """Whether a workflow with this `on:` runs for `event`."""
    if event.name in FILTERED:
        return filters.starts(on, event, changed)
    rule = on.get(event.name)
    if rule is None or (rule.types is not None and event.action not in rule.types):
        return False
    if event.name == "workflow_run":
        named = event.workflow in subscriptions.workflows
        return named and filters.name_passes(event.detail, rule.branches, rule.branches_ignore)
    if event.name == "schedule":
        return event.detail in ("", *subscriptions.crons)
    return True


def complete_inputs(inputs: Mapping[str, Input], given: Mapping[str, str]) -> Mapping[str, str]:
    """What a dispatch hands over: what was given, and defaults. Raises `BadInputs`."""
    if unexpected := [name for name in given if name not in inputs]:
        raise BadInputs(f"Unexpected inputs provided: {json.dumps(unexpected)}")
    for name, one in inputs.items():
        value = given.get(name, one.default)
        if one.required and not value:
            raise BadInputs(f"Required input '{name}' not provided")
        if one.options and value not in ("", *one.options):
            raise BadInputs(f"Provided value '{value}' for input '{name}' not in the list of allowed values")
    return {name: given.get(name, one.default) for name, one in inputs.items()}


def inputs_context(inputs: Mapping[str, Input], given: Mapping[str, str]) -> Mapping[str, Value]:
    """The `inputs` context: as `github.event.inputs`, but with booleans and numbers as such."""
    whole = {name: one.default for name, one in inputs.items()} | dict(given)
    return {name: _typed(inputs.get(name), value) for name, value in whole.items()}


def _typed(one: Input | None, value: str) -> Value:
    if one is not None and one.kind == "boolean":
        return value == "true"
    if one is not None and one.kind == "number" and value:
        return as_number(value)
    return value
