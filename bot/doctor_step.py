"""`nightjar doctor` as a step of a job: with the very token, key and settings that a Run would have there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from bot.clock import Clock
from bot.config import SETTINGS_FILE, Config, check_claude_path, read_config
from bot.credential import Credential, FixedToken
from bot.doctor.examination import counted, examine
from bot.doctor.facts import Answered, Facts, Files, Hub, NoAnswer, Refusal, Token, Unknown
from bot.doctor.reading import files_facts
from bot.doctor.words import Finding, Level
from bot.examining import ask_claude, ask_github, git_version, refusal_of
from bot.failures import RunFailed
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.github.setup_facts import SetupFacts
from bot.github.tokens import AppCredential, AppKey
from bot.guard import inert_line
from bot.job_step import as_a_step
from bot.record import Outcome
from bot.report.actions import Runner
from bot.report.render import filled
from bot.settings import SETTINGS
from bot.trigger import read_job

FAILED = 1
_LINE = 1000
_UNREAD = "the settings are not in order"
_UNASKED = "GitHub could not be asked: see token"


def doctor_step(environ: Mapping[str, str]) -> int:
    """Look at the repository of this job; the exit code."""
    return as_a_step("doctor", environ, _doctor, finish_follows=False)


def _doctor(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    """Raises `BadEvent` where this is no job."""
    for setting in SETTINGS.values():
        if setting.secret and (given := environ.get(setting.variable, "").strip()):
            runner.mask(given)
    repository = read_job(environ).repository
    facts = _Job(environ, runner, clock, repository).facts()
    findings = examine(facts)
    _tell(findings, runner)
    return FAILED if any(one.level is Level.FAILURE for one in findings) else 0


def _tell(findings: Sequence[Finding], runner: Runner) -> None:
    """In the log, in the step summary, and by annotations."""
    for one in findings:
        runner.log(f"{one.level:8} {one.check:14} {one.line}")
        if one.level in (Level.FAILURE, Level.WARNING):
            level = "error" if one.level is Level.FAILURE else "warning"
            runner.annotate(level, f"Nightjar: {one.check}", one.line)  # type: ignore[arg-type]  # two of its words
    summary = counted(findings)
    runner.log(summary)

    def inert(text: str) -> str:
        return inert_line(text, _LINE).replace("|", "\\|")

    runner.step_summary(filled("doctor.md.j2", findings=findings, counted=summary, inert=inert))
    runner.outputs({"outcome": str(Outcome.SKIPPED), "reason": f"the doctor looked, and did nothing else: {summary}"})


class _Job:
    """What is to be found out in a job."""

    def __init__(self, environ: Mapping[str, str], runner: Runner, clock: Clock, repository: str) -> None:
        self._environ = environ
        self._runner = runner
        self._clock = clock
        self._repository = repository
        self._api = environ.get("GITHUB_API_URL", "") or "https://api.github.com"

    def facts(self) -> Facts:
        """All of it. Raises `Cancelled`."""
        with ExitStack() as opened:
            files = files_facts({}, None, "", self._read, unread=_UNASKED)
            token: Token | Refusal
            hub: Hub | Unknown
            try:
                credential, source = self._credential(opened)
                client = Client(self._api, self._repository, credential, self._clock)
                opened.callback(client.close)
                files = self._files(client)
                token, hub = ask_github(client, credential, source, files.config)
            except RunFailed as failed:
                token, hub = refusal_of(failed), Unknown(_UNASKED)
            claude = Unknown(_UNREAD) if files.problems else self._claude(files.config)
            return Facts(in_job=True, files=files, git=git_version(self._environ), token=token, hub=hub, claude=claude)

    def _read(self, settings: bytes | str | None) -> Config:
        """Raises `ConfigInvalid`."""
        config = read_config(self._environ, settings)
        check_claude_path(config)
        return config

    def _credential(self, opened: ExitStack) -> tuple[Credential, str]:
        """As a Run would have it, and where it is from. Raises `RunFailed` for one of no use."""
        names = ("app-id", "app-private-key", "github-token")
        app, pem, token = (self._environ.get(SETTINGS[name].variable, "").strip() for name in names)
        if not (app and pem):
            return FixedToken(token), "the input `github-token`"
        key = AppKey(app, pem)
        credential = AppCredential(
            key, self._api, self._repository, self._clock, learned=self._runner.mask, fallback=None
        )
        opened.callback(credential.close)
        return credential, "the App's key"

    def _files(self, client: Client) -> Files:
        """The repository's, on its default branch: that is where Runs take them from. Raises `RunFailed`."""
        github = GitHubRepository(client)
        branch = github.default_branch()
        return files_facts(
            SetupFacts(client).workflow_files(branch), github.read_file(SETTINGS_FILE, branch), branch, self._read
        )

    def _claude(self, config: Config) -> Answered | NoAnswer:
        temp = self._environ.get("RUNNER_TEMP", "")
        install = Path(temp) / "nightjar" / "cli" if temp else None
        return ask_claude(config, self._environ, self._clock, self._runner.log, install)
