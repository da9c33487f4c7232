"""One Session of the soak: what is played, and what must not have come of it."""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.claude import command
from bot.claude.descendants import marked
from bot.claude.session import Ask, Played, SessionPlayer
from bot.claude.verdict import Decision
from bot.claude.waits import Limits
from bot.clock import Clock
from bot.guard import Redactor
from bot.record import SessionEntry
from bot.sandbox import player
from bot.sandbox.cli import offline_environment
from bot.sandbox.model import Call, Conversation, Fault, ModelRequest, Reply, Script, ScriptedModel
from bot.sandbox.player import Await, Exit, Pause, Race, Spawn, Step, Until

SPREAD_SECONDS = 0.02
GAP_SECONDS = 0.06
"""From the end of a task to its Wake turn; a CLI whose stdin is closed meanwhile leaves, and the Wake turn is lost."""
WOKEN = "It passed."
JOB = "soak-job"
ANSWER = "It still runs."

CLOSERS = ("settle", "wake", "hold", "nudge", "silence", "session", "cancel")
REAL_CLOSERS = ("hold", "nudge", "cancel", "session")
ORDERS = (("level", "updated", "notified"), ("updated", "notified", "level"), ("updated", "notified"))
ENDS = {
    "level": player.level(),
    "updated": player.updated("x", "completed"),
    "notified": player.notified("x", "completed"),
}
WAKE_TURN: tuple[Step, ...] = (player.init(), player.text(WOKEN), player.result(WOKEN, woken=True))
STOPPED: tuple[Step, ...] = (player.updated("x", "killed"), player.notified("x", "stopped"), player.level())
MAY_END_BADLY = {
    "silence": {"session_silent"},
    "session": {"session_timeout"},
    "cancel": {Decision.CANCELLED.value},
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One Session to be played; `offset` in seconds from the closer, `claude` a path or "" for the frame player."""

    number: int
    closer: str
    offset: float
    order: tuple[str, ...] = ORDERS[0]
    claude: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """How it went; `wrong` is "" when it went well, and then there is no `stream`."""

    trial: Trial
    decision: str
    failure: str
    names: tuple[str, ...]
    nudged: bool
    seconds: float
    wrong: str
    stream: tuple[str, ...] = ()


@dataclass(slots=True)
class _Stage:
    """What surrounds one Session."""

    folder: Path
    mark: str
    limits: Limits
    clock: Clock = field(default_factory=Clock)
    entries: list[SessionEntry] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    when_held: Callable[[], None] | None = None

    def hold(self, claude: Path, url: str) -> Played:
        """Play the Session to its end."""
        environment = offline_environment(url, self.folder, os.environ["PATH"]) | {"NIGHTJAR_SOAK": self.mark}
        sessions = SessionPlayer(
            command.Claude(claude),
            checkout=self.folder,
            logs=self.folder,
            log_prefix="soak",
            limits=self.limits,
            clock=self.clock,
            redactor=Redactor(()),
        )
        ask = Ask(
            kind="implement",
            prompt="begin",
            resume_prompt=lambda verdict: f"resume: {'; '.join(verdict.tasks)}",
            nudge_prompt=lambda tasks: f"nudge: {'; '.join(tasks)}",
            budget_usd=10,
            deadline=Clock.reaction("run", 60),
            environment=environment,
        )
        return sessions.hold(ask, ended=self.entries.append, progress=self._progress)

    def _progress(self, line: str) -> None:
        self.said.append(line)
        if self.when_held and line.startswith("the turn is over"):
            self.when_held()
            self.when_held = None

    @property
    def streams(self) -> list[str]:
        """All that was printed, one text a process."""
        return [Path(entry.transcript).read_text(encoding="utf-8", errors="replace") for entry in self.entries]


# ── on the frame player ──────────────────────────────────────────────────────────────────────────────────────────


def on_player(trial: Trial) -> Seen:
    """Play one Trial on the frame player."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        stage = _Stage(Path(folder), f"{os.getpid()}-{trial.number}", Limits(settle=0.03, hold=30, nudge=0, stopping=4))
        at = 0.3
        match trial.closer:
            case "settle":
                stage.limits = replace(stage.limits, settle=at)
            case "wake":
                stage.limits = replace(stage.limits, wake=at)
            case "hold":
                # A task that is stopped just as it ends wakes the root although nothing is owed.
                stage.limits = replace(stage.limits, settle=0.2, hold=at)
            case "nudge":
                stage.limits = replace(stage.limits, nudge=at)
            case "silence":
                stage.limits = replace(stage.limits, turn=at)
            case "session":
                stage.limits = replace(stage.limits, session=1.0)
            case "cancel":
                stage.when_held = threading.Timer(at, stage.clock.cancel.request).start
        good: list[Step] = [Await("user"), player.init(), player.text("Done."), player.result("Done."), Await("close")]
        steps = _steps(trial, at, session_ends=Clock.now() + 1.0)
        claude = player.install(stage.folder, steps, good)
        return _seen(
            trial, stage, lambda: stage.hold(claude, "http://127.0.0.1:9"), woke=lambda: _said_woken(stage.streams[0])
        )


def _steps(trial: Trial, at: float, session_ends: float) -> list[Step]:
    """What the player prints: a task `x` that ends `trial.offset` from the closer."""
    ends: list[Step] = [ENDS[name] for name in trial.order]
    said: list[Step] = [player.text("I wait."), player.result("I wait.")]
    begin: list[Step] = [Await("user"), player.init(), *player.background("x"), Spawn(30)]
    due = at + trial.offset
    ended: list[Step] = [*ends, _unless_closed(GAP_SECONDS, WAKE_TURN)]
    match trial.closer:
        case "settle":
            body = [*ends, *said, _unless_closed(due, WAKE_TURN)]
        case "wake" if trial.order is ORDERS[0]:
            body = [*said, *ends, Pause(due), *WAKE_TURN]  # after the closing, and all the same
        case "wake":
            body = [*said, *ends, _unless_closed(due, WAKE_TURN)]
        case "silence":
            body = [player.text("Hm."), Pause(due), *ends, player.text(WOKEN), player.result(WOKEN)]
        case "session":
            body = [*said, Until(session_ends + trial.offset), *ended]
        case "hold":
            body = [*said, Race("stop_task", due, STOPPED, ended)]
        case "nudge":
            answer: list[Step] = [player.init(), player.text(ANSWER), player.result(ANSWER)]
            body = [*said, Race("user", due, [*answer, *ended], [*ended, Race("user", 0.15, answer, [])])]
        case _:
            body = [*said, Pause(due), *ended]
    return [*begin, *body, Await("close")]


def _unless_closed(seconds: float, steps: Sequence[Step]) -> Race:
    return Race("close", seconds, [Exit(0)], steps)


# ── on the real CLI ──────────────────────────────────────────────────────────────────────────────────────────────


def on_real(trial: Trial) -> Seen:
    """Play one Trial on a real CLI: a job of 2.5 s, and a closer `trial.offset` from its end."""
    job = 2.5
    at = job - trial.offset  # from about the end of the Turn
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        stage = _Stage(Path(folder), f"{os.getpid()}-real-{trial.number}", Limits(settle=0.3, hold=30, nudge=0))
        match trial.closer:
            case "hold":
                stage.limits = replace(stage.limits, hold=at)
            case "nudge":
                stage.limits = replace(stage.limits, nudge=at)
            case "session":
                stage.limits = replace(stage.limits, session=at + 2.0)
            case "cancel":
                stage.when_held = threading.Timer(at, stage.clock.cancel.request).start
        line = f"python3 -c 'import time; time.sleep({job})'"
        call = Call("Bash", {"command": line, "run_in_background": True, "description": JOB})
        replies = (Reply("", (call,)), Reply("I wait."), Reply(WOKEN, times=6))
        with _Model(Script((Conversation("only", replies),))) as model:
            return _seen(
                trial, stage, lambda: stage.hold(Path(trial.claude), model.url), woke=lambda: model.told_of_the_end
            )


class _Model(ScriptedModel):
    """A scripted model that knows whether it was told of the job's end."""

    told_of_the_end = False

    def answer(self, body: bytes, headers: Mapping[str, str]) -> tuple[ModelRequest, Reply | Fault]:
        """As scripted."""
        if re.search(rb'command \\+"' + JOB.encode() + rb'\\+" completed', body):
            self.told_of_the_end = True
        return super().answer(body, headers)


# ── judging ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _seen(trial: Trial, stage: _Stage, hold: Callable[[], Played], woke: Callable[[], bool]) -> Seen:
    began = Clock.now()
    played = hold()
    seconds = Clock.now() - began
    left = marked(f"NIGHTJAR_SOAK={stage.mark}")
    wrong = f"survivors: {left}" if left else _wrong(trial, stage, played, woke())
    return Seen(
        trial,
        str(played.verdict.decision),
        played.verdict.failure,
        tuple(entry.name for entry in stage.entries),
        any(line.startswith("asking the session to settle") for line in stage.said),
        round(seconds, 3),
        wrong,
        (*stage.said, *stage.streams) if wrong else (),
    )


def _wrong(trial: Trial, stage: _Stage, played: Played, woke: bool) -> str:
    """What should not have happened; "" when all is well."""
    decision, failure = played.verdict.decision, played.verdict.failure
    stopped = any("outlived the Hold limit" in line for line in stage.said)
    killed = _was_killed(stage.streams[0])
    resumed = len(stage.entries) > 1
    if killed and not stopped and trial.closer not in MAY_END_BADLY:
        return "work was killed although nobody wished it"
    if resumed and not killed and (woke or trial.closer != "wake"):
        return "a needless Resume"
    if decision is Decision.DONE:
        # What ended within the Turn owes nothing, and so does a Resume.
        return "" if woke or resumed or trial.closer == "settle" else "a lost wake"
    bad = failure or decision.value
    return "" if bad in MAY_END_BADLY.get(trial.closer, set()) else f"an end that nothing explains: {bad}"


def _frames(stream: str) -> Iterator[dict[str, object]]:
    for line in stream.splitlines():
        try:
            frame = json.loads(line)
        except ValueError:
            continue
        if isinstance(frame, dict):
            yield frame


def _was_killed(stream: str) -> bool:
    return any(
        frame.get("subtype") == "task_notification" and frame["status"] == "stopped" for frame in _frames(stream)
    )


def _said_woken(stream: str) -> bool:
    return any(frame.get("type") == "result" and WOKEN in str(frame.get("result")) for frame in _frames(stream))


def play(trial: Trial) -> Seen:
    """One Trial, on what it is for."""
    return on_real(trial) if trial.claude else on_player(trial)
