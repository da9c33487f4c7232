"""CI that happens by a plan while it is watched: jobs that start, change and end at planned times."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from bot.ci.expectation import Pushed
from bot.clock import Clock
from bot.credential import FixedToken
from bot.github.ci_source import GitHubCi
from bot.github.client import Client
from bot.github.conditional import Reader
from bot.github.watch import Limits, Watch
from bot.record import CiState
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository

NAME = "acme/widget"
BRANCH = "nightjar/issue-1"
STATUSES = ("queued", "in_progress", "waiting")


@dataclass(frozen=True, slots=True)
class JobPlan:
    """One check: planned seconds after the push, and what it comes to. `workflow` "" is a check of some app's own;
    `status` makes it a commit status.
    """

    name: str
    begins: float
    ends: float
    conclusion: str = "success"
    workflow: str = "ci.yml"
    status: bool = False
    changes: float = 0.0
    """Planned seconds between changes of its row while it runs; 0 for none."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A CI. `run_changes`: the workflow's own row changes with each change of a job."""

    name: str
    jobs: tuple[JobPlan, ...]
    run_changes: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """How a watch went; seconds as planned."""

    state: CiState
    counted: int
    requests: int
    lasted: float
    delay: float
    """From the last check's end to the verdict."""


@dataclass
class _Stage:
    widget: SandboxRepository
    head: str
    shape: Shape
    runs: dict[str, int] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    open_jobs: dict[str, set[str]] = field(default_factory=dict)
    turns: int = 0

    def plan(self) -> list[tuple[float, Callable[[], None]]]:
        """What happens when, in order."""
        acts: list[tuple[float, Callable[[], None]]] = []
        for job in self.shape.jobs:
            self.open_jobs.setdefault(job.workflow, set()).add(job.name)
            acts += [(job.begins, partial(self._begin, job)), (job.ends, partial(self._end, job))]
            at = job.begins + job.changes
            while job.changes and at < job.ends:
                acts.append((at, partial(self._change, job)))
                at += job.changes
        return sorted(acts, key=lambda act: act[0])

    def _begin(self, job: JobPlan) -> None:
        if job.status:
            self.widget.set_status(self.head, job.name, "pending")
        elif job.workflow:
            if job.workflow not in self.runs:
                self.runs[job.workflow] = self.widget.add_run(self.head, job.workflow)
            self.ids[job.name] = self.widget.add_job(self.runs[job.workflow], job.name)
        else:
            self.ids[job.name] = self.widget.set_app_check(self.head, job.name, None, "some-app")

    def _change(self, job: JobPlan) -> None:
        self.turns += 1
        if job.status:
            self.widget.set_status(self.head, job.name, "pending", description=f"step {self.turns}")
            return
        self.widget.set_check(self.ids[job.name], None, status=STATUSES[self.turns % 3])
        if self.shape.run_changes and job.workflow:
            self.widget.set_run(self.runs[job.workflow], None, status=STATUSES[self.turns % 3])

    def _end(self, job: JobPlan) -> None:
        if job.status:
            self.widget.set_status(self.head, job.name, job.conclusion)
            return
        log = "no\n" if job.conclusion == "failure" else ""
        self.widget.set_check(self.ids[job.name], job.conclusion, log=log)
        rest = self.open_jobs[job.workflow]
        rest.discard(job.name)
        if job.workflow and not rest:
            bad = [one.conclusion for one in self.shape.jobs if one.workflow == job.workflow]
            conclusion = "failure" if "failure" in bad else "success"
            self.widget.set_run(self.runs[job.workflow], conclusion)


def watch(hub: EmbeddedGitHub, widget: SandboxRepository, shape: Shape, scale: float) -> Watched:
    """Push a commit, let the shape happen to it, and watch it with the real client."""
    clock = Clock(scale=scale)
    workflows = {f".github/workflows/{job.workflow}": "on: push\n" for job in shape.jobs if job.workflow}
    head = widget.commit(BRANCH, {"shape.txt": f"{shape.name}\n", **workflows}, shape.name)
    client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("nightjar[bot]")), clock)
    Reader(client).get("/branches/main", lambda found: found["name"])  # the libraries are imported before time counts
    acts = _Stage(widget, head, shape).plan()
    began = clock.now()

    def happen() -> None:
        for at, act in acts:
            wait = at - (clock.now() - began) * scale
            if wait > 0:
                clock.sleep(wait)
            act()
        ended.append(clock.now())

    ended: list[float] = []
    player = threading.Thread(target=happen, daemon=True)
    before = len(hub.requests)
    player.start()
    limits = Limits(start_minutes=5, timeout_minutes=180)
    pushed = Pushed(head=head, branch=BRANCH, base="main", files=workflows, paths=("shape.txt",))
    verdict = Watch(GitHubCi(client), clock, limits, lambda line: None).wait(pushed)
    over = clock.now()
    player.join()
    client.close()
    asked = hub.requests[before:]
    counted = sum(request.counted for request in asked)
    return Watched(verdict.state, counted, len(asked), (over - began) * scale, (over - ended[0]) * scale)
