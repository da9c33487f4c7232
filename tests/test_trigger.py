"""Which events ask for a Run, and who may ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.labels import Labels
from bot.trigger import Asked, BadEvent, Ignored, Job, by_label, issue_of, may_ask, may_this_bot, read_event, read_job

NOW = "2026-05-01T10:00:00+00:00"


def labelled(**changes: Any) -> dict[str, Any]:
    """The payload of an `issues` event, with changes at its top."""
    issue = {"number": 7, "state": "open", "title": "A title", "body": "A text", "updated_at": "2026-05-01T09:59:00Z"}
    sender = {"login": "alice", "type": "User"}
    return {"action": "labeled", "label": {"name": "nightjar"}, "issue": issue, "sender": sender, **changes}


def issue(**changes: Any) -> dict[str, Any]:
    """The same payload with changes to its issue."""
    return labelled(issue={**labelled()["issue"], **changes})


def test_labelled_issue() -> None:
    """The event's own snapshot of the issue is what the Run works on, asked for by the event's sender."""
    asked = read_event("issues", labelled(), NOW)

    assert asked == Asked(7, "alice", False, "nightjar", "2026-05-01T09:59:00Z", "A title", "A text")
    trigger = asked.trigger(Job("acme/widget", "42", 1, "https://example.com/42"), "Edited since", "Edited since")
    assert (trigger.title, trigger.body, trigger.requested_by) == ("A title", "A text", "alice")


def test_issue_without_text() -> None:
    """GitHub sends null for an empty text."""
    asked = read_event("issues", issue(body=None), NOW)
    assert isinstance(asked, Asked)
    assert asked.body == ""


def test_dispatched() -> None:
    """A dispatch carries no issue: text and time are those of now, and a `#` may stand before the number."""
    payload = {"inputs": {"issue": "#7"}, "sender": {"login": "alice", "type": "User"}}
    asked = read_event("workflow_dispatch", payload, NOW)

    assert asked == Asked(7, "alice", False, "", NOW)
    trigger = asked.trigger(Job("acme/widget", "42", 1, "https://example.com/42"), "As it is", "Now")
    assert (trigger.title, trigger.body) == ("As it is", "Now")


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (labelled(action="unlabeled"), "unlabeled, not labelled"),
        (labelled(action="opened"), "opened, not labelled"),
        (labelled(label=None), "names no label"),
        (issue(state="closed"), "#7 is closed"),
        (issue(pull_request={"url": "x"}), "#7 is a pull request"),
    ],
)
def test_ignored(payload: Mapping[str, Any], why: str) -> None:
    """What is not Nightjar's to do is ignored, with the reason."""
    found = read_event("issues", payload, NOW)
    assert isinstance(found, Ignored)
    assert why in found.why


FAST = Labels("nightjar", ("nightjar:fast", "urgent"))


@pytest.mark.parametrize(
    ("given", "label"),
    [("nightjar", "nightjar"), ("nightjar:fast", "nightjar:fast"), ("urgent", "urgent"), ("", "nightjar")],
)
def test_labels_that_ask(given: str, label: str) -> None:
    """The setting `label` and the labels of profiles ask for a Run; a dispatch asks like the former."""
    asked = Asked(7, "alice", False, given, NOW)
    assert by_label(asked, FAST) == replace(asked, label=label)


@pytest.mark.parametrize(
    ("given", "labels", "why"),
    [
        ("bug", Labels("nightjar"), "the label 'bug' is not 'nightjar'"),
        ("bug", FAST, "the label 'bug' is not 'nightjar'"),
        ("NIGHTJAR", FAST, "the label 'NIGHTJAR' is not 'nightjar'"),
        (
            "nightjar:parked",
            FAST,
            "the label 'nightjar:parked' is not 'nightjar'; it is how Nightjar shows where a Run stands",
        ),
        (
            "nightjar:typo",
            FAST,
            (
                "the label 'nightjar:typo' is not 'nightjar', nor a profile of the settings file; profiles are "
                "'nightjar:fast', 'urgent'"
            ),
        ),
        (
            "nightjar:typo",
            Labels("nightjar"),
            "the label 'nightjar:typo' is not 'nightjar', nor a profile of the settings file; there are no profiles",
        ),
    ],
)
def test_labels_that_do_not_ask(given: str, labels: Labels, why: str) -> None:
    """Any other label asks for nothing; one that looks like a profile's is answered with the profiles there are."""
    assert by_label(Asked(7, "alice", False, given, NOW), labels) == Ignored(why)


@pytest.mark.parametrize(
    ("name", "payload", "said"),
    [
        (
            "push",
            {},
            (
                "event 'push' cannot start a Run; "
                "run the workflow on issues, workflow_dispatch, issue_comment or pull_request_review"
            ),
        ),
        ("", {}, "'(none)'"),
        ("issues", [], "not a JSON object"),
        ("issues", {}, "no issue or no sender"),
        ("issues", {"action": "labeled", "issue": {"number": "7"}, "sender": {}}, "no issue or no sender"),
        ("workflow_dispatch", {}, "input `issue`: '' is not the number of an issue"),
        ("workflow_dispatch", {"inputs": {"issue": "1e3"}}, "'1e3'"),
        ("workflow_dispatch", {"inputs": {"issue": "٧"}}, "'٧'"),
        ("workflow_dispatch", {"inputs": None}, "''"),
    ],
)
def test_bad_event(name: str, payload: object, said: str) -> None:
    """An event that cannot ask for a Run means that the workflow is set up wrongly."""
    with pytest.raises(BadEvent) as caught:
        read_event(name, payload, NOW)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def asked_by(login: str, *, bot: bool = False) -> Asked:
    """Somebody asks."""
    return Asked(7, login, bot, "nightjar", NOW)


@pytest.mark.parametrize(
    ("role", "required", "may"),
    [
        ("admin", "write", True),
        ("maintain", "write", True),
        ("write", "write", True),
        ("triage", "write", False),
        ("read", "write", False),
        ("none", "write", False),
        ("triage", "triage", True),
        ("write", "maintain", False),
        ("owner-of-everything", "read", False),
        ("", "read", False),
    ],
)
def test_role(role: str, required: str, may: bool) -> None:
    """The role on the repository decides; one that is not known is none."""
    refused = may_ask(asked_by("alice"), role, required=required, allowed_bots=())
    assert (refused is None) is may
    if refused is not None:
        assert repr(role) in refused.why
        assert repr(required) in refused.why


@pytest.mark.parametrize(
    ("asked", "allowed", "may"),
    [
        (asked_by("robot[bot]", bot=True), (), False),
        (asked_by("robot[bot]", bot=True), ("robot[bot]",), True),
        (asked_by("robot[bot]", bot=True), ("other[bot]",), False),
        (asked_by("robot[bot]", bot=False), (), False),
        (asked_by("robot", bot=True), (), False),
    ],
)
def test_bots(asked: Asked, allowed: tuple[str, ...], may: bool) -> None:
    """A bot counts only when it is named, whatever its role."""
    assert (may_ask(asked, "admin", required="write", allowed_bots=allowed) is None) is may


@pytest.mark.parametrize(
    ("login", "own", "said"),
    [
        ("nightjar[bot]", "nightjar[bot]", "is Nightjar itself"),
        ("nightjar[bot]", "nightjar", "is Nightjar itself"),
        ("Nightjar[bot]", "nightjar[bot]", "is Nightjar itself"),
        ("planner[bot]", "", "GitHub does not tell whether planner[bot] is Nightjar itself"),
        ("planner[bot]", "nightjar[bot]", ""),
        ("planner[bot]", "alice", ""),
    ],
)
def test_own_bot(login: str, own: str, said: str) -> None:
    """Nightjar itself never starts a Run, however GitHub writes its login; nor does a bot that may be Nightjar."""
    refused = may_this_bot(asked_by(login, bot=True), own)
    assert said in (refused.why if refused else "")
    assert (refused is None) is (said == "")


def test_job() -> None:
    """The job's page comes from the runner's variables, on whichever server it is."""
    environ = {"GITHUB_REPOSITORY": "acme/widget", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "3"}
    assert read_job(environ) == Job("acme/widget", "42", 3, "https://github.com/acme/widget/actions/runs/42")
    elsewhere = read_job(environ | {"GITHUB_SERVER_URL": "https://git.example.com/"})
    assert elsewhere.url == "https://git.example.com/acme/widget/actions/runs/42"


@pytest.mark.parametrize("repository", ["", "widget", "acme/widget/more"])
def test_job_without_repository(repository: str) -> None:
    """Outside a job there is no repository, and one line says so."""
    with pytest.raises(BadEvent, match="GITHUB_REPOSITORY must be owner/name"):
        read_job({"GITHUB_REPOSITORY": repository})


def test_workflow_of_the_job() -> None:
    """The file that another job is started from is named by the runner; without it there is no name."""
    environ = {"GITHUB_REPOSITORY": "acme/widget", "GITHUB_RUN_ID": "42"}
    ref = "acme/widget/.github/workflows/night-work.yml@refs/heads/a/b@c"
    assert read_job(environ | {"GITHUB_WORKFLOW_REF": ref}).workflow == "night-work.yml"
    assert read_job(environ).workflow == ""


@pytest.mark.parametrize(
    ("name", "payload", "issue"),
    [
        ("issues", labelled(), 7),
        ("workflow_dispatch", {"inputs": {"issue": "#7"}}, 7),
        ("workflow_dispatch", {"inputs": {"issue": 7, "take-up": "true"}}, 7),
        ("workflow_dispatch", {"inputs": None}, 0),
        ("workflow_run", {"workflow_run": {"head_branch": "nightjar/issue-7"}}, 7),
        ("workflow_run", {"workflow_run": {"head_branch": "nightjar/issue-7-3"}}, 7),
        ("workflow_run", {"workflow_run": {"head_branch": "nightjar/issue-7-x"}}, 0),
        ("workflow_run", {"workflow_run": {"head_branch": "more/nightjar/issue-7"}}, 0),
        ("workflow_run", {"workflow_run": {"head_branch": None}}, 0),
        ("check_suite", {"check_suite": {"head_branch": "nightjar/issue-12"}}, 12),
        ("check_suite", {"check_suite": None}, 0),
        ("status", {"branches": [{"name": "main"}, {"name": "nightjar/issue-7"}]}, 7),
        ("status", {"branches": []}, 0),
        ("status", {}, 0),
        ("schedule", {"schedule": "23 * * * *"}, 0),
        ("push", {"ref": "refs/heads/nightjar/issue-7"}, 0),
        ("issues", None, 0),
    ],
)
def test_issue_of(name: str, payload: object, issue: int) -> None:
    """An event about an Issue branch is about its issue; any other, and any that is damaged, is about none."""
    assert issue_of(name, payload, "nightjar/") == issue
