"""A repository with Actions: small workflows in it, a story around them, and what came of it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.sandbox.actions import RunSeen, SandboxActions, Story
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.sandbox.conftest import Caller

SECONDS = 40  # what a few shell steps may take on a busy machine
SCALE = 60
NOBODY = Story(scale=SCALE, claude=Path("/nowhere/claude"), model_url="http://127.0.0.1:9")


@dataclass(frozen=True, slots=True)
class Works:
    """acme/widget, its Actions, and somebody who may do everything over HTTP."""

    hub: EmbeddedGitHub
    repository: SandboxRepository
    actions: SandboxActions
    folder: Path
    call: Caller

    def settle(self) -> tuple[RunSeen, ...]:
        """Wait until nothing runs; every workflow run."""
        assert self.actions.wait_idle(SECONDS)
        return self.actions.runs()

    def only(self, workflow: str) -> RunSeen:
        """Wait until nothing runs; the one run of a workflow."""
        self.settle()
        (run,) = self.actions.runs(workflow)
        return run

    def began(self, workflow: str, count: int = 1) -> RunSeen:
        """Wait until so many jobs of a workflow are on runners; its latest run."""

        def seen() -> bool:
            jobs = [job for run in self.actions.runs(workflow) for job in run.jobs]
            return sum(job.status == "in_progress" for job in jobs) >= count

        assert self.actions.wait_until(seen, SECONDS), self.actions.runs(workflow)
        return self.actions.runs(workflow)[-1]

    def fifo(self, name: str) -> Path:
        """A named pipe that a step and the test both know."""
        path = self.folder / name
        os.mkfifo(path)
        return path

    def dispatch(self, workflow: str, **inputs: str) -> int:
        """alice starts a workflow; the status of the answer."""
        path = f"/repos/acme/widget/actions/workflows/{workflow}/dispatches"
        return self.call("POST", path, {"ref": "main", "inputs": inputs}).status


def make(folder: Path, hub: EmbeddedGitHub, workflows: Mapping[str, str], *, runners: int = 4) -> Works:
    """`workflows` are texts by file name."""
    files = {f".github/workflows/{name}": textwrap.dedent(text) for name, text in workflows.items()}
    repository = hub.create_repository("acme/widget", {"README.md": "widgets\n", **files})
    repository.set_permission("alice", "write")
    hub.add_user("dana")
    actions = SandboxActions(
        hub,
        repository,
        folder / "jobs",
        NOBODY,
        secrets={"KEY": "s3cret"},
        variables={"Colour": "red"},
        runners=runners,
    )
    return Works(hub, repository, actions, folder, Caller(hub, hub.issue_token("alice", "pat")))
