"""A Session's transcript, told Turn by Turn: what was said, which tools were called and what they answered, what was
held open. For people; nothing is decided by it.

It is read line by line in bounded memory, whatever its length: of each text, of each Turn and of the Turns themselves
the beginning and the end are kept, and how much was left out between them is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Generic, TypeVar

from bot.claude.blocks import Block, blocks_of
from bot.claude.facts import Facts, Opener, PromptSent
from bot.claude.fold import fold
from bot.claude.frames import (
    ApiRetry,
    Assistant,
    Batch,
    Frame,
    Init,
    RateLimit,
    Result,
    TaskNotification,
    User,
)
from bot.claude.lines import parse
from bot.claude.told import WIDEST, Bounds, Call, Entry, Happened, Hold, Kept, Said, Transcript, Turn
from bot.guard import shorten

_OPEN_CALLS = 512
"""Tool calls that wait for an answer: of more than that at once, the oldest get none."""
_SLACK = 4096
"""Characters beyond an excerpt that are looked at for secrets, so that none is cut in two and missed."""

T = TypeVar("T")


def read_transcript(stream: Iterable[bytes], bounds: Bounds = WIDEST, clean: Callable[[str], str] = str) -> Transcript:
    """Tell the lines of one process. `clean` takes secrets out of a text. Never raises for what is in the lines."""
    teller = _Teller(bounds, clean)
    for line in stream:
        teller.hear(line)
    return teller.told()


class _Row(Generic[T]):
    """The first and the last of what is added."""

    def __init__(self, first: int, last: int) -> None:
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=last)
        self._room = first
        self._count = 0

    def add(self, item: T) -> None:
        self._count += 1
        if len(self._first) < self._room:
            self._first.append(item)
        else:
            self._last.append(item)

    def kept(self) -> Kept[T]:
        return Kept(tuple(self._first), tuple(self._last), self._count - len(self._first) - len(self._last))


class _OpenTurn:
    """A Turn that is being told."""

    def __init__(self, number: int, opener: Opener, woken_by: tuple[str, ...], bounds: Bounds) -> None:
        self.number = number
        self.opener = opener
        self.woken_by = woken_by
        self.entries: _Row[Entry] = _Row(bounds.first_entries, bounds.last_entries)
        self.calls = 0
        self.closed = False
        self.errors = ""
        self.model_turns = 0
        self.cost_usd = 0.0
        self.held: tuple[str, ...] = ()
        self.held_since: datetime | None = None
        self.held_until: datetime | None = None
        self.events: _Row[str] = _Row(bounds.first_entries, bounds.last_entries)
        self.wakes = False

    def told(self) -> Turn:
        hold = None
        if self.held:
            seconds = (
                (self.held_until - self.held_since).total_seconds() if self.held_until and self.held_since else None
            )
            hold = Hold(
                self.held, seconds if seconds is None else max(0.0, seconds), self.events.kept().all, self.wakes
            )
        return Turn(
            number=self.number,
            opener=self.opener,
            woken_by=self.woken_by,
            entries=self.entries.kept(),
            calls=self.calls,
            model_turns=self.model_turns,
            cost_usd=self.cost_usd,
            closed=self.closed,
            errors=self.errors,
            hold=hold,
        )


class _Teller:
    """What was heard so far of one process."""

    def __init__(self, bounds: Bounds, clean: Callable[[str], str]) -> None:
        self._bounds = bounds
        self._clean = clean
        self._facts = fold(Facts(), PromptSent())
        self._model = ""
        self._turns: _Row[_OpenTurn] = _Row(bounds.first_turns, bounds.last_turns)
        self._open: list[_OpenTurn] = []
        self._newest: _OpenTurn | None = None
        self._number = 0
        self._calls = 0
        self._waiting: dict[str, Call] = {}
        self._time: datetime | None = None
        self._woken: _OpenTurn | None = None
        """Whose Hold is over, at a time that the next line will tell."""
        self._never_was: _OpenTurn | None = None
        """What a resumed process opened and closed before its first Turn: the next Turn takes its place."""

    def hear(self, line: bytes) -> None:
        """One more line."""
        frame = parse(line)
        for each in frame.frames if isinstance(frame, Batch) else (frame,):
            before, self._facts = self._facts, fold(self._facts, each)
            self._tell(each, line, before)

    def told(self) -> Transcript:
        kept = self._turns.kept()
        told = [tuple(turn.told() for turn in part) for part in (kept.first, kept.last)]
        return Transcript(
            cli_version=self._facts.cli_version,
            model=self._model,
            turns=Kept(told[0], told[1], kept.left_out),
            calls=self._calls,
            ignored=self._facts.ignored,
        )

    def _tell(self, frame: Frame, line: bytes, before: Facts) -> None:
        match frame:
            case Init():
                self._model = frame.model or self._model
                if self._facts.unclosed > before.unclosed:
                    self._turn_opens(before)
            case Result():
                if self._facts.turns > before.turns:
                    self._turn_closes(frame, before)
                elif frame.is_debris and self._open:
                    self._never_was = self._open.pop()
            case Assistant():
                self._said(frame, line)
            case User():
                self._answered(frame, line)
            case TaskNotification() if frame.task_id in self._facts.tasks and self._facts.tasks[frame.task_id].counts:
                self._happened(
                    f"The background task “{self._facts.tasks[frame.task_id].name}” has ended: {frame.status}"
                )
            case ApiRetry():
                status = f", {frame.status}" if frame.status else ""
                self._happened(f"The model's API failed ({frame.error}{status}); try {frame.attempt} follows")
            case RateLimit() if frame.status == "rejected":
                self._happened("The usage limit is reached")
            case _:
                pass
        for lost in self._facts.lost.keys() - before.lost.keys():
            self._happened(f"The background task “{self._facts.tasks[lost].name}” was killed")

    # ── Turns ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _turn_opens(self, before: Facts) -> None:
        woken_by = tuple(self._excerpt(before.tasks[task].name) for task in before.owed if task in before.tasks)
        opener = self._facts.opener
        if self._newest is not None and self._newest.held:
            self._newest.wakes, self._woken = True, self._newest
        self._begin(opener, woken_by if opener is Opener.TASK_END else ())

    def _begin(self, opener: Opener, woken_by: tuple[str, ...]) -> _OpenTurn:
        never_was, self._never_was = self._never_was, None
        if never_was is not None:
            never_was.opener, never_was.woken_by = opener, woken_by
            self._open.append(never_was)
            return never_was
        self._number += 1
        self._newest = _OpenTurn(self._number, opener, woken_by, self._bounds)
        self._turns.add(self._newest)
        self._open.append(self._newest)
        del self._open[:-2]  # as many can be open at once
        return self._newest

    def _turn_closes(self, frame: Result, before: Facts) -> None:
        turn = self._open.pop(0) if self._open else self._begin(self._facts.opener, ())
        turn.closed, turn.model_turns = True, frame.turns
        turn.errors = self._excerpt("; ".join(frame.errors) or frame.text) if frame.is_error else ""
        turn.cost_usd = max(0.0, self._facts.cost_usd - before.cost_usd)
        facts = self._facts
        if facts.pending and not self._open:
            waiting = [*(task.name for task in facts.roster), *(facts.tasks[task].name for task in facts.owed)]
            turn.held = tuple(self._excerpt(name) for name in dict.fromkeys(waiting))[: self._bounds.last_entries]
            turn.held_since = self._time

    def _current(self) -> _OpenTurn:
        """The Turn that is going on; one that no `init` was seen of, where none is."""
        if self._open:
            return self._open[-1]
        if self._newest is not None and not self._newest.wakes:
            return self._newest
        return self._begin(self._facts.opener, ())

    def _happened(self, text: str) -> None:
        newest, text = self._newest, self._excerpt(text)
        if newest is not None and newest.held and not newest.wakes:
            newest.events.add(text)
        elif newest is not None:
            newest.entries.add(Happened(text))

    # ── what is said in them ────────────────────────────────────────────────────────────────────────────────────

    def _said(self, frame: Assistant, line: bytes) -> None:
        turn, nested = self._current(), bool(frame.parent)
        blocks, told = blocks_of(line)
        self._at(told)
        if not blocks and frame.text:  # an array of frames, which is looked at as a whole
            turn.entries.add(Said(self._excerpt(frame.text), nested=nested))
        for block in blocks:
            if block.kind in ("text", "thinking") and block.text.strip():
                turn.entries.add(Said(self._excerpt(block.text), block.kind == "thinking", nested))
            elif block.kind == "tool_use":
                self._called(turn, block, nested)
        if frame.error:
            turn.entries.add(Happened(self._excerpt(f"The model's API failed ({frame.error})")))

    def _called(self, turn: _OpenTurn, block: Block, nested: bool) -> None:
        call = Call(self._excerpt(block.name), self._excerpt(block.about), self._excerpt(block.text), nested)
        turn.entries.add(call)
        turn.calls += 1
        self._calls += 1
        self._waiting[block.id] = call
        if len(self._waiting) > _OPEN_CALLS:
            del self._waiting[next(iter(self._waiting))]

    def _answered(self, frame: User, line: bytes) -> None:
        background = {result.tool_use_id for result in frame.results if result.background_task}
        blocks, told = blocks_of(line)
        self._at(told)
        for block in blocks:
            call = self._waiting.pop(block.id, None) if block.kind == "tool_result" else None
            if call is not None:
                call.answer = self._excerpt(block.text)
                call.failed = block.failed
                call.background = block.id in background

    def _at(self, told: str) -> None:
        """What time it is, where the line tells; the first line after a Hold ends it."""
        try:
            self._time = datetime.fromisoformat(told)
        except ValueError:
            return
        if self._woken is not None:
            self._woken.held_until, self._woken = self._time, None

    def _excerpt(self, text: str) -> str:
        limit = self._bounds.characters
        if len(text) > 2 * (limit + _SLACK):
            left = len(text) - 2 * (limit + _SLACK)
            text = f"{text[: limit + _SLACK]}\n… {left:,} characters …\n{text[-limit - _SLACK :]}"
        return shorten(self._clean(text), limit)
