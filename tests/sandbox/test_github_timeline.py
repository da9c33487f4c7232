"""What happened to an issue or pull request, as GitHub's API lists it."""

from __future__ import annotations

from typing import Any

from github.Repository import Repository

from bot.sandbox.github import SandboxRepository
from tests.sandbox.conftest import Caller

ISSUE = "/repos/acme/widget/issues"


def test_events_name_who_did_what(repo: SandboxRepository, remote: Repository) -> None:
    """Labels, titles, people and states come in order, with who acted and what it was about."""
    number = repo.open_issue("Broken", "It is.")
    repo.label_issue(number, "nightjar", actor="alice")
    repo.unlabel_issue(number, "nightjar", actor="dana")
    repo.label_issue(number, "nightjar", actor="alice")
    issue = remote.get_issue(number)
    issue.edit(title="Broken badly", assignees=["dana"])
    repo.close(number, "alice")
    events = list(issue.get_events())
    assert [(event.event, event.actor.login) for event in events] == [
        ("labeled", "alice"),
        ("unlabeled", "dana"),
        ("labeled", "alice"),
        ("renamed", "nightjar[bot]"),
        ("assigned", "nightjar[bot]"),
        ("closed", "alice"),
    ]
    assert events[0].label.name == "nightjar"
    assert events[3].rename == {"from": "Broken", "to": "Broken badly"}
    assert len({event.id for event in events}) == 6


def test_the_timeline_of_an_issue_has_comments_and_the_pull_request(repo: SandboxRepository, call: Caller) -> None:
    """What was said and what mentions the issue stands between the events."""
    number = repo.open_issue("Broken", labels=["bug"])
    repo.comment(number, "Please", "alice")
    repo.commit("work", {"a": "b"}, "Fix")
    call(
        "POST", "/repos/acme/widget/pulls", {"title": "T", "body": f"Closes #{number}.", "head": "work", "base": "main"}
    )
    found: list[dict[str, Any]] = call.get(f"{ISSUE}/{number}/timeline")
    assert [row["event"] for row in found] == ["labeled", "commented", "cross-referenced"]
    assert found[1]["body"] == "Please"
    assert found[2]["source"]["issue"]["number"] == 2
    assert [row["event"] for row in call.get(f"{ISSUE}/{number}/events")] == ["labeled"]


def test_the_timeline_of_a_pull_request_has_its_commits_and_reviews(
    repo: SandboxRepository, remote: Repository, call: Caller
) -> None:
    """Commits, the change from draft, a review and the merge, in order."""
    sha = repo.commit("work", {"a": "b"}, "Fix")
    pull = remote.create_pull(title="T", body="", head="work", base="main", draft=True)
    pull.mark_ready_for_review()
    pull.create_review_request(reviewers=["alice"])
    repo.review(pull.number, "alice")
    pull.merge()
    found = call.get(f"{ISSUE}/{pull.number}/timeline")
    assert [row["event"] for row in found] == [
        "committed",
        "ready_for_review",
        "review_requested",
        "reviewed",
        "merged",
        "closed",
    ]
    assert found[0]["sha"] == sha
    assert found[2]["requested_reviewer"]["login"] == "alice"
    assert found[4]["commit_id"] == repo.refs()["refs/heads/main"]


def test_a_long_timeline_comes_in_pages(repo: SandboxRepository, remote: Repository) -> None:
    """105 comments are all read."""
    number = repo.open_issue("Long")
    for count in range(105):
        repo.comment(number, f"{count}", "dana")
    assert [row.event for row in remote.get_issue(number).get_timeline()] == ["commented"] * 105
