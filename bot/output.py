"""The program's own stdout and stderr: they take any letter, and they outlive whoever reads them.

A command only prints. That its reader has gone (`| head -1`), that a terminal knows ASCII only, that a stream was never
open: none of it stops a Run or makes a traceback.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputLost(Exception):
    """What was printed could not be written, as on a full disk; the text is one line for a person."""


class _Patient(io.FileIO):
    """A descriptor that takes whatever it is given. From its first failure on it leads nowhere."""

    lost = ""
    """Why something was lost that somebody wanted; "" where nothing was, or nobody reads any more."""

    def write(self, data: ReadableBuffer, /) -> int:
        """All of `data`, as far as the caller can tell."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self._lead_nowhere()
        except OSError as error:
            self.lost = error.strerror or str(error)
            self._lead_nowhere()
        return memoryview(data).nbytes

    def _lead_nowhere(self) -> None:
        """Children that print there are no better off otherwise."""
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())


class OwnOutput:
    """While it is entered `sys.stdout` and `sys.stderr` are as this module promises; streams that somebody has put into
    their place are left alone. Leaving it raises `OutputLost`, unless something worse is raised already.
    """

    def __init__(self) -> None:
        self._files: list[_Patient] = []
        self._before: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)

    def __enter__(self) -> None:
        if sys.stdout is sys.__stdout__:
            sys.stdout = self._made(sys.__stdout__, "replace")
        if sys.stderr is sys.__stderr__:
            sys.stderr = self._made(sys.__stderr__, "backslashreplace")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = self._before
        lost = next((file.lost for file in self._files if file.lost), "")
        if lost and (kind is None or kind is SystemExit):
            raise OutputLost(f"what it printed could not be written: {lost}")

    def _made(self, stream: TextIO | None, errors: str) -> TextIO:
        if not isinstance(stream, io.TextIOWrapper):  # it was closed when the program started
            return Path(os.devnull).open("w", encoding="utf-8")
        stream.flush()
        file = _Patient(stream.fileno(), "w", closefd=False)
        self._files.append(file)
        by_line = stream.line_buffering or stream.write_through
        return io.TextIOWrapper(io.BufferedWriter(file), stream.encoding, errors, line_buffering=by_line)
