"""What one job is to do, what its expressions see, and whether the sandbox can run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.sandbox.ci.commit import TestedCommit
from bot.sandbox.ci.contexts import Means, Rooms, RunAttempt, github_context
from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.host import JobHost
from bot.sandbox.ci.matrix import Combination
from bot.sandbox.ci.shells import UnknownShell, command_line
from bot.sandbox.ci.subscriptions import inputs_context
from bot.sandbox.ci.templates import check_text, read_condition
from bot.sandbox.ci.values import ExpressionError, Value
from bot.sandbox.ci.workflow import Job, Workflow


class SetUpError(RuntimeError):
    """The job cannot start; one line for its log."""


@dataclass(frozen=True, slots=True)
class JobTask:
    """What one job is to do; `needs` is that context."""

    host: JobHost
    workflow: Workflow
    job: Job
    name: str
    combination: Combination
    commit: TestedCommit
    attempt: RunAttempt
    needs: Mapping[str, Value]
    directory: Path


def job_scope(task: JobTask, status: str = "success", token: str = "") -> Scope:
    """What the expressions of the job itself (not of its steps) can see."""
    means = Means(task.host.api_url, task.host.server_url, token)
    dispatched = task.commit.event.name == "workflow_dispatch"
    declared = task.workflow.subscriptions.inputs if dispatched else {}
    contexts: Mapping[str, Value] = {
        "github": github_context(task.commit, task.workflow, task.job.id, task.attempt, Rooms(task.directory), means),
        "inputs": inputs_context(declared, task.commit.event.inputs),
        "matrix": task.combination,
        "needs": task.needs,
        "vars": task.host.variables(),
    }
    return Scope(contexts, status)


def secrets_context(host: JobHost, token: str) -> Mapping[str, Value]:
    """The `secrets` context: the repository's, and the job's own token."""
    return {**host.secrets(), "GITHUB_TOKEN": token}


def check_job(job: Job) -> None:
    """Everything about a job that can be known to be unreadable before its first step. Raises `SetUpError`."""
    if job.unsupported:
        raise SetUpError(
            f"jobs.{job.id}.{job.unsupported} is not in the sandbox: it runs `run:` steps of ordinary jobs only"
        )
    try:
        for text in (
            *job.env.values(),
            *job.outputs.values(),
            job.continue_on_error,
            job.timeout_minutes,
            job.working_directory,
        ):
            check_text(text)
        for step in job.steps:
            read_condition(step.condition)
            fields = (step.name, step.run, step.working_directory, step.continue_on_error, step.timeout_minutes)
            for text in (*fields, *step.env.values(), *step.inputs.values()):
                check_text(text)
            if step.run:
                command_line(step.shell or job.shell)
    except (ExpressionError, UnknownShell) as error:
        raise SetUpError(f"The sandbox cannot run job '{job.id}': {error}") from error
