"""What a command prints for people: as wide as their terminal is, and with colours only where they are wanted."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from bot.guard.posting import plain_lines
from bot.report.terminal import laid_out

_COLOURS = {"ok": "32", "written": "32", "warning": "33", "differs": "33", "failure": "31", "unknown": "36"}
"""Words at the beginning of a line, each with its ANSI colour."""
_WORD = re.compile(rf"^( *)({'|'.join(_COLOURS)})\b", re.MULTILINE)
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class Console:
    """One stream. `width` in columns; 0 where lines may be long."""

    stream: TextIO
    width: int
    colours: bool

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Console:
        """The stream as `environ` wants it: COLUMNS goes before the terminal's own width; NO_COLOR, a dumb terminal and
        whatever is no terminal take the colours away.
        """
        given = environ.get("COLUMNS", "")
        is_terminal = stream.isatty()
        width = os.get_terminal_size(stream.fileno()).columns if is_terminal else 0
        if given.isascii() and given.isdigit() and 0 < int(given) <= _WIDEST:
            width = int(given)
        colours = is_terminal and not environ.get("NO_COLOR") and environ.get("TERM", "") not in ("", "dumb")
        return cls(stream, width, colours)

    def lines(self, lines: Sequence[str]) -> None:
        """Lines, folded; those with tabs in them, in columns."""
        if lines:
            text = laid_out("\n".join(_shown(line.replace("\n", " ")) for line in lines), self.width)
            self._write(_WORD.sub(self._painted, text) if self.colours else text)

    def verbatim(self, text: str) -> None:
        """Text as it is, such as a difference, but for what would steer the terminal."""
        self._write("".join(f"{line}\n" for line in _shown(text).rstrip("\n").split("\n")))

    def exact(self, text: str) -> None:
        """Text of the program's own, to the last character."""
        self._write(text)

    @staticmethod
    def _painted(match: re.Match[str]) -> str:
        return f"{match[1]}\x1b[{_COLOURS[match[2]]}m{match[2]}\x1b[0m"

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def _shown(text: str) -> str:
    """Without control characters and what is invisible; tabs and line ends stay."""
    return "".join(char for char in plain_lines(text) if char in "\n\t" or unicodedata.category(char)[0] != "C")


def refuse(command: str, line: str, code: int) -> int:
    """One line on stderr that says why `nightjar <command>` did nothing; the exit code."""
    said = " ".join(_shown(line).split())
    print(f"nightjar {command}: {said}", file=sys.stderr)
    return code
