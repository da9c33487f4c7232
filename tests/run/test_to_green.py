"""Runs that end well: what people find on the issue, the pull request and the branch."""

from __future__ import annotations

import pytest

from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    RED_AT_FIRST,
    Stage,
    does,
    note,
    says,
    session,
)

BRANCH = "refs/heads/nightjar/issue-1"


def test_green_at_once(stage: Stage) -> None:
    """A labelled issue becomes a ready pull request that closes it, with whoever labelled as its reviewer."""
    played = stage.run(GREEN_AT_ONCE)

    assert played.exit_code == 0, played.log
    assert played.labels == ("nightjar:ready",)
    pull = played.pull
    assert (pull.title, pull.draft, pull.state, pull.head, pull.base) == (
        "Add subtraction", False, "open", "nightjar/issue-1", "main",
    )  # fmt: skip
    assert "Adds `sub`." in pull.body
    assert "Closes #1" in pull.body
    assert pull.reviewers == ("alice",)
    assert stage.repository.refs()[BRANCH] == pull.head_sha
    assert "a - b" in stage.repository.file(pull.head_sha, "calc.py")
    assert played.ending.startswith("@alice")
    assert f"#{pull.number}" in played.ending
    assert "CI is green" in played.ending
    assert played.repair_comments == ()
    assert played.survivors() == ()
    outputs = played.outputs
    assert (outputs["outcome"], outputs["repairs"], outputs["resumes"]) == ("ready", "0", "0")
    assert (outputs["branch"], outputs["reason"]) == ("nightjar/issue-1", "")
    assert outputs["pr-url"].endswith(f"/acme/widget/pull/{pull.number}")
    assert float(outputs["cost-usd"]) > 0
    assert "ready for review" in played.job.summary


def test_tracking_comment(stage: Stage) -> None:
    """One comment is edited in place while the Run works; the ending is another, written once."""
    played = stage.run(GREEN_AT_ONCE)

    tracking, ending = stage.repository.comments(1)
    assert len(ending.versions) == 1
    first, last = tracking.versions[0], tracking.versions[-1]
    assert "Repairs 0 of 5" in first
    assert "$10.00" in first
    assert "[x]" not in first
    assert len(tracking.versions) > 3
    assert "[ ]" not in last
    assert "implement" in last
    assert f"#{played.pull.number}" in last


def test_first_comment_comes_before_the_slow_part(stage: Stage) -> None:
    """The issue shows that it was taken up before the repository is fetched: only the claim comes first."""
    stage.run(GREEN_AT_ONCE)

    asked = [f"{request.method} {request.path}" for request in stage.hub.requests]
    before = asked[: asked.index("POST /repos/acme/widget/issues/1/comments")]
    assert [request for request in before if request.startswith("POST")] == [
        "POST /acme/widget.git/git-upload-pack",  # is there a Record?
        "POST /acme/widget.git/git-upload-pack",  # are others at work?
        "POST /acme/widget.git/git-receive-pack",  # the claim
    ]


def test_labels_swap_without_a_gap(stage: Stage) -> None:
    """Labels that people put on are kept, and at no moment does the issue carry none of Nightjar's."""
    stage.repository.label_issue(1, "bug", actor="dana")
    played = stage.run(GREEN_AT_ONCE)

    assert set(played.labels) == {"bug", "nightjar:ready"}
    carried: set[str] = set()
    for event in stage.repository.timeline(1):
        if event.kind in ("labeled", "unlabeled") and "nightjar" in event.text:
            carried ^= {event.text}
            assert carried, "no label of Nightjar's was left for a moment"


def test_red_then_one_repair(stage: Stage) -> None:
    """CI that fails starts a Repair with the failing log; its comment says what was red, what changed, and CI now."""
    played = stage.run(
        RED_AT_FIRST,
        session("repair", does(f"{MEND}; {note('The operands were swapped.')}", "mend it"), says("Fixed.")),
    )

    assert played.exit_code == 0, played.log
    assert played.outputs["repairs"] == "1"
    assert played.labels == ("nightjar:ready",)
    assert not played.pull.draft
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    (comment,) = played.repair_comments
    assert "Repair 1 of 5" in comment
    assert "Red: `test`" in comment
    assert "Changed: `calc.py`" in comment
    assert "CI now: green" in comment
    assert "The operands were swapped." in comment
    assert "AssertionError: -2 != 2" in played.prompt("repair")
    assert played.transcripts == ("issue-1-run-1-1-implement.jsonl", "issue-1-run-1-1-repair-1.jsonl")


def test_ready_without_any_ci(make_stage: MakeStage) -> None:
    """A repository without CI ends ready, and the ending says that nothing checked this."""
    stage = make_stage({name: text for name, text in FILES.items() if not name.startswith(".github")})
    played = stage.run(GREEN_AT_ONCE, settings={"ci-start-minutes": "0.5"})

    assert played.exit_code == 0, played.log
    assert not played.pull.draft
    assert "othing checked this" in played.ending
    assert "CI is green" not in played.ending


def test_work_that_was_left_uncommitted(stage: Stage) -> None:
    """What a session writes without committing it is in the pull request all the same."""
    left = ADD_RIGHT.partition("; git commit")[0]
    played = stage.run(session("implement", does(f"{left}; echo new > NEW.txt; {HAND_OVER}"), says()))

    assert played.exit_code == 0, played.log
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    assert stage.repository.file(played.pull.head_sha, "NEW.txt") == "new\n"


def test_handover_missing(stage: Stage) -> None:
    """Without a Handover the title is the issue's, the body lists the commits, and the pull request says so."""
    played = stage.run(session("implement", does(ADD_RIGHT), says()))

    assert played.exit_code == 0, played.log
    assert played.pull.title == "Add subtraction"
    assert "- Add subtraction" in played.pull.body
    assert "Closes #1" in played.pull.body
    assert "left no text for the pull request" in played.pull.body


def test_dispatched_run(stage: Stage) -> None:
    """`workflow_dispatch` with an issue's number starts a Run for whoever dispatched it."""
    payload = {"inputs": {"issue": "1"}, "sender": {"login": "alice", "type": "User"}, "ref": "refs/heads/main"}
    played = stage.run(GREEN_AT_ONCE, payload=payload, event="workflow_dispatch")

    assert played.exit_code == 0, played.log
    assert played.labels == ("nightjar:ready",)
    assert played.ending.startswith("@alice")
    assert "We need `sub(a, b)`." in played.prompt("implement")


@pytest.mark.parametrize(("draft", "opened", "ended"), [("always", True, True), ("never", False, False)])
def test_draft_setting(stage: Stage, draft: str, opened: bool, ended: bool) -> None:
    """`draft: always` leaves a green pull request a draft; `draft: never` opens it as an ordinary one."""
    played = stage.run(GREEN_AT_ONCE, settings={"draft": draft})

    assert played.exit_code == 0, played.log
    assert played.pull.draft is ended
    texts = [event.text for event in stage.repository.timeline(played.pull.number) if event.kind == "opened"]
    assert any("draft" in text for text in texts) is opened


def test_merged(stage: Stage) -> None:
    """`merge: squash` merges the very head that CI checked, and every text says merged."""
    played = stage.run(GREEN_AT_ONCE, settings={"merge": "squash"})

    assert played.exit_code == 0, played.log
    assert played.pull.merged
    assert played.outputs["outcome"] == "merged"
    assert "is merged" in played.ending
    assert "a - b" in stage.repository.file("main", "calc.py")
    assert played.labels == ("nightjar:ready",)


def test_second_run_takes_the_pull_request_up(stage: Stage) -> None:
    """After a failed Run the label starts another, which continues on the branch and takes the pull request up."""
    first = stage.run(RED_AT_FIRST, settings={"max-repairs": "0"})
    assert first.exit_code == 1
    assert first.labels == ("nightjar:failed",)

    second = stage.run(session("continue", does(f"{MEND}; {HAND_OVER}"), says()))

    assert second.exit_code == 0, second.log
    assert second.labels == ("nightjar:ready",)
    assert [pull.number for pull in stage.repository.pull_requests()] == [first.pull.number]
    assert not second.pull.draft
    assert "a - b" in stage.repository.file(second.pull.head_sha, "calc.py")
    assert second.transcripts == ("issue-1-run-2-1-continue.jsonl",)
    assert "Add subtraction" in second.prompt("continue")


def test_after_a_merge_a_fresh_branch(stage: Stage) -> None:
    """Once an earlier pull request was merged, the next Run works on `nightjar/issue-1-2`."""
    assert stage.run(GREEN_AT_ONCE, settings={"merge": "merge"}).exit_code == 0
    stage.reopen_issue(actor="alice")
    again = stage.run(session("implement", does(f"echo more >> README; {HAND_OVER}"), says()))

    assert again.exit_code == 0, again.log
    assert again.pull.head == "nightjar/issue-1-2"
    assert len(stage.repository.pull_requests()) == 2
