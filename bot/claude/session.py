"""A Session: one `claude` conversation, held open for its background work, and resumed once when that was killed all the same.

`SessionPlayer.hold` plays one kind of Session to its end: its own process, and, where the verdict says so, the one Resume.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.claude import command
from bot.claude.facts import Event, Facts, PromptSent, StopAsked, fold
from bot.claude.frames import Assistant, Ignored, parse
from bot.claude.process import CALM, HASTY, ClaudeProcess
from bot.claude.verdict import RUNAWAY_WAKE_TURNS, Decision, Ended, Stop, Verdict, judge
from bot.claude.waits import PLANNED, Limits, Wait, limit_of, mark, waiting_for
from bot.clock import Clock, Deadline
from bot.record import SessionEntry

WORDS_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Ask:
    """One Session that a Run wants. `kind` names it; `resume_prompt` makes the Resume's prompt from what was lost."""

    kind: str
    prompt: str
    resume_prompt: Callable[[Verdict], str]
    budget_usd: float
    """What this Session (with its Resume) may cost."""
    deadline: Deadline
    """The Run's own limit."""
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Played:
    """How one process of a Session ended."""

    entry: SessionEntry
    verdict: Verdict
    evidence: str
    """The last lines that the CLI wrote to stderr."""


class SessionPlayer:
    """Plays Sessions in one checkout, with one CLI."""

    def __init__(
        self, claude: command.Claude, *, checkout: Path, logs: Path, log_prefix: str, limits: Limits, clock: Clock
    ) -> None:
        """`logs` exists; transcripts are named `<log_prefix>-<kind>.jsonl`."""
        self._claude = claude
        self._checkout = checkout
        self._logs = logs
        self._log_prefix = log_prefix
        self._limits = limits
        self._clock = clock

    def hold(self, ask: Ask, *, ended: Callable[[SessionEntry], None], progress: Callable[[str], None]) -> Played:
        """Play `ask` to its end; `ended` hears of each process as it ends, `progress` of what happens meanwhile.

        Raises `OSError` when the CLI cannot be run at all.
        """
        first = self._play(ask, ask.kind, ask.prompt, progress)
        ended(first.entry)
        if first.verdict.decision is not Decision.RESUME:
            return first
        progress(first.verdict.reason + "; resuming it once")
        again = self._play(
            ask, f"{ask.kind}-resume", ask.resume_prompt(first.verdict), progress, resume=first.entry.session_id
        )
        ended(again.entry)
        return again

    def _play(self, ask: Ask, name: str, prompt: str, progress: Callable[[str], None], *, resume: str = "") -> Played:
        transcript = self._logs / f"{self._log_prefix}-{name}.jsonl"
        argv = command.argv(self._claude, resume=resume, budget_usd=ask.budget_usd)
        began = self._clock.now()
        with ClaudeProcess(
            argv, cwd=self._checkout, env=ask.environment, transcript=transcript, clock=self._clock
        ) as process:
            supervision = Supervision(process, self._limits, self._clock, ask.deadline, progress)
            ended = supervision.run(prompt)
        facts = supervision.facts
        verdict = judge(ask.kind, facts, ended, resumed=bool(resume))
        entry = SessionEntry(
            name=name,
            session_id=facts.session_id or resume,
            seconds=self._clock.now() - began,
            cost_usd=facts.cost_usd,
            turns=facts.turns,
            ended=str(verdict.decision),
            lost=verdict.tasks,
            words=facts.words[-WORDS_LIMIT:],
            transcript=str(transcript),
        )
        return Played(entry, verdict, ended.last_words)


class Supervision:
    """One process, from its prompt to its end. The facts say what is waited for; this only waits, and acts when a limit has passed."""

    def __init__(
        self, process: ClaudeProcess, limits: Limits, clock: Clock, run: Deadline, progress: Callable[[str], None]
    ) -> None:
        """`run` is the Run's own limit."""
        self.facts = Facts()
        self._process = process
        self._limits = limits
        self._clock = clock
        self._run = run
        self._progress = progress
        self._session = clock.deadline("session limit", limits.session)
        self._lines = 0
        self._closed = False
        self._stopped = False
        self._no_wake = False
        self._present: tuple[object, Deadline] | None = None

    def run(self, prompt: str) -> Ended:
        """Supervise to EOF or to a limit; how it ended."""
        self._process.send_prompt(prompt)
        self._fold(PromptSent())
        while True:
            wait = waiting_for(self.facts, closed=self._closed, stopped=self._stopped)
            limit = self._limit(wait)
            lines = self._process.read(min(limit, self._session, self._run, key=lambda deadline: deadline.at))
            for line in lines:
                self._lines += 1
                self._fold(parse(line))
            stop = self._must_stop()
            if stop is None and not lines:  # nothing is decided before every line received so far has been folded
                if self._process.at_eof:
                    return self._end(Stop.NO_WAKE if self._no_wake else Stop.NOT_US)
                stop = self._act(wait) if limit.passed() else None
            if stop is not None:
                return self._end(stop, self._seconds(stop, limit))

    def _limit(self, wait: Wait) -> Deadline:
        marked = mark(wait, self.facts, self._lines)
        if self._present is None or self._present[0] != marked:
            seconds = limit_of(wait, self._limits)
            make = self._clock.deadline if wait in PLANNED else self._clock.reaction
            self._present = marked, make(wait.name.lower(), seconds)
            if wait is Wait.HOLD:
                tasks = "; ".join(task.name for task in self.facts.roster)
                self._progress(f"the turn is over; holding the session open for its background work ({tasks})")
        return self._present[1]

    def _must_stop(self) -> Stop | None:
        """What ends the process whatever it is doing."""
        if self._clock.cancel.requested:
            return Stop.CANCEL
        if self.facts.refused_auth:
            return Stop.BAD_KEY
        if self.facts.wake_turns > RUNAWAY_WAKE_TURNS:
            return Stop.RUNAWAY
        if self._session.passed():
            return Stop.SESSION_LIMIT
        return Stop.RUN_LIMIT if self._run.passed() else None

    def _seconds(self, stop: Stop, limit: Deadline) -> float:
        return self._session.seconds if stop is Stop.SESSION_LIMIT else limit.seconds

    def _act(self, wait: Wait) -> Stop | None:
        match wait:
            case Wait.START:
                return Stop.START
            case Wait.TURN | Wait.TOOL:
                return Stop.SILENCE
            case Wait.HOLD:
                self._stop_tasks()
                return None
            case Wait.LEAVE:
                return Stop.NO_WAKE if self._no_wake else Stop.NOT_US
            case _:
                self._no_wake = wait is Wait.WAKE
                self._process.close_stdin()
                self._closed = True
                return None

    def _stop_tasks(self) -> None:
        for task in self.facts.roster:
            self._progress(f"stopping the background task {task.name!r}: it outlived the Hold limit")
            self._process.send_stop_task(task.id, f"stop-{task.id}")
            self._fold(StopAsked(task.id))
        self._stopped = True

    def _fold(self, event: Event) -> None:
        before = self.facts
        self.facts = fold(self.facts, event)
        if isinstance(event, Assistant) and not event.parent:
            for use in event.tool_uses:
                self._progress(f"{use.name}: {use.about}" if use.about else use.name)
        if self.facts.wake_turns > before.wake_turns:
            self._progress("a background task ended; the session was woken")

    def _end(self, stop: Stop, seconds: float = 0.0) -> Ended:
        for _ in range(self._process.dropped_lines):
            self._fold(Ignored("line too long"))
        code = self._process.end(HASTY if stop is Stop.CANCEL else CALM)
        return Ended(code, stop, seconds, self._process.stderr_tail)
