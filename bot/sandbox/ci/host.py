"""What stands behind a job beyond its commit and a shell: GitHub's addresses, a token, secrets, variables, actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.sandbox.ci.contexts import Rooms
from bot.sandbox.ci.workflow import Job


@dataclass(frozen=True, slots=True)
class Command:
    """A program to start, and what its environment has beyond that of every step."""

    argv: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Action:
    """An action that the sandbox can run: the inputs that it knows, with their defaults (expressions allowed), its
    outputs, and the program that stands for it.
    """

    inputs: Mapping[str, str]
    outputs: frozenset[str]
    command: Callable[[Mapping[str, str], Rooms], Command]
    """The program for these values of the inputs, in a job with these rooms."""


class JobHost(Protocol):
    """Where jobs come from, as they see it. Called from the engine's threads."""

    @property
    def api_url(self) -> str:
        """`GITHUB_API_URL`; "" where there is none."""

    @property
    def server_url(self) -> str:
        """`GITHUB_SERVER_URL`; "" where there is none."""

    def action(self, uses: str) -> Action | None:
        """The action that `uses:` names; None for one that the sandbox passes over."""

    def passes_over(self, job: Job) -> str:
        """Why a job whose condition holds is skipped all the same; "" for one that is played."""

    def secrets(self) -> Mapping[str, str]:
        """The repository's secrets."""

    def variables(self) -> Mapping[str, str]:
        """The repository's variables, as they are now."""

    def issue_token(self, permissions: Mapping[str, str] | None) -> str:
        """A job's own token; without `permissions`, with what the repository gives by default."""

    def job_over(self, token: str, name: str, rooms: Rooms) -> Path | None:
        """A job has ended and none of its processes lives; its token is good for nothing any more. Where its temporary
        files are kept, under a name of the job's own; None when they are not.
        """


class BareHost:
    """A machine with nothing on it: the jobs of a test suite need no more."""

    api_url = server_url = ""

    def action(self, uses: str) -> Action | None:
        """None: every action is passed over."""

    def passes_over(self, job: Job) -> str:
        """Every job is played."""
        return ""

    def secrets(self) -> Mapping[str, str]:
        """None."""
        return {}

    def variables(self) -> Mapping[str, str]:
        """None."""
        return {}

    def issue_token(self, permissions: Mapping[str, str] | None) -> str:
        """No token: nothing in such a job may speak for anybody."""
        return ""

    def job_over(self, token: str, name: str, rooms: Rooms) -> Path | None:
        """Nothing is kept."""
        return None
