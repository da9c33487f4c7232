"""A Session: one `claude` conversation, taken up again where the rules allow it: once for killed background work, and a
few times for a model's API that was down for a while.

`SessionPlayer.hold` plays one kind of Session to its end: its own process, and those that follow it with `--resume`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.claude import command
from bot.claude.process import ClaudeProcess
from bot.claude.supervision import Supervision
from bot.claude.verdict import Decision, Verdict, judge
from bot.claude.waits import Limits
from bot.clock import Clock, Deadline
from bot.guard import Redactor, clean_file
from bot.isolation.rules import UNCONFINED, Confinement
from bot.record import SessionEntry

if TYPE_CHECKING:
    from tenacity import RetryCallState

WORDS_LIMIT = 4000
FIRST_RETRY_SECONDS = 30
LONGEST_RETRY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Ask:
    """One Session that a Run wants; `kind` names it."""

    kind: str
    prompt: str
    resume_prompt: Callable[[Verdict], str]
    """Makes the Resume's prompt from what was lost."""
    budget_usd: float
    """What this Session, with whatever takes it up again, may cost."""
    deadline: Deadline
    """The Run's own limit."""
    environment: Mapping[str, str]
    nudge_prompt: Callable[[tuple[str, ...]], str] | None = None
    """Makes the Nudge from the names of the tasks that run; None: no Nudge."""
    retry_prompt: Callable[[Verdict], str] | None = None
    """Makes an API retry's prompt, the verdict names what was killed meanwhile; None: no API retries."""
    retries_left: int = 0
    """How many API retries the Run still has."""
    configure: Callable[[str], command.Configuration] = lambda _: command.Configuration()
    """Asked before each process, with the conversation that it takes up or ""."""


@dataclass(frozen=True, slots=True)
class Played:
    """How one process of a Session ended."""

    entry: SessionEntry
    verdict: Verdict
    evidence: str
    """The last lines that the CLI wrote to stderr."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What one process is told, under which name its log goes, and which conversation it takes up."""

    name: str
    prompt: str
    conversation: str = ""


class SessionPlayer:
    """Plays Sessions in one checkout, with one CLI."""

    def __init__(
        self,
        claude: command.Claude,
        *,
        checkout: Path,
        logs: Path,
        log_prefix: str,
        limits: Limits,
        clock: Clock,
        redactor: Redactor,
        confinement: Confinement = UNCONFINED,
    ) -> None:
        """`logs` exists; transcripts are named `<log_prefix>-<kind>.jsonl`. They are written as the stream arrives;
        when a process has ended, `redactor` takes the secrets out of what it wrote.
        """
        self._redactor = redactor
        self._confinement = confinement
        self._claude = claude
        self._checkout = checkout
        self._logs = logs
        self._log_prefix = log_prefix
        self._limits = limits
        self.clock = clock

    def hold(self, ask: Ask, *, ended: Callable[[SessionEntry], None], progress: Callable[[str], None]) -> Played:
        """Play `ask` to its end; `ended` hears of each process as it ends, `progress` of what happens meanwhile.

        Raises `OSError` when the CLI cannot be run at all, `Cancelled` when the Run is to stop between two processes.
        """
        return _Conversation(self, ask, ended, progress).play()

    def play(self, ask: Ask, said: _Said, progress: Callable[[str], None], *, resumed: bool, retries: int) -> Played:
        """One process to its end; `resumed` when the one Resume is used up, `retries` are the API retries left."""
        transcript = self._logs / f"{self._log_prefix}-{said.name}.jsonl"
        configuration = ask.configure(said.conversation)
        argv = command.argv(
            self._claude, resume=said.conversation, budget_usd=ask.budget_usd, configuration=configuration
        )
        began, began_at = self.clock.now(), self.clock.today()
        with ClaudeProcess(
            argv,
            cwd=self._checkout,
            env={**ask.environment, **configuration.variables},
            transcript=transcript,
            clock=self.clock,
            confinement=self._confinement,
        ) as process:
            supervision = Supervision(process, self._limits, self.clock, ask.deadline, progress, ask.nudge_prompt)
            ended = supervision.run(said.prompt)
        if not self.clock.cancel.requested:  # else there are seconds left, and the job's last step does it
            self._take_secrets_out(transcript, progress)
        facts = supervision.facts
        verdict = judge(ask.kind, facts, ended, resumed=resumed)
        if verdict.decision is Decision.RETRY and not retries:
            verdict = replace(verdict, decision=Decision.FAIL)
        entry = SessionEntry(
            name=said.name,
            session_id=facts.session_id or said.conversation,
            seconds=self.clock.now() - began,
            cost_usd=facts.cost_usd,
            turns=facts.turns,
            ended=str(verdict.decision),
            lost=() if verdict.failure == "wake_lost" else verdict.tasks,  # what ended unheard was not killed
            words=facts.words[-WORDS_LIMIT:],
            transcript=str(transcript),
            began=began_at.isoformat(timespec="milliseconds"),
        )
        return Played(entry, verdict, ended.last_words)

    def _take_secrets_out(self, transcript: Path, progress: Callable[[str], None]) -> None:
        try:
            clean_file(transcript, self._redactor)
        except OSError as error:
            progress(f"{transcript.name} could not be made free of secrets and was removed: {error.strerror}")


class _Conversation:
    """One Session on its way: what it has cost, and how often it was taken up again."""

    def __init__(
        self,
        player: SessionPlayer,
        ask: Ask,
        ended: Callable[[SessionEntry], None],
        progress: Callable[[str], None],
    ) -> None:
        self._player = player
        self._ask = ask
        self._ended = ended
        self._progress = progress
        self._next = _Said(ask.kind, ask.prompt)
        self._resumed = False
        self._retries = 0

    def play(self) -> Played:
        """Process after process; those after a transient API failure follow with growing pauses."""
        from tenacity import Retrying, retry_if_result, wait_exponential

        pauses = Retrying(
            retry=retry_if_result(lambda played: played.verdict.decision is Decision.RETRY),
            wait=wait_exponential(multiplier=FIRST_RETRY_SECONDS, exp_base=3, max=LONGEST_RETRY_SECONDS),
            sleep=self._player.clock.sleep,
            before_sleep=self._say,
        )
        return pauses(self._to_an_end)

    def _to_an_end(self) -> Played:
        """The next process, and the one Resume where the verdict on it says so."""
        played = self._one()
        if played.verdict.decision is Decision.RESUME:
            self._progress(f"{played.verdict.reason}; resuming it once")
            self._resumed = True
            self._follow(played, f"{self._ask.kind}-resume", self._ask.resume_prompt)
            played = self._one()
        if played.verdict.decision is Decision.RETRY and self._ask.retry_prompt:
            self._retries += 1
            self._follow(played, f"{self._ask.kind}-retry-{self._retries}", self._ask.retry_prompt)
        return played

    def _one(self) -> Played:
        left = self._ask.retries_left - self._retries if self._ask.retry_prompt else 0
        played = self._player.play(self._ask, self._next, self._progress, resumed=self._resumed, retries=left)
        self._ask = replace(self._ask, budget_usd=self._ask.budget_usd - played.entry.cost_usd)
        self._ended(played.entry)
        return played

    def _follow(self, played: Played, name: str, prompt: Callable[[Verdict], str]) -> None:
        self._next = _Said(name, prompt(played.verdict), played.entry.session_id)

    def _say(self, state: RetryCallState) -> None:
        seconds = state.next_action.sleep if state.next_action else 0.0
        reason = state.outcome.result().verdict.reason if state.outcome else ""
        self._progress(f"{reason}; taking the session up again in {seconds:.0f} s")
