"""GitHub refuses in the middle of a Run, or the issue is not what it was: each its own reason, told where there is
still a place to tell it.
"""

from __future__ import annotations

import subprocess

import pytest

from bot.sandbox.github.faults import Answer, Fault
from tests.run.conftest import MakeStage
from tests.run.stage import ADD_RIGHT, CI, FILES, GREEN_AT_ONCE, HAND_OVER, Played, Stage, does, says, session
from tests.run.test_people import while_the_session_works

COMMENTS = r"/issues/1/comments$"


def sent(stage: Stage, method: str, end: str) -> int:
    """How many such requests the GitHub got."""
    return sum(request.method == method and request.path.endswith(end) for request in stage.hub.requests)


def assert_no_comment(played: Played, reason: str) -> None:
    """Nothing was said on the issue; log, step summary, outputs and exit code say why."""
    assert played.comments == ()
    assert played.exit_code == 1, played.log
    assert reason in played.outputs["reason"]
    assert reason in played.log


@pytest.mark.field_case(33, "a")
def test_pull_requests_are_forbidden(stage: Stage) -> None:
    """Where Actions may open no pull request the branch is there, with the address to open one by hand and the setting
    to change.
    """
    stage.use_token("job")
    stage.repository.allow_actions_to_open_pull_requests(False)
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 1, played.log
    assert f"{stage.hub.server_url}/acme/widget/compare/main...nightjar/issue-1?expand=1" in played.ending
    assert "*Allow GitHub Actions to create and approve pull requests*" in played.ending
    assert "a - b" in stage.repository.file("nightjar/issue-1", "calc.py")
    assert sent(stage, "POST", "/pulls") == 1


@pytest.mark.field_case(33, "b")
def test_workflow_files_are_forbidden(stage: Stage) -> None:
    """A token that may not push a workflow: the reason names the file, nothing is dropped in silence, the work is kept
    as a patch.
    """
    stage.use_token("job")
    touch = f"{ADD_RIGHT}; {HAND_OVER}; echo '# hm' >> .github/workflows/ci.yml; git commit -qam 'CI'"
    settings = {"protected-paths": "none"}
    played = stage.run(session("implement", does(touch), says()), settings=settings)
    assert played.exit_code == 1, played.log
    assert "the token may not change workflow files" in played.ending
    assert "`.github/workflows/ci.yml`" in played.ending
    assert "refs/heads/nightjar/issue-1" not in stage.repository.refs()
    assert "nightjar-issue-1.patch" in played.kept
    assert played.outputs["repairs"] == "0"


@pytest.mark.field_case(33, "c")
def test_checks_may_not_be_read(stage: Stage) -> None:
    """A token that may not read checks is told apart from a repository without CI, with the permission it lacks."""
    permissions = {"contents": "write", "issues": "write", "pull_requests": "write", "actions": "read"}
    stage.token = stage.hub.issue_token("nightjar[bot]", "app", permissions)
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 1, played.log
    assert "cannot be read" in played.ending
    assert "checks: read" in played.ending
    assert "othing checked this" not in played.ending
    assert played.outputs["repairs"] == "0"


@pytest.mark.field_case(33, "d")
def test_comments_are_forbidden(stage: Stage) -> None:
    """Where no comment may be written the reason is in the job log, the step summary and the exit code, after one try
    for each comment.
    """
    stage.hub.faults.add(Fault("POST", COMMENTS, Answer(403), times=0))
    played = stage.run(session("implement", says("Nothing to do.")))
    assert_no_comment(played, "without a change")
    assert "without a change" in played.job.summary
    assert sent(stage, "POST", "/issues/1/comments") == 2


@pytest.mark.field_case(37, "c")
def test_locked_issue(stage: Stage) -> None:
    """On a locked issue the work goes on, and the final word is on the pull request and in the summary."""
    locked = Answer(403, {"message": "Unable to create comment because issue is locked."})
    stage.hub.faults.add(Fault("POST", COMMENTS, locked, times=0))
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 0, played.log
    assert played.comments == ()
    assert "is ready for review" in played.repair_comments[-1]
    assert "is ready for review" in played.job.summary
    assert "issue is locked" in played.log


@pytest.mark.field_case(37, "d")
def test_issue_that_was_moved(stage: Stage) -> None:
    """An issue that was moved to another repository ends the Run; nothing is written there."""
    gadget = stage.hub.create_repository("acme/gadget", {"README.md": "x"})
    number = gadget.open_issue("Add subtraction")
    there = {"Location": f"{stage.hub.api_url}/repos/acme/gadget/issues/{number}"}
    stage.hub.faults.add(Fault("GET", r"/widget/issues/1$", Answer(301, headers=there), times=0))
    played = stage.run(GREEN_AT_ONCE)
    assert_no_comment(played, "issue #1 has moved to")
    assert gadget.comments(number) == ()
    assert gadget.labels(number) == ()
    assert played.model.requests == ()


@pytest.mark.field_case(37, "e")
def test_issue_that_was_deleted(stage: Stage) -> None:
    """A deleted issue ends the Run before anything is spent, in GitHub's words."""
    gone = Answer(410, {"message": "This issue was deleted"})
    stage.hub.faults.add(Fault("GET", r"/issues/1$", gone, times=0))
    played = stage.run(GREEN_AT_ONCE)
    assert_no_comment(played, "410: This issue was deleted")
    assert played.model.requests == ()
    assert sent(stage, "GET", "/issues/1") == 1


@pytest.mark.field_case(37, "f")
def test_issue_without_a_body(stage: Stage) -> None:
    """An issue that is a title only is worked on."""
    stage.issue = stage.repository.open_issue("Add subtraction")
    payload = stage.repository.label_issue(stage.issue, "nightjar", actor="alice")
    payload["issue"]["body"] = None
    played = stage.run(GREEN_AT_ONCE, payload=payload)
    assert played.exit_code == 0, played.log
    assert "Add subtraction" in played.prompt("implement")
    assert "None" not in played.prompt("implement")


@pytest.mark.field_case(38, "no refresh")
def test_token_that_expires(stage: Stage) -> None:
    """A token that is refused in mid-Run and that nobody can renew: the work is kept as a patch, the log says where and
    why, and no refusal is met with the same request again and again.
    """
    played = while_the_session_works(stage, lambda at: at.hub.faults.add(Fault("", ".", Answer(401), times=0)))
    assert played.exit_code == 1, played.log
    assert played.outputs["outcome"] == "failed"
    assert "401" in played.outputs["reason"]
    assert "the GitHub token stopped being accepted" in played.log
    assert "nightjar-issue-1.patch" in played.kept
    assert "nightjar-issue-1.patch" in played.job.summary
    assert played.outputs["repairs"] == "0"
    assert sum(request.status == 401 for request in stage.hub.requests) < 15


def long_everything() -> str:
    """A shell command: the longest title and body that a session might hand over."""
    write = "open(f'{folder}/pull-request.md', 'w').write('T' * 400 + '\\n\\n' + '🙂 word ' * 9000)"
    return f"python3 -c \"import os; folder = os.environ['NIGHTJAR_HANDOVER']; {write}\""


@pytest.mark.field_case(36, "title")
@pytest.mark.field_case(36, "pull request")
@pytest.mark.field_case(36, "comment")
@pytest.mark.field_case(36, "edit")
@pytest.mark.field_case(36, "summary")
def test_texts_that_are_too_long(make_stage: MakeStage) -> None:
    """Titles, bodies, comments, their edits and the step summary stay below what GitHub takes, the reason first and
    whole.
    """
    noise = "for i in $(seq 3000); do echo \"noise $i ````\"; done; echo '##[error]unit failed 🙂'; exit 1"
    on_pull_requests = CI.replace("  push:\n    branches: [main]\n", "").replace("python3 -m unittest -v", noise)
    stage = make_stage({**FILES, ".github/workflows/ci.yml": on_pull_requests})
    stage.issue = stage.repository.open_issue("x" * 256, "b" * 65_536)
    work = f"{ADD_RIGHT}; {long_everything()}; seq 20000"
    played = stage.run(session("implement", does(work), says("word " * 14_000)), settings={"max-repairs": "0"})
    assert played.exit_code == 1, played.log
    assert len(played.pull.title) <= 256
    assert len(played.pull.body) <= 65_536
    assert f"\nCloses #{stage.issue}\n" in played.pull.body
    texts = [text for comment in stage.repository.comments(stage.issue) for text in comment.versions]
    assert max(len(text) for text in texts) <= 65_536
    mention, heading, reason = [line for line in played.ending.splitlines() if line][:3]
    assert (mention, heading[:3]) == ("@alice", "###")
    assert "CI is still red" in reason
    assert reason.endswith("`test`")
    assert len(played.job.summary.encode()) < 1024 * 1024


NASTY = "-rf --upload-pack=x a..b @{u} .lock; touch {flag} $(touch {flag}) 'quotes' / slashes// [skip ci] \u202e\u0627"


@pytest.mark.field_case(45, "titles")
@pytest.mark.parametrize("title", [NASTY, "🙂🙂🙂"], ids=["nasty", "emoji"])
def test_title_that_git_would_not_take(stage: Stage, title: str) -> None:
    """Whatever the issue is called, the branch is named after its number, and the title reaches no shell and no ref."""
    flag = stage.path("flag")
    stage.issue = stage.repository.open_issue(title.replace("{flag}", str(flag)))
    played = stage.run(session("implement", does(ADD_RIGHT.partition("; git commit")[0]), says()))
    assert played.exit_code == 0, played.log
    assert played.pull.head == f"nightjar/issue-{stage.issue}"
    assert played.pull.title
    assert not flag.exists()
    log = subprocess.run(
        ["git", "-C", str(stage.repository.path), "log", "--format=%B", played.pull.head_sha],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[skip ci]" not in log.stdout
