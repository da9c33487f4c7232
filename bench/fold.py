"""How fast a recorded stream is folded, beside the same stream through claude-agent-sdk's own transport and parser.

    python bench/fold.py [MEGABYTES]        (default 200)

Both read the same bytes here, one after the other, from the stdout of a child that prints them: the frames of the
recordings, with 5 % tool results of 30 kB. Printed: MB/s of both, their ratio, and the most memory held until the end
of the fold.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage
from claude_agent_sdk._internal.message_parser import parse_message
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

sys.path.insert(0, str(Path(__file__).parents[1]))

from bot.claude.facts import Facts, PromptSent, fold
from bot.claude.frames import parse
from bot.claude.process import LineFramer

RECORDINGS = Path(__file__).parents[1] / "tests" / "claude" / "recordings"
CHUNK = 1 << 16
BIG = 30_000
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def big_line() -> bytes:
    """A tool result as a long log gives it."""
    text = "".join(f"{number} PASSED tests/test_widget.py::test_part_{number}\n" for number in range(1000))[: BIG // 2]
    # the CLI prints the text twice: for the model, and as it was
    content = [{"type": "tool_result", "tool_use_id": "toolu_big", "content": text, "is_error": False}]
    message = {"role": "user", "content": content}
    fields = {"type": "user", "message": message, "parent_tool_use_id": None, "uuid": "0" * 8, "session_id": "s"}
    return orjson.dumps({**fields, "tool_use_result": {"stdout": text, "stderr": ""}})


def write_stream(path: Path, size: int) -> None:
    """`size` bytes of recorded frames, each with an id of its own, every twentieth a big one."""
    lines = [
        line
        for recording in sorted(RECORDINGS.glob("*.jsonl"))
        for line in recording.read_bytes().splitlines()
        if line.startswith(b"{") and len(line) < BIG and b'"type"' in line
    ]
    big = big_line()
    written = 0
    with path.open("wb") as out:
        for number, line in enumerate(itertools.cycle(lines)):
            fresh = b"%08x-0000-4000-8000-%012x" % (number, number)
            uuid = b'"uuid":"' + fresh
            said = big if number % 20 == 19 else re.sub(rb'"uuid":"' + _ID.pattern, uuid, line)
            written += out.write(said + b"\n")
            if written >= size:
                return


def fold_stream(path: Path) -> tuple[float, int]:
    """Seconds, and Turns seen."""
    began = time.perf_counter()
    framer, facts = LineFramer(), fold(Facts(), PromptSent())
    source, sink = os.pipe()
    with subprocess.Popen(["cat", str(path)], stdout=sink):
        os.close(sink)
        while chunk := os.read(source, CHUNK):
            for line in framer.feed(chunk):
                facts = fold(facts, parse(line))
    os.close(source)
    return time.perf_counter() - began, facts.turns


async def sdk_stream(path: Path) -> tuple[float, int]:
    """Seconds, and results seen, through the SDK's `read_messages` and `parse_message`."""
    cli = path.with_name("claude")
    cli.write_text(f"#!/bin/sh\nexec cat {path}\n")
    cli.chmod(0o755)
    transport = SubprocessCLITransport(prompt="", options=ClaudeAgentOptions(cli_path=str(cli)))
    began, results = time.perf_counter(), 0
    await transport.connect()
    async for data in transport.read_messages():
        results += isinstance(parse_message(data), ResultMessage)
    seconds = time.perf_counter() - began
    await transport.close()
    return seconds, results


def peak_mib() -> float:
    """Most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Build the stream, run both, print the ratio."""
    size = int(sys.argv[1]) * 10**6 if len(sys.argv) > 1 else 200 * 10**6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.jsonl"
        write_stream(path, size)
        ours, turns = fold_stream(path)
        memory = peak_mib()
        theirs, results = asyncio.run(sdk_stream(path))
    megabytes = size / 10**6
    print(f"nightjar          {megabytes / ours:7.0f} MB/s  ({turns} turns; peak {memory:.0f} MiB)")
    print(f"claude-agent-sdk  {megabytes / theirs:7.0f} MB/s  ({results} results)")
    print(f"ratio             {theirs / ours:7.2f}")


if __name__ == "__main__":
    main()
