"""One job's log, as GitHub serves it: a time stamp before each line, workflow commands turned into `##[...]` marks.

Spooled to a file, so that a job that prints without end costs no memory; what goes over the limit is dropped and the
log says so.
"""

from __future__ import annotations

import re
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

LIMIT_BYTES = 64 * 1024 * 1024
STAMP_BYTES = 30

_COMMAND = re.compile(r"^\s*::(?P<name>[\w-]+)(?: [^\n]*?)?::(?P<message>.*)$")
_MARKS = {"group": "group", "endgroup": "endgroup", "error": "error", "warning": "warning", "notice": "notice"}
_ESCAPES = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))


def stamp(moment: datetime) -> str:
    """A log line's time: ISO 8601 with seven decimals and `Z`."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}0Z"


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

    def line(self, text: str) -> None:
        """Write one line (or several) of the runner's own."""
        with self._lock:
            for part in text.split("\n"):
                self._write(part)

    def error(self, text: str) -> None:
        """Write one line that GitHub shows in red."""
        self.line(f"##[error]{text}")

    def output(self, raw: bytes) -> None:
        """Write one line of a step's output, and obey it when it is a workflow command."""
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        with self._lock:
            command = _COMMAND.match(text)
            if command is None:
                self._write(text)
            else:
                self._obey(text, command["name"], command["message"])

    def _obey(self, text: str, name: str, message: str) -> None:
        for escape, meaning in _ESCAPES:
            message = message.replace(escape, meaning)
        if self._stopped_by:
            self._stopped_by = "" if name == self._stopped_by else self._stopped_by
            self._write(text)
        elif name in _MARKS:
            for part in f"##[{_MARKS[name]}]{message}".split("\n"):
                self._write(part)
        elif name == "add-mask" and message.strip():
            self._masks.append(message)
        elif name == "stop-commands":
            self._stopped_by = message
            self._write(text)
        elif name != "debug":
            self._write(text)

    def _write(self, text: str) -> None:
        for mask in self._masks:
            text = text.replace(mask, "***")
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
