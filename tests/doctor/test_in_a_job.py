"""The doctor as a step of a job: the action's `command: doctor`, and Nightjar's own workflow run by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.sandbox.actions import JobSeen, SandboxActions, Story
from bot.sandbox.cli import bundled_claude
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.model import Conversation, Reply, Script, ScriptedModel
from tests.doctor.test_doctor import CHECKS
from tests.init.desk import ROOT, WAKE, WORKFLOW
from tests.keys import key_pair
from tests.run.stage import FILES
from tests.sandbox.conftest import Caller

SECONDS = 90
SCALE = 5
"""Slow enough for an answer of the real CLI on a busy machine."""


@dataclass(frozen=True, slots=True)
class Clinic:
    """acme/widget with Nightjar's workflows, and somebody who runs one by hand."""

    hub: EmbeddedGitHub
    repository: SandboxRepository
    actions: SandboxActions

    def doctor(self) -> JobSeen:
        """The job of a run with the command `doctor`, once it has ended."""
        call = Caller(self.hub, self.hub.issue_token("alice", "pat"))
        path = f"/repos/acme/widget/actions/workflows/{Path(WORKFLOW).name}/dispatches"
        assert call("POST", path, {"ref": "main", "inputs": {"command": "doctor"}}).status == 204
        assert self.actions.wait_idle(SECONDS)
        (run,) = self.actions.runs("nightjar.yml")
        return run.job("Doctor")


MakeClinic = Callable[..., Clinic]


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[MakeClinic]:
    """Makes one; `own` is whether there is a token beside the job's own, `settings` are inputs of the action."""
    answer = Conversation(name="question", replies=(Reply(text="ready"),))
    with (
        EmbeddedGitHub(tmp_path / "hub", scale=SCALE) as hub,
        ScriptedModel(Script(conversations=(answer,))) as model,
    ):

        def make(*, own: bool, settings: dict[str, str] | None = None) -> Clinic:
            shipped = {path: (ROOT / path).read_text(encoding="utf-8") for path in (WORKFLOW, WAKE)}
            repository = hub.create_repository("acme/widget", {**FILES, **shipped})
            repository.set_permission("alice", "write")
            label = Caller(hub, hub.issue_token("alice", "pat"))
            assert label("POST", "/repos/acme/widget/labels", {"name": "nightjar"}).status == 201
            secrets = {"ANTHROPIC_API_KEY": "scripted-key-0000"}
            secrets |= {"NIGHTJAR_TOKEN": hub.issue_token("nightjar[bot]")} if own else {}
            story = Story(SCALE, bundled_claude(), model.url, settings or {})
            assert hub.idle(SECONDS)
            actions = SandboxActions(hub, repository, tmp_path / "jobs", story, secrets=secrets)
            return Clinic(hub, repository, actions)

        yield make


def test_the_workflow_run_by_hand(clinic: MakeClinic) -> None:
    """The step summary has a line for each check; with nothing wrong the job is green, and no Run begins."""
    made = clinic(own=True)
    job = made.doctor()
    assert (job.conclusion, job.step("Nightjar"), job.step("Report")) == ("success", "success", "success"), job.log
    rows = [line.split(" | ")[:2] for line in job.summary.splitlines() if line.startswith("| ") and "Check" not in line]
    assert [check for _, check in rows] == list(CHECKS)
    assert {level for level, _ in rows} == {"| ok", "| unknown"}
    for text in (
        "| ok | token | a token of a GitHub App, nightjar",
        "starts for what Runs push: that is not done with the job",
        "| ok | claude | claude 2.1.332 answered after",
        "| ok | secrets | this job was given a key for claude |",
    ):
        assert text in job.summary
    assert "Nothing to finish" in job.log
    assert "scripted-key" not in job.log + job.summary
    assert dict(job.outputs) == {"outcome": "skipped"}


def test_the_jobs_own_token(clinic: MakeClinic) -> None:
    """With the job's own token CI will not start: an error on the job's page, which is red, and no lost Run."""
    made = clinic(own=False)
    job = made.doctor()
    assert job.step("Nightjar") == "failure", job.log
    assert any("Add the secret NIGHTJAR_TOKEN" in note for note in job.annotations)
    assert "| ok | permissions | the workflow gives it all that a Run needs |" in job.summary
    assert "| failure | ci |" in job.summary
    (run,) = made.actions.runs("nightjar.yml")
    assert run.job("Report a lost runner").conclusion == "skipped"


def test_inputs_that_are_wrong(clinic: MakeClinic) -> None:
    """What a Run would refuse to begin with is a failure of the settings; the rest is looked at all the same."""
    job = clinic(own=True, settings={"max-repairs": "many"}).doctor()
    assert "| failure | settings | input `max-repairs`: 'many' is not allowed" in job.summary
    assert "| unknown | claude | the settings are not in order |" in job.summary
    assert "| ok | labels |" in job.summary


def test_an_app(clinic: MakeClinic, tmp_path: Path) -> None:
    """An App's key is tried out: one that is not installed here is told, and what it would have shown is unknown."""
    pair = key_pair()
    settings = {"app-id": "nightjar", "app-private-key": pair.private}
    made = clinic(own=True, settings=settings)
    job = made.doctor()
    assert "| failure | token |" in job.summary, job.log
    assert "| unknown | workflow | GitHub could not be asked: see token |" in job.summary
    assert pair.private.splitlines()[1] not in job.log + job.summary
