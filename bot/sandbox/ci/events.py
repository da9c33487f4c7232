"""What the sandbox's CI and the embedded GitHub say to each other: an event in, workflow runs and jobs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from bot.sandbox.ci.values import Value

Conclusion = Literal["success", "failure", "skipped", "cancelled"]
OF_PULL_REQUESTS = ("pull_request", "pull_request_review")
"""The events whose workflows are read from, and run on, the merge of a pull request's head into its base."""
Approval = Literal["", "fork", "job token"]
"""Why a run waits for somebody: as a fork's pull request would, or for a job's own token; "" for not at all."""


@dataclass(frozen=True, slots=True)
class CiEvent:
    """Something that may start workflows.

    `name` is GitHub's (`push`, `pull_request`, `issues`, `workflow_run`, ...), `action` its activity type (`opened`,
    `labeled`, `completed`, ...; for `repository_dispatch` its type), else empty. `ref` is full (`refs/heads/x`; for a
    pull request that of its head branch), `sha` the head commit; events about neither a push nor a pull request are
    about the default branch. `base` is the pull request's base branch. `before` is the commit that the ref held before
    the push, or the merge base of a pull request; empty or all zeros when unknown. `number` is the issue's or pull
    request's, or the id of the workflow run, check suite or commit status. `workflow` is the file name to dispatch, or
    the name of the workflow that has run; `inputs` are a dispatch's. `detail` is an issue's label, a workflow run's
    branch, a review's id, or the schedule. `approval` says why its runs wait for somebody; empty when they do not.
    `payload` is the webhook's; without one a small one is made up.
    """

    name: str
    action: str
    ref: str
    sha: str
    base: str = ""
    before: str = ""
    number: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)
    workflow: str = ""
    detail: str = ""
    actor: str = "sandbox"
    approval: Approval = ""
    payload: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step of a finished job; `number` counts from 1, which is "Set up job"."""

    name: str
    number: int
    conclusion: Conclusion
    started_at: datetime
    completed_at: datetime


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note on a line of a file; `level` as the check runs API has it. Without a file it stands on `.github`, line 1,
    as GitHub puts it.
    """

    level: Literal["notice", "warning", "failure"]
    message: str
    path: str = ".github"
    start_line: int = 1
    end_line: int = 1
    title: str | None = None


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended. `log` is the whole job log (at most 64 MiB), empty where there is none; `summary` what its steps
    wrote for people; `tolerated`: `continue-on-error` keeps a failure from the run.
    """

    conclusion: Conclusion
    steps: Sequence[StepResult] = ()
    log: bytes = b""
    annotations: Sequence[Annotation] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    tolerated: bool = False
    summary: str = ""
    temp: Path | None = None
    """Where its temporary files are kept, if they are."""


class CiPublisher(Protocol):
    """Where workflow runs and jobs are shown. Called from the engine's threads, in order for one workflow run."""

    def workflow_started(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow run exists now, in progress; its id."""

    def workflow_held(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow run exists now and waits for somebody's approval; its id."""

    def job_queued(self, run_id: int, name: str) -> int:
        """A job exists now; its id (also its check run's). As on GitHub, a job that `needs` others appears when those
        have ended.
        """

    def job_started(self, job_id: int) -> None:
        """The job has a worker. Not called for a job that is skipped, or cancelled while it was queued."""

    def job_finished(self, job_id: int, end: JobEnd) -> None:
        """The job has ended."""

    def workflow_finished(self, run_id: int, conclusion: str) -> None:
        """The run has ended: `success`, `failure`, `cancelled`, `skipped` or `startup_failure` (a workflow that cannot
        be read).
        """
