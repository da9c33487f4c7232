"""How fast a recorded stream is folded, beside the same stream through claude-agent-sdk's own transport and parser.

    python -m bench.fold [MEGABYTES] [ROUNDS]        (default 200 and 3)

Both get the same bytes from the stdout of a child that prints them: the frames of the recordings, with 5 % tool results
of 30 kB. Each opens that pipe and reads it as it does with the real CLI, and parses as much of each line as it does
there. They take turns, each time in a new process. Printed: MB/s of each one's best round (what else the machine does
only adds), the ratio, the same by CPU time alone, the most memory that a round held, and how much of what was written
each one found: Nightjar counts the Turns that close, the SDK the `result` frames. There are more of these, because a
resumed CLI first closes a Turn that never was.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec

from bot.claude.facts import Facts, PromptSent
from bot.claude.fold import fold, fold_all
from bot.claude.framing import LineFramer
from bot.claude.lines import parse_lines
from bot.claude.process import CHUNK_BYTES, wide_pipe

RECORDINGS = Path(__file__).parents[1] / "tests" / "claude" / "recordings"
BIG = 30_000
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def big_line() -> bytes:
    """A tool result as a long log gives it."""
    text = "".join(f"{number} PASSED tests/test_widget.py::test_part_{number}\n" for number in range(1000))[: BIG // 2]
    # the CLI prints the text twice: for the model, and as it was
    content = [{"type": "tool_result", "tool_use_id": "toolu_big", "content": text, "is_error": False}]
    message = {"role": "user", "content": content}
    fields = {"type": "user", "message": message, "parent_tool_use_id": None, "uuid": "0" * 8, "session_id": "s"}
    return msgspec.json.encode({**fields, "tool_use_result": {"stdout": text, "stderr": ""}})


@dataclass(frozen=True)
class Written:
    """What there is to find in a stream."""

    results: int
    """Its `result` frames."""
    turns: int
    """Those of them that close a Turn."""


def write_stream(path: Path, size: int) -> Written:
    """`size` bytes of recorded frames, each with an id of its own, every twentieth a big one."""
    lines = [
        line
        for recording in sorted(RECORDINGS.glob("*.jsonl"))
        for line in recording.read_bytes().splitlines()
        if line.startswith(b"{") and len(line) < BIG and b'"type"' in line
    ]
    results = {line: closes_a_turn(frame) for line in lines if (frame := json.loads(line))["type"] == "result"}
    big = big_line()
    written: list[bool] = []
    with path.open("wb") as out:
        for number, line in enumerate(itertools.cycle(lines)):
            fresh = b"%08x-0000-4000-8000-%012x" % (number, number)
            uuid = b'"uuid":"' + fresh
            is_big = number % 20 == 19
            out.write((big if is_big else re.sub(rb'"uuid":"' + _ID.pattern, uuid, line)) + b"\n")
            if not is_big and line in results:
                written.append(results[line])
            if out.tell() >= size:
                break
    return Written(len(written), sum(written))


def closes_a_turn(result: dict[str, Any]) -> bool:
    """Whether the Turn of a `result` frame ever was."""
    woken = result.get("origin", {}).get("kind") == "task-notification"
    return result["num_turns"] > 0 or not woken


def fold_stream(path: Path) -> int:
    """Nightjar's framing, reading and fold; the Turns seen."""
    framer, facts = LineFramer(), fold(Facts(), PromptSent())
    source, sink = wide_pipe()
    with subprocess.Popen(["cat", str(path)], stdout=sink):
        os.close(sink)
        while chunk := os.read(source, CHUNK_BYTES):
            for piece in framer.feed(chunk):
                facts = fold_all(parse_lines(piece), facts)
    os.close(source)
    return facts.turns


def sdk_stream(path: Path) -> int:
    """The SDK's `read_messages` and `parse_message`; the results seen."""
    return asyncio.run(_sdk_stream(path))


async def _sdk_stream(path: Path) -> int:
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage
    from claude_agent_sdk._internal.message_parser import parse_message
    from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

    cli = path.with_name("claude")
    cli.write_text(f"#!/bin/sh\nexec cat {path}\n")
    cli.chmod(0o755)
    transport = SubprocessCLITransport(prompt="", options=ClaudeAgentOptions(cli_path=str(cli)))
    await transport.connect()
    results = 0
    async for data in transport.read_messages():
        results += isinstance(parse_message(data), ResultMessage)
    await transport.close()
    return results


@dataclass(frozen=True)
class Round:
    """One reading of the stream. `seconds` by the clock, `cpu_seconds` of this process alone; `peak` in MiB."""

    seconds: float
    cpu_seconds: float
    peak: float
    closed: int
    """What was seen to close."""


def measured(read: Callable[[Path], int], path: Path) -> Round:
    """Read the stream once, in this process."""
    read(path.with_name("short.jsonl"))  # imports and caches are not what is measured
    began, cpu = time.perf_counter(), time.process_time()
    closed = read(path)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return Round(seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, closed)


def main() -> None:
    """Build the stream, let both read it in turn, print what they took."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    readers = {"nightjar": fold_stream, "claude-agent-sdk": sdk_stream}
    done: dict[str, list[Round]] = {name: [] for name in readers}
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as apart,
    ):
        path = Path(folder) / "stream.jsonl"
        written = write_stream(path, megabytes * 10**6)
        write_stream(path.with_name("short.jsonl"), 10**6)
        for name, read in [*readers.items()] * rounds:
            done[name].append(apart.submit(measured, read, path).result())
    found = {"nightjar": f"of {written.turns} Turns", "claude-agent-sdk": f"of {written.results} results"}
    for name, each in done.items():
        wall, cpu = best(each)
        said = f"{megabytes / wall:5.0f} MB/s, {megabytes / cpu:5.0f} MB per CPU second"
        print(f"{name:17} {said}; peak {max(one.peak for one in each):.0f} MiB; {each[0].closed} {found[name]}")
    ours, theirs = best(done["nightjar"]), best(done["claude-agent-sdk"])
    print(f"ratio             {theirs[0] / ours[0]:.2f} by the clock, {theirs[1] / ours[1]:.2f} by CPU time")


def best(rounds: list[Round]) -> tuple[float, float]:
    """The fewest seconds, by the clock and of CPU."""
    return min(each.seconds for each in rounds), min(each.cpu_seconds for each in rounds)


if __name__ == "__main__":
    main()
