"""Runs one job: set-up, then its steps in order in a clean checkout, as GitHub's runner would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.clock import Clock, Deadline
from bot.sandbox.ci.command_files import CommandFileError, CommandFiles
from bot.sandbox.ci.commit import GitError, TestedCommit
from bot.sandbox.ci.contexts import (
    Rooms,
    RunAttempt,
    base_environment,
    event_payload,
    github_context,
    runner_context,
    runner_environment,
)
from bot.sandbox.ci.events import Conclusion, JobEnd, StepResult
from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.log import JobLog
from bot.sandbox.ci.matrix import Combination
from bot.sandbox.ci.processes import JobProcesses
from bot.sandbox.ci.shells import UnknownShell, command_line, script_command
from bot.sandbox.ci.templates import check_text, condition_holds, expand, read_condition
from bot.sandbox.ci.values import ExpressionError, Value, as_number
from bot.sandbox.ci.workflow import Job, Step, Workflow

JOB_MINUTES = 360.0
AFTER_TIMEOUT_SECONDS = 300.0
"""What the `if: always()` steps of a job have after its time is up, as on GitHub."""


class SetUpError(RuntimeError):
    """The job cannot start; one line for its log."""


@dataclass(frozen=True, slots=True)
class JobTask:
    """What one job is to do; `needs` is that context."""

    workflow: Workflow
    job: Job
    name: str
    combination: Combination
    commit: TestedCommit
    attempt: RunAttempt
    needs: Mapping[str, Value]
    directory: Path


def job_scope(task: JobTask, status: str = "success") -> Scope:
    """What the expressions of the job itself (not of its steps) can see."""
    github = github_context(task.commit, task.workflow.name, task.job.id, task.attempt, Rooms(task.directory))
    inputs = {**task.workflow.on[task.commit.event.name].inputs, **task.commit.event.inputs}
    contexts: Mapping[str, Value] = {
        "github": github,
        "inputs": inputs,
        "matrix": task.combination,
        "needs": task.needs,
    }
    return Scope(contexts, status)


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
            for text in (*fields, *step.env.values()):
                check_text(text)
            if step.run:
                command_line(step.shell or job.shell)
    except (ExpressionError, UnknownShell) as error:
        raise SetUpError(f"The sandbox cannot run job '{job.id}': {error}") from error


class JobRun:
    """One job being run, by one thread."""

    def __init__(self, task: JobTask, processes: JobProcesses) -> None:
        """`processes` is where another thread cancels the job. Makes the job's directory."""
        self._task = task
        self._job = task.job
        self._processes = processes
        self._rooms = Rooms(task.directory)
        for room in (self._rooms.home, self._rooms.temp, self._rooms.workspace.parent):
            room.mkdir(parents=True, exist_ok=True)
        self._log = JobLog(task.directory)
        self._scope = job_scope(task)
        self._status: Conclusion = "success"
        self._results: list[StepResult] = []
        self._contexts: dict[str, Value] = {}  # the `steps` context
        self._env: dict[str, str] = {}
        self._extra_path: list[str] = []
        self._deadline = Clock.reaction("job", JOB_MINUTES * 60)

    def execute(self) -> JobEnd:
        """Run the job to its end. Nothing it started is alive afterwards."""
        outputs: dict[str, str] = {}
        try:
            if self._set_up():
                for step in self._job.steps:
                    self._step(step)
                outputs = {name: expand(text, self._step_scope()) for name, text in self._job.outputs.items()}
        except ExpressionError as error:
            self._fail(str(error))
        finally:
            self._processes.end()
        if self._processes.cancelled:
            self._status = "cancelled"
            self._log.error("The operation was canceled.")
        started = _now()
        self._log.line("Cleaning up orphan processes")
        self._record("Complete job", "success", started)
        tolerated = self._status == "failure" and self._flag(self._job.continue_on_error)
        log = self._log.finish()
        return JobEnd(self._status, tuple(self._results), log, self._log.annotations, outputs, tolerated)

    def _set_up(self) -> bool:
        """The step "Set up job"; whether the others may run."""
        started = _now()
        commit = self._task.commit
        self._log.line(f"The sandbox runs job '{self._task.name}' of {self._task.workflow.path} on this machine.")
        try:
            check_job(self._job)
            self._env = {
                name: expand(text, self._scope) for name, text in {**self._task.workflow.env, **self._job.env}.items()
            }
            self._deadline = Clock.reaction("job", self._minutes(self._job.timeout_minutes, JOB_MINUTES) * 60)
            commit.check_out(self._rooms.workspace)
            self._rooms.event.write_text(json.dumps(event_payload(commit)), "utf-8")
        except (SetUpError, ExpressionError, GitError, OSError) as error:
            self._fail(str(error))
        else:
            self._log.line(f"Checked out {commit.sha} ({commit.ref})")
        self._record("Set up job", self._status, started)
        return self._status == "success"

    def _step(self, step: Step) -> None:
        started = _now()
        name = step.name or f"Run {(step.run or step.uses).strip().splitlines()[0]}"
        outcome: Conclusion = "skipped"
        outputs: Mapping[str, str] = {}
        tolerated = False
        try:
            scope = self._step_scope()
            name = expand(name, scope)
            if not self._processes.cancelled and condition_holds(step.condition, scope):
                env = {key: expand(text, scope) for key, text in step.env.items()}
                outcome, outputs = self._run(step, name, env) if step.run else (self._pass_over(step), {})
                tolerated = self._flag(step.continue_on_error)
        except (ExpressionError, CommandFileError, OSError) as error:
            outcome = "failure"
            self._log.error(str(error))
        conclusion: Conclusion = "success" if tolerated and outcome == "failure" else outcome
        self._record(name, conclusion, started)
        if step.id:
            self._contexts[step.id] = {"outcome": outcome, "conclusion": conclusion, "outputs": outputs}
        if conclusion in ("failure", "cancelled") and self._status == "success":
            self._status = conclusion

    def _pass_over(self, step: Step) -> Conclusion:
        """A `uses:` step. The checkout is there already; other actions are not fetched, and the log says so."""
        self._log.line(f"##[group]Run {step.uses}\n##[endgroup]")
        if step.uses.startswith("actions/checkout@"):
            self._log.line(f"The commit was checked out when the job was set up: {self._task.commit.sha}")
        else:
            self._log.line(f"not run in the sandbox: {step.uses}")
        return "success"

    def _run(self, step: Step, name: str, env: Mapping[str, str]) -> tuple[Conclusion, Mapping[str, str]]:
        """A `run:` step: its outcome and its outputs."""
        scope = self._step_scope(env)
        script = expand(step.run, scope)
        shell = step.shell or self._job.shell
        minutes = self._minutes(step.timeout_minutes, JOB_MINUTES)
        directory = expand(step.working_directory or self._job.working_directory, scope)
        cwd = self._rooms.workspace / directory
        files = CommandFiles.create(self._rooms.temp / f"step-{len(self._results) + 1}")
        path = files.directory / ("script.py" if shell == "python" else "script.sh")
        path.write_text(script if script.endswith("\n") else script + "\n", "utf-8")
        self._announce(script, shell, {**self._env, **env})
        whole = self._environment(env, files)
        if not cwd.is_dir():
            self._log.error(f"working-directory: there is no directory {directory!r}")
            return "failure", {}
        deadline = min(Clock.reaction("step", minutes * 60), self._deadline, key=lambda one: one.at)
        ended = self._processes.run(script_command(shell, path, whole["PATH"]), whole, cwd, deadline, self._log.output)
        outputs = files.pairs("GITHUB_OUTPUT")
        self._env |= files.pairs("GITHUB_ENV")
        self._extra_path = files.paths() + self._extra_path
        if ended.cancelled:
            return "cancelled", outputs
        if ended.timed_out:
            return self._timed_out(deadline, name, minutes), outputs
        if ended.code != 0:
            self._log.error(f"Process completed with exit code {ended.code}.")
            return "failure", outputs
        return "success", outputs

    def _timed_out(self, deadline: Deadline, name: str, minutes: float) -> Conclusion:
        """A step's own limit is a failure; the job's cancels the job, whose `if: always()` steps then have a while."""
        if deadline is not self._deadline:
            self._log.error(f"The action '{name}' has timed out after {minutes:g} minutes.")
            return "failure"
        limit = self._deadline.seconds / 60
        self._log.error(f"The job has exceeded the maximum execution time of {limit:g} minutes.")
        self._log.error("The operation was canceled.")
        self._deadline = Clock.reaction("job", AFTER_TIMEOUT_SECONDS)
        return "cancelled"

    def _announce(self, script: str, shell: str, env: Mapping[str, str]) -> None:
        """The folded head of a step's log."""
        lines = script.rstrip("\n").split("\n")
        self._log.line(f"##[group]Run {lines[0]}")
        for line in lines:
            self._log.line(f"\x1b[36;1m{line}\x1b[0m")
        self._log.line(f"shell: {command_line(shell)}")
        if env:
            self._log.line("\n".join(["env:", *(f"  {key}: {value}" for key, value in env.items())]))
        self._log.line("##[endgroup]")

    def _environment(self, env: Mapping[str, str], files: CommandFiles) -> Mapping[str, str]:
        github = self._scope.contexts["github"]
        assert isinstance(github, Mapping)
        whole = {
            **base_environment(self._rooms),
            **self._env,
            **env,
            **runner_environment(github, self._rooms),
            **files.environment(),
        }
        return {**whole, "PATH": ":".join([*self._extra_path, whole["PATH"]])}

    def _step_scope(self, env: Mapping[str, str] | None = None) -> Scope:
        contexts: Mapping[str, Value] = {
            **self._scope.contexts,
            "env": {**self._env, **(env or {})},
            "job": {"status": self._status},
            "runner": runner_context(self._rooms),
            "steps": self._contexts,
        }
        return Scope(contexts, self._status)

    def _minutes(self, text: str, default: float) -> float:
        if not text:
            return default
        minutes = as_number(expand(text, self._step_scope()))
        if not minutes > 0:
            raise ExpressionError(f"timeout-minutes: a number above 0 is needed, not {text!r}")
        return minutes

    def _flag(self, text: str) -> bool:
        return bool(text) and expand(text, self._step_scope()) == "true"

    def _fail(self, message: str) -> None:
        self._status = "failure"
        self._log.error(message)

    def _record(self, name: str, conclusion: Conclusion, started: datetime) -> None:
        self._results.append(StepResult(name, len(self._results) + 1, conclusion, started, _now()))


def _now() -> datetime:
    return datetime.now(UTC)
