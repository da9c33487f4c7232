"""Streams through the forwarder beside the same streams directly: time to the first byte and to the last, as ratios.

python -m bench.forwarder [ROUNDS]

The origin, the forwarder and the client are a process each. A round asks directly and through the forwarder in turn; a
request is as long as the CLI's (120 kB).
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bot.clock import Clock
from bot.forwarder import ApiKey, Forwarder, Upstream

KEY = "sk-ant-api03-real"
REQUEST_BYTES = 120_000
EVENT = b"event: content_block_delta\ndata: " + b"x" * 150 + b"\n\n"
EVENT_CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """What an answer looks like: seconds before the first byte and between events, and how many events there are."""

    name: str
    streams: int
    first: float
    pace: float
    events: int

    @property
    def size(self) -> int:
        """Bytes from the first to the last."""
        return len(HEAD) + self.events * len(EVENT_CHUNK) + 5


SHAPES = (
    Shape("one, instant", 1, 0, 0, 500),
    Shape("64 at once, instant", 64, 0, 0, 500),
    Shape("64 at once, like a model", 64, 0.3, 0.02, 100),
)


def main() -> None:
    """Print medians and their ratios, one line a shape."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print("medians                    first byte ms             last byte ms")
    print("                           direct through  ratio     direct through  ratio")
    with ExitStack() as stack:
        origin, _ = stack.enter_context(_Process(_origin, ()))
        forwarder, placeholder = stack.enter_context(_Process(_forwarder, (origin,)))
        for shape in SHAPES:
            direct: list[tuple[float, float]] = []
            through: list[tuple[float, float]] = []
            for number in range((20 if shape.streams == 1 else 1) * rounds + 1):  # the first round is for warming up
                both = [
                    asyncio.run(_ask_all(shape, port, key)) for port, key in ((origin, KEY), (forwarder, placeholder))
                ]
                if number:
                    direct += both[0]
                    through += both[1]
            print(f"{shape.name:25}{_compared(direct, through, 0)}  {_compared(direct, through, 1)}")


def _compared(direct: list[tuple[float, float]], through: list[tuple[float, float]], which: int) -> str:
    one, other = (statistics.median(times[which] for times in way) * 1000 for way in (direct, through))
    return f"{one:9.2f}{other:8.2f}{other / one:7.2f}"


async def _ask_all(shape: Shape, port: int, key: str) -> list[tuple[float, float]]:
    return await asyncio.gather(*(_ask(shape, port, key) for _ in range(shape.streams)))


async def _ask(shape: Shape, port: int, key: str) -> tuple[float, float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nX-Shape: {SHAPES.index(shape)}\r\n"
    began = Clock.now()
    writer.write(f"{head}Content-Length: {REQUEST_BYTES}\r\n\r\n".encode() + bytes(REQUEST_BYTES))
    left = shape.size - len(await reader.readexactly(1))
    first = Clock.now() - began
    while left:
        left -= len(await reader.read(min(left, 1 << 20)))
    last = Clock.now() - began
    writer.close()
    await writer.wait_closed()
    return first, last


class _Process:
    """A process that serves; entering it gives its port and its key."""

    def __init__(self, serve: Callable[..., None], given: tuple[int, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self._said, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *given), daemon=True)

    def __enter__(self) -> tuple[int, str]:
        self._process.start()
        port, key = self._said.recv()
        return port, key

    def __exit__(self, *_: object) -> None:
        self._said.send("end")
        self._process.join()


def _forwarder(said: Connection, origin: int) -> None:
    with Forwarder(upstream=Upstream("127.0.0.1", origin, tls=False), credential=ApiKey(KEY)) as forwarder:
        port = int(forwarder.environment["ANTHROPIC_BASE_URL"].rpartition(":")[2])
        said.send((port, forwarder.environment["ANTHROPIC_API_KEY"]))
        said.recv()


def _origin(said: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=256)
        said.send((server.sockets[0].getsockname()[1], KEY))
        await asyncio.to_thread(said.recv)

    asyncio.run(serve())


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    assert KEY.encode() in head
    await reader.readexactly(REQUEST_BYTES)
    shape = SHAPES[int(head.partition(b"X-Shape: ")[2][:1])]
    await asyncio.sleep(shape.first)
    writer.write(HEAD)
    for _ in range(shape.events):
        writer.write(EVENT_CHUNK)
        await writer.drain()
        if shape.pace:
            await asyncio.sleep(shape.pace)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    await reader.read()
    writer.close()


if __name__ == "__main__":
    main()
