"""What a job's expressions and processes are told about the event: the `github` and `runner` contexts, and the
environment. Pure.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox.ci.commit import TestedCommit
from bot.sandbox.ci.values import Value
from bot.sandbox.ci.workflow import Workflow

EXPORTED = (
    *("actor", "api_url", "base_ref", "event_name", "event_path", "head_ref", "job", "ref", "ref_name", "ref_type"),
    *("repository", "repository_owner", "run_attempt", "run_id", "run_number", "server_url", "sha"),
    *("triggering_actor", "workflow", "workflow_ref", "workflow_sha", "workspace"),
)
"""The keys of the `github` context that steps also see as `GITHUB_…` variables."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """The directories of one job; all below one that is removed when the job has ended."""

    root: Path

    @property
    def workspace(self) -> Path:
        """The checkout, where steps start."""
        return self.root / "workspace"

    @property
    def temp(self) -> Path:
        """`RUNNER_TEMP` and `TMPDIR`."""
        return self.root / "temp"

    @property
    def home(self) -> Path:
        """`HOME`, empty at first."""
        return self.root / "home"

    @property
    def event(self) -> Path:
        """`GITHUB_EVENT_PATH`."""
        return self.root / "event.json"


@dataclass(frozen=True, slots=True)
class RunAttempt:
    """Which attempt of which workflow run; `number` counts from 1."""

    run_id: int
    number: int = 1


@dataclass(frozen=True, slots=True)
class Means:
    """What a job speaks to GitHub with; empty where it has no business there."""

    api_url: str = ""
    server_url: str = ""
    token: str = field(default="", repr=False)


def event_payload(commit: TestedCommit) -> Mapping[str, Value]:
    """The event's payload; where nobody gave one, the part of it that a workflow for tests may look at."""
    event = commit.event
    if event.payload:
        return event.payload
    payload: dict[str, Value] = {"repository": {"full_name": commit.full_name}, "ref": event.ref}
    if event.name == "push":
        payload |= {"before": event.before, "after": event.sha}
    elif event.name == "pull_request":
        head: Mapping[str, Value] = {"ref": event.ref.removeprefix("refs/heads/"), "sha": event.sha}
        pull: Mapping[str, Value] = {"number": event.number, "head": head, "base": {"ref": event.base}}
        payload |= {"action": event.action, "number": event.number, "pull_request": pull}
    else:
        payload |= {"inputs": dict(event.inputs), "workflow": event.workflow}
    return payload


def github_context(
    commit: TestedCommit, workflow: Workflow, job: str, attempt: RunAttempt, rooms: Rooms, means: Means
) -> Mapping[str, Value]:
    """The `github` context."""
    event = commit.event
    pull = event.name == "pull_request"
    return {
        "actor": event.actor,
        "api_url": means.api_url,
        "base_ref": event.base if pull else "",
        "event": event_payload(commit),
        "event_name": event.name,
        "event_path": str(rooms.event),
        "head_ref": event.ref.removeprefix("refs/heads/") if pull else "",
        "job": job,
        "ref": commit.ref,
        "ref_name": commit.ref.removeprefix("refs/heads/").removeprefix("refs/tags/").removeprefix("refs/pull/"),
        "ref_type": "tag" if commit.ref.startswith("refs/tags/") else "branch",
        "repository": commit.full_name,
        "repository_owner": commit.repository.parent.name,
        "run_attempt": str(attempt.number),
        "run_id": str(attempt.run_id),
        "run_number": str(attempt.run_id),
        "server_url": means.server_url,
        "sha": commit.sha,
        "token": means.token,
        "triggering_actor": event.actor,
        "workflow": workflow.name,
        "workflow_ref": f"{commit.full_name}/{workflow.path}@{commit.ref}",
        "workflow_sha": commit.sha,
        "workspace": str(rooms.workspace),
    }


def runner_context(rooms: Rooms) -> Mapping[str, Value]:
    """The `runner` context."""
    return {"os": "Linux", "arch": "X64", "name": "sandbox", "temp": str(rooms.temp)}


def base_environment(rooms: Rooms) -> Mapping[str, str]:
    """What a step's own `env:` may replace. Only PATH comes from the parent: the rest may be secrets."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(rooms.home),
        "TMPDIR": str(rooms.temp),
        "LANG": "C.UTF-8",
        "CI": "true",
    }


def runner_environment(github: Mapping[str, Value], rooms: Rooms) -> Mapping[str, str]:
    """The runner's own variables, which nothing replaces."""
    exported = {f"GITHUB_{key.upper()}": str(value) for key, value in github.items() if key in EXPORTED}
    return {
        **exported,
        "GITHUB_ACTIONS": "true",
        "RUNNER_OS": "Linux",
        "RUNNER_ARCH": "X64",
        "RUNNER_NAME": "sandbox",
        "RUNNER_TEMP": str(rooms.temp),
    }
