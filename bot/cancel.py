"""A person, or the runner, wants the Run to stop: kept as a fact for everything that waits."""

from __future__ import annotations

import os


class Cancelled(Exception):
    """The Run was asked to stop."""


class Cancel:
    """Whether stopping was asked for, and a file that becomes readable when it is."""

    def __init__(self) -> None:
        """Not asked for yet."""
        self.requested = False
        self._acknowledged = False
        self.fd, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def request(self) -> None:
        """Ask for it. Safe in a signal handler, and twice."""
        if not self.requested and not self._acknowledged:
            self.requested = True
            os.write(self._write, b"!")

    def check(self) -> None:
        """Raises `Cancelled` when stopping was asked for."""
        if self.requested:
            raise Cancelled

    def acknowledge(self) -> None:
        """The Run is ending because of it: from now on nothing is cut short, and asking again changes nothing."""
        self._acknowledged = True
        if self.requested:
            self.requested = False
            os.read(self.fd, 1)

    def close(self) -> None:
        """Give the files back."""
        os.close(self.fd)
        os.close(self._write)
