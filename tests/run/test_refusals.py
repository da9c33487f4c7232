"""What is answered before a Run begins: bad input in one clear line, and events that are not Nightjar's to act on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.run.conftest import MakeStage
from tests.run.stage import FILES, Played, Stage


def assert_untouched(stage: Stage, played: Played, before: tuple[str, ...]) -> None:
    """Nobody on GitHub sees that anything happened."""
    assert stage.writes() == before
    assert played.comments == ()
    assert list(stage.repository.refs()) == ["refs/heads/main"]
    assert played.model.requests == ()


def errors(played: Played) -> list[str]:
    """The annotations of level error."""
    return [line for line in played.log.splitlines() if line.startswith("::error")]


@pytest.mark.parametrize(
    ("settings", "named", "allowed"),
    [
        ({"max-repairs": "-1"}, "input `max-repairs`", "a whole number from 0 to 50"),
        ({"max-repairs": "٣"}, "input `max-repairs`", "a whole number from 0 to 50"),
        ({"background": "maybe"}, "input `background`", "true or false"),
        ({"run-timeout-minutes": "0"}, "input `run-timeout-minutes`", "minutes above 0"),
        ({"github-token": ""}, "input `github-token`", "the job's token or an App's"),
        ({"anthropic-api-key": ""}, "input `anthropic-api-key`", "claude-code-oauth-token"),
        ({"claude-path": "/nowhere/claude"}, "`claude-path`: there is no program '/nowhere/claude'", "give "),
        ({"claude-args": "--resume x"}, "input `claude-args`", "none for format, conversation"),
    ],
)
def test_bad_input(stage: Stage, settings: Mapping[str, str], named: str, allowed: str) -> None:
    """One line names the input and what is allowed; exit code 2; nothing on GitHub has changed."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    before = stage.writes()
    played = stage.run(settings=settings, payload=payload)

    assert played.exit_code == 2, played.log
    (line,) = errors(played)
    assert named in line
    assert allowed in line
    assert "Traceback" not in played.log
    assert played.outputs["outcome"] == "failed"
    assert named in played.outputs["reason"]
    assert played.labels == ("nightjar",)
    assert_untouched(stage, played, before)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max-repair: 3\n", [".github/nightjar.yml:1:1: `max-repair` is not a setting; did you mean `max-repairs`?"]),
        ("draft: auto\nmax-repairs: [1, 2]\n", [".github/nightjar.yml:2:14: `max-repairs`: a list is not allowed"]),
        (
            "colour: red\nmax-repairs: -1\n",
            [":1:1: `colour` is not a setting", ":2:14: `max-repairs`: '-1' is not allowed"],
        ),
        ("a: [\n", [".github/nightjar.yml:"]),
    ],
)
def test_bad_settings_file(make_stage: MakeStage, text: str, said: list[str]) -> None:
    """Every problem of `.github/nightjar.yml` is told at once, each with its line, before anything happens."""
    stage = make_stage({**FILES, ".github/nightjar.yml": text})
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    before = stage.writes()
    played = stage.run(payload=payload)

    assert played.exit_code == 2, played.log
    lines = errors(played)
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True)), lines
    assert_untouched(stage, played, before)


@pytest.mark.parametrize(
    ("environment", "named", "allowed"),
    [
        ({"GITHUB_EVENT_PATH": "/nowhere/event.json"}, "/nowhere/event.json cannot be read", "the event's JSON file"),
        ({"GITHUB_EVENT_PATH": ""}, "GITHUB_EVENT_PATH is not set", "a job of GitHub Actions"),
        ({"GITHUB_EVENT_NAME": "push"}, "event 'push' cannot start a Run", "issue_comment or pull_request_review"),
        ({"GITHUB_EVENT_NAME": ""}, "event '(none)' cannot start a Run", "issue_comment or pull_request_review"),
        ({"GITHUB_REPOSITORY": "widget"}, "GITHUB_REPOSITORY must be owner/name, not 'widget'", "GitHub Actions"),
        ({"NIGHTJAR_TIME_SCALE": "0"}, "NIGHTJAR_TIME_SCALE", "a number above 0"),
    ],
)
def test_bad_environment(stage: Stage, environment: Mapping[str, str], named: str, allowed: str) -> None:
    """A job that is set up wrongly is told so in one line, with exit code 2."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    before = stage.writes()
    played = stage.run(environment=environment, payload=payload)

    assert played.exit_code == 2, played.log
    (line,) = errors(played)
    assert named in line
    assert allowed in line
    assert_untouched(stage, played, before)


@pytest.mark.parametrize(("given", "named"), [("", "''"), ("seven", "'seven'"), ("0", "'0'"), ("-1", "'-1'")])
def test_bad_dispatch_input(stage: Stage, given: str, named: str) -> None:
    """A dispatch must name an issue by its number."""
    payload = {"inputs": {"issue": given}, "sender": {"login": "alice", "type": "User"}}
    played = stage.run(payload=payload, event="workflow_dispatch")

    assert played.exit_code == 2
    (line,) = errors(played)
    assert f"workflow input `issue`: {named}" in line
    assert "give a number such as 7" in line


def assert_skipped(played: Played, why: str) -> None:
    """Said in the log, the step summary and the outputs; exit code 0."""
    assert played.exit_code == 0, played.log
    assert played.outputs["outcome"] == "skipped"
    assert why in played.outputs["reason"]
    assert why in played.log
    assert why in played.job.summary


@pytest.mark.field_case(37, "b")
def test_closed_issue(stage: Stage) -> None:
    """A label on a closed issue starts nothing."""
    stage.repository.close(1, actor="dana")
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    before = stage.writes()
    played = stage.run(payload=payload)

    assert_skipped(played, "issue #1 is closed")
    assert_untouched(stage, played, before)


@pytest.mark.field_case(37, "b")
def test_issue_closed_since_the_event(stage: Stage) -> None:
    """The payload says open and GitHub says closed: GitHub is believed."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    stage.repository.close(1, actor="dana")
    before = stage.writes()
    played = stage.run(payload=payload)

    assert_skipped(played, "issue #1 is closed")
    assert_untouched(stage, played, before)


@pytest.mark.field_case(37, "a")
def test_pull_request_instead_of_an_issue(stage: Stage) -> None:
    """A label on a pull request starts nothing."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    payload["issue"]["pull_request"] = {"url": "https://example.com"}
    played = stage.run(payload=payload)

    assert_skipped(played, "#1 is a pull request")
    assert played.comments == ()


@pytest.mark.field_case(40, "other events")
@pytest.mark.parametrize("label", ["bug", "Nightjar", "nightjar:ready"])
def test_another_label(stage: Stage, label: str) -> None:
    """Only the very label starts a Run; Nightjar's own state labels do not."""
    played = stage.run(label=label)

    assert_skipped(played, f"the label '{label}' is not 'nightjar'")
    assert played.comments == ()


def test_bot(stage: Stage) -> None:
    """A bot that `allowed-bots` does not name starts nothing, whatever it may do on the repository."""
    payload = stage.repository.label_issue(1, "nightjar", actor="alice")
    payload["sender"] = {"login": "other[bot]", "type": "Bot"}
    played = stage.run(payload=payload)

    assert_skipped(played, "other[bot] is a bot that `allowed-bots` does not name")
    assert played.comments == ()


@pytest.mark.parametrize(("login", "role"), [("bob", "read"), ("mallory", "read")])
def test_person_without_permission(stage: Stage, login: str, role: str) -> None:
    """Quiet on the issue: a reaction, the label taken off, no comment; the reason is in the log."""
    stage.hub.add_user(login)
    payload = stage.repository.label_issue(1, "nightjar", actor=login)
    payload["sender"]["author_association"] = "OWNER"
    before = stage.writes()
    played = stage.run(payload=payload)

    assert_skipped(played, f"{login} has the permission")
    assert "'write' is required" in played.log
    assert stage.writes()[len(before) :] == (
        "POST /repos/acme/widget/issues/1/reactions",
        "DELETE /repos/acme/widget/issues/1/labels/nightjar",
    )
    assert played.labels == ()
    assert played.comments == ()
    assert played.model.requests == ()
