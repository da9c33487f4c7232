"""Runs one job: set-up, then its steps in order in a clean checkout, as GitHub's runner would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot.clock import Clock, Deadline
from bot.sandbox.ci.command_files import CommandFileError, CommandFiles
from bot.sandbox.ci.commit import GitError
from bot.sandbox.ci.contexts import (
    Rooms,
    base_environment,
    event_payload,
    runner_context,
    runner_environment,
)
from bot.sandbox.ci.events import Conclusion, JobEnd, StepResult
from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.host import Action
from bot.sandbox.ci.job_task import JobTask, SetUpError, check_job, job_scope, secrets_context
from bot.sandbox.ci.log import JobLog
from bot.sandbox.ci.processes import JobProcesses, Start
from bot.sandbox.ci.shells import command_line, script_command
from bot.sandbox.ci.templates import condition_holds, expand
from bot.sandbox.ci.values import ExpressionError, Value, as_number
from bot.sandbox.ci.workflow import Step

JOB_MINUTES = 360.0
AFTERWARDS_SECONDS = 300.0
"""What the `if: always()` steps of a job have after its time is up or it was cancelled, as on GitHub."""
CHECKOUT = "actions/checkout@"


class JobRun:
    """One job being run, by one thread."""

    def __init__(self, task: JobTask, processes: JobProcesses) -> None:
        """`processes` is where another thread stops the job. Makes the job's directory."""
        self._task = task
        self._job = task.job
        self._processes = processes
        self._rooms = Rooms(task.directory)
        for room in (self._rooms.home, self._rooms.temp, self._rooms.workspace.parent):
            room.mkdir(parents=True, exist_ok=True)
        processes.root = task.directory
        self._log = JobLog(task.directory)
        self._summary: list[str] = []
        self._token = ""
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
                    if not self._processes.killed:
                        self._step(step)
                outputs = {name: expand(text, self._step_scope()) for name, text in self._job.outputs.items()}
        except ExpressionError as error:
            self._fail(str(error))
        finally:
            self._processes.end()
        if self._processes.cancelled:
            self._status = "cancelled"
            if self._processes.killed:
                self._log.error("The operation was canceled.")
        started = _now()
        self._log.line("Cleaning up orphan processes")
        self._record("Complete job", "success", started)
        tolerated = self._status == "failure" and self._flag(self._job.continue_on_error)
        return JobEnd(
            conclusion=self._status,
            steps=tuple(self._results),
            log=self._log.finish(),
            annotations=self._log.annotations,
            outputs=outputs,
            tolerated=tolerated,
            summary="".join(self._summary),
            temp=self._hand_back(),
        )

    def _hand_back(self) -> Path | None:
        """Give the job's token back; where its temporary files are kept."""
        attempt = self._task.attempt
        name = f"{attempt.run_id}-{attempt.number}-{self._task.directory.name}"
        return self._task.host.job_over(self._token, name, self._rooms)

    def _set_up(self) -> bool:
        """The step "Set up job"; whether the others may run."""
        started = _now()
        commit = self._task.commit
        self._log.line(f"The sandbox runs job '{self._task.name}' of {self._task.workflow.path} on this machine.")
        try:
            check_job(self._job)
            self._introduce()
            self._env = {
                name: expand(text, self._scope) for name, text in {**self._task.workflow.env, **self._job.env}.items()
            }
            self._deadline = Clock.reaction("job", self._minutes(self._job.timeout_minutes, JOB_MINUTES) * 60)
            self._prepare_workspace()
            self._rooms.event.write_text(json.dumps(event_payload(commit)), "utf-8")
        except (SetUpError, ExpressionError, GitError, OSError) as error:
            self._fail(str(error))
        self._record("Set up job", self._status, started)
        return self._status == "success"

    def _introduce(self) -> None:
        """Give the job its token, and hide it and the secrets in the log."""
        host = self._task.host
        permissions = self._task.workflow.permissions if self._job.permissions is None else self._job.permissions
        self._token = host.issue_token(permissions)
        self._scope = job_scope(self._task, token=self._token)
        for secret in (self._token, *host.secrets().values()):
            self._log.mask(secret)

    def _prepare_workspace(self) -> None:
        """A checkout; an empty folder for a job that runs an action of the sandbox and asks for no checkout."""
        uses = [step.uses for step in self._job.steps]
        if any(map(self._task.host.action, uses)) and not any(one.startswith(CHECKOUT) for one in uses):
            self._rooms.workspace.mkdir()
            return
        commit = self._task.commit
        commit.check_out(self._rooms.workspace)
        self._log.line(f"Checked out {commit.sha} ({commit.ref})")

    def _standing(self) -> str:
        """How the job stands, as `job.status` and the status functions have it."""
        return "cancelled" if self._processes.cancelled else self._status

    def _step(self, step: Step) -> None:
        started = _now()
        name = step.name or f"Run {(step.run or step.uses).strip().splitlines()[0]}"
        outcome: Conclusion = "skipped"
        outputs: Mapping[str, str] = {}
        tolerated = False
        try:
            scope = self._step_scope()
            name = expand(name, scope)
            if condition_holds(step.condition, scope):
                env = {key: expand(text, scope) for key, text in step.env.items()}
                outcome, outputs = self._perform(step, name, env)
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

    def _perform(self, step: Step, name: str, env: Mapping[str, str]) -> tuple[Conclusion, Mapping[str, str]]:
        """Run a step whose condition holds: its outcome and its outputs."""
        if step.run:
            return self._run_script(step, name, env)
        action = self._task.host.action(step.uses)
        return self._run_action(step, action, name, env) if action else (self._pass_over(step), {})

    def _pass_over(self, step: Step) -> Conclusion:
        """A `uses:` step. The checkout is there already; other actions are not fetched, and the log says so."""
        self._log.line(f"##[group]Run {step.uses}\n##[endgroup]")
        if step.uses.startswith(CHECKOUT):
            self._log.line(f"The commit was checked out when the job was set up: {self._task.commit.sha}")
        else:
            self._log.line(f"not run in the sandbox: {step.uses}")
        return "success"

    def _run_script(self, step: Step, name: str, env: Mapping[str, str]) -> tuple[Conclusion, Mapping[str, str]]:
        """A `run:` step."""
        scope = self._step_scope(env)
        script = expand(step.run, scope)
        shell = step.shell or self._job.shell
        directory = expand(step.working_directory or self._job.working_directory, scope)
        files = self._command_files()
        path = files.directory / ("script.py" if shell == "python" else "script.sh")
        path.write_text(script if script.endswith("\n") else script + "\n", "utf-8")
        self._announce(script, f"shell: {command_line(shell)}", {**self._env, **env})
        whole = self._environment(env, files)
        cwd = self._rooms.workspace / directory
        if not cwd.is_dir():
            self._log.error(f"working-directory: there is no directory {directory!r}")
            return "failure", {}
        return self._start(step, name, files, Start(script_command(shell, path, whole["PATH"]), whole, cwd))

    def _run_action(
        self, step: Step, action: Action, name: str, env: Mapping[str, str]
    ) -> tuple[Conclusion, Mapping[str, str]]:
        """A step whose action the sandbox has: its inputs are those of `with:`, else the action's defaults."""
        scope = self._step_scope(env)
        given = {key: expand(text, scope) for key, text in step.inputs.items()}
        inputs = {key: given.get(key, expand(text, scope)) for key, text in action.inputs.items()}
        self._announce(step.uses, "with: " + ", ".join(sorted(given)), {**self._env, **env})
        if unexpected := sorted(given.keys() - inputs.keys()):
            self._log.output(f"::warning::Unexpected input(s) {', '.join(map(repr, unexpected))}".encode())
        files = self._command_files()
        command = action.command(inputs, self._rooms)
        whole = {**self._environment(env, files), **command.environment}
        start = Start(command.argv, whole, self._rooms.workspace)
        outcome, outputs = self._start(step, name, files, start)
        return outcome, {key: value for key, value in outputs.items() if key in action.outputs}

    def _command_files(self) -> CommandFiles:
        return CommandFiles.create(self._rooms.temp / f"step-{len(self._results) + 1}")

    def _start(self, step: Step, name: str, files: CommandFiles, start: Start) -> tuple[Conclusion, Mapping[str, str]]:
        """Run a step's program to its end: its outcome and its outputs."""
        minutes = self._minutes(step.timeout_minutes, JOB_MINUTES)
        if self._processes.interrupted:
            self._deadline = min(self._deadline, Clock.reaction("job", AFTERWARDS_SECONDS), key=lambda one: one.at)
        deadline = min(Clock.reaction("step", minutes * 60), self._deadline, key=lambda one: one.at)
        always = condition_holds(step.condition, replace(self._step_scope(), status="cancelled"))
        ended = self._processes.run(replace(start, unhindered=always), deadline, self._log.output)
        outputs = files.pairs("GITHUB_OUTPUT")
        self._env |= files.pairs("GITHUB_ENV")
        self._extra_path = files.paths() + self._extra_path
        self._summary.append(files.read("GITHUB_STEP_SUMMARY"))
        if ended.cancelled:
            if not self._processes.killed:
                self._log.error("The operation was canceled.")
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
        self._deadline = Clock.reaction("job", AFTERWARDS_SECONDS)
        return "cancelled"

    def _announce(self, script: str, how: str, env: Mapping[str, str]) -> None:
        """The folded head of a step's log."""
        lines = script.rstrip("\n").split("\n")
        self._log.line(f"##[group]Run {lines[0]}")
        for line in lines:
            self._log.line(f"\x1b[36;1m{line}\x1b[0m")
        self._log.line(how)
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
            "job": {"status": self._standing()},
            "runner": runner_context(self._rooms),
            "secrets": secrets_context(self._task.host, self._token),
            "steps": self._contexts,
        }
        return Scope(contexts, self._standing())

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


def by_steps(task: JobTask, processes: JobProcesses) -> JobEnd:
    """Run a job by its `run:` steps."""
    return JobRun(task, processes).execute()


def _now() -> datetime:
    return datetime.now(UTC)
