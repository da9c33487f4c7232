"""GitHub Actions for a repository of the embedded GitHub, with Nightjar's own action in them.

    actions = SandboxActions(hub, repository, folder, Story(scale=60, claude=claude, model_url=model.url), secrets=...)
    repository.label_issue(7, "nightjar", actor="alice")
    actions.wait_idle(60)
    print(actions.timeline().as_text())

The workflow files of the repository decide what runs. `uses: acme/nightjar@...` starts the real command in a process of
its own, with a runner's environment; what goes wrong on a runner goes wrong on cue.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.clock import SCALE_VARIABLE, Clock
from bot.sandbox.ci import JobEnd
from bot.sandbox.ci.contexts import Rooms
from bot.sandbox.ci.host import Action, Command
from bot.sandbox.github.ci_desk import Attempt, CiDesk, Equipment
from bot.sandbox.github.hub import EmbeddedGitHub
from bot.sandbox.github.people import SandboxRepository
from bot.sandbox.github.state import CheckRun, WorkflowRun
from bot.sandbox.minutes import JobTime, Timeline, timeline
from bot.settings import OUTPUTS, SETTINGS

NIGHTJAR = "acme/nightjar"
RUNNERS = 4
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_CONVENIENT = {"anthropic-api-key": "scripted"}


@dataclass(frozen=True, slots=True)
class Story:
    """What Nightjar's steps get: `scale` speeds their planned waits up, `claude` is the CLI and `model_url` the model.
    `settings` are inputs that hold where a workflow gives none; `environment` is added to that of the steps.
    """

    scale: float
    claude: Path
    model_url: str
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobSeen:
    """A job as its page shows it; `conclusion` is "" until it has ended. `steps` are names with conclusions."""

    id: int
    name: str
    status: str
    conclusion: str
    log: str
    summary: str
    steps: tuple[tuple[str, str], ...]
    outputs: Mapping[str, str]
    annotations: tuple[str, ...]
    temp: Path | None
    """What was in its `RUNNER_TEMP`, once it has ended; None while it runs, and where the machine was lost."""

    def step(self, name: str) -> str:
        """The conclusion of the step called `name`. Raises `KeyError`."""
        return dict(self.steps)[name]


@dataclass(frozen=True, slots=True)
class RunSeen:
    """A workflow run, at one attempt, as its page shows it; `conclusion` is "" until it has ended."""

    id: int
    attempt: int
    workflow: str
    path: str
    event: str
    actor: str
    status: str
    conclusion: str
    jobs: tuple[JobSeen, ...]

    def job(self, name: str) -> JobSeen:
        """The one job called `name`. Raises `KeyError`."""
        found = {job.name: job for job in self.jobs}
        return found[name]


class NoSuchJob(LookupError):
    """There is no job to do that to."""


class SandboxActions:
    """The Actions of one repository. Make it before anything is to run; the embedded GitHub closes it."""

    def __init__(
        self,
        hub: EmbeddedGitHub,
        repository: SandboxRepository,
        folder: Path,
        story: Story,
        *,
        secrets: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        runners: int = RUNNERS,
        action: str = NIGHTJAR,
    ) -> None:
        """`folder` is made; each job's `RUNNER_TEMP` is found there when it has ended. `action` is the owner/name by
        which workflows call Nightjar.
        """
        self.folder = folder
        self._hub = hub
        self._repository = repository
        self._story = story
        self._began = Clock.today()
        self._desk: CiDesk = hub.ci_of(repository)
        equipment = Equipment(dict(secrets or {}), {action.lower(): nightjar_action(story)}, folder)
        self._desk.equip(equipment, runners)
        for name, value in (variables or {}).items():
            repository.set_variable(name, value)

    def wait_idle(self, seconds: float) -> bool:
        """Wait up to real `seconds` until nothing runs or waits; whether that came."""
        return self._hub.idle(seconds)

    def wait_until(self, seen: Callable[[], bool], seconds: float) -> bool:
        """Wait up to real `seconds` until `seen()`, which is asked whenever something happens; its last answer."""
        return self._hub.wait_until(seen, seconds)

    def runs(self, workflow: str = "") -> tuple[RunSeen, ...]:
        """The workflow runs at their latest attempts, oldest first; all, or those of the workflow by name or file."""
        latest = {attempt.run.id: attempt for attempt in self._desk.attempts()}
        found = (self._run_seen(attempt) for attempt in latest.values())
        return tuple(run for run in found if workflow in ("", run.workflow, Path(run.path).name))

    def cancel(self, run: int) -> None:
        """Somebody cancels a run on its page; returns at once. The step that runs has 10 real seconds to stop."""
        self._desk.cancel(run)

    def lose(self, run: int, job: str = "") -> None:
        """The machine of a running job goes away. Raises `NoSuchJob` when no such job runs."""
        if not self._desk.engine.lose(run, job):
            raise NoSuchJob(f"run {run}: no job{f' {job!r}' if job else ''} is running")

    def rerun(self, run: int, actor: str) -> None:
        """Somebody runs all jobs of a run again. Raises `Refused` as the API does."""
        self._desk.rerun_all(run, actor)

    def tick(self, cron: str = "") -> None:
        """The time has come for `schedule`: for workflows with that `cron`, or for all that have one."""
        self._desk.tick(cron)

    def timeline(self) -> Timeline:
        """Every job that ran in any attempt so far, with the runner minutes it used, and those that were skipped."""
        rows = [(one.run, job) for one in self._desk.attempts() for job in one.jobs]
        # A job that is carried over into another attempt keeps its times, and ran once.
        own = [(run, job) for run, job in rows if (job.started_at or run.started_at) >= run.started_at]
        return timeline(self._began, (self._job_time(run, job) for run, job in own))

    def _run_seen(self, attempt: Attempt) -> RunSeen:
        run = attempt.run
        return RunSeen(
            id=run.id,
            attempt=run.attempt,
            workflow=run.name,
            path=run.path,
            event=run.event,
            actor=run.triggered_by,
            status=run.status,
            conclusion=run.conclusion or "",
            jobs=tuple(self._job_seen(job) for job in attempt.jobs),
        )

    def _job_seen(self, job: CheckRun) -> JobSeen:
        end = self._desk.ends.get(job.id, JobEnd("skipped"))
        return JobSeen(
            id=job.id,
            name=job.name,
            status=job.status,
            conclusion=job.conclusion or "",
            log=(job.log or b"").decode(errors="replace"),
            summary=end.summary,
            steps=tuple((step.name, step.conclusion) for step in job.steps),
            outputs=end.outputs,
            annotations=tuple(note.message for note in job.annotations),
            temp=end.temp,
        )

    def _job_time(self, run: WorkflowRun, job: CheckRun) -> JobTime:
        # A job that never had a runner is given both times at once.
        ran = job.started_at != job.completed_at
        return JobTime(
            job=job.id,
            workflow=run.name,
            event=run.event,
            attempt=run.attempt,
            name=job.name,
            conclusion=job.conclusion or "",
            began=job.started_at if ran else None,
            ended=job.completed_at if ran else None,
            scale=self._story.scale,
        )


def nightjar_action(story: Story) -> Action:
    """Nightjar's action as `action.yml` describes it, with the story's settings as defaults."""
    given = {**_CONVENIENT, "claude-path": str(story.claude), **story.settings}
    inputs = {name: given.get(name, setting.expression) for name, setting in SETTINGS.items()}

    def command(values: Mapping[str, str], rooms: Rooms) -> Command:
        # Not from the working directory (-P): the target repository may have a `bot` of its own.
        argv = [sys.executable, "-P", "-m", "bot", values["command"] or "run"]
        return Command(argv, _environment(story, values, rooms))

    return Action(inputs, frozenset(OUTPUTS), command)


def _environment(story: Story, values: Mapping[str, str], rooms: Rooms) -> Mapping[str, str]:
    return {
        "PYTHONPATH": str(_PACKAGE_ROOT),
        "ANTHROPIC_BASE_URL": story.model_url,
        "CLAUDE_CODE_TMPDIR": str(rooms.home),
        SCALE_VARIABLE: f"{story.scale:g}",
        **{SETTINGS[name].variable: value for name, value in values.items()},
        **story.environment,
    }
