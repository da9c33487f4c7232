"""How CI is played in a rehearsal: by the `run:` steps, by act, or not at all beside `check-command`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.config import Config
from bot.rehearsal import words
from bot.rehearsal.act import Act, ActUnusable, find_act
from bot.rehearsal.act_job import by_act
from bot.rehearsal.ci import unplayed
from bot.rehearsal.source import CannotRehearse
from bot.sandbox.ci.jobs import by_steps
from bot.sandbox.ci.runs import Play
from bot.sandbox.ci.workflow import Job

WAYS = ("auto", "steps", "act", "check")
"""What `--ci` may say."""


@dataclass(frozen=True, slots=True)
class CiWay:
    """How CI is played."""

    said: tuple[str, ...]
    """What is told of it before the start."""
    unplayed: Callable[[Job], str] = unplayed
    """Why a job is skipped; "" for one that is played."""
    play: Play = by_steps


def choose(asked: str, config: Config, environ: Mapping[str, str]) -> CiWay:
    """The way that `--ci` asks for. `auto` takes act only where it plays jobs as GitHub does and fetches no image for
    it: with Docker, and with an image that is here. Raises `CannotRehearse`.
    """
    if asked not in WAYS:
        raise CannotRehearse(words.CI_UNKNOWN.format(given=asked, ways=", ".join(WAYS)))
    if asked == "check":
        if config.check_command is None:
            raise CannotRehearse(words.NO_CHECK_COMMAND)
        return CiWay((words.CI_BY_CHECK.format(command=config.check_command),), lambda _job: words.ONLY_THE_CHECK)
    if asked == "steps":
        return CiWay((words.CI_BY_STEPS,))
    try:
        act = find_act(environ)
    except ActUnusable as why:
        if asked == "act":
            raise CannotRehearse(words.CI_ACT_REFUSED.format(why=why)) from why
        return CiWay((words.CI_BY_STEPS,))
    if asked == "act" or act.pulled:
        return _by_act(act, config)
    return CiWay((words.CI_BY_STEPS, words.ACT_IS_HERE.format(act=act.said)))


def _by_act(act: Act, config: Config) -> CiWay:
    how = words.CI_BY_ACT_DOCKER if act.docker_host else words.CI_BY_ACT_HERE
    play = by_act(act, config.ci_timeout_minutes)
    return CiWay((how.format(act=act.said, minutes=config.ci_timeout_minutes),), _left_out_of(act), play)


def _left_out_of(act: Act) -> Callable[[Job], str]:
    def why(job: Job) -> str:
        if job.unsupported == "uses":
            return words.ACT_OTHER_FILE.format(job=job.id)
        if act.docker_host:
            return ""
        wanted = job.unsupported
        if any(step.uses.startswith("docker://") for step in job.steps):
            wanted = wanted or "steps"
        return words.ACT_WANTS_DOCKER.format(job=job.id, key=wanted) if wanted else ""

    return why
