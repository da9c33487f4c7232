"""Which events start which workflows, and what these are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from githubkit_schemas.v2026_03_10 import models

from bot.sandbox.actions import RunSeen
from tests.sandbox.actions.conftest import MakeWorks
from tests.sandbox.actions.works import Works
from tests.sandbox.conftest import Caller
from tests.sandbox.test_github_schema import _check

REPO = "/repos/acme/widget"
TELL = 'runs-on: x\n    steps: [{run: cat "$GITHUB_EVENT_PATH" >> "$GITHUB_STEP_SUMMARY"}]'


def listener(on: str, name: str = "Listener") -> str:
    """A workflow that keeps what it is told."""
    return f"name: {name}\non: {on}\njobs:\n  hear:\n    {TELL}\n"


def told(run: RunSeen) -> Any:
    """The payload that a listener kept."""
    return json.loads(run.job("hear").summary)


def heard(works: Works) -> list[tuple[str, str, str]]:
    """Each run that was started, with its event and who caused it."""
    return [(run.workflow, run.event, run.actor) for run in works.settle()]


def test_labels_and_states_of_issues_start_workflows(works: MakeWorks) -> None:
    """Each workflow hears the activity types it names, all without any; a pull request's label is no issue's."""
    made = works(label=listener("{issues: {types: [labeled, closed]}}", "Some"), every=listener("issues", "All"))
    number = made.repository.open_issue("Broken", author="dana")
    made.repository.label_issue(number, "bug", "alice")
    made.repository.unlabel_issue(number, "bug", "alice")
    made.repository.close(number, "dana")
    made.repository.reopen(number, "dana")
    made.repository.commit("work", {"a": "b"}, "Work")
    made.call("POST", f"{REPO}/pulls", {"title": "Work", "head": "work", "base": "main"})
    made.repository.label_issue(2, "bug", "alice")
    made.settle()
    every = made.actions.runs("All")
    assert [(told(run)["action"], run.actor) for run in every] == [
        ("opened", "dana"),
        ("labeled", "alice"),
        ("unlabeled", "alice"),
        ("closed", "dana"),
        ("reopened", "dana"),
    ]
    assert [told(run)["action"] for run in made.actions.runs("Some")] == ["labeled", "closed"]
    assert _check(told(every[1]), models.WebhookIssuesLabeled) == []
    assert _check(told(every[3]), models.WebhookIssuesClosed) == []


def test_what_a_job_token_does_starts_nothing_but_dispatches(works: MakeWorks) -> None:
    """Its label and its push start nothing; an App's do; a dispatch of either kind does, whoever asks."""
    made = works(
        label=listener("issues", "Issues"),
        push=listener("push", "Push"),
        go=listener("workflow_dispatch", "Go"),
        outside=listener("{repository_dispatch: {types: [ping]}}", "Outside"),
    )
    made.settle()
    before = len(made.actions.runs())
    number = made.repository.open_issue("Broken")
    made.settle()
    assert len(made.actions.runs("Issues")) == 1
    for kind, login in (("job", "github-actions[bot]"), ("app", "nightjar[bot]")):
        call = Caller(made.hub, made.hub.issue_token(login, kind))  # type: ignore[arg-type]  # literals of kinds
        sha = made.repository.refs()["refs/heads/main"]
        call("POST", f"{REPO}/issues/{number}/labels", {"labels": [kind]})
        call("POST", f"{REPO}/git/refs", {"ref": f"refs/heads/{kind}", "sha": sha})
        assert call("POST", f"{REPO}/actions/workflows/go.yml/dispatches", {"ref": "main"}).status == 204
        assert call("POST", f"{REPO}/dispatches", {"event_type": "ping", "client_payload": {"a": 1}}).status == 204
        assert call("POST", f"{REPO}/dispatches", {"event_type": "pong"}).status == 204
    idle = Caller(made.hub, made.hub.issue_token("github-actions[bot]", "job", {"actions": "read"}))
    assert idle("POST", f"{REPO}/actions/workflows/go.yml/dispatches", {"ref": "main"}).status == 403
    started = [run for run in heard(made)[before + 1 :] if run[2] != "dana"]
    assert sorted(started) == [
        ("Go", "workflow_dispatch", "github-actions[bot]"),
        ("Go", "workflow_dispatch", "nightjar[bot]"),
        ("Issues", "issues", "nightjar[bot]"),
        ("Outside", "repository_dispatch", "github-actions[bot]"),
        ("Outside", "repository_dispatch", "nightjar[bot]"),
        ("Push", "push", "nightjar[bot]"),
    ]
    assert told(made.actions.runs("Outside")[0])["client_payload"] == {"a": 1}


def test_a_run_that_ends_starts_those_that_wait_for_it_by_name(works: MakeWorks) -> None:
    """Only the default branch's file counts, only the names it gives, and it is told how the run ended."""
    wake = "{workflow_run: {workflows: [CI], types: [completed]}}"
    made = works(
        ci="name: CI\non: push\njobs: {test: {runs-on: x, steps: [{run: 'test ! -e broken'}]}}",
        other=listener("push", "Other"),
        wake=listener(wake, "Wake"),
        dev=listener("{workflow_run: {workflows: [CI], branches: [dev]}}", "Dev"),
    )
    made.settle()
    first = made.only("Wake")
    sha = made.repository.commit(
        "dev", {"broken": "", ".github/workflows/more.yml": listener(wake, "Not on main")}, "Break"
    )
    made.settle()
    second = made.actions.runs("Wake")[-1]
    run = told(second)["workflow_run"]
    assert told(first)["workflow_run"]["conclusion"] == "success"
    assert (run["name"], run["conclusion"], run["head_sha"], run["head_branch"]) == ("CI", "failure", sha, "dev")
    assert told(made.only("Dev"))["workflow_run"]["id"] == run["id"]
    assert made.actions.runs("Not on main") == ()
    assert _check(told(second), models.WebhookWorkflowRunCompleted) == []
    shown = made.call.get(f"{REPO}/actions/runs/{second.id}")
    assert (shown["head_branch"], shown["event"], shown["path"]) == (
        "main",
        "workflow_run",
        ".github/workflows/wake.yml",
    )


def test_workflows_wake_each_other_three_times_at_most(works: MakeWorks) -> None:
    """What would be the fourth in a row does not start."""
    chain = {f"w{n}": listener(f"{{workflow_run: {{workflows: [W{n - 1}]}}}}", f"W{n}") for n in range(1, 6)}
    made = works(w0=listener("workflow_dispatch", "W0"), **chain)
    assert made.dispatch("w0.yml") == 204
    assert [run.workflow for run in made.settle()] == ["W0", "W1", "W2", "W3"]


def test_checks_from_elsewhere_are_events(works: MakeWorks) -> None:
    """A commit status always is; a suite when it is complete and Actions has no run on its commit."""
    made = works(status=listener("status", "Status"), suite=listener("{check_suite: {types: [completed]}}", "Suite"))
    sha = made.repository.commit("work", {"a": "b"}, "Work")
    made.repository.set_status(sha, "ci/elsewhere", "pending")
    made.call("POST", f"{REPO}/statuses/{sha}", {"state": "success", "context": "ci/elsewhere"})
    made.repository.set_app_check(sha, "build", None, "elsewhere")
    made.repository.set_app_check(sha, "lint", "success", "other")
    made.repository.set_check_run(sha, "test", "success", workflow="ci.yml")
    made.repository.set_app_check(sha, "late", "success", "third")
    made.settle()
    statuses, suite = made.actions.runs("Status"), made.only("Suite")
    assert [(told(run)["state"], run.actor) for run in statuses] == [("pending", "dana"), ("success", "alice")]
    assert told(statuses[0])["branches"][0]["name"] == "work"
    assert _check(told(statuses[0]), models.WebhookStatus) == []
    assert (told(suite)["check_suite"]["app"]["slug"], suite.actor) == ("other", "other[bot]")
    assert told(suite)["check_suite"]["head_sha"] == sha


def test_a_schedule_is_told_which_it_is(works: MakeWorks) -> None:
    """A tick starts every workflow that has a schedule, or those with the one that is named."""
    made = works(
        hourly=listener("{schedule: [{cron: '17 * * * *'}]}", "Hourly"),
        daily=listener("{schedule: [{cron: '0 3 * * *'}], push: {branches: [none]}}", "Daily"),
        never=listener("issues", "Never"),
    )
    made.actions.tick()
    made.actions.tick("17 * * * *")
    runs = made.settle()
    assert sorted((run.workflow, told(run)["schedule"]) for run in runs) == [
        ("Daily", "0 3 * * *"),
        ("Hourly", "17 * * * *"),
        ("Hourly", "17 * * * *"),
    ]


DISPATCHED = """\
name: Go
on:
  workflow_dispatch:
    inputs:
      issue: {required: true, type: number}
      dry: {type: boolean, default: false}
      how: {type: choice, options: [slow, fast], default: slow}
jobs:
  go:
    runs-on: x
    steps:
      - run: echo "${{ inputs.issue == 7 }} ${{ inputs.dry == false }} ${{ inputs.how }} ${{ github.event.inputs.dry }}"
        if: inputs.dry || inputs.how == 'slow'
"""


def test_a_dispatch_hands_over_inputs_with_their_kinds(works: MakeWorks) -> None:
    """What is left out has its default; a boolean that is false is false, not a text."""
    made = works(go=DISPATCHED)
    assert made.dispatch("go.yml", issue="7") == 204
    assert "true true slow false" in made.only("Go").job("go").log


@pytest.mark.parametrize(
    ("workflow", "inputs", "said"),
    [
        ("go.yml", {}, "Required input 'issue' not provided"),
        ("go.yml", {"issue": 7, "colour": "red"}, 'Unexpected inputs provided: ["colour"]'),
        (
            "go.yml",
            {"issue": "7", "how": "so"},
            "Provided value 'so' for input 'how' not in the list",
        ),
        ("push.yml", {}, "Workflow does not have 'workflow_dispatch' trigger"),
    ],
)
def test_a_dispatch_that_the_workflow_does_not_take_is_refused(
    works: MakeWorks, workflow: str, inputs: dict[str, object], said: str
) -> None:
    """422 with GitHub's reason, and nothing runs; a mention in a comment of the file is no trigger."""
    made = works(go=DISPATCHED, push=f"# workflow_dispatch\n{listener('issues')}")
    got = made.call("POST", f"{REPO}/actions/workflows/{workflow}/dispatches", {"ref": "main", "inputs": inputs})
    assert got.status == 422
    assert got.body["message"].startswith(said)
    assert made.settle() == ()
