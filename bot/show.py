"""`nightjar show N`: prints the newest Run on an issue from its ref, with its journal.

In a job, or wherever its variables are set, with the token; else in a clone, with the user's own git and whatever
credentials that has. Nothing is changed: objects are fetched, and no ref is written.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bot.clock import BadTimeScale, Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.git import Done, Git, Remote, unreachable
from bot.open_runs import FILE, JOURNAL
from bot.page.history import saves
from bot.record import Record
from bot.report.console import Console, refuse
from bot.report.terminal import Save, run_page
from bot.stored import UnreadableRecord, from_json, to_json

NO_RUN = 1
UNREADABLE = 2
INTERRUPTED = 130
_NO_RUN = "no Run was begun on issue #{issue}"
_NO_CLONE = "this is no clone of a repository; call it in one, or set GITHUB_REPOSITORY and GITHUB_TOKEN"
_NO_REMOTE = "there is no remote `{remote}`; name another by --remote, or set GITHUB_REPOSITORY and GITHUB_TOKEN"
_NO_GIT = "git cannot be run: {why}"
_CANNOT = "the Run on issue #{issue} cannot be shown: {why}"
_LS_REMOTE, _FETCH = "the Run's ref could not be read", "the Run's Record could not be fetched"


class Repository(Protocol):
    """Where git runs; `bot.git.Git` is one."""

    def local(self, *words: str, check: bool) -> Done:
        """Run git without a network."""

    def network(self, *words: str) -> Done:
        """Run git with credentials. Raises `RunFailed`."""


class OwnGit:
    """The user's own git, in the folder where the command was called."""

    def local(self, *words: str, check: bool = False) -> Done:
        """Run git; a refusal is only told. Raises `OSError` where there is no git."""
        done = subprocess.run(["git", *words], capture_output=True, stdin=subprocess.DEVNULL, check=check)
        return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def network(self, *words: str) -> Done:
        """Run git, which may ask the user."""
        return self.local(*words)


@dataclass(frozen=True, slots=True)
class Found:
    """A Run as it stands on its ref. `saves`: newest first."""

    record: Record
    saves: tuple[Save, ...]

    @property
    def as_of(self) -> datetime:
        """When it stood so: now, or when its last job ended, which was with its last save. In UTC."""
        return self.saves[0].at if self.record.told and self.saves else Clock.today()


def show_command(issue: int, *, as_json: bool, remote: str, environ: Mapping[str, str]) -> int:
    """Print the newest Run on `issue`; the exit code. `remote` is one of the clone's."""

    def show(found: Found, _: Repository) -> int:
        console, record = Console.of(sys.stdout, environ), found.record
        width = console.width
        console.exact(f"{to_json(record)}\n" if as_json else run_page(record, found.saves, found.as_of, width))
        return 0

    return on_the_run("show", issue, show, remote=remote, environ=environ)


def on_the_run(
    command: str, issue: int, act: Callable[[Found, Repository], int], *, remote: str, environ: Mapping[str, str]
) -> int:
    """The exit code of `act` on the newest Run on `issue`; without one, or where it is not to be had, a line on stderr.
    `remote` is one of the clone's.
    """
    try:
        with _repository(remote, environ) as (repository, where):
            found = find(repository, where, issue)
            return refuse(command, _NO_RUN.format(issue=issue), NO_RUN) if found is None else act(found, repository)
    except (RunFailed, UnreadableRecord, BadTimeScale) as problem:
        why = problem.reason if isinstance(problem, RunFailed) else str(problem)
        return refuse(command, _CANNOT.format(issue=issue, why=why), UNREADABLE)
    except OSError as error:
        return refuse(command, _NO_GIT.format(why=error.strerror or error), UNREADABLE)
    except KeyboardInterrupt:
        return INTERRUPTED


def find(repository: Repository, where: str, issue: int) -> Found | None:
    """The newest Run on `issue` in the repository that `where` (an address or a remote) names; None without one.

    Raises `RunFailed`, `UnreadableRecord`.
    """
    ref = f"{JOURNAL}{issue}"
    listed = repository.network("ls-remote", "--quiet", where, ref)
    if listed.code:
        raise unreachable(_LS_REMOTE, listed)
    commit = next((line.split("\t")[0] for line in listed.out.splitlines() if line.endswith(f"\t{ref}")), "")
    if not commit:
        return None
    fetched = repository.network("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", where, ref)
    if fetched.code:
        raise unreachable(_FETCH, fetched)
    record = from_json(repository.local("cat-file", "blob", f"{commit}:{FILE}", check=False).out)
    return Found(record, saves(lambda *words: repository.local(*words, check=False).out, commit))


@contextmanager
def _repository(remote: str, environ: Mapping[str, str]) -> Iterator[tuple[Repository, str]]:
    """Where git is to run, and what is asked. Raises `RunFailed`, `BadTimeScale`, `OSError`."""
    name = environ.get("GITHUB_REPOSITORY", "")
    token = environ.get("INPUT_GITHUB_TOKEN", "") or environ.get("GITHUB_TOKEN", "")
    if name and token:
        server = (environ.get("GITHUB_SERVER_URL", "") or "https://github.com").rstrip("/")
        asked = Remote(f"{server}/{name}.git", FixedToken(token))
        with tempfile.TemporaryDirectory(prefix="nightjar-") as folder:
            git = Git(Path(folder), asked, Clock.from_environment(environ), environ)
            git.open()
            yield git, asked.url
        return
    own = OwnGit()
    if own.local("rev-parse", "--git-dir").code:
        raise RunFailed("config_invalid", _NO_CLONE)
    if own.local("remote", "get-url", remote).code:
        raise RunFailed("config_invalid", _NO_REMOTE.format(remote=remote))
    yield own, remote
