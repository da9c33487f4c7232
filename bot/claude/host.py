"""The `Sessions` port on the real CLI: prompts, Handover folders, environment and budget for each Session of a Run."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.cancel import Cancelled
from bot.claude import command, prompt
from bot.claude.descendants import adopt_orphans
from bot.claude.install import find_claude
from bot.claude.session import Ask, SessionPlayer
from bot.claude.setup import run_setup
from bot.claude.verdict import Decision
from bot.claude.waits import Limits
from bot.clock import Clock, Deadline
from bot.config import Config
from bot.failures import RunFailed
from bot.handover import Handover, pull_request_template
from bot.ports import Delivered
from bot.record import Evidence, Record, SessionEntry

MAX_API_RETRIES = 3
"""A Run's own budget, beside Repairs and Resumes."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a Run keeps its things; none of it lies in the checkout."""

    checkout: Path
    logs: Path
    handover: Path
    claude_home: Path
    """The CLI's own settings and conversations: fresh for each Run."""
    install: Path


class ClaudeSessions:
    """Holds the Sessions of one Run."""

    def __init__(
        self,
        config: Config,
        folders: Folders,
        environ: Mapping[str, str],
        clock: Clock,
        deadline: Deadline,
        progress: Callable[[str], None],
    ) -> None:
        """`deadline` is the Run's own; `progress` takes lines for the job log."""
        self._config = config
        self._folders = folders
        self._environ = environ
        self._clock = clock
        self._deadline = deadline
        self._progress = progress
        self._handover = Handover(folders.handover)
        self._nonce = secrets.token_hex(8)
        self._claude: command.Claude | None = None
        self._limits = Limits(
            turn=config.silence_timeout_minutes * 60,
            hold=config.background_wait_minutes * 60,
            session=config.session_timeout_minutes * 60,
            nudge=config.nudge_minutes * 60,
        )

    def make_ready(self) -> None:
        """Install the CLI where it has to be, and run the `setup` commands. Raises `RunFailed`."""
        adopt_orphans()
        for folder in (self._folders.logs, self._folders.claude_home):
            folder.mkdir(parents=True, exist_ok=True)
        config = self._config
        tools = self._visible({})
        path = find_claude(config.claude_path, config.claude_version, self._folders.install, tools)
        self._claude = command.Claude(path, config.model or "", config.permission_mode, config.claude_args)
        run_setup(config.setup, self._directory(), tools, self._clock, self._deadline)

    def implement(self, record: Record, subjects: Sequence[str], ended: Callable[[SessionEntry], None]) -> Delivered:
        """The first Session: `continue` where there are commits already. Raises `RunFailed`, `Cancelled`."""
        work = self._work(record)
        if subjects:
            kind = "continue"
            text = prompt.continuation(work, self._config.instructions_for("continue"), subjects)
        else:
            kind = "implement"
            text = prompt.implement(work, self._config.instructions_for("implement"))
        return self._hold(record, kind, text, ended)

    def repair(self, record: Record, evidence: Sequence[Evidence], ended: Callable[[SessionEntry], None]) -> Delivered:
        """The Session of the newest Repair. Raises `RunFailed`, `Cancelled`."""
        work = self._work(record)
        if record.repairs[-1].conflict:
            text = prompt.conflict(
                work,
                self._config.instructions_for("conflict"),
                max_repairs=record.max_repairs,
                conflicts=record.conflicts,
                repairs=record.repairs,
            )
        else:
            text = prompt.ci_fix(
                work,
                self._config.instructions_for("ci-fix"),
                head=record.head,
                max_repairs=record.max_repairs,
                evidence=evidence,
                repairs=record.repairs,
            )
        return self._hold(record, f"repair-{record.repairs[-1].number}", text, ended)

    def _hold(self, record: Record, kind: str, text: str, ended: Callable[[SessionEntry], None]) -> Delivered:
        if self._claude is None:
            raise AssertionError("make_ready comes before the first Session")
        budget = self._config.max_cost_usd - record.cost_usd
        if budget <= 0:
            raise RunFailed(
                "budget_spent", f"the Run's cost cap of ${self._config.max_cost_usd:.2f} was used up before {kind}"
            )
        trigger = record.trigger
        player = SessionPlayer(
            self._claude,
            checkout=self._directory(),
            logs=self._folders.logs,
            log_prefix=f"issue-{trigger.issue}-run-{trigger.run_id}-{trigger.run_attempt}",
            limits=self._limits,
            clock=self._clock,
        )
        ask = Ask(
            kind=kind,
            prompt=text,
            resume_prompt=lambda verdict: prompt.resume(verdict, bash_minutes=self._bash_minutes),
            budget_usd=budget,
            deadline=self._deadline,
            environment=self._visible(self._own(kind)),
            nudge_prompt=prompt.nudge,
            retry_prompt=lambda verdict: prompt.retry(verdict, bash_minutes=self._bash_minutes),
            retries_left=MAX_API_RETRIES - record.api_retries,
        )
        try:
            played = player.hold(ask, ended=ended, progress=self._progress)
        except OSError as error:
            raise RunFailed(
                "claude_start", f"the claude command could not be run: {error.strerror or error}"
            ) from error
        if played.verdict.decision is Decision.CANCELLED:
            raise Cancelled
        if played.verdict.decision is Decision.FAIL:
            raise RunFailed(played.verdict.failure, played.verdict.reason, played.evidence)
        return Delivered(self._handover.pull_request(kind), self._handover.note(kind))

    def _work(self, record: Record) -> prompt.Work:
        trigger = record.trigger
        return prompt.Work(
            repository=trigger.repository,
            issue=trigger.issue,
            title=trigger.title,
            body=trigger.body,
            remarks=record.remarks,
            base=record.base,
            branch=record.branch,
            nonce=self._nonce,
            check_command=self._config.check_command or "",
            template=pull_request_template(self._folders.checkout),
            bash_minutes=self._bash_minutes,
        )

    @property
    def _bash_minutes(self) -> int:
        return max(1, int(self._limits.bash / 60))

    def _directory(self) -> Path:
        directory = self._folders.checkout / self._config.working_directory
        if not directory.is_dir():
            raise RunFailed(
                "config_invalid",
                f"`working-directory`: no folder {self._config.working_directory!r}; give one of the repository's",
            )
        return directory

    def _visible(self, own: Mapping[str, str]) -> dict[str, str]:
        return command.session_environment(
            self._environ,
            secrets=[secret.reveal() for secret in self._config.secrets()],
            pass_env=self._config.pass_env,
            own=own,
        )

    def _own(self, kind: str) -> dict[str, str]:
        return command.own_variables(
            limits=self._limits,
            config_dir=self._folders.claude_home,
            handover=self._handover.fresh(kind),
            credential=self._credential(),
            background=self._config.background,
            as_root=os.geteuid() == 0,
        )

    def _credential(self) -> dict[str, str]:
        key, token = self._config.anthropic_api_key, self._config.claude_code_oauth_token
        if key is not None:
            return {"ANTHROPIC_API_KEY": key.reveal()}
        return {"CLAUDE_CODE_OAUTH_TOKEN": token.reveal()} if token is not None else {}
