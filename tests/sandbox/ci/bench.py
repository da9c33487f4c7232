"""A real bare repository, and a publisher that records what the sandbox's CI told it."""

from __future__ import annotations

import os
import subprocess
import textwrap
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox.ci import Annotation, CiEngine, CiEvent, JobEnd, StepResult

IDLE_SECONDS = 20.0
ZERO = "0" * 40


@dataclass
class RecordedJob:
    """A job as the publisher was told about it."""

    name: str
    started: bool = False
    conclusion: str = ""
    steps: Sequence[StepResult] = ()
    log: str = ""
    annotations: Sequence[Annotation] = ()

    def step(self, name: str) -> str:
        """The conclusion of the step called `name`."""
        return next(step.conclusion for step in self.steps if step.name == name)

    def output(self) -> list[str]:
        """The log's lines without time stamps."""
        return [line.partition(" ")[2] for line in self.log.removeprefix("\ufeff").splitlines()]


@dataclass
class RecordedRun:
    """A workflow run as the publisher was told about it."""

    path: str
    name: str
    event: CiEvent
    conclusion: str = ""
    jobs: list[RecordedJob] = field(default_factory=list)

    def job(self, name: str) -> RecordedJob:
        """The one job called `name`."""
        (found,) = [job for job in self.jobs if job.name == name]
        return found


class RecordingPublisher:
    """Keeps everything; ids are positions."""

    def __init__(self) -> None:
        self.runs: list[RecordedRun] = []
        self._jobs: list[RecordedJob] = []
        self._lock = threading.Lock()

    def workflow_started(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        self.runs.append(RecordedRun(workflow_path, workflow_name, event))
        return len(self.runs) - 1

    def workflow_held(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        self.runs.append(RecordedRun(workflow_path, workflow_name, event, "action_required"))
        return len(self.runs) - 1

    def job_queued(self, run_id: int, name: str) -> int:
        job = RecordedJob(name)
        with self._lock:
            self.runs[run_id].jobs.append(job)
            self._jobs.append(job)
            return len(self._jobs) - 1

    def job_started(self, job_id: int) -> None:
        self._jobs[job_id].started = True

    def job_finished(self, job_id: int, end: JobEnd) -> None:
        job = self._jobs[job_id]
        assert not job.conclusion, f"{job.name} ended twice"
        job.conclusion, job.steps, job.log = end.conclusion, end.steps, end.log.decode()
        job.annotations = end.annotations

    def workflow_finished(self, run_id: int, conclusion: str) -> None:
        run = self.runs[run_id]
        assert not run.conclusion, f"{run.name} ended twice"
        assert all(job.conclusion for job in run.jobs)
        run.conclusion = conclusion


class Widget:
    """The bare repository acme/widget with a work tree beside it."""

    def __init__(self, root: Path) -> None:
        self.bare = root / "acme" / "widget.git"
        self.tree = root / "tree"
        self.git(root, "init", "-q", "--bare", "-b", "main", str(self.bare))
        self.git(root, "init", "-q", "-b", "main", str(self.tree))
        self.git(self.tree, "remote", "add", "origin", str(self.bare))

    @staticmethod
    def git(directory: Path, *arguments: str) -> str:
        """Run git as alice, without the machine's configuration."""
        identity = {f"GIT_{who}_NAME": "alice" for who in ("AUTHOR", "COMMITTER")}
        identity |= {f"GIT_{who}_EMAIL": "alice@example.com" for who in ("AUTHOR", "COMMITTER")}
        env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **identity}
        return subprocess.run(
            ["git", "-C", str(directory), *arguments], env=env, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, files: Mapping[str, str], message: str = "Change", branch: str = "main", start: str = "") -> str:
        """Commit `files` on `branch` (made from `start` when given) and push it; the commit's id."""
        self.git(self.tree, "checkout", "-q", *(["-B", branch, start] if start else ["-B", branch]))
        for name, text in files.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git(self.tree, "add", "-A")
        self.git(self.tree, "commit", "-q", "--allow-empty", "-m", message)
        self.git(self.tree, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        return self.git(self.tree, "rev-parse", "HEAD")


@dataclass
class Bench:
    """The engine with its repository and its publisher."""

    engine: CiEngine
    publisher: RecordingPublisher
    widget: Widget
    workroom: Path

    def run(self, event: CiEvent) -> list[RecordedRun]:
        """The workflow runs that `event` led to, once all have ended."""
        before = len(self.publisher.runs)
        self.engine.start(self.widget.bare, event)
        assert self.engine.idle(IDLE_SECONDS), "the jobs did not end"
        return self.publisher.runs[before:]

    def push(self, sha: str, branch: str = "main", before: str = ZERO) -> list[RecordedRun]:
        """A push of `sha` to `branch`."""
        return self.run(CiEvent("push", "", f"refs/heads/{branch}", sha, before=before))

    def workflow(self, text: str, files: Mapping[str, str] | None = None) -> RecordedRun:
        """Push one workflow to main; its run."""
        sha = self.widget.commit({".github/workflows/ci.yml": textwrap.dedent(text), **(files or {})})
        (run,) = self.push(sha)
        return run

    def steps(self, text: str, **files: str) -> RecordedJob:
        """Push a workflow of one job `test` with these steps (YAML); the job."""
        head = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n"
        run = self.workflow(head + textwrap.indent(textwrap.dedent(text), "      "), files)
        return run.job("test")
