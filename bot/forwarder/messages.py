"""HTTP/1.1 as far as a forwarder has to understand it: heads, and where a body ends. Pure; strict with requests.

Nothing in an error's text comes from the request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

Headers = tuple[tuple[bytes, bytes], ...]
"""Names as they were written, values without the white space around them."""

BLANK = b"\r\n\r\n"
"""Ends a head."""

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(rb"[!-~]+")
_VALUE = re.compile(rb"[\t -~\x80-\xff]*")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;[\t -~]*)?\r\n")
_LINE_BYTES = 8 * 1024
_TRAILER_BYTES = 32 * 1024


class BadMessage(Exception):
    """What came is not HTTP/1.1 as it is understood here; `status` is what to answer a request with."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


class Body(Protocol):
    """Where a body ends."""

    done: bool

    def take(self, data: bytes) -> int:
        """How many bytes from the front of `data` belong to the body. Raises `BadMessage`."""
        ...


class SizedBody:
    """A body of a length that was said beforehand; 0 for none."""

    def __init__(self, length: int) -> None:
        self._left = length
        self.done = length == 0

    def take(self, data: bytes) -> int:
        """All of `data` up to the length."""
        taken = min(self._left, len(data))
        self._left -= taken
        self.done = self._left == 0
        return taken


class EndlessBody:
    """An answer's body that ends with the connection."""

    done = False

    def take(self, data: bytes) -> int:
        """All of it."""
        return len(data)


class ChunkedBody:
    """A body in chunks, each with its size in front, with their trailer."""

    def __init__(self) -> None:
        self.done = False
        self._data_left = 0
        self._line = b""
        self._expects = self._size
        self._trailer_bytes = 0

    def take(self, data: bytes) -> int:
        """All of `data` up to the end of the last chunk's trailer."""
        position = 0
        while position < len(data) and not self.done:
            if self._data_left:
                step = min(self._data_left, len(data) - position)
                self._data_left -= step
                position += step
                continue
            end = data.find(b"\n", position) + 1 or len(data)
            self._line += data[position:end]
            position = end
            if len(self._line) > _LINE_BYTES:
                raise BadMessage("a line between chunks is too long")
            if self._line.endswith(b"\n"):
                line, self._line = self._line, b""
                self._expects(line)
        return position

    def _size(self, line: bytes) -> None:
        found = _CHUNK.fullmatch(line)
        if found is None:
            raise BadMessage("a chunk's size is not one")
        self._data_left = int(found[1], 16)
        self._expects = self._end_of_data if self._data_left else self._trailer

    def _end_of_data(self, line: bytes) -> None:
        if line != b"\r\n":
            raise BadMessage("a chunk is longer than its size")
        self._expects = self._size

    def _trailer(self, line: bytes) -> None:
        self._trailer_bytes += len(line)
        if self._trailer_bytes > _TRAILER_BYTES or not line.endswith(b"\r\n"):
            raise BadMessage("the trailer after the last chunk is not one")
        self.done = line == b"\r\n"


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request up to its body."""

    method: bytes
    target: bytes
    headers: Headers
    length: int | None
    """Of the body, in bytes; None for one in chunks."""
    closes: bool
    """The client wants this to be the connection's last exchange."""

    def body(self) -> Body:
        """Where the body ends."""
        return ChunkedBody() if self.length is None else SizedBody(self.length)


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """An answer up to its body."""

    status: int
    body: Body
    closes: bool

    @property
    def interim(self) -> bool:
        """Another head follows."""
        return 100 <= self.status < 200


def parse_request(head: bytes) -> RequestHead:
    """Read a head, its blank line included. Raises `BadMessage`."""
    line, headers = _lines(head)
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _TARGET.fullmatch(parts[1]):
        raise BadMessage("the request line is not one of HTTP/1.1")
    if parts[2] != b"HTTP/1.1":
        raise BadMessage("only HTTP/1.1 is spoken here", 505)
    if len(values(headers, b"host")) != 1:
        raise BadMessage("one Host header is needed")
    return RequestHead(parts[0], parts[1], headers, _request_length(headers), b"close" in options(headers))


def parse_answer(head: bytes, method: bytes) -> AnswerHead:
    """Read the head of an answer to `method`, its blank line included. Raises `BadMessage`."""
    line, headers = _lines(head)
    found = re.fullmatch(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: [^\r\n]*)?", line)
    if found is None or found[2] == b"101":
        raise BadMessage("the answer is not one of HTTP/1.1")
    status = int(found[2])
    closes = b"close" in options(headers) or (found[1] == b"0" and b"keep-alive" not in options(headers))
    return AnswerHead(status, _answer_body(headers, method, status), closes)


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Every value of the header called `name` (lower case)."""
    return [value for written, value in headers if written.lower() == name]


def options(headers: Headers) -> set[bytes]:
    """What `Connection` says, in lower case."""
    return {word.strip().lower() for value in values(headers, b"connection") for word in value.split(b",")} - {b""}


def _lines(head: bytes) -> tuple[bytes, Headers]:
    first, *rest = head.removesuffix(BLANK).split(b"\r\n")
    headers = []
    for line in rest:
        name, colon, value = line.partition(b":")
        value = value.strip(b" \t")
        if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise BadMessage("a header line is not one")
        headers.append((name, value))
    return first, tuple(headers)


def _request_length(headers: Headers) -> int | None:
    lengths, codings = values(headers, b"content-length"), values(headers, b"transfer-encoding")
    if codings:
        if lengths or [coding.lower() for coding in codings] != [b"chunked"]:
            raise BadMessage("a body has either a Content-Length or Transfer-Encoding: chunked")
        return None
    return _length(lengths)


def _answer_body(headers: Headers, method: bytes, status: int) -> Body:
    if method == b"HEAD" or status < 200 or status in (204, 304):
        return SizedBody(0)
    codings = values(headers, b"transfer-encoding")
    if codings:
        return ChunkedBody() if codings[-1].lower().endswith(b"chunked") else EndlessBody()
    lengths = values(headers, b"content-length")
    return SizedBody(_length(lengths)) if lengths else EndlessBody()


def _length(lengths: list[bytes]) -> int:
    if not lengths:
        return 0
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise BadMessage("Content-Length is one number of bytes")
    return int(lengths[0])
