"""One job played by act: in a clean checkout of the commit under test, with no credential, and for so long at most."""

from __future__ import annotations

import json
import socket
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from bot.clock import Clock
from bot.rehearsal import words
from bot.rehearsal.act import Act
from bot.rehearsal.act_shells import listening_path
from bot.rehearsal.act_told import Told
from bot.rehearsal.act_workflow import STAND_IN, one_job
from bot.sandbox.ci.commit import GitError, git
from bot.sandbox.ci.contexts import Rooms, event_payload
from bot.sandbox.ci.events import Annotation, JobEnd, StepResult
from bot.sandbox.ci.job_task import JobTask, job_scope
from bot.sandbox.ci.log import JobLog
from bot.sandbox.ci.processes import Ended, JobProcesses, Start
from bot.sandbox.ci.runs import Play
from bot.sandbox.ci.templates import expand
from bot.sandbox.ci.values import ExpressionError, as_number
from bot.sandbox.ci.workflow import Step

_HERE = "-self-hosted"
"""act's word for no container: the job's commands run on this machine."""
_ON_THIS_MACHINE = "ubuntu-latest"
_LABEL = "nightjar.rehearsal"
_REMOVE_SECONDS = 60


def by_act(act: Act, minutes: float) -> Play:
    """Plays jobs by `act`, each for real `minutes` at most, or for its own `timeout-minutes` where that is less."""
    return lambda task, processes: _ActJob(act, minutes, task, processes).execute()


class _ActJob:
    def __init__(self, act: Act, minutes: float, task: JobTask, processes: JobProcesses) -> None:
        self._act = act
        self._task = task
        self._processes = processes
        self._rooms = Rooms(task.directory)
        self._minutes = minutes
        self._mark = uuid.uuid4().hex
        for room in (self._rooms.home, self._rooms.temp):
            room.mkdir(parents=True, exist_ok=True)
        processes.root = task.directory
        self._log = JobLog(task.directory)
        self._told = Told(task.job, self._log, self._tolerated)

    def execute(self) -> JobEnd:
        """Play the job to its end. Nothing that it started is alive afterwards."""
        started = datetime.now(UTC)
        self._log.line(words.ACT_PLAYS.format(act=self._act.said, job=self._task.name, file=self._task.workflow.path))
        ended = None
        try:
            ended = self._play()
        except (GitError, ExpressionError, OSError) as error:
            self._told.trouble = str(error).splitlines()[0]
            self._log.error(str(error))
        finally:
            self._processes.end()
            self._remove_containers()
        if ended is not None and ended.timed_out:
            self._log.error(f"The job has exceeded the maximum execution time of {self._minutes:g} minutes.")
        if self._processes.cancelled or (ended is not None and ended.timed_out):
            self._log.error("The operation was canceled.")
            return self._end("cancelled", started)
        if self._told.result == "success":
            return self._end("success", started)
        return self._end("failure" if self._told.failed else "skipped", started)

    def _end(self, conclusion: str, started: datetime) -> JobEnd:
        told = self._told
        steps = told.steps or [StepResult("Set up job", 1, "success", started, datetime.now(UTC))]
        notes = self._log.annotations
        if conclusion == "skipped":  # no step of its own has failed, and it has not ended well
            why = words.ACT_COULD_NOT.format(act=self._act.said, why=told.trouble or words.ACT_NO_RESULT)
            return JobEnd("skipped", (), self._log.finish(), (Annotation("notice", why),))
        end = partial(JobEnd, steps=steps, log=self._log.finish(), annotations=notes, summary=told.summary)
        if conclusion == "success":
            return end("success", outputs=told.outputs)
        if conclusion == "cancelled":
            return end("cancelled")
        return end("failure", outputs=told.outputs, tolerated=self._flag(self._task.job.continue_on_error))

    def _play(self) -> Ended:
        """Give act the job, and listen to its end. Raises `GitError`, `ExpressionError`, `OSError`."""
        task, rooms = self._task, self._rooms
        if task.job.timeout_minutes:
            own = as_number(expand(task.job.timeout_minutes, job_scope(task)))
            self._minutes = min(self._minutes, own) if own > 0 else self._minutes
        task.commit.check_out(rooms.workspace)
        # act copies the files of the checkout: without a ref, .git would have no folder for refs, and be no repository.
        git(rooms.workspace, "update-ref", f"refs/remotes/{task.commit.ref.removeprefix('refs/')}", task.commit.sha)
        self._log.line(f"Checked out {task.commit.sha} ({task.commit.ref})")
        text = (rooms.workspace / task.workflow.path).read_text(encoding="utf-8", errors="replace")
        runs_on = "" if self._act.docker_host else _ON_THIS_MACHINE
        (rooms.root / "workflow.yml").write_text(one_job(text, task, runs_on), encoding="utf-8")
        rooms.event.write_text(json.dumps(event_payload(task.commit)), encoding="utf-8")
        (rooms.root / "empty").touch()
        place = rooms.root / "act"  # whatever lies in the folder that act is started in may be options for it
        place.mkdir()
        deadline = Clock.reaction("job", self._minutes * 60)
        command = Start([self._act.program, *self._options()], self._environment(), place)
        return self._processes.run(command, deadline, self._told.heard)

    def _options(self) -> Iterator[str]:
        task, rooms, empty = self._task, self._rooms, str(self._rooms.root / "empty")
        yield from (task.commit.event.name, "--job", task.job.id, "--json", "--actor", task.commit.event.actor)
        yield from ("--directory", str(rooms.workspace), "--workflows", str(rooms.root / "workflow.yml"))
        yield from ("--eventpath", str(rooms.event), "--action-cache-path", str(rooms.root / "cache"))
        yield from ("--use-gitignore=false", "--pull=false", "--no-cache-server", "--container-daemon-socket", "-")
        # Without a token act asks the user's own `gh` for one.
        yield from ("--secret", "GITHUB_TOKEN=", "--secret-file", empty)
        yield from ("--env-file", empty, "--var-file", empty, "--input-file", empty)
        yield from ("--artifact-server-path", str(rooms.root.parent / "artifacts"))
        yield from ("--artifact-server-addr", "127.0.0.1", "--artifact-server-port", str(_free_port()))
        for name, value in self._variables().items():
            yield from ("--env", f"{name}={value}")
        for name, value in task.host.variables().items():
            yield from ("--var", f"{name}={value}")
        yield from ("--platform", f"{STAND_IN}={_HERE}")
        if self._act.docker_host:
            for label, image in self._act.images.items():
                yield from ("--platform", f"{label}={image}")
            yield from ("--container-options", f"--label {_LABEL}={self._mark}")
        else:
            yield from ("--platform", f"{_ON_THIS_MACHINE}={_HERE}")

    def _variables(self) -> Mapping[str, str]:
        """What act cannot know of the repository and the run."""
        commit, attempt = self._task.commit, self._task.attempt
        return {
            "GITHUB_REPOSITORY": commit.full_name,
            "GITHUB_REPOSITORY_OWNER": commit.full_name.partition("/")[0],
            "GITHUB_REF": commit.ref,
            "GITHUB_RUN_ID": str(attempt.run_id),
            "GITHUB_RUN_ATTEMPT": str(attempt.number),
            "PAGER": "cat",  # act gives steps a terminal, at which a pager would wait for somebody
            "GIT_PAGER": "cat",
        }

    def _environment(self) -> Mapping[str, str]:
        """act's own. On this machine its steps inherit it: nothing of the user's is in it but PATH."""
        path = self._act.path
        own = {
            "PATH": path if self._act.docker_host else listening_path(self._rooms.root / "shells", path),
            "HOME": str(self._rooms.home),
            "XDG_CACHE_HOME": str(self._rooms.root / "cache"),
            "XDG_CONFIG_HOME": str(self._rooms.home),
            "TMPDIR": str(self._rooms.temp),
            "LANG": "C.UTF-8",
        }
        return {**own, "DOCKER_HOST": self._act.docker_host} if self._act.docker_host else own

    def _remove_containers(self) -> None:
        """The containers of a job that act was not given the time to remove."""
        if not self._act.docker_host:
            return
        docker = partial(
            subprocess.run,
            env=dict(self._environment()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_REMOVE_SECONDS,
            check=False,
        )
        with suppress(OSError, subprocess.TimeoutExpired):
            left = docker(["docker", "ps", "--all", "--quiet", "--filter", f"label={_LABEL}={self._mark}"])
            if ids := left.stdout.split():
                docker(["docker", "rm", "--force", "--volumes", *ids])

    def _tolerated(self, step: Step) -> bool:
        return self._flag(step.continue_on_error)

    def _flag(self, text: str) -> bool:
        with suppress(ExpressionError):
            return bool(text) and expand(text, job_scope(self._task)) == "true"
        return False


def _free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
