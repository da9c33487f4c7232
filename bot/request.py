"""What a person asks of a Run while it goes on, or of one that is over: by a comment, or by a review of its pull
request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Wants(StrEnum):
    """What is asked for."""

    FIX = "fix"
    """A Repair by request."""
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, by somebody who may ask."""

    wants: Wants
    id: int
    """The comment's, or the review's."""
    by: str
    """Their login."""
    at: str
    """ISO 8601, UTC."""
    url: str
    text: str = ""
    """What is to be fixed, in their words: data from a stranger to a Session. "" for a stop."""
    workflow: str = ""
    """Name of the workflow's file in whose job it was heard, by which another job can be started."""


class Requests(Protocol):
    """What people ask of Runs by comments, until a Run takes it. Methods may raise `RunFailed`."""

    def leave(self, issue: int, request: Request) -> None:
        """Put it where the Run on `issue` finds it."""

    def waiting(self, issue: int) -> tuple[Request, ...]:
        """What is asked of the Run on `issue`, oldest first."""

    def taken(self, issue: int, requests: Sequence[Request]) -> None:
        """They have been heard and wait no longer."""
