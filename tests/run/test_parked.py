"""Runs that wait without a runner and go on in another job: the shipped workflows, whole, in the sandbox's Actions."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.clock import Clock
from bot.sandbox.github import Answer, Fault
from tests.run.town import NOT_SWEPT, Town, shipped, town
from tests.sandbox.conftest import Caller

MOST = 5
"""Requests that count, of a job that wakes for nothing."""
WORKS = 'case "$kind" in implement) wrong;; *) mend;; esac'


def test_parked_for_ci(tmp_path: Path) -> None:
    """With `wait: park` the job ends after the push; when CI has ended, another goes on, a Repair included."""
    with town(tmp_path, WORKS, settings={"wait": "park"}, ci_gate="ci") as played:
        played.label()
        played.wait_until_parked()
        played.open("ci")
        played.settle()

        assert played.labels() == ("nightjar:ready",), played.log
        tracking, ending = played.comments()
        assert ending.body.startswith("@alice")
        assert "ready for review" in ending.body
        assert "1 Repair" in ending.body
        assert played.outcomes[0] == "parked"
        assert played.outcomes[-1] == "ready"
        assert any("**Parked:**" in version and "waits for CI" in version for version in tracking.versions)
        assert played.kinds == ["implement", "repair-1"]


def test_parked_without_a_wake_workflow(tmp_path: Path) -> None:
    """Where no workflow sweeps, a Run waits for CI in its job instead of for ever, and says so."""
    with town(tmp_path, settings={"wait": "park"}, files=NOT_SWEPT) as played:
        played.label()
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert "needs a workflow with" in played.endings()[0]


def test_what_was_spent_is_carried_over(tmp_path: Path) -> None:
    """Repairs and cost of earlier jobs count in the job that goes on."""
    script = 'case "$kind" in implement) wrong;; *) echo "# $kind" >>calc.py; git commit -qam Try;; esac'
    with town(tmp_path, script, settings={"wait": "park", "max-repairs": "1"}, ci_gate="ci") as played:
        played.label()
        played.wait(lambda: played.outcomes == ["parked"])
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:failed",), played.log
        assert "CI is still red after 1 Repair of at most 1" in played.endings()[0]
        assert "$0.02" in played.endings()[0]
        assert played.kinds == ["implement", "repair-1"]


def test_people_step_in_while_it_waits(tmp_path: Path) -> None:
    """Merged is done; a closed pull request, a closed issue and a label taken off are each an end with its reason; the
    label put on again is a fresh Run that goes on from the work.
    """
    settings = {"wait": "park", "draft": "never", "max-working": "5"}
    with town(tmp_path, "grep -q 'def sub' calc.py || right", settings=settings, ci_gate="ci") as played:
        merged, closed, given_up, unlabelled, again = issues = [played.issue, *(played.open_issue() for _ in range(4))]
        for issue in issues:
            played.label(issue)
        played.wait(lambda: played.outcomes == ["parked"] * 5)
        pulls = {pull.head: pull for pull in played.repository.pull_requests()}
        alice = Caller(played.hub, played.hub.issue_token("alice", "pat"))
        number = pulls[f"nightjar/issue-{merged}"].number
        assert alice("PUT", f"/repos/acme/widget/pulls/{number}/merge", {}).status == 200
        played.repository.close(pulls[f"nightjar/issue-{closed}"].number, "alice")
        played.repository.close(given_up, "alice")
        played.unlabel("nightjar:parked", unlabelled)
        played.label(again)
        played.wait(lambda: played.outcomes == ["parked"] * 6)
        played.open("ci")
        played.settle()
        played.tick()

        ends = {issue: (played.labels(issue), played.endings(issue)) for issue in issues}
        assert [len(endings) for _, endings in ends.values()] == [1] * 5, played.log
        assert "Somebody merged the pull request" in ends[merged][1][0]
        assert ends[merged][0] == ("nightjar:ready",)
        assert "the pull request was closed" in ends[closed][1][0]
        assert "the issue was closed" in ends[given_up][1][0]
        assert "the label `nightjar:parked` was taken off while Nightjar waited" in ends[unlabelled][1][0]
        assert ends[again][0] == ("nightjar:ready",)
        assert len(played.comments(again)) == 2
        assert [session.kind for session in played.sessions if session.issue == again] == ["implement", "continue"]


def waited_for(played: Town, reached: str) -> None:
    """Wait until the usage limit is reset that was reached when that file was written."""
    at = int((played.word / reached).read_text(encoding="utf-8"))
    played.wait(lambda: Clock.today().timestamp() > at + 26)


def test_usage_limit(tmp_path: Path) -> None:
    """A usage limit whose reset is near parks the Run until then, and others before they spend; a sweep takes them up,
    with what was done so far, and an interrupted Repair counts once.
    """
    script = """
case "$kind" in implement|continue) grep -q 'def sub' calc.py || wrong;; esac
case "$kind" in
continue) ;;
*) at=$word/reached-$kind; [ -e $at ] || { date +%s >$at; limit $(($(date +%s) + 25)); };;
esac
case "$kind" in repair-*) mend;; esac
"""
    with town(tmp_path, script) as played:
        played.label()
        played.wait_until_parked()
        other = played.open_issue()
        played.label(other)
        played.settle()
        assert played.labels(other) == ("nightjar:parked",), played.log
        assert played.kinds == ["implement"]
        assert "waits for the usage limit to be reset, which is due at " in played.tracking(other)[-1]
        waited_for(played, "reached-implement")
        played.unlabel("nightjar:parked", other)
        played.tick()
        assert played.labels() == ("nightjar:parked",), played.log
        assert played.kinds == ["implement", "continue", "repair-1"]
        assert "was taken off" in played.endings(other)[0]

        waited_for(played, "reached-repair-1")
        played.tick()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "continue", "repair-1", "repair-1"]
        assert "1 Repair" in played.endings()[0]
        assert "$0.04" in played.endings()[0]


def test_a_usage_limit_that_is_not_waited_for(tmp_path: Path) -> None:
    """A reset that lies too far, or that nobody names, ends the Run with `usage_limit`."""
    script = 'case "$issue" in 1) limit;; *) limit 4102444800;; esac'
    with town(tmp_path, script) as played:
        far = played.open_issue()
        played.label()
        played.label(far)
        played.settle()
        for issue in (played.issue, far):
            assert played.labels(issue) == ("nightjar:failed",), played.log
            assert "implement session reached the usage limit" in played.endings(issue)[0]
        assert "2100-01-01 00:00 UTC" in played.endings(far)[0]


def test_paused(tmp_path: Path) -> None:
    """`NIGHTJAR_PAUSED` stops a Run before each Session; when it is taken back, the next sweep goes on."""
    script = 'case "$kind" in implement) wrong; gate implement;; *) mend;; esac'
    with town(tmp_path, script, variables={"NIGHTJAR_PAUSED": "yes"}, also_may=("actions_variables",)) as played:
        played.label()
        played.settle()
        played.tick()
        assert played.labels() == ("nightjar:parked",), played.log
        assert played.sessions == ()
        assert "`NIGHTJAR_PAUSED` to be taken back" in played.tracking()[-1]

        played.repository.set_variable("NIGHTJAR_PAUSED", "")
        played.actions.tick()
        played.wait(lambda: played.kinds == ["implement"])
        played.repository.set_variable("NIGHTJAR_PAUSED", "1")
        played.open("implement")
        played.settle()
        assert played.labels() == ("nightjar:parked",), played.log
        assert played.kinds == ["implement"]

        played.repository.set_variable("NIGHTJAR_PAUSED", "")
        played.tick()
        assert played.labels() == ("nightjar:ready",), played.log
        assert len(played.endings()) == 1


def test_paused_where_nothing_sweeps(tmp_path: Path) -> None:
    """Without a sweep `NIGHTJAR_PAUSED` ends a Run, with the reason, instead of leaving it for ever."""
    with town(tmp_path, variables={"NIGHTJAR_PAUSED": "yes"}, files=NOT_SWEPT) as played:
        played.label()
        played.settle()
        assert played.sessions == ()
        assert "`NIGHTJAR_PAUSED` is set" in played.endings()[0]


def test_a_new_runner_goes_on(tmp_path: Path) -> None:
    """A Run that has used up its job's time while CI runs goes on in a job that it starts itself."""
    with town(tmp_path, settings={"run-timeout-minutes": "15"}, ci_gate="ci") as played:
        played.label()
        played.wait(lambda: played.outcomes == ["parked"])
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        events = [run.event for run in played.actions.runs("Nightjar") if run.conclusion == "success"]
        assert events == ["issues", "workflow_dispatch"]
        assert len(played.endings()) == 1


@pytest.mark.parametrize("why", ["token", "workflow"])
def test_no_new_runner_can_be_had(tmp_path: Path, why: str) -> None:
    """Where GitHub refuses to start a job, the Run ends with `run_timeout` and GitHub's reason."""
    workflow = shipped()[".github/workflows/nightjar.yml"]
    files = {".github/workflows/nightjar.yml": workflow.replace("workflow_dispatch:", "workflow_call:")}
    settings = {"run-timeout-minutes": "15"}
    with town(tmp_path, settings=settings, files=files if why == "workflow" else {}, ci_gate="ci") as played:
        if why == "token":
            refused = Fault("POST", "/dispatches$", Answer(403), times=0)
            played.hub.faults.add(refused)
        played.label()
        played.wait(lambda: bool(played.endings()))
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:failed",), played.log
        (ending,) = played.endings()
        assert "the job's time was used up" in ending
        said = "Resource not accessible by integration" if why == "token" else "does not have 'workflow_dispatch'"
        assert said in ending


def test_events_that_are_not_the_runs(tmp_path: Path) -> None:
    """An event of another branch starts no job; one that leaves other checks running ends at once and changes nothing;
    of many that take the Run up at once, one does.
    """
    with town(tmp_path, settings={"wait": "park"}, ci_gate="ci") as played:
        played.label()
        played.wait(lambda: played.outcomes == ["parked"])
        before, jobs = len(played.hub.requests), len(played.jobs)
        head = played.record().pushed
        played.repository.set_status(played.repository.refs()["refs/heads/main"], "ci/elsewhere", "success")
        played.repository.set_status(head, "ci/elsewhere", "success")
        played.wait(lambda: len(played.jobs) > jobs and all(job.conclusion for job in played.jobs))
        woken = played.jobs[jobs:]
        assert len(woken) == 1
        assert "waits on" in woken[0].log
        asked = played.hub.requests[before:]
        assert not [f"{one.method} {one.path}" for one in asked if one.method not in ("GET", "POST")]
        assert sum(one.counted for one in asked) <= MOST, [f"{one.method} {one.target}" for one in asked if one.counted]
        assert played.labels() == ("nightjar:parked",)

        nightjar = Caller(played.hub, played.hub.issue_token("nightjar[bot]"))
        played.open("ci")
        for name in ("ci/more", "ci/most"):
            played.repository.set_status(head, name, "success")
        path = "/repos/acme/widget/actions/workflows/nightjar.yml/dispatches"
        given = {"ref": "main", "inputs": {"issue": str(played.issue), "take-up": "true"}}
        assert nightjar("POST", path, given).status == 204
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert len(played.comments()) == 2
        assert played.kinds == ["implement"]
        assert not any(job.conclusion == "failure" for job in played.jobs), played.log
