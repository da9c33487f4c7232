"""One question to the CLI before any Run: started, confined and connected like a Session, to see whether it answers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.claude import command
from bot.claude.descendants import adopt_orphans
from bot.claude.install import PROBE_SECONDS, find_claude
from bot.claude.session import Ask, SessionPlayer
from bot.claude.surroundings import Surroundings
from bot.claude.verdict import Decision
from bot.claude.waits import Limits
from bot.clock import Clock
from bot.config import Config
from bot.failures import RunFailed
from bot.guard import Redactor

QUESTION = "Answer with the one word: ready. Use no tools."
SECONDS = 180.0
"""Planned seconds for the answer, with the CLI's own attempts after a transient failure."""
BUDGET_USD = 0.25
_KIND = "question"
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\S*")


@dataclass(frozen=True, slots=True)
class Reply:
    """That it answered: which version, after how many seconds."""

    version: str
    seconds: float


def ask_claude(
    config: Config,
    around: Surroundings,
    model: Callable[[], Mapping[str, str]],
    clock: Clock,
    redactor: Redactor,
) -> Reply:
    """Ask it. `model` says by which variables it finds the model's API. Raises `RunFailed` for no answer."""
    adopt_orphans()
    folders = around.folders
    around.make_folders()
    folders.checkout.mkdir(parents=True, exist_ok=True)
    folders.handover.mkdir(parents=True, exist_ok=True)
    path = find_claude(config.claude_path, config.claude_version, folders.install, around.tools)
    confinement = around.settle(path)
    for folder in (folders.checkout, folders.handover):
        around.hand_over(folder)
    limits = Limits(turn=SECONDS, session=SECONDS)
    claude = command.Claude(
        path, config.model or "", config.permission_mode, config.claude_args, hides_key=config.pass_model_key
    )
    player = SessionPlayer(
        claude,
        checkout=folders.checkout,
        logs=folders.logs,
        log_prefix="doctor",
        limits=limits,
        clock=clock,
        redactor=redactor,
        confinement=confinement,
    )
    told = command.told(limits, handover=folders.handover, background=False)
    ask = Ask(
        kind=_KIND,
        prompt=QUESTION,
        resume_prompt=lambda _: QUESTION,
        budget_usd=BUDGET_USD,
        deadline=clock.deadline("the question", 2 * SECONDS),  # the Session's own limit is to be heard of first
        environment={**around.variables(model()), **told},
    )
    began = clock.now()
    try:
        played = player.hold(ask, ended=lambda _: None, progress=around.progress)
    except OSError as error:
        raise RunFailed("claude_start", f"the claude command could not be run: {error.strerror or error}") from error
    if played.verdict.decision is not Decision.DONE:
        raise RunFailed(played.verdict.failure, redactor.clean(played.verdict.reason))
    return Reply(_version(path, around.tools), clock.now() - began)


def _version(path: Path, environ: Mapping[str, str]) -> str:
    done = subprocess.run(
        [str(path), "--version"],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PROBE_SECONDS,
        check=False,
    )
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found[0] if found else "of an unknown version"
