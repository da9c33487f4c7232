"""Puts the real parts behind the ports of one Run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from bot.claude.host import ClaudeSessions, Folders
from bot.clock import Clock
from bot.config import Config
from bot.git import Git, Remote
from bot.github.ci_source import GitHubCi
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.github.watch import Limits as CiLimits
from bot.github.watch import Watch
from bot.guard import Redactor
from bot.journal import RunJournal
from bot.record import Record
from bot.report.actions import Runner
from bot.report.render import Limits
from bot.report.reporter import GitHubReporter
from bot.run import Ports
from bot.trigger import Job
from bot.workspace import GitWorkspace, Identity


class Wiring:
    """One job's connections and folders. A context manager: leaving it removes the checkout; logs and Record stay."""

    def __init__(self, job: Job, token: str, environ: Mapping[str, str], runner: Runner, clock: Clock) -> None:
        """Nothing is asked of GitHub yet."""
        self._job = job
        self._environ = environ
        self._runner = runner
        self._clock = clock
        self._client = Client(
            environ.get("GITHUB_API_URL", "") or "https://api.github.com", job.repository, token, clock
        )
        self.github = GitHubRepository(self._client)
        temp = environ.get("RUNNER_TEMP", "") or tempfile.gettempdir()
        self._root = Path(temp) / "nightjar"
        self._work = self._root / f"run-{job.run_id}-{job.run_attempt}"
        server = (environ.get("GITHUB_SERVER_URL", "") or "https://github.com").rstrip("/")
        self._git = Git(self._work, Remote(f"{server}/{job.repository}.git", token), clock, environ)

    def __enter__(self) -> Wiring:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections and remove what only the Run needed."""
        self._client.close()
        shutil.rmtree(self._work, ignore_errors=True)

    def journal(self, issue: int, config: Config) -> RunJournal:
        """Where the Runs on `issue` keep their Record."""
        return RunJournal(self._root / "record.json", self._git, issue, _redactor(config).clean)

    def workspace(self, config: Config) -> GitWorkspace:
        """git for the Run."""
        identity = Identity(config.git_user_name, config.git_user_email, config.sign_off)
        return GitWorkspace(self._git, identity, self._root / "logs")

    def report(self, config: Config) -> GitHubReporter:
        """What tells people."""
        limits = Limits(
            config.max_repairs, config.max_cost_usd, config.run_timeout_minutes, config.session_timeout_minutes
        )
        return GitHubReporter(self.github, self._runner, _redactor(config), limits, self._clock.today)

    def ports(self, record: Record, config: Config, journal: RunJournal) -> Ports:
        """The ports of the Run that `record` begins."""
        deadline = self._clock.deadline("run-timeout-minutes", config.run_timeout_minutes * 60)
        redactor = _redactor(config)

        def progress(line: str) -> None:
            self._runner.log(redactor.clean(f"{self._clock.today():%H:%M:%S} {line}"))

        workspace = self.workspace(config)
        folders = Folders(
            checkout=self._git.checkout,
            logs=self._root / "logs",
            handover=self._work / "handover",
            claude_home=self._work / "claude",
            install=self._root / "cli",
        )
        return Ports(
            github=self.github,
            ci=Watch(
                GitHubCi(self._client, self._job.run_id, config.ci_dispatch),
                self._clock,
                CiLimits(config.ci_start_minutes, config.ci_timeout_minutes, deadline),
                progress,
            ),
            workspace=workspace,
            sessions=ClaudeSessions(config, folders, self._environ, self._clock, deadline, progress),
            report=self.report(config),
            journal=journal,
            cancel=self._clock.cancel,
        )


def _redactor(config: Config) -> Redactor:
    return Redactor(secret.reveal() for secret in config.secrets())
