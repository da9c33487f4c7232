"""The workflow that a user copies, and the action it uses, run by act in host mode against the sandbox."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.sandbox.cli import bundled_claude
from bot.sandbox.model import Script, ScriptedModel
from tests.run.conftest import MakeStage
from tests.run.stage import FILES, GREEN_AT_ONCE, SCALE, Stage

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / ".github" / "workflows" / "nightjar.yml"


def act() -> str:
    """The act that is installed beside this Python, else one on PATH."""
    found = shutil.which("act", path=sysconfig.get_path("scripts")) or shutil.which("act")
    assert found, "act is not installed; `make environment` installs it"
    return found


def published(folder: Path) -> Path:
    """The action as GitHub would check it out: what it runs from, and no more (act copies all of it)."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "bot", folder / "bot", ignore=ignore)
    for name in ("action.yml", "requirements.lock"):
        shutil.copy(ROOT / name, folder / name)
    return folder


STAND_IN = """\
name: Upload
inputs: {name: {required: true}, path: {required: true}, if-no-files-found: {required: false}}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: "${{ inputs.name }}", FOLDER: "${{ inputs.path }}"}
      run: cp -r "$FOLDER" "$KEPT/$NAME"
"""
"""What stands for `actions/upload-artifact`: it needs GitHub's own service."""


def uploads(workflow: Path) -> str:
    """The action that a workflow uploads with, as it names it."""
    found = re.search(r"uses: (actions/upload-artifact@\S+)", workflow.read_text(encoding="utf-8"))
    assert found
    return found[1]


class Act:
    """One workspace, in which act runs the repository's own workflow."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        """The workspace is a clone of the repository, as a runner has it."""
        self._stage = stage
        self._home = folder / "act-home"
        self._home.mkdir()
        self._action = published(folder / "action")
        self.kept = folder / "kept"
        self.kept.mkdir()
        self._upload = folder / "upload"
        self._upload.mkdir()
        (self._upload / "action.yml").write_text(STAND_IN, encoding="utf-8")
        self._clone = folder / "clone"
        subprocess.run(["git", "clone", "-q", str(stage.repository.path), str(self._clone)], check=True)

    def __call__(self, payload: Mapping[str, object], model_url: str) -> list[dict[str, object]]:
        """Run the job to its end; what act said, one object a line."""
        event = self._home / "event.json"
        event.write_text(json.dumps(payload), encoding="utf-8")
        stage = self._stage
        variables = {
            "GITHUB_API_URL": stage.hub.api_url,
            "GITHUB_SERVER_URL": stage.hub.server_url,
            "GITHUB_REPOSITORY": stage.repository.full_name,
            "GITHUB_RUN_ID": "7",
            "ANTHROPIC_BASE_URL": model_url,
            "NIGHTJAR_TIME_SCALE": str(SCALE),
            "KEPT": str(self.kept),
        }
        options = [option for name, value in variables.items() for option in ("--env", f"{name}={value}")]
        done = subprocess.run(
            [
                *(act(), "issues", "--eventpath", str(event), "--actor", "alice", "--json"),
                *("--platform", "ubuntu-latest=-self-hosted", "--no-cache-server", "--no-skip-checkout"),
                *("--secret", f"GITHUB_TOKEN={stage.token}", "--secret", "ANTHROPIC_API_KEY=scripted-key"),
                *("--local-repository", f"acme/nightjar@v1={self._action}"),
                *("--local-repository", f"{uploads(SHIPPED)}={self._upload}"),
                *options,
            ],
            cwd=self._clone,
            env={"PATH": os.environ["PATH"], "HOME": str(self._home), "XDG_CACHE_HOME": str(self._home / "cache")},
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        said = "\n".join(str(line.get("msg", "")).rstrip() for line in lines) + done.stderr
        assert done.returncode == 0, said
        return lines


@pytest.fixture
def run_act(tmp_path: Path, stage: Stage) -> Act:
    """Runs the shipped workflow of the repository on an event."""
    return Act(tmp_path, stage)


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    """A repository into which a user has copied the workflow, with a settings file that names an installed `claude`."""
    workflow = SHIPPED.read_text(encoding="utf-8")
    return make_stage(
        {
            **FILES,
            ".github/workflows/nightjar.yml": workflow,
            ".github/nightjar.yml": f"claude-path: {bundled_claude()}\ntranscripts: always\n",
        }
    )


def test_labelled_event_through_the_shipped_workflow(stage: Stage, run_act: Act) -> None:
    """The copied workflow and the action alone turn a label into a green pull request with its comments."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    with ScriptedModel(Script(conversations=(GREEN_AT_ONCE,))) as model:
        lines = run_act(payload, model.url)

    (pull,) = stage.repository.pull_requests()
    assert (pull.title, pull.draft, pull.head) == ("Add subtraction", False, "nightjar/issue-1")
    assert stage.repository.labels(1) == ("nightjar:ready",)
    tracking, ending = (comment.body for comment in stage.repository.comments(1))
    assert "/actions/runs/7" in tracking
    assert ending.startswith("@alice")
    said = [line for line in lines if line.get("command") == "set-output" and line["arg"]]
    outputs = {str(line["name"]): line["arg"] for line in said}
    assert (outputs["outcome"], outputs["repairs"], outputs["branch"]) == ("ready", "0", "nightjar/issue-1")
    assert str(outputs["pr-url"]).endswith(f"/pull/{pull.number}")
    (kept,) = run_act.kept.iterdir()
    assert kept.name == "nightjar-run-7-1"
    assert {path.name for path in kept.iterdir()} == {"run.html", "issue-1-run-7-1-implement.jsonl"}
    shown = "\n".join(str(line.get("msg", "")) for line in lines)
    assert "Nothing to finish: the Run has told its end itself." in shown
    assert stage.token not in shown
    assert "scripted-key" not in shown


def test_another_label_through_the_shipped_workflow(stage: Stage, run_act: Act) -> None:
    """Another label starts no job at all."""
    payload = stage.repository.label_issue(1, "bug", actor="alice")
    before = len(stage.hub.requests)
    with ScriptedModel(Script(conversations=(GREEN_AT_ONCE,))) as model:
        run_act(payload, model.url)

    assert len(stage.hub.requests) == before
    assert stage.repository.comments(1) == ()
