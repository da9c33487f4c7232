"""One job's log, as GitHub serves it: a time stamp before each line, workflow commands turned into `##[...]` marks.

Spooled to a file, so that a job that prints without end costs no memory; what goes over the limit is dropped and the
log says so.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from bot.sandbox.ci.events import Annotation

LIMIT_BYTES = 64 * 1024 * 1024
STAMP_BYTES = 30

_COMMAND = re.compile(r"^\s*::(?P<name>[\w-]+)(?: (?P<properties>[^\n]*?))?::(?P<message>.*)$")
_MARKS = {"group": "group", "endgroup": "endgroup", "error": "error", "warning": "warning", "notice": "notice"}
_LEVELS: Mapping[str, Literal["failure", "warning", "notice"]] = {
    "error": "failure",
    "warning": "warning",
    "notice": "notice",
}
_ESCAPES = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY_ESCAPES = (("%3A", ":"), ("%2C", ","), *_ESCAPES)
ANNOTATIONS = 50  # what GitHub keeps of one job


def stamp(moment: datetime) -> str:
    """A log line's time: ISO 8601 with seven decimals and `Z`."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}0Z"


def _unescaped(text: str, escapes: Sequence[tuple[str, str]] = _ESCAPES) -> str:
    for escape, meaning in escapes:
        text = text.replace(escape, meaning)
    return text


def _annotation(command: str, properties: str, message: str) -> Annotation:
    """What `::error file=app.py,line=3::…` and its like put on a file."""
    pairs = (part.partition("=") for part in properties.split(","))
    given = {key.strip(): _unescaped(value, _PROPERTY_ESCAPES) for key, _, value in pairs}
    start = int(given["line"]) if given.get("line", "").isdigit() else 1
    end = int(given["endLine"]) if given.get("endLine", "").isdigit() else start
    return Annotation(_LEVELS[command], message, given.get("file") or ".github", start, end, given.get("title"))


class JobLog:
    """Written by the job's thread and by the readers of its processes' output."""

    def __init__(self, directory: Path, limit: int = LIMIT_BYTES) -> None:
        """Spool to a file in `directory`, `limit` bytes at most."""
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (closed by `finish`)
        self._lock = threading.Lock()
        self._limit = limit
        self._size = 0
        self._masks: list[str] = []
        self._stopped_by = ""
        self.annotations: list[Annotation] = []

    def line(self, text: str) -> None:
        """Write one line (or several) of the runner's own."""
        with self._lock:
            for part in text.split("\n"):
                self._write(part)

    def mask(self, secret: str) -> None:
        """Hide `secret` from here on."""
        with self._lock:
            self._masks += [line for line in secret.splitlines() if line.strip()]

    def error(self, text: str) -> None:
        """Write one line that GitHub shows in red, and annotates."""
        self._annotate(Annotation("failure", text))
        self.line(f"##[error]{text}")

    def output(self, raw: bytes) -> None:
        """Write one line of a step's output, and obey it when it is a workflow command."""
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        with self._lock:
            command = _COMMAND.match(text)
            if command is None:
                self._write(text)
            else:
                self._obey(text, command["name"], command["properties"] or "", _unescaped(command["message"]))

    def _obey(self, text: str, name: str, properties: str, message: str) -> None:
        if self._stopped_by:
            self._stopped_by = "" if name == self._stopped_by else self._stopped_by
            self._write(text)
        elif name in _MARKS:
            for part in f"##[{_MARKS[name]}]{message}".split("\n"):
                self._write(part)
            if name in _LEVELS:
                self._annotate(_annotation(name, properties, message))
        elif name == "add-mask" and message.strip():
            self._masks.append(message)
        elif name == "stop-commands":
            self._stopped_by = message
            self._write(text)
        elif name != "debug":
            self._write(text)

    def _annotate(self, annotation: Annotation) -> None:
        if len(self.annotations) < ANNOTATIONS:
            self.annotations.append(replace(annotation, message=self._masked(annotation.message)))

    def _masked(self, text: str) -> str:
        for mask in self._masks:
            text = text.replace(mask, "***")
        return text

    def _write(self, text: str) -> None:
        text = self._masked(text)
        if self._size >= self._limit:
            return
        self._size += len(text.encode()) + STAMP_BYTES
        if self._size >= self._limit:
            text = f"##[error]The log was cut here: it is longer than {self._limit} bytes."
        self._file.write(f"{stamp(datetime.now(UTC))} {text}\n".encode())

    def finish(self) -> bytes:
        """The whole log, with the byte order mark that GitHub's logs begin with; nothing can be written afterwards."""
        with self._lock, self._file:
            self._size = self._limit
            self._file.seek(0)
            return b"\xef\xbb\xbf" + self._file.read()
