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
        """The lines that `chunk` completes, without last newlines: the one begun before, then the rest in one piece."""
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        if first < 0:
            self._add(chunk)
            return []
        self._add(chunk[:first])
        pieces = self._take()
        if first < last:
            pieces.append(chunk[first + 1 : last])
        self._add(chunk[last + 1 :])
        return pieces

    def rest(self) -> list[bytes]:
        """What is left at EOF: a line without its newline, complete or torn."""
        return self._take() if self._size else []

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

    def _take(self) -> list[bytes]:
        line = [b"".join(self._parts)] if self._size <= self._limit else []
        self.dropped += not line
        self._parts.clear()
        self._size = 0
        return line
