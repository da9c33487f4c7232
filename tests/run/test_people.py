"""People step in while a Run works: it stops at the next safe point, or is done, and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.run.conftest import MakeStage
from tests.run.stage import ADD_RIGHT, CI, FILES, GREEN_AT_ONCE, HAND_OVER, MEND, Played, Stage, does, says, session
from tests.run.town import town


def while_the_session_works(stage: Stage, act: Callable[[Stage], None]) -> Played:
    """A Run in whose first Session somebody acts."""
    heard, answer = stage.fifo("heard"), stage.fifo("answer")
    command = f"{ADD_RIGHT}; {HAND_OVER}; echo here > {heard}; cat {answer}"
    playing = stage.start(session("implement", does(command), says()))
    heard.read_text(encoding="utf-8")
    act(stage)
    answer.write_text("go\n", encoding="utf-8")
    return playing.finish()


@pytest.mark.field_case(39, "e")
def test_taking_the_label_off_stops_the_run(stage: Stage) -> None:
    """The label's removal ends the Run before anything more is spent; the work is kept, no pull request is opened."""
    played = while_the_session_works(
        stage, lambda at: at.repository.unlabel_issue(at.issue, "nightjar:working", "alice")
    )
    assert played.exit_code == 130
    assert "the label `nightjar:working` was taken off" in played.ending
    assert stage.repository.pull_requests() == ()
    assert "def sub" in stage.repository.file("nightjar/issue-1", "calc.py")


@pytest.mark.field_case(37, "g")
def test_closing_the_issue_stops_the_run(stage: Stage) -> None:
    """A closed issue gets no pull request."""
    played = while_the_session_works(stage, lambda at: at.repository.close(at.issue, "alice"))
    assert played.exit_code == 130
    assert "the issue was closed" in played.ending
    assert stage.repository.pull_requests() == ()


def while_ci_runs(
    make_stage: MakeStage, act: Callable[[Stage], object], *, ends: str = "1", settings: dict[str, str] | None = None
) -> Played:
    """A Run whose CI waits until somebody has acted, and ends with that exit code."""
    waits = f"while [ ! -e {{}} ]; do sleep 0.1; done; exit {ends}"
    ci = CI.replace("  push:\n    branches: [main]\n", "").replace("python3 -m unittest -v", waits)
    stage = make_stage({**FILES, ".github/workflows/ci.yml": ci})  # the path is filled in below
    gate = stage.path("gate")
    stage.repository.commit("main", {".github/workflows/ci.yml": ci.format(gate)}, "Wait for the gate")
    playing = stage.start(GREEN_AT_ONCE, session("repair", does(MEND), says()), settings=settings)
    assert stage.hub.wait_until(lambda: bool(stage.repository.pull_requests()), 60)
    act(stage)
    gate.touch()
    return playing.finish()


def asks(stage: Stage, method: str, path: str, body: dict[str, object] | None = None) -> dict[str, object]:
    """alice asks the API for something, with a token of her own; what it answers."""
    headers = {"Authorization": f"Bearer {stage.hub.issue_token('alice', 'pat')}"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{stage.hub.api_url}{path}", data, headers, method=method), timeout=10) as answer:
        found: dict[str, object] = json.load(answer)
    return found


@pytest.mark.field_case(39, "b")
def test_closed_pull_request(make_stage: MakeStage) -> None:
    """A pull request that is closed while CI runs ends the Run with a note; no Repair, no new pull request."""
    played = while_ci_runs(make_stage, lambda at: at.repository.close(at.repository.pull_requests()[0].number, "dana"))
    assert played.exit_code == 1, played.log
    assert "pull request was closed while Nightjar" in played.ending
    assert played.outputs["repairs"] == "0"
    assert [pull.state for pull in played.stage.repository.pull_requests()] == ["closed"]


@pytest.mark.field_case(39, "c")
def test_merged_pull_request(make_stage: MakeStage) -> None:
    """A pull request that somebody merges while CI runs is done: success, and the ending says merged."""
    played = while_ci_runs(
        make_stage,
        lambda at: at.repository.reset_branch("main", at.repository.pull_requests()[0].head_sha, "dana"),
    )
    assert played.exit_code == 0, played.log
    assert played.outputs["outcome"] == "merged"
    assert "is merged" in played.ending
    assert played.outputs["repairs"] == "0"


@pytest.mark.field_case(39, "d")
def test_deleted_branch(make_stage: MakeStage) -> None:
    """A branch that is deleted while CI runs is not pushed again."""
    played = while_ci_runs(make_stage, lambda at: at.repository.delete_branch("nightjar/issue-1", "dana"))
    assert played.exit_code == 1, played.log
    assert "refs/heads/nightjar/issue-1" not in played.stage.repository.refs()
    assert "is gone" in played.ending or "was closed" in played.ending
    assert played.outputs["repairs"] == "0"


@pytest.mark.field_case(39, "e")
def test_label_taken_off_while_ci_runs(make_stage: MakeStage) -> None:
    """A label that is taken off while CI runs stops the Run before a Repair is spent."""
    played = while_ci_runs(make_stage, lambda at: at.repository.unlabel_issue(1, "nightjar:working", "alice"))
    assert played.exit_code == 130, played.log
    assert "was taken off" in played.ending
    assert played.outputs["repairs"] == "0"
    assert played.pull.draft


@pytest.mark.field_case(39, "f")
def test_pull_request_made_a_draft_by_a_person(make_stage: MakeStage) -> None:
    """A pull request that a person makes a draft while CI runs is waited for all the same, and stays a draft."""

    def convert(stage: Stage) -> None:
        node = asks(stage, "GET", f"/repos/acme/widget/pulls/{stage.repository.pull_requests()[0].number}")["node_id"]
        query = "mutation ($input: X!) { convertPullRequestToDraft(input: $input) { clientMutationId } }"
        asks(stage, "POST", "/graphql", {"query": query, "variables": {"input": {"pullRequestId": node}}})

    played = while_ci_runs(make_stage, convert, ends="0", settings={"draft": "never"})
    assert played.exit_code == 0, played.log
    assert played.pull.draft
    assert played.outputs["repairs"] == "0"


@pytest.mark.field_case(39, "retargeted")
def test_pull_request_given_another_base(make_stage: MakeStage) -> None:
    """A pull request that a person has go to another branch while CI runs is judged by what that branch has."""

    def retarget(stage: Stage) -> None:
        main = stage.repository.refs()["refs/heads/main"]
        asks(stage, "POST", "/repos/acme/widget/git/refs", {"ref": "refs/heads/next", "sha": main})
        number = stage.repository.pull_requests()[0].number
        asks(stage, "PATCH", f"/repos/acme/widget/pulls/{number}", {"base": "next"})

    played = while_ci_runs(make_stage, retarget, ends="0")
    assert played.exit_code == 0, played.log
    assert played.pull.base == "next"
    assert "go to `next` instead of `main`" in played.ending


def test_what_a_person_wrote_into_the_pull_request_stays(tmp_path: Path) -> None:
    """A title and a text that somebody changes while CI runs stay; what Nightjar says of its Repair is there too."""
    with town(tmp_path, 'case "$kind" in implement) wrong;; *) mend;; esac', ci_gate="ci") as played:
        played.label()
        played.wait(lambda: bool(played.repository.pull_requests()))
        (before,) = played.repository.pull_requests()
        theirs = before.body.replace("Adds it.", "Adds it.\r\n\r\n- [x] carol has looked at it")
        played.repository.edit_issue(before.number, f"Not before Friday.\n\n{theirs}", "carol", "WIP: subtraction")
        played.open("ci")
        played.settle()
        (after,) = played.repository.pull_requests()
        assert not after.draft, played.log
        assert after.title == "WIP: subtraction"
        assert after.body.startswith("Not before Friday.\n\n**")
        assert after.body.count("- [x] carol has looked at it") == 1
        assert ", 1 Repair, " in after.body
        assert ", no Repairs, " not in after.body
