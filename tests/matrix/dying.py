"""Starts a command of Nightjar that is killed, by SIGKILL, at a chosen point of its own.

    python -m tests.matrix.dying PLACE NTH LIST COMMAND

The points are Python's own audit events, so that the command knows nothing of it: `before-save` and `after-save` around
each time the Record's file is replaced, `git` before each start of git. LIST gets one line for each point that was
passed; with NTH 0 nothing is killed.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path

PLACES = ("before-save", "after-save", "git")


class Death:
    """An audit hook that counts the points of one place and kills its own process at the `nth`."""

    def __init__(self, place: str, nth: int, passed: Path) -> None:
        """`passed` is the file that gets a line for each point."""
        self._place = place
        self._nth = nth
        self._count = 0
        self._saved = False
        self._file = os.open(passed, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Hear of one event."""
        if self._saved:  # whatever comes first after the file was replaced
            self._saved = False
            self._pass("after-save", "")
        if event == "os.rename" and str(arguments[1]).endswith("/record.json"):
            self._pass("before-save", "")
            self._saved = True
        elif event == "subprocess.Popen" and arguments[0] == "git":
            self._pass("git", " ".join(word for word in map(str, _words(arguments[1])) if not word.startswith("-")))

    def _pass(self, place: str, what: str) -> None:
        if place != self._place:
            return
        self._count += 1
        os.write(self._file, f"{what}\n".encode())
        if self._count == self._nth:
            os.kill(os.getpid(), signal.SIGKILL)


def _words(given: object) -> list[object]:
    """The words of a git command after its `-c` settings."""
    words = list(given) if isinstance(given, list | tuple) else []
    while "-c" in words:
        del words[words.index("-c") : words.index("-c") + 2]
    return words[1:3]


def main() -> None:
    """Play the command."""
    _, place, nth, passed, *command = sys.argv
    sys.addaudithook(Death(place, int(nth), Path(passed)))
    sys.argv = ["nightjar", *command]
    runpy.run_module("bot", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
