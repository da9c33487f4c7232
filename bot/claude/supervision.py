"""One process of a Session, from its prompt to its end: waits, and acts when a limit has passed.

What is waited for is chosen from the facts alone (`bot.claude.waits`). Nothing is decided before all that has been
received is folded.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.claude.facts import Event, Facts, Opener, PromptSent, StopAsked
from bot.claude.fold import fold
from bot.claude.frames import Assistant, Ignored
from bot.claude.lines import parse_lines
from bot.claude.process import CALM, FIRM, HASTY, ClaudeProcess
from bot.claude.verdict import RUNAWAY_WAKE_TURNS, Ended, Stop
from bot.claude.waits import KEPT, PLANNED, Limits, Wait, limit_of, mark, waiting_for
from bot.clock import Clock, Deadline

REST_OF_A_LINE_SECONDS = 2.0
QUIET_SECONDS = 60.0
"""Planned silence before a progress line says so; twice as long before the next."""


class Supervision:
    """Supervises one `ClaudeProcess`; `facts` are what is known of it."""

    def __init__(
        self,
        process: ClaudeProcess,
        limits: Limits,
        clock: Clock,
        run: Deadline,
        progress: Callable[[str], None],
        nudge_prompt: Callable[[tuple[str, ...]], str] | None,
    ) -> None:
        """`run` is the Run's own limit; without `nudge_prompt` there is no Nudge."""
        self.facts = Facts()
        self._process = process
        self._limits = limits
        self._clock = clock
        self._run = run
        self._progress = progress
        self._nudge_prompt = nudge_prompt
        self._session = clock.deadline("session limit", limits.session)
        self._lines = 0
        self._closed = False
        self._stopped = False
        self._nudged = False
        self._present: tuple[object, Deadline] | None = None
        self._kept: dict[Wait, tuple[object, Deadline]] = {}
        self._nudge: Deadline | None = None
        self._quiet_since = clock.now()
        self._quiet = clock.deadline("quiet", QUIET_SECONDS)

    def run(self, prompt: str) -> Ended:
        """Supervise to EOF or to a limit; how it ended."""
        self._process.send_prompt(prompt)
        self._fold(PromptSent())
        while True:
            wait = waiting_for(self.facts, closed=self._closed, stopped=self._stopped)
            limit = self._limit(wait)
            lines = self._read(wait, limit)
            stop = self._must_stop()
            if stop is None and not lines:
                if self._process.at_eof:
                    return self._end(Stop.NOT_US)
                stop = self._act(wait, limit)
            if stop is not None:
                return self._end(stop, self._session.seconds if stop is Stop.SESSION_LIMIT else limit.seconds)

    # ── waiting ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _limit(self, wait: Wait) -> Deadline:
        marked = mark(wait, self.facts, self._lines)
        # A Turn that a Monitor's line opened comes between, and the wait goes on where it was.
        present = self._kept.get(wait) if wait in KEPT else self._present
        if present is None or present[0] != marked:
            present = marked, self._begun(wait)
        if wait in KEPT:
            self._kept[wait] = present
        self._present = present
        return present[1]

    def _begun(self, wait: Wait) -> Deadline:
        if wait is not Wait.HOLD:
            make = self._clock.deadline if wait in PLANNED else self._clock.reaction
            return make(wait.name.lower(), limit_of(wait, self._limits))
        tasks = "; ".join(task.name for task in self.facts.roster)
        self._progress(f"the turn is over; holding the session open for its background work ({tasks})")
        if self._stopped:  # one Hold ran out: what was started since is stopped like what it was started after
            return self._clock.deadline("hold", 0)
        hold = min(self._limits.hold, self._limits.nudged_hold) if self._nudged else self._limits.hold
        return self._clock.deadline("hold", hold)

    def _read(self, wait: Wait, limit: Deadline) -> list[bytes]:
        """Fold all lines that are there, or else those that come before something has to be done."""
        self._nudge = self._when_to_nudge(wait)
        limits = [limit, self._session, self._run, self._quiet, *([self._nudge] if self._nudge else [])]
        pieces = self._process.read(min(limits, key=lambda deadline: deadline.at))
        if not pieces and self._process.mid_line:
            rest = self._clock.reaction("the rest of a line", REST_OF_A_LINE_SECONDS)
            while not (pieces or rest.passed() or self._clock.cancel.requested) and self._process.mid_line:
                pieces = self._process.read(rest)
        for piece in pieces:
            for frame in parse_lines(piece):
                self._lines += 1
                self._fold(frame)
        if pieces:
            self._nudge = None
            self._quiet_since = self._clock.now()
            self._quiet = self._clock.deadline("quiet", QUIET_SECONDS)
        elif self._quiet.passed():
            self._say_quiet(wait)
        return pieces

    def _when_to_nudge(self, wait: Wait) -> Deadline | None:
        off = self._nudge_prompt is None or not self._limits.nudge
        if off or wait is not Wait.HOLD or self._nudged or self._stopped or self.facts.owed:
            return None
        return self._nudge or self._clock.deadline("nudge", self._limits.nudge)

    def _say_quiet(self, wait: Wait) -> None:
        running = [task.name for task in self.facts.roster] if wait is Wait.HOLD else self.facts.open_tools.values()
        doing = "; ".join(running)
        minutes = (self._clock.now() - self._quiet_since) * self._clock.scale / 60
        self._progress(f"nothing heard for {minutes:.0f} min" + (f" ({doing})" if doing else ""))
        self._quiet = self._clock.deadline("quiet", self._quiet.seconds * 2)

    # ── acting ──────────────────────────────────────────────────────────────────────────────────────────────────

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

    def _act(self, wait: Wait, limit: Deadline) -> Stop | None:
        """Nothing came: do what is due, if anything is; why the process is to be ended, if it is."""
        if self._nudge_prompt and self._nudge and self._nudge.passed() and not limit.passed():
            self._send_nudge(self._nudge_prompt)
        if not limit.passed():
            return None
        match wait:
            case Wait.START:
                return Stop.START
            case Wait.TURN | Wait.TOOL:
                return Stop.SILENCE
            case Wait.HOLD:
                self._stop_tasks()
                return None
            case Wait.LEAVE:
                return Stop.NOT_US
            case _:
                self._process.close_stdin()
                self._closed = True
                return None

    def _send_nudge(self, prompt: Callable[[tuple[str, ...]], str]) -> None:
        names = tuple(dict.fromkeys(task.name for task in self.facts.roster))
        self._progress(f"asking the session to settle its background work ({'; '.join(names)})")
        self._process.send_prompt(prompt(names))
        self._fold(PromptSent())
        self._nudged = True

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
            ended = self.facts.opener is Opener.TASK_END
            cause = "a background task ended" if ended else "something new came from the background"
            self._progress(f"{cause}; the session was woken")

    def _end(self, stop: Stop, seconds: float = 0.0) -> Ended:
        graces = HASTY if stop is Stop.CANCEL else CALM if self._process.at_eof else FIRM
        for piece in self._process.end(graces):
            for frame in parse_lines(piece):
                self._fold(frame)
        for _ in range(self._process.dropped_lines):
            self._fold(Ignored("line too long"))
        return Ended(self._process.exit_code, stop, seconds, self._process.stderr_tail)
