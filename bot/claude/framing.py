"""Bytes of a stream → whole lines, in pieces as large as they came: looking at each line by itself would cost more than
reading it.
"""

from __future__ import annotations

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is dropped (it stays in the transcript): the largest measured was 3 MB."""


class LineFramer:
    """Joins what arrives into pieces of one or more whole lines, whatever the chunks.

    A line over `limit` bytes that spans several chunks is dropped whole and counted: memory is bounded by the limit.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        """`limit` in bytes."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.dropped = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, in one piece without the last newline; [] when there are none."""
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        if first < 0:
            self._add(chunk)
            return []
        lines = self._completed(memoryview(chunk)[:last], first)
        self._add(chunk[last + 1 :])
        return lines

    def _completed(self, lines: memoryview, first: int) -> list[bytes]:
        """The line begun before and all of `lines`, whose first `first` bytes belong to it, copied once."""
        begun, fits = self._parts, self._size + first <= self._limit
        self._parts, self._size = [], 0
        if fits:
            return [b"".join((*begun, lines))]
        self.dropped += 1
        return [bytes(lines[first + 1 :])] if first < len(lines) else []

    def rest(self) -> list[bytes]:
        """What is left at EOF: a line without its newline, complete or torn."""
        return self._completed(memoryview(b""), 0) if self._size else []

    @property
    def open(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._size > 0

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts.clear()
