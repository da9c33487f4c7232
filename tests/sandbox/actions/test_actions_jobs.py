"""What jobs are given, the groups they wait in, and what goes wrong with them on cue."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.sandbox.actions import NoSuchJob
from bot.sandbox.ci import LOST_RUNNER
from tests.sandbox.actions.conftest import MakeWorks
from tests.sandbox.ci.waiting import alive, wait_for
from tests.sandbox.conftest import Caller

REPO = "/repos/acme/widget"

GIVEN = """\
name: Given
on: workflow_dispatch
permissions: {contents: read}
jobs:
  tell:
    runs-on: x
    permissions: {issues: write}
    outputs: {issue: "${{ steps.open.outputs.issue }}"}
    steps:
      - run: |
          echo "$GITHUB_REPOSITORY $GITHUB_JOB $GITHUB_WORKFLOW $GITHUB_WORKFLOW_REF"
          echo "$GITHUB_RUN_ATTEMPT ${{ vars.COLOUR }} key=${{ secrets.KEY }} ${{ secrets.NONE || 'no other' }}"
      - id: open
        env: {TOKEN: "${{ github.token }}"}
        run: |
          echo "$TOKEN" > "$RUNNER_TEMP/token"
          ask() { curl -s "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$1" -H "Authorization: Bearer $TOKEN" "${@:2}"; }
          number=$(ask issues -d '{"title": "From a job"}' | sed 's/.*"number": \\([0-9]*\\).*/\\1/')
          echo "issue=$number" >> "$GITHUB_OUTPUT"
          ask actions/runs
  other:
    needs: tell
    runs-on: x
    if: needs.tell.outputs.issue == 1
    steps:
      - run: |
          curl -s -o /dev/null -w 'issues %{http_code}\\n' "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/1" \\
            -H "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}"
"""


def test_a_job_has_a_runners_environment_and_a_token_of_its_own(works: MakeWorks) -> None:
    """The token may do what the job's `permissions:` say, else the workflow's, and nothing once the job has ended."""
    made = works(given=GIVEN)
    made.dispatch("given.yml")
    run = made.only("Given")
    tell, other = run.job("tell"), run.job("other")
    assert "acme/widget tell Given acme/widget/.github/workflows/given.yml@refs/heads/main" in tell.log
    assert "1 red key=*** no other" in tell.log
    assert made.repository.issue(1).author == "github-actions[bot]"
    assert "Resource not accessible by integration" in tell.log
    assert (other.conclusion, "issues 403" in other.log) == ("success", True)
    assert tell.outputs == {"issue": "1"}
    assert tell.temp is not None
    token = (tell.temp / "token").read_text().strip()
    assert token.startswith("ghs_")
    assert token not in tell.log
    assert Caller(made.hub, token)("GET", f"{REPO}/issues/1").status == 401


WAITS = """\
name: {name}
on: workflow_dispatch
{head}
jobs:
  work:
    runs-on: x
    {job}
    steps: [{{run: 'cat {fifo}'}}]
"""


@pytest.mark.parametrize("where", ["head", "job"])
def test_one_runs_one_waits_and_a_newer_one_takes_its_place(works: MakeWorks, tmp_path: Path, where: str) -> None:
    """Of three in one group, whatever its letters' case, the second is cancelled unstarted; the third follows the
    first."""
    fifo, level = tmp_path / "go", {"head": "", "job": ""}
    group = "concurrency: 'Group-${{ github.event_name }}'"
    made = works(
        one=WAITS.format(name="One", fifo=fifo, **{**level, where: group}),
        two=WAITS.format(name="Two", fifo=fifo, **{**level, where: group.lower()}),
    )
    made.fifo("go")
    made.dispatch("one.yml")
    first = made.began("One")
    made.dispatch("two.yml")
    made.dispatch("one.yml")
    assert made.actions.wait_until(lambda: [run.conclusion for run in made.actions.runs("Two")] == ["cancelled"], 20)
    states = [(run.conclusion, [job.status for job in run.jobs]) for run in made.actions.runs("One")]
    assert states == [("", ["in_progress"]), ("", [] if where == "head" else ["queued"])]
    fifo.write_text("on you go")
    assert made.actions.wait_until(lambda: made.actions.runs("One")[0].conclusion == "success", 20)
    made.began("One")
    fifo.write_text("and you")
    assert [run.conclusion for run in made.settle()] == ["success", "cancelled", "success"]
    assert made.actions.runs()[0].id == first.id
    (two,) = made.actions.runs("Two")
    if where == "job":
        assert two.job("work").annotations == (
            "Canceling since a higher priority waiting request for 'group-workflow_dispatch' exists",
        )


def test_a_newer_one_may_cancel_the_one_that_runs(works: MakeWorks) -> None:
    """With `cancel-in-progress` it does not wait for the end."""
    made = works(
        work="""\
        name: Work
        on: {workflow_dispatch: {inputs: {seconds: {}}}}
        jobs:
          work:
            runs-on: x
            concurrency: {group: g, cancel-in-progress: "${{ inputs.seconds == '0' }}"}
            steps: [{run: 'exec sleep ${{ inputs.seconds }}'}]
        """
    )
    made.dispatch("work.yml", seconds="60")
    made.began("Work")
    made.dispatch("work.yml", seconds="0")
    assert [run.conclusion for run in made.settle()] == ["cancelled", "success"]


def test_runners_are_few_and_jobs_wait_in_order(works: MakeWorks, tmp_path: Path) -> None:
    """With one runner the second job begins when the first has ended, and so on."""
    made = works(
        runners=1,
        work=f"""\
        name: Work
        on: {{workflow_dispatch: {{inputs: {{name: {{}}}}}}}}
        jobs:
          work:
            runs-on: x
            steps: [{{run: 'cd {tmp_path}; echo "${{{{ inputs.name }}}} in" >> book; cat go; echo out >> book'}}]
        """,
    )
    fifo = made.fifo("go")
    for name in ("a", "b", "c"):
        made.dispatch("work.yml", name=name)

    def states() -> list[str]:
        return [job.status for run in made.actions.runs() for job in run.jobs]

    def reached(wanted: list[str]) -> bool:
        return states() == wanted

    for done in range(3):
        wanted = ["completed"] * done + ["in_progress"] + ["queued"] * (2 - done)
        assert made.actions.wait_until(partial(reached, wanted), 20), (wanted, states())
        fifo.write_text("go")
    made.settle()
    assert (tmp_path / "book").read_text().split() == ["a", "in", "out", "b", "in", "out", "c", "in", "out"]


def polite(folder: Path) -> str:
    """A workflow whose first step writes down the signals it gets; some of what follows runs after a cancel too."""
    return f"""\
    name: Polite
    on: workflow_dispatch
    jobs:
      work:
        runs-on: x
        steps:
          - name: Works
            shell: python
            run: |
              import os, signal, subprocess, sys
              child = subprocess.Popen(["sleep", "300"], start_new_session=True)
              book = open("{folder}/book", "a", buffering=1)
              def heard(number, frame):
                  book.write(signal.Signals(number).name + "\\n")
                  if "{folder.name}" == "gives-way":
                      child.kill()
                      sys.exit(130)
              signal.signal(signal.SIGINT, heard)
              signal.signal(signal.SIGTERM, heard)
              open("{folder}/pid.new", "w").write(f"{{os.getpid()}} {{child.pid}}")
              os.rename("{folder}/pid.new", "{folder}/pid")
              while True:
                  signal.pause()
          - {{name: Never, run: 'true'}}
          - {{name: On failure, if: failure(), run: 'true'}}
          - {{name: On cancel, if: cancelled(), run: 'true'}}
          - {{name: Reports, if: always(), run: 'echo "status ${{{{ job.status }}}}"'}}
      later: {{needs: work, runs-on: x, steps: [{{run: 'true'}}]}}
      report:
        needs: work
        if: always()
        runs-on: x
        steps: [{{run: 'echo "work was ${{{{ needs.work.result }}}}"'}}]
    """


def test_a_cancel_reaches_the_steps_own_process_and_reports_still_run(works: MakeWorks, tmp_path: Path) -> None:
    """One SIGINT to the step's process alone; what says `always()` or `cancelled()` runs, the rest does not."""
    folder = tmp_path / "gives-way"
    folder.mkdir()
    made = works(polite=polite(folder))
    made.dispatch("polite.yml")
    wait_for(folder / "pid")
    run = made.actions.runs()[0].id
    assert made.call("POST", f"{REPO}/actions/runs/{run}/cancel").status == 202
    seen = made.only("Polite")
    assert (folder / "book").read_text().split() == ["SIGINT"]
    work = seen.job("work")
    assert [step for step in work.steps if step[0] not in ("Set up job", "Complete job")] == [
        ("Works", "cancelled"),
        ("Never", "skipped"),
        ("On failure", "skipped"),
        ("On cancel", "success"),
        ("Reports", "success"),
    ]
    assert "status cancelled" in work.log
    assert [(job.name, job.conclusion) for job in seen.jobs] == [
        ("work", "cancelled"),
        ("later", "cancelled"),
        ("report", "success"),
    ]
    assert "work was cancelled" in seen.job("report").log
    assert seen.conclusion == "cancelled"
    again = made.call("POST", f"{REPO}/actions/runs/{run}/cancel")
    assert (again.status, again.body["message"]) == (409, "Cannot cancel a workflow run that is completed.")


def test_what_wants_to_run_after_a_cancel_goes_on_when_it_comes(works: MakeWorks, tmp_path: Path) -> None:
    """A job with `always()` is not cancelled, nor is such a step of a job that is."""
    made = works(
        on=f"""\
        name: On
        on: workflow_dispatch
        jobs:
          step:
            runs-on: x
            steps:
              - {{name: Goes on, if: always(), run: 'cd {tmp_path}; touch step-begun; cat step'}}
              - run: 'true'
          job:
            runs-on: x
            if: always()
            steps: [{{run: 'cd {tmp_path}; touch job-begun; cat job'}}, {{run: 'echo to the end'}}]
          beside: {{runs-on: x, steps: [{{run: 'exec sleep 60'}}]}}
          waits: {{needs: step, runs-on: x, steps: [{{run: 'true'}}]}}
        """
    )
    pipes = [made.fifo("step"), made.fifo("job")]
    made.dispatch("on.yml")
    for pipe in pipes:
        wait_for(pipe.with_name(f"{pipe.name}-begun"))
    run = made.actions.runs()[0]
    made.actions.cancel(run.id)
    assert made.actions.wait_until(lambda: made.actions.runs()[0].job("beside").conclusion == "cancelled", 20)
    for pipe in pipes:
        pipe.write_text("go")
    seen = made.only("On")
    assert {job.name: job.conclusion for job in seen.jobs} == {
        "step": "cancelled",
        "job": "success",
        "beside": "cancelled",
        "waits": "cancelled",
    }
    assert seen.job("step").step("Goes on") == "success"
    assert seen.job("step").step("Run true") == "skipped"
    assert "to the end" in seen.job("job").log


def test_a_step_that_does_not_give_way_is_killed_with_its_tree(works: MakeWorks, tmp_path: Path) -> None:
    """SIGTERM follows after 7.5 real seconds, and after 2.5 more nothing of the step lives."""
    folder = tmp_path / "stubborn"
    folder.mkdir()
    made = works(polite=polite(folder))
    made.dispatch("polite.yml")
    wait_for(folder / "pid")
    began = Clock.now()
    made.actions.cancel(made.actions.runs()[0].id)
    seen = made.only("Polite")
    assert 10 <= Clock.now() - began < 20
    assert (folder / "book").read_text().split() == ["SIGINT", "SIGTERM"]
    assert (seen.job("work").step("Works"), seen.job("work").step("Reports")) == ("cancelled", "success")
    assert not any(alive(int(pid)) for pid in (folder / "pid").read_text().split())


def test_a_lost_machine_takes_all_that_ran_on_it(works: MakeWorks, tmp_path: Path) -> None:
    """No process lives, no further step runs, GitHub says why, and another machine reports."""
    made = works(
        lost=f"""\
        name: Lost
        on: workflow_dispatch
        jobs:
          work:
            runs-on: x
            steps:
              - run: env -i PATH="$PATH" setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 300' & cat {tmp_path}/never
              - {{if: always(), run: 'touch {tmp_path}/reported'}}
          report:
            needs: work
            if: always()
            runs-on: x
            steps: [{{run: 'echo "work was ${{{{ needs.work.result }}}}"'}}]
        """
    )
    os.mkfifo(tmp_path / "never")
    made.dispatch("lost.yml")
    wait_for(tmp_path / "pid")
    run = made.actions.runs()[0].id
    with pytest.raises(NoSuchJob, match="no job 'report' is running"):
        made.actions.lose(run, "report")
    made.actions.lose(run, "work")
    seen = made.only("Lost")
    work = seen.job("work")
    assert (work.conclusion, work.steps, work.annotations) == ("failure", (), (LOST_RUNNER,))
    assert made.call("GET", f"{REPO}/actions/jobs/{work.id}/logs").status == 404
    assert "work was failure" in seen.job("report").log
    assert not alive(int((tmp_path / "pid").read_text()))
    assert not (tmp_path / "reported").exists()
    assert seen.conclusion == "failure"


def test_a_run_that_is_run_again_counts_its_attempts(works: MakeWorks) -> None:
    """The second attempt sees that it is one; the first is still shown as it was."""
    job = "{t: {runs-on: x, steps: [{run: 'test $GITHUB_RUN_ATTEMPT = 2'}]}}"
    made = works(again=f"name: Again\non: workflow_dispatch\njobs: {job}\n")
    made.dispatch("again.yml")
    first = made.only("Again")
    made.actions.rerun(first.id, "bob")
    second = made.only("Again")
    assert [(run.attempt, run.conclusion, run.actor) for run in (first, second)] == [
        (1, "failure", "alice"),
        (2, "success", "bob"),
    ]
    shown = made.call.get(f"{REPO}/actions/runs/{first.id}/attempts/1")
    assert (shown["conclusion"], shown["run_attempt"], shown["path"]) == ("failure", 1, ".github/workflows/again.yml")
    (job,) = made.call.get(f"{REPO}/actions/runs/{first.id}/jobs")["jobs"]
    assert (job["name"], job["conclusion"], job["run_attempt"]) == ("t", "success", 2)
    assert [(job.attempt, job.conclusion) for job in made.actions.timeline().jobs] == [(1, "failure"), (2, "success")]


def test_a_job_that_is_carried_over_is_billed_once(works: MakeWorks) -> None:
    """Only what failed runs again, and only that is in the timeline again."""
    flaky, steady = "runs-on: x, steps: [{run: 'test $GITHUB_RUN_ATTEMPT = 2'}]", "runs-on: x, steps: [{run: 'true'}]"
    jobs = f"{{t: {{{flaky}}}, steady: {{{steady}}}}}"
    made = works(again=f"name: Again\non: workflow_dispatch\njobs: {jobs}\n")
    made.dispatch("again.yml")
    run = made.only("Again")
    assert made.call("POST", f"{REPO}/actions/runs/{run.id}/rerun-failed-jobs").status == 201
    assert made.only("Again").job("steady").conclusion == "success"
    told = made.actions.timeline().jobs
    assert sorted((job.name, job.attempt) for job in told) == [("steady", 1), ("t", 1), ("t", 2)]
    assert all(job.billed >= 1 for job in told)


def test_variables_are_read_by_who_may(works: MakeWorks) -> None:
    """A person's token reads them whatever their letters' case; a job's own token cannot."""
    made = works()
    made.repository.set_variable("NIGHTJAR_PAUSED", "true")
    assert made.call.get(f"{REPO}/actions/variables/nightjar_paused")["value"] == "true"
    assert made.call("GET", f"{REPO}/actions/variables/OTHER").status == 404
    job = Caller(made.hub, made.hub.issue_token("github-actions[bot]", "job"))
    refused = job("GET", f"{REPO}/actions/variables/NIGHTJAR_PAUSED")
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
