"""`nightjar replay FILE`: fold a recorded stream of the CLI, and say what the supervisor would decide at its end.

The stream is what a Session wrote to its transcript. What it does not hold has to be told: how the process ended,
whether it was the Session's Resume, whether the Run was cancelled.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bot.claude.facts import Facts, Opener, PromptSent
from bot.claude.fold import fold
from bot.claude.frames import Assistant, Batch, Frame, Result, TaskNotification, TaskStarted
from bot.claude.framing import MAX_LINE_BYTES
from bot.claude.lines import parse
from bot.claude.verdict import Decision, Ended, Stop, Verdict, judge
from bot.report.console import Console, refuse

EXIT_CODES = {
    Decision.DONE: 0,
    Decision.RESUME: 3,
    Decision.FAIL: 4,
    Decision.RETRY: 5,
    Decision.CANCELLED: 130,
}
UNREADABLE = 2
_LINE_LIMIT = 160
_TRANSCRIPT = re.compile(r"-(implement|continue|repair-\d+)(?:-resume|-retry-\d+)*\.jsonl$")


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a recorded stream. `story`: what happened, a line an event, for people."""

    facts: Facts
    verdict: Verdict
    story: tuple[str, ...]


def replay_command(
    file: str, exit_code: int, resumed: bool, cancelled: bool, as_json: bool, environ: Mapping[str, str]
) -> int:
    """Run the command; its exit code. A negative `exit_code` is death by that signal, not sent by Nightjar."""
    ended = Ended(exit_code, Stop.CANCEL if cancelled else Stop.NOT_US)
    try:
        with Path(file).open("rb") as stream:
            replayed = replay(lines(stream), ended, resumed=resumed, kind=kind_in(file))
    except OSError as error:
        return refuse("replay", f"cannot read {file}: {error.strerror or error}", UNREADABLE)
    console = Console.of(sys.stdout, environ)
    if as_json:
        console.exact(f"{as_object(replayed)}\n")
    else:
        console.lines(as_lines(replayed))
    return EXIT_CODES[replayed.verdict.decision]


def lines(stream: BinaryIO, limit: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """The lines of `stream`, without their newline; one of over `limit` bytes arrives cut, and so is no frame."""
    while line := stream.readline(limit):
        yield line.rstrip(b"\r\n")
        while len(line) == limit and not line.endswith(b"\n"):
            line = stream.readline(limit)


def kind_in(file: str) -> str:
    """The Session's kind by the name of its transcript; "recorded" where the name does not say."""
    named = _TRANSCRIPT.search(Path(file).name)
    return named[1] if named else "recorded"


def replay(stream: Iterable[bytes], ended: Ended, *, resumed: bool, kind: str = "recorded") -> Replayed:
    """Fold the lines of one process of the Session `kind`, and judge it."""
    facts = fold(Facts(), PromptSent())
    story: list[str] = []
    for line in stream:
        frame = parse(line)
        before, facts = facts, fold(facts, frame)
        for each in frame.frames if isinstance(frame, Batch) else (frame,):
            told = _told(each, before, facts)
            if told and story[-1:] != [told]:
                story.append(told)
    return Replayed(facts, judge(kind, facts, ended, resumed=resumed), tuple(story))


def _told(frame: Frame, before: Facts, facts: Facts) -> str:
    """One event in a line, or "" where it is not worth one."""
    line = ""
    if facts.unclosed > before.unclosed:
        line = f"turn {facts.turns + facts.unclosed}: {_OPENED[facts.opener]}"
    elif isinstance(frame, Result) and facts.turns > before.turns:
        how = "closed with an error" if frame.is_error else "closed"
        line = f"  {how} after {frame.turns} model turns: {frame.text or '; '.join(frame.errors)}"
    elif isinstance(frame, Assistant) and not frame.parent and frame.tool_uses:
        line = "  " + "; ".join(f"{use.name}: {use.about}" if use.about else use.name for use in frame.tool_uses)
    elif isinstance(frame, TaskStarted) and frame.task_id in facts.tasks and frame.task_id not in before.tasks:
        line = f"  task {facts.tasks[frame.task_id].name!r} started"
    elif isinstance(frame, TaskNotification) and frame.task_id in facts.tasks:
        line = f"  task {facts.tasks[frame.task_id].name!r} {frame.status}"
    line = " ".join(line.split()) if not line.startswith("  ") else "  " + " ".join(line.split())
    return line if len(line) <= _LINE_LIMIT else line[: _LINE_LIMIT - 1] + "…"


_OPENED = {
    Opener.PROMPT: "opened by a prompt",
    Opener.TASK_END: "a Wake turn: a background task had ended",
    Opener.ITSELF: "opened by the CLI itself: a Monitor's line, a schedule, or a message that the stream does not show",
}


def as_object(replayed: Replayed) -> str:
    """The verdict as one JSON object."""
    facts, verdict = replayed.facts, replayed.verdict
    return json.dumps(
        {
            "verdict": str(verdict.decision),
            "failure": verdict.failure or None,
            "reason": verdict.reason,
            "tasks": list(verdict.tasks),
            "session_id": facts.session_id or None,
            "final_text": facts.words,
            "turns": facts.turns,
            "cost_usd": round(facts.cost_usd, 6),
            "ignored_lines": sum(facts.ignored.values()),
        },
        ensure_ascii=False,
    )


def as_lines(replayed: Replayed) -> list[str]:
    """The same for people, with what led to it. Cells have a tab between them."""
    facts, verdict = replayed.facts, replayed.verdict
    ignored = ", ".join(f"{why}: {count}" for why, count in facts.ignored.items())
    denied = ", ".join(dict.fromkeys(facts.denied_tools))
    rows = [
        ("session", f"{facts.session_id or 'unknown'} (CLI {facts.cli_version or 'unknown'})"),
        ("turns", f"{facts.turns}, of which {facts.wake_turns} were not ours; {facts.cost_usd:.4f} USD"),
        ("lost tasks", "; ".join(verdict.tasks)),
        ("denied tools", denied),
        ("ignored lines", ignored),
        ("verdict", str(verdict.decision) + (f" ({verdict.failure})" if verdict.failure else "")),
        ("because", verdict.reason),
    ]
    return [*replayed.story, "", *(f"{name}:\t{' '.join(text.split())}" for name, text in rows if text)]
