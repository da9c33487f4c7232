"""Nightjar's own shipped workflow, played in the embedded GitHub with the real command and the real CLI."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.sandbox.actions import NIGHTJAR, RunSeen, SandboxActions, Story
from bot.sandbox.ci.job_task import check_job
from bot.sandbox.ci.workflow import Workflow, read_workflow
from bot.sandbox.cli import bundled_claude
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.model import Conversation, Script, ScriptedModel
from bot.settings import SETTINGS
from tests.run.stage import FILES, GREEN_AT_ONCE, SCALE, does, says, session

SHIPPED = Path(__file__).resolve().parents[3] / ".github" / "workflows" / "nightjar.yml"
SECONDS = 90


@dataclass(frozen=True, slots=True)
class Played:
    """acme/widget with the shipped workflow and an open issue."""

    hub: EmbeddedGitHub
    repository: SandboxRepository
    actions: SandboxActions
    model: ScriptedModel
    issue: int

    def runs(self) -> list[RunSeen]:
        """Wait until nothing runs; the runs of the shipped workflow that were not skipped."""
        assert self.actions.wait_idle(SECONDS)
        return [run for run in self.actions.runs("nightjar.yml") if run.conclusion != "skipped"]

    def comments(self) -> list[str]:
        """The texts on the issue."""
        return [comment.body for comment in self.repository.comments(self.issue)]

    def label(self) -> None:
        """alice labels the issue, anew where it has the label."""
        if "nightjar" in self.repository.labels(self.issue):
            self.repository.unlabel_issue(self.issue, "nightjar", "alice")
        self.repository.label_issue(self.issue, "nightjar", "alice")


Play = Callable[..., Played]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Makes the repository, with these conversations for the model."""
    with EmbeddedGitHub(tmp_path / "hub", scale=SCALE) as hub:
        models: list[ScriptedModel] = []

        def played(*conversations: Conversation) -> Played:
            model = ScriptedModel(Script(conversations=conversations)).start()
            models.append(model)
            files = {**FILES, ".github/workflows/nightjar.yml": SHIPPED.read_text(encoding="utf-8")}
            repository = hub.create_repository("acme/widget", files)
            repository.set_permission("alice", "write")
            story = Story(SCALE, bundled_claude(), model.url)
            secrets = {"ANTHROPIC_API_KEY": "scripted", "NIGHTJAR_TOKEN": hub.issue_token("nightjar[bot]")}
            actions = SandboxActions(hub, repository, tmp_path / "jobs", story, secrets=secrets)
            issue = repository.open_issue("Add subtraction", "We need `sub(a, b)`.")
            assert hub.idle(SECONDS)
            return Played(hub, repository, actions, model, issue)

        yield played
        for model in models:
            model.close()


@pytest.mark.parametrize("path", sorted(SHIPPED.parent.glob("nightjar*.yml")), ids=lambda path: path.name)
def test_the_shipped_workflows_can_be_played(path: Path) -> None:
    """The sandbox reads each, and everything in it that a job could stumble over."""
    read = read_workflow(f".github/workflows/{path.name}", path.read_text(encoding="utf-8"))
    assert isinstance(read, Workflow), read
    for job in read.jobs.values():
        check_job(job)
        inputs = {name for step in job.steps if step.uses.startswith(NIGHTJAR) for name in step.inputs}
        assert inputs <= set(SETTINGS)


def test_a_label_leads_to_a_green_pull_request(play: Play) -> None:
    """One job does the Run, its last step has nothing to finish, and the job's page says what happened."""
    played = play(GREEN_AT_ONCE)
    played.label()
    (run,) = played.runs()
    job = run.job("Issue 1")
    assert (run.conclusion, run.event, run.actor, run.attempt) == ("success", "issues", "alice", 1), job.log
    assert (job.step("Nightjar"), job.step("Report")) == ("success", "success")
    assert "Nothing to finish" in job.log
    assert played.repository.labels(1) == ("nightjar:ready",)
    assert "/pull/2" in job.summary
    assert job.temp is not None
    assert (job.temp / "nightjar" / "record.json").is_file()
    (spent,) = [one for one in played.actions.timeline().jobs if one.name == "Issue 1"]
    assert spent.minutes > 1
    assert spent.billed == int(spent.minutes) + 1


def test_two_labels_at_once_are_worked_on_one_after_the_other(play: Play) -> None:
    """The second job waits for the first; there is one pull request."""
    played = play(GREEN_AT_ONCE, session("continue", says("Nothing is left to do.")))
    played.label()
    played.label()
    first, second = played.runs()
    assert first.conclusion == "success", first.jobs[0].log
    assert len(played.repository.pull_requests()) == 1
    times = {one.job: (one.began, one.ended) for one in played.actions.timeline().jobs}
    assert times[first.jobs[0].id][1] <= times[second.jobs[0].id][0]  # type: ignore[operator]  # both have ended


def in_mid_session(played: Played, folder: Path) -> int:
    """Label the issue and wait until the model's command has begun; the run."""
    played.label()
    limit = Clock.reaction("session", SECONDS)
    while not list(folder.glob("hub/ci/*/*/*/temp/nightjar/*/checkout/begun")):
        ended = [run for run in played.actions.runs("nightjar.yml") if run.conclusion not in ("", "skipped")]
        assert not ended, ended[0].jobs[0].log
        assert not limit.passed(), "no session began"
        Clock.pause(0.05)
    (run,) = [run for run in played.actions.runs("nightjar.yml") if run.status == "in_progress"]
    return run.id


def test_a_cancelled_run_is_reported_by_the_last_step(play: Play, tmp_path: Path) -> None:
    """Somebody presses Cancel in mid-session: the issue says cancelled, once, and the session is gone."""
    played = play(session("implement", does("touch begun; exec sleep 30011"), says()))
    played.actions.cancel(in_mid_session(played, tmp_path))
    (seen,) = played.runs()
    job = seen.job("Issue 1")
    assert (seen.conclusion, job.step("Nightjar"), job.step("Report")) == ("cancelled", "cancelled", "success"), job.log
    endings = [text for text in played.comments() if text.startswith("@alice")]
    assert len(endings) == 1, job.log
    assert "cancelled" in endings[0]
    assert sleepers("30011") == []


def test_a_lost_runner_ends_its_job_and_leaves_nothing(play: Play, tmp_path: Path) -> None:
    """The job fails without a word of its own and no process of the session lives on; other jobs have a machine."""
    played = play(session("implement", does("touch begun; exec sleep 30012"), says()))
    played.actions.lose(in_mid_session(played, tmp_path), "Issue 1")
    (seen,) = played.runs()
    lost = seen.job("Issue 1")
    assert (seen.conclusion, lost.conclusion, lost.steps, lost.log) == ("failure", "failure", (), "")
    assert sleepers("30012") == []


def sleepers(seconds: str) -> list[str]:
    """Command lines of processes that sleep for so long."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes().split(b"\0")
            found += [entry.parent.name] if words[:2] == [b"sleep", seconds.encode()] else []
    return found
