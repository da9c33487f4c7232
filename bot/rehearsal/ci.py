"""CI of a rehearsal: the user's own workflows as far as they can be played here, and what was not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.rehearsal import words
from bot.sandbox.ci import Annotation, CiEvent, JobEnd
from bot.sandbox.ci.job_task import JobTask, SetUpError, check_job
from bot.sandbox.ci.processes import JobProcesses
from bot.sandbox.ci.runs import Play
from bot.sandbox.ci.workflow import Job
from bot.sandbox.github import SandboxRepository
from bot.sandbox.github.ci_desk import CiDesk
from bot.sandbox.github.state import CheckRun

EVENTS = ("push", "pull_request")
"""What starts CI; what other events start is played by nobody, least of all Nightjar's own workflows."""
_PASSED_OVER = re.compile(r"not run in the sandbox: (.+?)\s*$", re.MULTILINE)
_WORDS = {"success": "ok", "startup_failure": "failure", "": "running"}


@dataclass(frozen=True, slots=True)
class CiSeen:
    """One check: `conclusion` is "" until it has ended."""

    name: str
    conclusion: str
    unplayed: tuple[str, ...]
    """A line for each part of it that was not played."""
    log: str

    @property
    def line(self) -> str:
        """How it went, in one line."""
        return f"  {_WORDS.get(self.conclusion, self.conclusion)}\t{self.name}"


def unplayed(job: Job) -> str:
    """Why a job is skipped in a rehearsal; "" for one that is played."""
    try:
        check_job(job)
    except SetUpError as why:
        return str(why)
    return "" if any(step.run for step in job.steps) else words.NO_STEPS


def only_ci(play: Play) -> Play:
    """Plays by `play` the jobs that a push or a pull request has started, and skips all others."""

    def played(task: JobTask, processes: JobProcesses) -> JobEnd:
        event = task.commit.event.name
        if event in EVENTS:
            return play(task, processes)
        return JobEnd("skipped", annotations=(Annotation("notice", words.NO_CI_EVENT.format(event=event)),))

    return played


def start_on_base(desk: CiDesk, repository: SandboxRepository, base: str, commit: str, branch: str) -> None:
    """Play the Base branch's commit as a branch of Nightjar's with a pull request would be, and not as a push to the
    Base branch, which may deploy.
    """
    push = CiEvent("push", "", f"refs/heads/{branch}", commit)
    pull = CiEvent("pull_request", "opened", f"refs/heads/{branch}", commit, base=base)
    for event in (push, pull):
        desk.engine.start(repository.path, event)


def seen(desk: CiDesk, sha: str) -> Iterator[CiSeen]:
    """The checks that are CI's on a commit, at their newest attempts."""
    ours = (one for one in desk.attempts() if one.run.sha == sha and one.run.event in EVENTS)
    attempts = {attempt.run.id: attempt for attempt in ours}
    for attempt in attempts.values():
        if not attempt.jobs:  # a file that cannot be read, or that waits for its first job
            yield CiSeen(f"{attempt.run.path} ({attempt.run.event})", attempt.run.conclusion or "", (), "")
        for job in attempt.jobs:
            yield _seen(f"{attempt.run.name} / {job.name} ({attempt.run.event})", job)


def _seen(name: str, job: CheckRun) -> CiSeen:
    log = (job.log or b"").decode(errors="replace")
    parts: Sequence[str]
    if job.conclusion == "skipped":
        parts = [words.JOB_SKIPPED.format(name=name, why=note.message) for note in job.annotations]
    else:
        passed = dict.fromkeys(_PASSED_OVER.findall(log))
        parts = [words.STEP_SKIPPED.format(name=name, uses=uses) for uses in passed]
    return CiSeen(name, job.conclusion or "", tuple(parts), log)
