"""The action and the workflows say what the code says, and the linters have nothing against them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import bootstrap
from bot.kinds import Choice
from bot.labels import Labels
from bot.sandbox.ci.expressions import Scope
from bot.sandbox.ci.templates import condition_holds
from bot.sandbox.ci.values import Value
from bot.settings import OUTPUTS, SETTINGS, action_inputs

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "action.yml"
SHIPPED = ROOT / ".github/workflows/nightjar.yml"
WAKE = SHIPPED.with_name("nightjar-wake.yml")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def load(path: Path) -> dict[str, Any]:
    """A YAML file as it is; `on` stays text."""
    loaded: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    return loaded


def test_inputs_are_the_settings() -> None:
    """Every setting is an input of the action with its meaning and default, and there is no other."""
    wanted = {name: {**about, "required": "false"} for name, about in action_inputs().items()}
    assert load(ACTION)["inputs"] == wanted


def test_inputs_reach_the_program_by_environment_alone() -> None:
    """Each input becomes the variable that the program reads, and nothing is expanded into the script."""
    (step,) = load(ACTION)["runs"]["steps"]
    assert step["env"] == {setting.variable: f"${{{{ inputs.{setting.name} }}}}" for setting in SETTINGS.values()}
    assert "${{" not in step["run"]


def test_outputs_are_the_programs() -> None:
    """Every output comes from the one step, and says what the code says."""
    assert load(ACTION)["outputs"] == {
        name: {"description": about, "value": f"${{{{ steps.nightjar.outputs.{name} }}}}"}
        for name, about in OUTPUTS.items()
    }


def test_commands_of_the_action_are_those_that_the_bootstrap_starts() -> None:
    """The setting `command` and the bootstrap, which cannot import it, allow the same words."""
    kind = SETTINGS["command"].kind
    assert isinstance(kind, Choice)
    assert kind.words == bootstrap.COMMANDS


WRITES = dict.fromkeys(("contents", "issues", "pull-requests"), "write")


@pytest.mark.parametrize("path", [SHIPPED, WAKE], ids=lambda path: path.name)
def test_shipped_workflows_ask_for_no_more_than_they_need(path: Path) -> None:
    """A Run's token can write code, issues and pull requests, read what CI says and start a job; the report's, less."""
    workflow = load(path)
    work, lost = workflow["jobs"].values()
    assert workflow["permissions"] == {}
    assert work["permissions"] == WRITES | {"checks": "read", "statuses": "read", "actions": "write"}
    assert lost["permissions"] == WRITES


@pytest.mark.field_case(40, "one group an issue")
def test_shipped_workflow_runs_one_job_an_issue() -> None:
    """Runs of one issue wait for each other on the job, behind its `if`, and none is cancelled."""
    workflow = load(SHIPPED)
    job = workflow["jobs"]["run"]
    assert "concurrency" not in workflow
    assert job["concurrency"] == {
        "group": (
            "nightjar-${{ github.event.comment.id || github.event.review.id "
            "|| format('issue-{0}', github.event.issue.number || inputs.issue) }}"
        ),
        "cancel-in-progress": "false",
    }
    assert f"github.event.label.name == '{SETTINGS['label'].default}'" in job["if"]


@pytest.mark.parametrize("label", ["nightjar", "nightjar:fast", "nightjar:typo"])
def test_shipped_workflow_starts_for_labels_that_may_ask(label: str) -> None:
    """The label and those of profiles come to a runner, which knows what profiles there are."""
    assert starts_for(label)


@pytest.mark.parametrize("label", ["bug", "night", "nightjars", "my nightjar:fast", *Labels("nightjar").states])
def test_shipped_workflow_does_not_start_for_other_labels(label: str) -> None:
    """A foreign label, and one by which Nightjar shows how a Run stands, in any letter case, cost nothing."""
    assert not starts_for(label)
    assert not starts_for(label.upper())


def starts_for(label: str) -> bool:
    """Whether the job runs when that label is put on an issue."""
    contexts: dict[str, Value] = {"github": {"event_name": "issues", "event": {"label": {"name": label}}}, "inputs": {}}
    return condition_holds(load(SHIPPED)["jobs"]["run"]["if"], Scope(contexts))


def test_wake_starts_for_issue_branches_only() -> None:
    """An event of CI's that is about another branch starts no job, and so costs nothing."""
    condition = load(WAKE)["jobs"]["wake"]["if"]
    assert condition.count(f"'{SETTINGS['branch-prefix'].default}issue-'") == 3


@pytest.mark.parametrize("path", [SHIPPED, WAKE], ids=lambda path: path.name)
def test_shipped_workflows_outlive_the_run(path: Path) -> None:
    """The job's own limit leaves a Run at its limit time to say so, within what a hosted runner allows."""
    job, _ = load(path)["jobs"].values()
    assert SETTINGS["run-timeout-minutes"].default_value + 10 <= int(job["timeout-minutes"]) <= 360


@pytest.mark.parametrize("path", [SHIPPED, WAKE], ids=lambda path: path.name)
def test_shipped_workflows_give_only_known_inputs(path: Path) -> None:
    """The workflows that users copy set inputs that the action has, the two keys among them."""
    work, lost = load(path)["jobs"].values()
    run, report, _ = work["steps"]
    assert {"github-token", "anthropic-api-key", "paused"} <= run["with"].keys() <= SETTINGS.keys()
    for step in (report, *lost["steps"]):
        assert {"github-token", "command"} <= step["with"].keys() <= SETTINGS.keys()


@pytest.mark.parametrize("path", [SHIPPED, WAKE], ids=lambda path: path.name)
def test_shipped_workflows_report_a_killed_run(path: Path) -> None:
    """The second step runs whatever became of the first, and a second job where that could not: both only report."""
    work, lost = load(path)["jobs"].values()
    _, report, _ = work["steps"]
    assert report["if"] == "always()"
    assert lost["if"].startswith("always() && needs.")
    assert [step["with"]["command"] for step in (report, *lost["steps"])] == ["finish", "finish"]


@pytest.mark.parametrize("path", [SHIPPED, WAKE], ids=lambda path: path.name)
def test_shipped_workflows_keep_the_run_page(path: Path) -> None:
    """The last step keeps the folder that either of the others names, if one does; it fails no job, and its action is
    pinned by commit.
    """
    work, _ = load(path)["jobs"].values()
    *others, keep = work["steps"]
    told = " || ".join(f"steps.{step['id']}.outputs.logs" for step in reversed(others))
    assert (keep["if"], keep["with"]["path"]) == (f"always() && ({told})", f"${{{{ {told} }}}}")
    assert keep["continue-on-error"] == "true"
    assert re.fullmatch(r"actions/upload-artifact@[0-9a-f]{40}", keep["uses"])


@pytest.mark.parametrize(
    "command",
    [
        ("zizmor", "--offline", "--quiet", "--persona=auditor", "."),
        ("actionlint", *map(str, WORKFLOWS)),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)),
        ("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION)),
    ],
    ids=["zizmor", "actionlint", "workflow schema", "action schema"],
)
def test_linters_find_nothing(command: tuple[str, ...]) -> None:
    """The workflows and the action are clean for the linters that a careful user would run."""
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_pin_with_hashes_and_name_no_registry(lock: str) -> None:
    """Every package of a lock has an exact version and a hash, and no address stands in it."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = text.replace("\\\n", " ").splitlines()
    assert entries
    assert all(
        re.match(r"[a-z0-9.-]+(\[[a-z0-9, -]+\])?==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in entries
    )
    assert "://" not in text


def test_locks_hold_what_the_project_asks_for() -> None:
    """Each dependency of `pyproject.toml` is in the lock that is made from it, and both locks agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, everything = (locked(ROOT / name) for name in ("requirements.lock", "requirements-dev.lock"))
    extras = project["optional-dependencies"]
    assert names(project["dependencies"]) <= runtime.keys()
    assert names(extras["sandbox"] + extras["dev"]) - {"nightjar-bot"} <= everything.keys()
    assert runtime.items() <= everything.items()


def locked(path: Path) -> dict[str, str]:
    """The versions in a lock, by package."""
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[.*\])?==([^ ]+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def names(requirements: list[str]) -> set[str]:
    """The packages that requirements name, spelled as locks spell them."""
    return {re.split(r"[\[<>=~!; ]", requirement)[0].lower() for requirement in requirements}
