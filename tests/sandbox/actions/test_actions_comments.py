"""What people say on issues and pull requests starts workflows, which are told what was said."""

from __future__ import annotations

from pathlib import Path

import pytest
from githubkit_schemas.v2026_03_10 import models

from bot.sandbox.github.state import TokenKind
from tests.sandbox.actions.conftest import MakeWorks
from tests.sandbox.actions.test_actions_events import REPO, heard, listener, told
from tests.sandbox.actions.works import Works
from tests.sandbox.ci.waiting import wait_for
from tests.sandbox.conftest import Caller
from tests.sandbox.test_github_schema import _check

CREATED = "{issue_comment: {types: [created]}}"
COMMANDS = """\
name: Commands
on: {issue_comment: {types: [created]}}
jobs:
  run:
    name: ${{ github.event.issue.pull_request && 'Pull request' || 'Issue' }} ${{ github.event.issue.number }}
    if: startsWith(github.event.comment.body, '/nightjar') && !endsWith(github.event.comment.user.login, '[bot]')
    concurrency:
      group: ${{ format('{0}-{1}', github.event.issue.pull_request && 'pull' || 'issue', github.event.issue.number) }}
    runs-on: x
    steps:
      - run: echo "$ASKED"
        env: {ASKED: "${{ github.event.comment.body }}"}
"""


def propose(works: Works, branch: str = "work") -> int:
    """alice opens a pull request that changes README.md; its number."""
    works.repository.commit(branch, {"README.md": "widgets\nand more\n", "new.txt": "one\ntwo\n"}, "Work", "alice")
    made = works.call("POST", f"{REPO}/pulls", {"title": "Work", "head": branch, "base": "main"})
    assert made.status == 201, made.body
    return int(made.body["number"])


def test_a_comment_starts_workflows_of_the_default_branch(works: MakeWorks) -> None:
    """On an issue and on a pull request, through the page and through the API, told as GitHub words it."""
    made = works(hear=listener(CREATED, "Hear"))
    issue = made.repository.open_issue("Broken", "It is.", author="dana", labels=["bug"])
    pull = propose(made)
    made.repository.commit("work", {".github/workflows/more.yml": listener(CREATED, "Not on main")}, "Listen")
    said = made.repository.comment(issue, "/nightjar retry", "dana")
    posted = made.call("POST", f"{REPO}/issues/{pull}/comments", {"body": "/nightjar fix it"}).body
    assert heard(made) == [("Hear", "issue_comment", "dana"), ("Hear", "issue_comment", "alice")]
    first, second = (told(run) for run in made.actions.runs("Hear"))
    assert (first["action"], first["comment"]["id"], first["comment"]["body"]) == ("created", said, "/nightjar retry")
    assert (first["issue"]["number"], first["sender"]["login"]) == (issue, "dana")
    assert first["comment"]["author_association"] == "NONE"
    assert "pull_request" not in first["issue"]
    assert second["comment"]["node_id"] == posted["node_id"]
    assert second["comment"]["html_url"] == posted["html_url"]
    assert second["comment"]["author_association"] == "COLLABORATOR"
    assert second["issue"]["number"] == pull
    assert second["issue"]["pull_request"]["url"].endswith(f"/pulls/{pull}")
    for payload in (first, second):
        assert _check(payload, models.WebhookIssueCommentCreated) == []
    run = made.call.get(f"{REPO}/actions/runs/{made.actions.runs('Hear')[1].id}")
    assert (run["head_branch"], run["head_sha"]) == ("main", made.repository.refs()["refs/heads/main"])


def test_a_comment_that_is_changed_or_deleted_is_told_too(works: MakeWorks) -> None:
    """With the text before, and with the comment that is gone; who wants only new ones does not hear of it."""
    made = works(every=listener("issue_comment", "All"), new=listener(CREATED, "New"))
    issue = made.repository.open_issue("Broken", author="dana")
    comment = made.repository.comment(issue, "one", "dana")
    made.call("PATCH", f"{REPO}/issues/comments/{comment}", {"body": "two"})
    made.repository.edit_comment(comment, "two", "dana")  # changes nothing
    made.repository.delete_comment(comment, "dana")
    made.settle()
    created, edited, deleted = (told(run) for run in made.actions.runs("All"))
    assert [told(run)["action"] for run in made.actions.runs("New")] == ["created"]
    assert (created["action"], edited["action"], deleted["action"]) == ("created", "edited", "deleted")
    assert (edited["changes"], edited["comment"]["body"]) == ({"body": {"from": "one"}}, "two")
    assert (edited["sender"]["login"], edited["comment"]["user"]["login"]) == ("alice", "dana")
    assert (deleted["comment"]["id"], deleted["comment"]["body"]) == (comment, "two")
    assert _check(edited, models.WebhookIssueCommentEdited) == []
    assert _check(deleted, models.WebhookIssueCommentDeleted) == []


@pytest.mark.parametrize(
    ("kind", "login", "runs"), [("job", "github-actions[bot]", 0), ("app", "nightjar[bot]", 1), ("pat", "alice", 1)]
)
def test_a_comment_by_a_job_token_starts_nothing(works: MakeWorks, kind: TokenKind, login: str, runs: int) -> None:
    """As on GitHub an App's comment and a person's start workflows, the job's own does not."""
    made = works(hear=listener("issue_comment", "Hear"))
    issue = made.repository.open_issue("Broken")
    call = Caller(made.hub, made.hub.issue_token(login, kind))
    assert call("POST", f"{REPO}/issues/{issue}/comments", {"body": "hello"}).status == 201
    assert heard(made) == [("Hear", "issue_comment", login)] * runs


def test_conditions_and_groups_can_ask_what_was_said_and_where(works: MakeWorks) -> None:
    """A job runs for a command in any case, is named after its issue or pull request, and is skipped otherwise."""
    made = works(commands=COMMANDS)
    issue = made.repository.open_issue("Broken", author="dana")
    pull = propose(made)
    for number, body, who in (
        (issue, "/Nightjar retry", "dana"),
        (issue, "Please, /nightjar retry", "dana"),
        (pull, "/nightjar fix it", "alice"),
        (pull, "/nightjar is what people write", "nightjar[bot]"),
    ):
        made.repository.comment(number, body, who)
    jobs = [job for run in made.settle() for job in run.jobs]
    assert [(job.name, job.conclusion) for job in jobs if job.conclusion != "skipped"] == [
        (f"Issue {issue}", "success"),
        (f"Pull request {pull}", "success"),
    ]
    assert [job.conclusion for job in jobs].count("skipped") == 2
    assert "/Nightjar retry" in jobs[0].log


def test_a_cancel_through_the_api_stops_what_a_comment_started(works: MakeWorks, tmp_path: Path) -> None:
    """The step gets SIGINT, what says `always()` still runs, and a second cancel is 409; it needs `actions: write`."""
    busy = f"""\
    name: Busy
    on: issue_comment
    jobs:
      work:
        runs-on: x
        steps:
          - name: Works
            run: |
              trap 'echo "asked to stop"; exit 130' INT
              echo here >{tmp_path}/begun; while :; do sleep 0.05; done
          - {{name: Never, run: 'true'}}
          - {{name: Reports, if: always(), run: 'echo "status ${{{{ job.status }}}}"'}}
    """
    made = works(busy=busy)
    made.repository.comment(made.repository.open_issue("Broken"), "go", "dana")
    wait_for(tmp_path / "begun")
    run = made.actions.runs("Busy")[0]
    path = f"{REPO}/actions/runs/{run.id}/cancel"
    reader = Caller(made.hub, made.hub.issue_token("github-actions[bot]", "job", {"actions": "read"}))
    refused = reader("POST", path)
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
    writer = Caller(made.hub, made.hub.issue_token("github-actions[bot]", "job", {"actions": "write"}))
    assert writer("POST", path).status == 202
    job = made.only("Busy").job("work")
    assert (job.conclusion, made.only("Busy").conclusion) == ("cancelled", "cancelled")
    assert (job.step("Works"), job.step("Never"), job.step("Reports")) == ("cancelled", "skipped", "success")
    assert "asked to stop" in job.log
    assert "status cancelled" in job.log
    assert writer("POST", path).status == 409


SUBMITTED = "{pull_request_review: {types: [submitted]}}"


def test_a_review_starts_the_workflows_of_the_merge(works: MakeWorks) -> None:
    """They come from the merge of head and base and run on it, are told what was reviewed, and show on the head."""
    made = works(hear=listener(SUBMITTED, "Hear"))
    pull = propose(made)
    head = made.repository.commit("work", {".github/workflows/more.yml": listener(SUBMITTED, "On the head")}, "Add")
    base = made.repository.commit("main", {".github/workflows/late.yml": listener(SUBMITTED, "On the base")}, "Add")
    review = made.repository.review(pull, "dana", "CHANGES_REQUESTED", "/nightjar fix", [("new.txt", 2, "Why two?")])
    assert sorted(heard(made)) == [
        (name, "pull_request_review", "dana") for name in ("Hear", "On the base", "On the head")
    ]
    run = made.only("Hear")
    payload = told(run)
    assert (payload["action"], payload["review"]["id"]) == ("submitted", review)
    assert (payload["review"]["state"], payload["review"]["body"]) == ("changes_requested", "/nightjar fix")
    assert (payload["review"]["node_id"], payload["review"]["commit_id"]) == (f"PRR_{review}", head)
    assert (payload["review"]["author_association"], payload["sender"]["login"]) == ("NONE", "dana")
    asked = payload["pull_request"]
    assert (asked["number"], asked["head"]["ref"], asked["head"]["sha"]) == (pull, "work", head)
    assert (asked["head"]["repo"]["full_name"], asked["base"]["ref"]) == ("acme/widget", "main")
    assert _check(payload, models.WebhookPullRequestReviewSubmitted) == []
    shown = made.call.get(f"{REPO}/actions/runs/{run.id}")
    assert (shown["head_branch"], shown["head_sha"], shown["display_title"]) == ("work", head, "Work")
    assert base != head
    checks = made.call.get(f"{REPO}/commits/{head}/check-runs")["check_runs"]
    assert [check["name"] for check in checks] == ["hear"] * 3


def test_a_review_names_its_branch_only_in_what_is_told(works: MakeWorks) -> None:
    """The ref is that of the merge, whose parents are base and head; as on GitHub there is no `head_ref`."""
    made = works(
        look="""\
        name: Look
        on: pull_request_review
        jobs:
          look:
            if: github.event.review.state == 'changes_requested'
            runs-on: x
            concurrency: {group: "review-${{ github.event.pull_request.number }}"}
            steps:
              - run: |
                  echo "ref=$GITHUB_REF head=[$GITHUB_HEAD_REF] of=${{ github.event.pull_request.head.ref }}"
                  git log -1 --format='parents=%P'; cat new.txt
        """
    )
    pull = propose(made)
    made.repository.review(pull, "dana", "APPROVED")
    made.repository.review(pull, "dana", "CHANGES_REQUESTED", "No")
    refs = made.repository.refs()
    skipped, looked = (run.job("look") for run in sorted(made.settle(), key=lambda run: run.id))
    assert (skipped.conclusion, looked.conclusion) == ("skipped", "success")
    assert f"ref=refs/pull/{pull}/merge head=[] of=work" in looked.log
    assert f"parents={refs['refs/heads/main']} {refs['refs/heads/work']}" in looked.log


def test_a_review_of_what_conflicts_starts_nothing(works: MakeWorks) -> None:
    """There is no merge to run on; the review stands all the same."""
    made = works(hear=listener(SUBMITTED, "Hear"))
    pull = propose(made)
    made.repository.commit("main", {"README.md": "gadgets\n"}, "Rename")
    review = made.repository.review(pull, "dana", "COMMENTED", "Hm")
    assert heard(made) == []
    assert made.call.get(f"{REPO}/pulls/{pull}/reviews/{review}")["body"] == "Hm"
