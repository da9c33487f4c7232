"""What the steps of one job see, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.sandbox.ci.log import JobLog
from tests.sandbox.ci.bench import Bench
from tests.sandbox.ci.waiting import alive


def test_after_a_failing_step_only_those_that_ask_for_it_run(bench: Bench) -> None:
    """Later steps are skipped, except `if: failure()` and `if: always()`."""
    job = bench.steps("""
        - {name: breaks, run: exit 1}
        - {name: next, run: 'true'}
        - {name: on failure, if: failure(), run: 'true'}
        - {name: cleans up, if: '${{ always() }}', run: 'true'}
        - {name: success only, if: success(), run: 'true'}
    """)
    assert [(step.number, step.name, step.conclusion) for step in job.steps] == [
        (1, "Set up job", "success"),
        (2, "breaks", "failure"),
        (3, "next", "skipped"),
        (4, "on failure", "success"),
        (5, "cleans up", "success"),
        (6, "success only", "skipped"),
        (7, "Complete job", "success"),
    ]
    assert all(step.started_at <= step.completed_at for step in job.steps)
    assert job.conclusion == "failure"


def test_a_step_that_may_fail_does_not_fail_the_job(bench: Bench) -> None:
    """Its outcome is visible to later steps; the log still shows the error."""
    job = bench.steps("""
        - {name: lint, id: lint, run: exit 4, continue-on-error: true}
        - run: echo "${{ steps.lint.outcome }}/${{ steps.lint.conclusion }}"
    """)
    assert (job.conclusion, job.step("lint")) == ("success", "success")
    assert "##[error]Process completed with exit code 4." in job.output()
    assert "failure/success" in job.output()


def test_steps_hand_on_environment_path_and_outputs(bench: Bench) -> None:
    """Through the four files of the runner."""
    job = bench.steps(r"""
        - id: first
          run: |
            echo "COLOR=red" >> "$GITHUB_ENV"
            printf 'POEM<<END\nline=1\nline 2\nEND\n' >> "$GITHUB_ENV"
            mkdir "$RUNNER_TEMP/tools"
            printf '#!/bin/sh\necho tool ran\n' > "$RUNNER_TEMP/tools/widget-tool"
            chmod +x "$RUNNER_TEMP/tools/widget-tool"
            echo "$RUNNER_TEMP/tools" >> "$GITHUB_PATH"
            echo "answer=42=x" >> "$GITHUB_OUTPUT"
            echo "# Summary" >> "$GITHUB_STEP_SUMMARY"
        - run: |
            widget-tool
            echo "$COLOR ${{ env.COLOR }} $POEM ${{ steps.first.outputs.answer }}"
    """)
    assert job.conclusion == "success"
    assert "tool ran" in job.output()
    assert "red red line=1" in job.output()
    assert "line 2 42=x" in job.output()


def test_a_line_that_is_no_assignment_fails_the_step(bench: Bench) -> None:
    """As on GitHub, with the line quoted."""
    job = bench.steps('- run: echo "nonsense" >> "$GITHUB_OUTPUT"')
    assert job.conclusion == "failure"
    assert "##[error]GITHUB_OUTPUT: Invalid format 'nonsense'" in job.output()


def test_env_and_defaults_are_layered(bench: Bench) -> None:
    """The step's value wins over the job's over the workflow's; a job's defaults over the workflow's."""
    run = bench.workflow(
        """
        on: push
        env: {A: workflow, B: workflow, C: workflow}
        defaults: {run: {shell: sh, working-directory: docs}}
        jobs:
          test:
            runs-on: x
            env: {B: job, C: job}
            defaults: {run: {working-directory: src}}
            steps:
              - {run: 'echo "$A $B $C ${{ env.C }} ${PWD##*/}"', env: {C: step}}
              - {run: 'echo "in ${PWD##*/}"', working-directory: docs}
              - {run: 'echo', working-directory: gone}
        """,
        {"src/a": "", "docs/b": ""},
    )
    job = run.job("test")
    assert "workflow job step step src" in job.output()
    assert "shell: sh -e {0}" in job.output()
    assert "in docs" in job.output()
    assert "##[error]working-directory: there is no directory 'gone'" in job.output()


@pytest.mark.parametrize(
    ("shell", "script", "conclusion"),
    [
        ("", "false | true", "success"),
        ("bash", "false | true", "failure"),
        ("", "false\ntrue", "failure"),
        ("sh", "false\ntrue", "failure"),
        ("python", "import sys\nsys.exit(0 if sys.argv else 1)", "success"),
        ("python", "raise SystemExit(2)", "failure"),
        ("bash {0}", "false\ntrue", "success"),
    ],
)
def test_shells_stop_where_githubs_do(bench: Bench, shell: str, script: str, conclusion: str) -> None:
    """`-e` always, `pipefail` with `shell: bash` only, Python by its exit code, an own command as written."""
    indented = script.replace("\n", "\n    ")
    assert bench.steps(f"- shell: '{shell}'\n  run: |\n    {indented}\n").conclusion == conclusion


PARENT = """
import sys
from pathlib import Path
from bot.sandbox.ci import CiEngine
from tests.sandbox.ci.bench import Bench, RecordingPublisher, Widget

root = Path(sys.argv[1])
publisher = RecordingPublisher()
engine = CiEngine(publisher, root / "ci")
bench = Bench(engine, publisher, Widget(root), root / "ci")
print(bench.steps("- run: env\\n- run: echo '[${{ secrets.GITHUB_TOKEN }}${{ github.token }}]'").log)
engine.close()
"""


def test_no_secret_of_the_parent_reaches_a_step(tmp_path: Path) -> None:
    """Of the environment of the process that runs the sandbox only PATH is there; HOME is the job's own."""
    names = ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "NPM_TOKEN", "GIT_AUTHOR_DATE")
    secrets = dict.fromkeys(names, "s3cret-value")
    env = {"PATH": os.environ["PATH"], "HOME": "/home/alice", **secrets}
    root = Path(__file__).parents[3]
    log = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path)], env=env, cwd=root, check=True, capture_output=True, text=True
    ).stdout
    output = [line.partition(" ")[2] for line in log.splitlines()]

    assert "s3cret-value" not in log
    assert "[]" in output
    told = dict(line.split("=", 1) for line in output if "=" in line)
    assert told["CI"] == told["GITHUB_ACTIONS"] == "true"
    assert told["GITHUB_REPOSITORY"] == "acme/widget"
    assert (told["GITHUB_REF_NAME"], told["GITHUB_EVENT_NAME"]) == ("main", "push")
    assert told["HOME"].startswith(str(tmp_path / "ci"))
    assert told["PWD"] == told["GITHUB_WORKSPACE"]
    assert not secrets.keys() & told.keys()


def test_actions_are_passed_over_and_the_log_says_so(bench: Bench) -> None:
    """The checkout is there; other actions count as done."""
    job = bench.steps(
        "- uses: actions/checkout@v4\n- {uses: actions/setup-python@v5, with: {python-version: '3.12'}}\n"
    )
    assert job.conclusion == "success"
    assert job.step("Run actions/setup-python@v5") == "success"
    assert "not run in the sandbox: actions/setup-python@v5" in job.output()
    assert not any("not run in the sandbox: actions/checkout" in line for line in job.output())


def test_the_checkout_is_clean_and_runs_no_hooks(bench: Bench) -> None:
    """On the branch, at the commit, with nothing changed and no hook installed."""
    job = bench.steps("- run: git status --porcelain --branch && ls .git && git rev-parse HEAD && echo $GITHUB_SHA")
    assert "## main" in job.output()
    assert "hooks" not in job.output()
    assert job.output()[-2] == job.output()[-3]


def test_a_timeout_kills_the_steps_descendants(bench: Bench, tmp_path: Path) -> None:
    """A step's limit fails it; what it had started is gone, a process that left its group too."""
    job = bench.steps(f"""
        - name: hangs
          timeout-minutes: 0.02
          run: |
            sleep 300 & echo $! > {tmp_path}/child
            setsid bash -c 'echo $$ > {tmp_path}/grandchild; exec sleep 300' &
            until test -s {tmp_path}/grandchild; do sleep 0.02; done
            wait
        - {{name: after, run: 'true'}}
    """)
    assert job.conclusion == "failure"
    assert "##[error]The action 'hangs' has timed out after 0.02 minutes." in job.output()
    assert job.step("after") == "skipped"
    assert not alive(int((tmp_path / "child").read_text()))
    assert not alive(int((tmp_path / "grandchild").read_text()))


def test_the_jobs_own_limit_cancels_it(bench: Bench) -> None:
    """GitHub calls such a job cancelled; its `if: always()` steps still run."""
    run = bench.workflow("""
        on: push
        jobs:
          test:
            runs-on: x
            timeout-minutes: 0.01
            steps: [{run: sleep 300}, {name: cleans up, if: always(), run: echo swept}, {name: next, run: 'true'}]
        """)
    job = run.job("test")
    assert (run.conclusion, job.conclusion) == ("cancelled", "cancelled")
    assert "##[error]The job has exceeded the maximum execution time of 0.01 minutes." in job.output()
    assert (job.step("cleans up"), job.step("next")) == ("success", "skipped")


def test_a_server_started_in_one_step_serves_the_next_and_dies_with_the_job(bench: Bench, tmp_path: Path) -> None:
    """Background processes outlive their step, not their job."""
    job = bench.steps(f"""
        - run: sleep 300 & echo $! > {tmp_path}/server
        - run: kill -0 "$(cat {tmp_path}/server)" && echo still there
    """)
    assert job.conclusion == "success"
    assert "still there" in job.output()
    assert not alive(int((tmp_path / "server").read_text()))


def test_workflow_commands_become_marks(bench: Bench) -> None:
    """Groups, errors and masks as GitHub's logs show them."""
    job = bench.steps(r"""
        - run: |
            echo "::group::Tests"
            echo "::endgroup::"
            echo "::error file=a.py,line=3::broke%0Atwice"
            echo "::add-mask::hunter2"
            echo "password hunter2"
            echo "::debug::hidden"
            printf 'no newline'
    """)
    output = job.output()
    output = output[output.index("##[endgroup]") + 1 :]
    assert output == [
        "##[group]Tests",
        "##[endgroup]",
        "##[error]broke",
        "twice",
        "password ***",
        "no newline",
        "Cleaning up orphan processes",
    ]


def test_a_log_without_end_is_cut(tmp_path: Path) -> None:
    """The limit holds, and the last line says that it did."""
    log = JobLog(tmp_path, limit=1000)
    for number in range(1000):
        log.output(b"line %d\n" % number)
    text = log.finish().decode()
    assert len(text) < 1100
    assert text.splitlines()[-1].endswith("##[error]The log was cut here: it is longer than 1000 bytes.")
    log.line("too late")
