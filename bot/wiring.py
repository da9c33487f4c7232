"""Puts the real parts behind the ports of one Run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from bot.attachments.hosts import Address, Hosts
from bot.claude.environment import credentials
from bot.claude.host import ClaudeSessions, Sources
from bot.claude.surroundings import Folders, Surroundings
from bot.clock import Clock, Deadline
from bot.config import Config
from bot.credential import Credential, FixedToken
from bot.event import read_payload
from bot.failures import RunFailed
from bot.gathering import Fetch, Gathering
from bot.git import Git, Remote
from bot.github.attachments import AttachmentSource
from bot.github.ci_source import GitHubCi
from bot.github.client import Client
from bot.github.conversation import Conversation
from bot.github.repository import GitHubRepository
from bot.github.tokens import AppCredential, AppKey
from bot.github.watch import Limits as CiLimits
from bot.github.watch import Watch
from bot.github.workflows import GitHubWorkflows
from bot.guard import Redactor, clean_folder
from bot.inbox import RequestRefs
from bot.job_time import JobTime
from bot.journal import RunJournal
from bot.model_access import model_access
from bot.open_runs import OpenRunRefs
from bot.page.history import RunHistory
from bot.page.writer import PageWriter
from bot.progress import Ports
from bot.report.actions import Runner
from bot.report.render import Limits, ShownProfile
from bot.report.reporter import GitHubReporter
from bot.settings import SETTINGS
from bot.sweeping import is_swept
from bot.tree import GitTree
from bot.trials import ConfinedTrials
from bot.trigger import Job, is_public
from bot.workspace import GitWorkspace, Identity


class Wiring:
    """One job's connections and folders. A context manager: leaving it removes the checkout; logs and Record stay."""

    def __init__(self, job: Job, config: Config, environ: Mapping[str, str], runner: Runner, clock: Clock) -> None:
        """Nothing is asked of GitHub yet. Raises `RunFailed` (`config_invalid`) for a credential of no use."""
        secret = {setting.variable for setting in SETTINGS.values() if setting.secret}
        self._job = job
        self._environ = {name: value for name, value in environ.items() if name not in secret}
        self._runner = runner
        self._clock = clock
        self._open = ExitStack()
        self._redactor = Redactor([*(given.reveal() for given in config.secrets()), *credentials(environ)])
        api_url = environ.get("GITHUB_API_URL", "") or "https://api.github.com"
        credential = self._credential(config, api_url)
        self._client = Client(api_url, job.repository, credential, clock)
        self._open.callback(self._client.close)
        self.github = GitHubRepository(self._client)
        self.conversation = Conversation(self._client)
        temp = environ.get("RUNNER_TEMP", "") or tempfile.gettempdir()
        self._root = Path(temp) / "nightjar"
        self._work = self._root / f"run-{job.run_id}-{job.run_attempt}"
        server = (environ.get("GITHUB_SERVER_URL", "") or "https://github.com").rstrip("/")
        self._hosts = Hosts(server)
        remote = Remote(f"{server}/{job.repository}.git", credential)
        self._git = Git(self._work, remote, clock, environ)
        self._journal: RunJournal | None = None
        aside = Git(self._work / "open", remote, clock, environ)
        self.queue = OpenRunRefs(aside, runner.log)
        self.requests = RequestRefs(aside, runner.log)
        self.workflows = GitHubWorkflows(self._client, self.github.default_branch)

    def __enter__(self) -> Wiring:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections and remove what only the Run needed; a Run that was cut short leaves it to `finish`."""
        self._open.close()
        if not (self._clock.cancel.requested and self._runner.in_actions):
            shutil.rmtree(self._work, ignore_errors=True)

    def _credential(self, config: Config, api_url: str) -> Credential:
        """The App, where its key is given; the token beside it then stands in at the end."""
        token = FixedToken(config.github_token.reveal()) if config.github_token else None
        if config.app_id is None or config.app_private_key is None:
            if token is None:
                raise RunFailed("config_invalid", "input `github-token`: is missing")
            return token

        def learned(minted: str) -> None:
            self._redactor.learn(minted)
            self._runner.mask(minted)

        key = AppKey(config.app_id, config.app_private_key.reveal())
        app = AppCredential(key, api_url, self._job.repository, self._clock, learned=learned, fallback=token)
        self._open.callback(app.close)
        if config.command == "finish":  # there is nothing but an ending
            app.fall_back()
        return app

    def journal(self, issue: int) -> RunJournal:
        """Where the Runs on `issue` keep their Record."""
        self._journal = RunJournal(self._root / "record.json", self._git, issue, self._redactor.clean)
        return self._journal

    def workspace(self, config: Config) -> GitWorkspace:
        """git for the Run."""
        identity = Identity(config.git_user_name, config.git_user_email, config.sign_off)
        return GitWorkspace(self._git, identity, self._root / "logs", self._redactor)

    def clean_logs(self) -> None:
        """Take secrets out of what a Run that was cut short left in the logs folder."""
        try:
            clean_folder(self._root / "logs", self._redactor)
        except OSError as error:
            self._runner.log(f"A log could not be made free of secrets and was removed: {error.strerror}")

    def report(self, config: Config) -> GitHubReporter:
        """What tells people."""
        return self._report(config, self._runner, self._pages(config))

    def report_aside(self, config: Config) -> GitHubReporter:
        """What tells people of a Run that is not this job's: on the job's page there is a line in the log, no more."""
        aside = replace(self._runner, output_file=None, summary_file=None, in_actions=False)
        return self._report(config, aside, None)

    def _report(self, config: Config, runner: Runner, pages: PageWriter | None) -> GitHubReporter:
        profile = config.profile
        limits = Limits(
            *(config.max_repairs, config.max_cost_usd, config.run_timeout_minutes, config.session_timeout_minutes),
            profile=ShownProfile(profile.label, profile.names, profile.overridden) if profile else None,
        )
        return GitHubReporter(self.github, runner, self._redactor, limits, self._clock.today, pages)

    def _pages(self, config: Config) -> PageWriter:
        """What writes the Run page; `transcripts` says whether the job is to keep it."""
        keeps = config.transcripts
        return PageWriter(
            self._root / "logs",
            RunHistory(self._git, lambda: self._journal.newest if self._journal else ""),
            redactor=self._redactor,
            today=self._clock.today,
            say=self.say,
            wanted=lambda: keeps == "always" or (keeps == "auto" and not self._is_public()),
        )

    def _is_public(self) -> bool:
        """Whether anybody can read the repository; asked where the event does not tell. Raises `RunFailed`."""
        told = is_public(read_payload(self._environ))
        return self.github.is_public() if told is None else told

    def ci(self, config: Config, overall: Deadline | None = None) -> Watch:
        """What watches CI; `overall` is the job's own limit."""
        return Watch(
            GitHubCi(self._client, self._job.run_id, config.ci_dispatch),
            self._clock,
            CiLimits(config.ci_start_minutes, config.ci_timeout_minutes, overall),
            self.say,
        )

    @cached_property
    def is_swept(self) -> bool:
        """Whether a workflow on the default branch takes Runs up that no job can be started for. Raises `RunFailed`."""
        branch = self.github.default_branch()
        texts = (self.github.read_file(path, branch) for path in self.workflows.files(branch))
        return is_swept(text.decode(errors="replace") for text in texts if text)

    def time(self, config: Config) -> JobTime:
        """Time as this job has it; it begins now."""
        return JobTime(self._clock, self._deadline(config))

    def _deadline(self, config: Config) -> Deadline:
        return self._clock.deadline("run-timeout-minutes", config.run_timeout_minutes * 60)

    def say(self, line: str) -> None:
        """One more line in the job log, with the time."""
        self._runner.log(self._redactor.clean(f"{self._clock.today():%H:%M:%S} {line}"))

    def confine(self, config: Config) -> None:
        """Confine what runs in a checkout that a Session of an earlier process was in. Raises `RunFailed`."""
        around = self._surroundings(config)
        around.make_folders()
        self._git.confine(around.settle())
        if self._git.checkout.is_dir():
            around.hand_over(self._git.checkout)

    def _surroundings(self, config: Config) -> Surroundings:
        folders = Folders(
            checkout=self._git.checkout,
            logs=self._root / "logs",
            handover=self._work / "handover",
            claude_home=self._work / "claude",
            install=self._root / "cli",
            shown=(self._work,),
        )
        return Surroundings(config, folders, self._environ, self.say)

    def _trials(self, config: Config, deadline: Deadline, sessions: ClaudeSessions) -> ConfinedTrials:
        """In folders of their own. How they are isolated the Sessions' surroundings say for both."""
        folder = self._work / "trial"
        folders = Folders(
            checkout=folder / "tree",
            logs=self._root / "logs",
            handover=folder / "reports",
            claude_home=folder / "home",
            install=self._root / "cli",
            shown=(self._git.bare,),
        )
        around = Surroundings(config, folders, self._environ, lambda _: None)
        return ConfinedTrials(
            *(config, around, self._clock, deadline),
            git=self._git,
            redactor=self._redactor,
            say=self.say,
            set_up=sessions.set_up_elsewhere,
        )

    def _attachments(self) -> Gathering:
        """What fetches what people attached. Nothing is waited for on its account: each API request is sent once."""

        def source(issue: int, addresses: Sequence[Address]) -> Fetch:
            client = Client(
                self._client.api_url, self._job.repository, self._client.credential, self._clock, attempts=1
            )
            self._open.callback(client.close)
            return AttachmentSource(client, self._hosts, issue, addresses, self._is_public).fetch

        return Gathering(self._hosts, source, self._work / "attachments", self._clock, self.say)

    def ports(self, config: Config, journal: RunJournal) -> Ports:
        """The ports of a Run of this job."""
        deadline = self._deadline(config)
        around = self._surroundings(config)
        sessions = ClaudeSessions(
            *(config, around, self._clock, deadline),
            redactor=self._redactor,
            confined=self._git.confine,
            model=lambda: model_access(config, self._environ, self.say, self._open),
            sources=Sources(GitTree(self._git), self._attachments()),
        )
        return Ports(
            github=self.github,
            ci=self.ci(config, deadline),
            workspace=self.workspace(config),
            tree=GitTree(self._git),
            sessions=sessions,
            trials=self._trials(config, deadline, sessions),
            report=self.report(config),
            journal=journal,
            queue=self.queue,
            requests=self.requests,
            workflows=self.workflows,
            time=JobTime(self._clock, deadline),
            cancel=self._clock.cancel,
            finish_follows=self._runner.in_actions,
        )
