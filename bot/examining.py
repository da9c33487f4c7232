"""Finds out what the doctor judges: asks git, GitHub and claude. What nobody could tell is `Unknown`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path

from bot.claude.surroundings import Folders, Surroundings
from bot.clock import Clock
from bot.config import Config
from bot.credential import Credential
from bot.doctor.facts import Answered, Hub, NoAnswer, Refusal, Token, Unknown
from bot.failures import RunFailed
from bot.github.client import Client, Refused
from bot.github.setup_facts import SetupFacts, Sought
from bot.guard import Redactor
from bot.init.files import WORKFLOW
from bot.init.reading import issue_branch
from bot.kinds import is_on
from bot.model_access import model_access

_READABLE = 0o755


def git_version(environ: Mapping[str, str]) -> str | None:
    """git's version; None where it cannot be run."""
    try:
        done = subprocess.run(
            ["git", "version"], env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return None
    words = done.stdout.decode(errors="replace").split()
    return words[2] if done.returncode == 0 and len(words) > 2 else None


def ask_github(
    client: Client, credential: Credential, source: str, config: Config
) -> tuple[Token | Refusal, Hub | Unknown]:
    """Whose token it is, and how the repository is set up. `source`: where the token is from."""
    sought = Sought(
        labels=config.asking.all,
        base=config.base_branch or "",
        issue_branch=issue_branch(config),
        workflow=WORKFLOW,
        paused=is_on,
    )
    try:
        return SetupFacts(client).look(sought, credential.current(), source)
    except RunFailed as failed:
        return refusal_of(failed), Unknown("GitHub could not be asked: see token")


def refusal_of(failed: RunFailed) -> Refusal:
    """Why nothing could be asked of GitHub."""
    status = failed.answer.status if isinstance(failed, Refused) else 0
    unseen = status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
    return Refusal(failed.reason, unseen=unseen, away=failed.code == "github_unavailable")


def ask_claude(
    config: Config, environ: Mapping[str, str], clock: Clock, tell: Callable[[str], None], install: Path | None
) -> Answered | NoAnswer:
    """Have claude answer a question, confined as in a Run. `install`: where a missing one is installed; None: for this
    once. Raises `Cancelled`.
    """
    from bot.claude import question  # asks for more of the CLI's supervision than anything else here

    # Sessions may be another user, who has to come to their folders.
    with tempfile.TemporaryDirectory(prefix="nightjar-doctor-") as root, ExitStack() as opened:
        work = Path(root)
        work.chmod(_READABLE)
        folders = Folders(
            checkout=work / "checkout",
            logs=work / "logs",
            handover=work / "handover",
            claude_home=work / "claude",
            install=install or work / "cli",
            shown=(work,),
        )
        around = Surroundings(config, folders, environ, tell)
        redactor = Redactor([secret.reveal() for secret in config.secrets()])
        try:
            replied = question.ask_claude(
                config, around, lambda: model_access(config, environ, tell, opened), clock, redactor
            )
        except RunFailed as failed:
            return NoAnswer(failed.code, redactor.clean(failed.reason))
    return Answered(replied.version, replied.seconds)
