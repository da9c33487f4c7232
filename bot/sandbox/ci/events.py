"""What the sandbox's CI and the embedded GitHub say to each other: an event in, workflow runs and jobs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Conclusion = Literal["success", "failure", "skipped", "cancelled"]


@dataclass(frozen=True, slots=True)
class CiEvent:
    """Something that may start workflows.

    `name` is `push`, `pull_request` or `workflow_dispatch`; `action` is the pull request's (`opened`, `synchronize`,
    `reopened`, `ready_for_review`, ...), else empty. `ref` is full (`refs/heads/x`; for a pull request that of its head
    branch), `sha` the head commit. `base` is the pull request's base branch. `before` is the commit that the ref held
    before the push, or the merge base of a pull request; empty or all zeros when unknown. `workflow` is the file name
    to dispatch, `inputs` its inputs.
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
    """How a job ended. `log` is the whole job log (at most 64 MiB); `tolerated`: `continue-on-error` keeps a failure
    from the run.
    """

    conclusion: Conclusion
    steps: Sequence[StepResult] = ()
    log: bytes = b""
    annotations: Sequence[Annotation] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    tolerated: bool = False


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
