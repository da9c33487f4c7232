"""Between the embedded GitHub and its CI: events go out to the engine, what the engine does comes back as runs, jobs
and logs; and jobs get here what they have of GitHub.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.sandbox.ci import OF_PULL_REQUESTS, Approval, CiEngine, CiEvent, JobEnd
from bot.sandbox.ci.contexts import Rooms
from bot.sandbox.ci.host import Action
from bot.sandbox.ci.workflow import Job
from bot.sandbox.github import checks, runs, webhooks
from bot.sandbox.github.state import CheckRun, Step, WorkflowRun
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Actor, Repository

JOB_LOGIN = "github-actions[bot]"
DEFAULT_PERMISSIONS: Mapping[str, str] = {"contents": "read", "packages": "read"}
"""What a job's token may do where no `permissions:` say so, as new repositories have it."""
LONGEST_CHAIN = 3
"""How many workflows `workflow_run` starts one after the other, as on GitHub."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a repository's jobs have beyond a shell. `actions` are by owner/name; `kept` is where each job's
    `RUNNER_TEMP` is moved when it has ended, None for nowhere.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, Action] = field(default_factory=dict)
    kept: Path | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a run, and its jobs."""

    run: WorkflowRun
    jobs: tuple[CheckRun, ...]


class CiDesk:
    """The CI of one repository: a `CiPort` for its events, the `CiPublisher` its engine reports to and the `JobHost` of
    its jobs. Without equipment jobs have no token and no address: nothing in a job may speak for the bot.
    """

    def __init__(self, repository: Repository, site: Site, workroom: Path) -> None:
        """`workroom` is a folder for the jobs' checkouts."""
        self.full_name = repository.full_name
        self._repository = repository
        self._site = site
        self._lock = repository.world.lock
        self._equipment: Equipment | None = None
        self._unplayed: Callable[[Job], str] = lambda _job: ""
        self._depths: dict[int, int] = {}
        self.ends: dict[int, JobEnd] = {}
        """How each job ended that has, by its id."""
        self.engine = CiEngine(self, workroom, self)

    def equip(self, equipment: Equipment, runners: int) -> None:
        """Give the jobs from now on this equipment, and so many runners."""
        self._equipment = equipment
        self.engine.resize(runners)

    def leave_out(self, unplayed: Callable[[Job], str]) -> None:
        """Skip the jobs from now on for which `unplayed` gives a reason."""
        self._unplayed = unplayed

    # ── events ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self, event: CiEvent, actor: str, approval: Approval) -> None:
        """Hand an event to the engine, with what it says, who caused it and why it may have to wait."""
        repo = self._repository
        if event.name == "workflow_run":
            if self._depths.get(event.number, 0) >= LONGEST_CHAIN:
                return
            event = replace(event, workflow=repo.runs[event.number].name)
        said = webhooks.payload(self._site, repo, event, actor)
        self.engine.start(repo.git.path, replace(event, actor=actor, approval=approval, payload=said))

    def approve(self, run_id: int) -> None:
        """Let a held run begin."""
        self.engine.approve(run_id)

    def cancel(self, run_id: int) -> None:
        """Cancel a run."""
        self.engine.cancel(run_id)

    def rerun(self, run_id: int, names: Collection[str]) -> frozenset[str] | None:
        """Run jobs of a run again; what is carried over, or None for a run that was set by hand."""
        return self.engine.rerun(run_id, names)

    # ── what the engine does ────────────────────────────────────────────────────────────────────────────────────────

    def workflow_started(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow of the commit was planned; the new run's id."""
        return self._new_run(event, workflow_path, workflow_name)

    def workflow_held(self, event: CiEvent, workflow_path: str, workflow_name: str) -> int:
        """A workflow of the commit waits for an approval; the new run's id."""
        return self._new_run(event, workflow_path, workflow_name)

    def _new_run(self, event: CiEvent, path: str, name: str) -> int:
        branch = event.ref.removeprefix("refs/heads/")
        pull = event.number if event.name in OF_PULL_REQUESTS else 0
        with self._lock:
            plan = runs.RunPlan(path, name, event.name, branch, event.sha, event.actor, pull)
            run = runs.start(self._repository, plan, event.approval)
            if event.name == "workflow_run":
                self._depths[run.id] = self._depths.get(event.number, 0) + 1
            return run.id

    def job_queued(self, run_id: int, name: str) -> int:
        """A job waits for a worker; its id, which is also its check run's."""
        with self._lock:
            run = runs.find(self._repository, run_id)
            job = checks.add(self._repository, name, run.sha, run)
            self._repository.world.changed.notify_all()
            return job.id

    def job_started(self, job_id: int) -> None:
        """A worker has the job."""
        with self._lock:
            job = checks.find(self._repository, job_id)
            started = replace(job, status="in_progress", started_at=self._repository.world.now())
            self._repository.checks[job_id] = started
            self._repository.world.changed.notify_all()

    def job_finished(self, job_id: int, end: JobEnd) -> None:
        """The job ended, with its steps, its whole log and its annotations."""
        with self._lock:
            steps = tuple(
                Step(step.name, step.number, step.conclusion, step.started_at, step.completed_at) for step in end.steps
            )
            job = checks.find(self._repository, job_id)
            ended = replace(job, steps=steps, log=end.log or None, annotations=tuple(end.annotations))
            self.ends[job_id] = end
            checks.complete(self._repository, ended, end.conclusion)

    def workflow_finished(self, run_id: int, conclusion: str) -> None:
        """Every job of the run has ended."""
        with self._lock:
            runs.finish(self._repository, runs.find(self._repository, run_id), conclusion)

    # ── what jobs have ──────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def api_url(self) -> str:
        """Where REST is."""
        return self._site.api if self._equipment else ""

    @property
    def server_url(self) -> str:
        """Where the pages and git are."""
        return self._site.host if self._equipment else ""

    def action(self, uses: str) -> Action | None:
        """The action of the equipment that `uses:` names, whatever its version."""
        name = uses.partition("@")[0].lower()
        return self._equipment.actions.get(name) if self._equipment else None

    def passes_over(self, job: Job) -> str:
        """Why the job is left out; "" for one that is not."""
        return self._unplayed(job)

    def secrets(self) -> Mapping[str, str]:
        """The repository's secrets."""
        return self._equipment.secrets if self._equipment else {}

    def variables(self) -> Mapping[str, str]:
        """The repository's variables as they are now."""
        with self._lock:
            return {variable.name: variable.value for variable in self._repository.variables.values()}

    def issue_token(self, permissions: Mapping[str, str] | None) -> str:
        """A token of the job's own, "" without equipment; all jobs of a repository share one budget."""
        if self._equipment is None:
            return ""
        granted = DEFAULT_PERMISSIONS if permissions is None else permissions
        with self._lock:
            return self._repository.world.issue_token(JOB_LOGIN, "job", granted, self._repository.full_name).secret

    def job_over(self, token: str, name: str, rooms: Rooms) -> Path | None:
        """Forget the job's token, and keep its temporary files where the equipment says so."""
        with self._lock:
            self._repository.world.tokens.pop(token, None)
        if self._equipment is None or self._equipment.kept is None:
            return None
        self._equipment.kept.mkdir(parents=True, exist_ok=True)
        return rooms.temp.rename(self._equipment.kept / name)

    # ── what people see and do on the runs' pages ───────────────────────────────────────────────────────────────────

    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt of every run, in the order in which the runs and then the attempts began."""
        with self._lock:
            repo = self._repository
            return tuple(Attempt(run, tuple(runs.jobs(repo, run))) for _, run in sorted(repo.attempts.items()))

    def rerun_all(self, run_id: int, actor: str) -> None:
        """Run all jobs of a run again. Raises `Refused`, as the API does."""
        with self._lock:
            run = runs.find(self._repository, run_id)
            names = {row.name for row in runs.jobs(self._repository, run)}
            runs.rerun(self._repository, run, names, actor)

    def tick(self, cron: str) -> None:
        """The time for `cron` ("" for every schedule) has come. The event is the repository owner's."""
        with self._lock:
            self._repository.happened(Actor(self._repository.owner), "schedule", detail=cron)
