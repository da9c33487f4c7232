"""The `Sessions` port on the real CLI: prompts, Handover folders, environment and budget for each Session of a Run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.attachments.given import NOTHING, Attachments
from bot.cancel import Cancelled
from bot.claude import command, prompt
from bot.claude.agent_home import AgentHome
from bot.claude.descendants import adopt_orphans
from bot.claude.given import keep_evidence
from bot.claude.install import find_claude
from bot.claude.session import Ask, SessionPlayer
from bot.claude.setup import run_setup
from bot.claude.shell import Place
from bot.claude.surroundings import Surroundings
from bot.claude.verdict import Decision
from bot.claude.waits import Limits
from bot.clock import Clock, Deadline
from bot.config import Config
from bot.failures import RunFailed, UsageLimitReached
from bot.guard import Redactor
from bot.handover import Handover, pull_request_template
from bot.isolation.rules import Confinement
from bot.ports import Delivered, PullRequestText, Tree
from bot.proof.claim import NoClaim
from bot.proof.facts import Claim
from bot.record import Evidence, Record, SessionEntry

MAX_API_RETRIES = 3
"""A Run's own budget, beside Repairs and Resumes."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where what Sessions are given to read comes from."""

    tree: Tree
    """Has the base commit's files."""
    attachments: Callable[[int, Sequence[str]], Attachments]
    """Those that the texts of an issue, given by its number, name."""


class ClaudeSessions:
    """Holds the Sessions of one Run."""

    def __init__(
        self,
        config: Config,
        surroundings: Surroundings,
        clock: Clock,
        deadline: Deadline,
        *,
        redactor: Redactor,
        confined: Callable[[Confinement], None],
        model: Callable[[], Mapping[str, str]],
        sources: Sources,
    ) -> None:
        """`deadline` is the Run's own; `redactor` makes what Sessions left free of secrets. `confined` hears how
        Sessions are, before the first begins. `model` says by which variables a Session finds the model's API; asked
        for when the first is about to begin.
        """
        self._config = config
        self._surroundings = surroundings
        self._folders = surroundings.folders
        self._redactor = redactor
        self._confined = confined
        self._model = model
        self._model_variables: Mapping[str, str] = {}
        self._clock = clock
        self._deadline = deadline
        self._attachments = sources.attachments
        self._attached = NOTHING
        self._progress = surroundings.progress
        self._handover = Handover(self._folders.handover)
        self._agent_home = AgentHome(
            sources.tree,
            home=self._folders.claude_home,
            checkout=self._folders.checkout,
            directory=config.working_directory,
            hand_over=surroundings.hand_over,
            say=surroundings.progress,
        )
        self._is_set_up = False
        self._nonce = secrets.token_hex(8)
        self._claude: command.Claude | None = None
        self._limits = Limits(
            turn=config.silence_timeout_minutes * 60,
            hold=config.background_wait_minutes * 60,
            session=config.session_timeout_minutes * 60,
            nudge=config.nudge_minutes * 60,
        )

    def make_ready(self) -> None:
        """Install the CLI where it has to be, and run the `setup` commands; once a job, the commands once more after
        they have run elsewhere. Raises `RunFailed`, `Cancelled`.
        """
        if self._claude is not None:
            self._set_up_again()
            return
        adopt_orphans()
        around, config = self._surroundings, self._config
        around.make_folders()
        path = find_claude(config.claude_path, config.claude_version, self._folders.install, around.tools)
        self._confined(around.settle(path))
        around.hand_over(self._folders.checkout)
        self._set_up()
        self._model_variables = self._model()
        self._claude = command.Claude(
            path, config.model or "", config.permission_mode, config.claude_args, hides_key=config.pass_model_key
        )

    def set_up_elsewhere(self) -> None:
        """The `setup` commands have run in another folder: what they install for all belongs to that one now."""
        self._is_set_up = False

    def _set_up(self) -> None:
        self._is_set_up = True
        place = Place(self._directory(), self._surroundings.tools, self._surroundings.confinement)
        run_setup(self._config.setup, place, self._clock, self._deadline)

    def _set_up_again(self) -> None:
        """A failure is the next Session's to see and to mend: it comes from what the branch has become."""
        if self._is_set_up:
            return
        self._surroundings.hand_over(self._folders.checkout)
        try:
            self._set_up()
        except RunFailed as failed:
            self._progress(self._redactor.clean(f"before the next Session: {failed.reason}"))

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
        evidence = [replace(item, excerpt=self._redactor.clean(item.excerpt)) for item in evidence]
        keep_evidence(self._folders.logs, self._log_prefix(record), record.repairs[-1].number, evidence)
        asked = record.repairs[-1].request
        if asked is not None:
            text = prompt.request(
                work,
                self._config.instructions_for("request"),
                max_repairs=record.max_repairs,
                repairs=record.repairs,
                asked=asked,
            )
        elif record.repairs[-1].conflict:
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
        self._agent_home.trust(record.base_commit)
        player = SessionPlayer(
            self._claude,
            checkout=self._directory(),
            logs=self._folders.logs,
            log_prefix=self._log_prefix(record),
            limits=self._limits,
            clock=self._clock,
            redactor=self._redactor,
            confinement=self._surroundings.confinement,
        )
        ask = Ask(
            kind=kind,
            prompt=text,
            resume_prompt=lambda verdict: prompt.resume(verdict, bash_minutes=self._bash_minutes),
            budget_usd=budget,
            deadline=self._deadline,
            environment=self._environment(kind),
            nudge_prompt=prompt.nudge,
            retry_prompt=lambda verdict: prompt.retry(verdict, bash_minutes=self._bash_minutes),
            retries_left=MAX_API_RETRIES - record.api_retries,
            configure=self._agent_home.fresh,
        )
        try:
            played = player.hold(ask, ended=ended, progress=self._progress)
        except OSError as error:
            raise RunFailed(
                "claude_start", f"the claude command could not be run: {error.strerror or error}"
            ) from error
        if played.verdict.decision is Decision.CANCELLED:
            raise Cancelled
        if played.verdict.failure == "usage_limit" and played.verdict.decision is Decision.FAIL:
            raise UsageLimitReached(played.verdict.reason, played.evidence, played.verdict.resets_at)
        if played.verdict.decision is Decision.FAIL:
            raise RunFailed(played.verdict.failure, played.verdict.reason, played.evidence)
        return self._delivered(kind)

    @staticmethod
    def _log_prefix(record: Record) -> str:
        """How the names of the Run's files in the logs folder begin."""
        trigger = record.trigger
        return f"issue-{trigger.issue}-run-{trigger.run_id}-{trigger.run_attempt}"

    def _delivered(self, kind: str) -> Delivered:
        """What the Handover holds. No secret in it gets any further, to wherever its texts are put together."""
        clean, text = self._redactor.clean, self._handover.pull_request(kind)
        if text is not None:
            text = PullRequestText(clean(text.title), clean(text.body))
        claim, refused = self._claim(kind)
        return Delivered(text, clean(self._handover.note(kind)), claim, refused, self._attached.notes())

    def _claim(self, kind: str) -> tuple[Claim | None, str]:
        """The test that the Session named, or why what it left is none; neither where nobody asked for one."""
        if self._config.proof == "off":
            return None, ""
        try:
            return self._handover.claim(kind), ""
        except NoClaim as refused:
            return None, str(refused)

    def _work(self, record: Record) -> prompt.Work:
        trigger = record.trigger
        texts = (trigger.body, *(remark.body for remark in record.remarks))
        self._attached = self._attachments(trigger.issue, texts)
        return prompt.Work(
            repository=trigger.repository,
            issue=trigger.issue,
            title=trigger.title,
            body=trigger.body,
            remarks=record.remarks,
            attachments=self._attached,
            base=record.base,
            branch=record.branch,
            nonce=self._nonce,
            check_command=self._config.check_command or "",
            template=pull_request_template(self._folders.checkout),
            bash_minutes=self._bash_minutes,
            proof=self._config.proof != "off",
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

    def _environment(self, kind: str) -> dict[str, str]:
        """Of the Session that is about to begin; its folders are its own from here on."""
        handover = self._handover.fresh(kind)
        for folder in (self._folders.checkout, handover):
            self._surroundings.hand_over(folder)
        told = command.told(self._limits, handover=handover, background=self._config.background)
        return {**self._surroundings.variables(self._model_variables), **told}
