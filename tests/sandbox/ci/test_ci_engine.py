"""From an event to finished workflow runs, with real git and real processes."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from bot.sandbox.ci import CiEngine, CiEvent
from tests.sandbox.ci.bench import Bench, RecordedRun, RecordingPublisher, Widget
from tests.sandbox.ci.waiting import alive, wait_for

CI = """
name: CI
on:
  push:
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh ./check.sh
"""


def pull(widget: Widget, head: str, branch: str = "nightjar/issue-7", action: str = "opened") -> CiEvent:
    """A pull request from `branch` to main."""
    base = widget.git(widget.bare, "merge-base", "main", head)
    return CiEvent("pull_request", action, f"refs/heads/{branch}", head, base="main", before=base, number=12)


def conclusions(run: RecordedRun) -> dict[str, str]:
    """Each job's conclusion."""
    return {job.name: job.conclusion for job in run.jobs}


def test_a_fix_turns_red_into_green(bench: Bench, widget: Widget) -> None:
    """The pushed commit's own workflow and files decide, push by push."""
    red = widget.commit({".github/workflows/ci.yml": CI, "check.sh": "echo 2 tests failed\nexit 3\n"})
    (first,) = bench.push(red)
    green = widget.commit({"check.sh": "echo all good\n"})
    (second,) = bench.push(green, before=red)

    assert (first.name, first.path, first.conclusion) == ("CI", ".github/workflows/ci.yml", "failure")
    assert conclusions(first) == {"test": "failure"}
    assert first.job("test").output()[-3:] == [
        "2 tests failed",
        "##[error]Process completed with exit code 3.",
        "Cleaning up orphan processes",
    ]
    assert (second.conclusion, conclusions(second)) == ("success", {"test": "success"})
    assert "all good" in second.job("test").output()


def test_a_log_reads_like_githubs(bench: Bench) -> None:
    """Byte order mark, a time with seven decimals on each line, the command folded, both streams in order."""
    job = bench.steps("- run: |\n    echo out\n    echo err >&2\n    exit 1\n  env: {COLOR: red}\n")

    assert job.log.startswith("\ufeff")
    lines = job.log.removeprefix("\ufeff").splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ", line) for line in lines)
    assert job.output()[2:] == [
        "##[group]Run echo out",
        "\x1b[36;1mecho out\x1b[0m",
        "\x1b[36;1mecho err >&2\x1b[0m",
        "\x1b[36;1mexit 1\x1b[0m",
        "shell: bash -e {0}",
        "env:",
        "  COLOR: red",
        "##[endgroup]",
        "out",
        "err",
        "##[error]Process completed with exit code 1.",
        "Cleaning up orphan processes",
    ]


def test_a_pull_request_is_tested_as_its_merge(bench: Bench, widget: Widget) -> None:
    """What is checked out has the head's and the base's changes, and the environment names the pull request."""
    script = (
        "test -f base.txt && test -f head.txt\ngit log -1 --format=%P\n"
        'echo "$GITHUB_REF|$GITHUB_HEAD_REF|$GITHUB_BASE_REF|$GITHUB_SHA"\n'
    )
    start = widget.commit({".github/workflows/ci.yml": CI, "check.sh": script})
    base = widget.commit({"base.txt": ""})
    head = widget.commit({"head.txt": ""}, branch="nightjar/issue-7", start=start)
    (run,) = bench.run(pull(widget, head))

    output = run.job("test").output()
    assert run.conclusion == "success"
    assert f"{base} {head}" in output
    (told,) = [line for line in output if line.startswith("refs/")]
    assert re.fullmatch(r"refs/pull/12/merge\|nightjar/issue-7\|main\|[0-9a-f]{40}", told)
    assert head not in told


def test_a_conflicting_pull_request_starts_nothing(bench: Bench, widget: Widget) -> None:
    """As on GitHub, there are no runs at all while the pull request conflicts, and there are once it does not."""
    start = widget.commit({".github/workflows/ci.yml": CI, "check.sh": "true\n", "a.txt": "1\n"})
    head = widget.commit({"a.txt": "2\n"}, branch="nightjar/issue-7", start=start)
    widget.commit({"a.txt": "3\n"}, start=start)
    assert bench.run(pull(widget, head)) == []

    widget.git(widget.tree, "checkout", "-q", "nightjar/issue-7")
    widget.git(widget.tree, "merge", "-q", "-s", "ours", "-m", "Merge main", "main")
    widget.git(widget.tree, "push", "-q", "origin", "nightjar/issue-7")
    merged = widget.git(widget.tree, "rev-parse", "HEAD")
    (run,) = bench.run(pull(widget, merged, action="synchronize"))
    assert run.conclusion == "success"


def test_paths_filters_see_what_the_push_changed(bench: Bench, widget: Widget) -> None:
    """Between `before` and the head; a new branch is compared with where it left the default branch."""
    workflow = "on: {push: {paths: ['src/**']}}\njobs: {t: {runs-on: x, steps: [{run: 'true'}]}}\n"
    first = widget.commit({".github/workflows/ci.yml": workflow, "src/a.py": ""})
    assert len(bench.push(first)) == 1
    second = widget.commit({"README.md": "x"})
    assert bench.push(second, before=first) == []
    branch = widget.commit({"docs.md": "x"}, branch="nightjar/issue-7", start=second)
    assert bench.push(branch, branch="nightjar/issue-7") == []
    third = widget.commit({"src/ünï.py": "x"}, branch="nightjar/issue-7", start=branch)
    assert len(bench.push(third, branch="nightjar/issue-7", before=branch)) == 1
    assert len(bench.run(pull(widget, third))) == 0


def test_a_skip_marker_in_the_head_commit_starts_nothing_but_a_dispatch(bench: Bench, widget: Widget) -> None:
    """`[skip ci]` holds back push and pull request; a person's dispatch runs, with inputs and their defaults."""
    workflow = """
    on:
      push:
      workflow_dispatch:
        inputs:
          who: {default: alice}
          what: {default: tests}
    jobs:
      test:
        runs-on: ubuntu-latest
        steps:
          - run: echo "${{ inputs.who }} runs ${{ inputs.what }} by ${{ github.event_name }}"
    """
    files = {".github/workflows/ci.yml": textwrap.dedent(workflow), ".github/workflows/other.yml": CI}
    sha = widget.commit(files, message="Try\n\n[skip ci]")
    assert bench.push(sha) == []
    assert bench.run(pull(widget, sha)) == []
    event = CiEvent("workflow_dispatch", "", "refs/heads/main", sha, inputs={"who": "dana"}, workflow="ci.yml")
    (run,) = bench.run(event)
    assert "dana runs tests by workflow_dispatch" in run.job("test").output()


def test_an_unreadable_workflow_is_a_startup_failure(bench: Bench, widget: Widget) -> None:
    """It has no jobs, and the workflow beside it runs."""
    files = {".github/workflows/bad.yml": "on: [push\n", ".github/workflows/good.yaml": CI, "check.sh": ""}
    runs = {run.path: run for run in bench.push(widget.commit(files))}
    bad, good = runs[".github/workflows/bad.yml"], runs[".github/workflows/good.yaml"]
    assert (bad.conclusion, bad.jobs) == ("startup_failure", [])
    assert good.conclusion == "success"


def test_a_workflow_for_issues_only_never_runs(bench: Bench, widget: Widget) -> None:
    """Nightjar's own workflow waits for a label, not for a push."""
    workflow = "on: {issues: {types: [labeled]}}\njobs: {run: {runs-on: x, steps: [{run: 'true'}]}}\n"
    assert bench.push(widget.commit({".github/workflows/nightjar.yml": workflow})) == []


def test_needs_and_conditions_decide_which_jobs_run(bench: Bench) -> None:
    """A failed need skips what depends on it, directly or not, unless its `if:` says otherwise."""
    run = bench.workflow("""
        on: push
        jobs:
          build:
            runs-on: x
            outputs: {size: "${{ steps.measure.outputs.size }}"}
            steps: [{id: measure, run: echo size=12 >> "$GITHUB_OUTPUT"}]
          test: {needs: build, runs-on: x, steps: [{run: 'test "${{ needs.build.outputs.size }}" = 13'}]}
          deploy: {needs: [test], runs-on: x, steps: [{run: 'true'}]}
          later: {needs: [deploy], runs-on: x, steps: [{run: 'true'}]}
          report:
            needs: [build, test, deploy]
            if: always()
            runs-on: x
            steps: [{run: 'echo "${{ needs.build.result }} ${{ needs.test.result }} ${{ needs.deploy.result }}"'}]
          blame: {needs: test, if: failure(), runs-on: x, steps: [{run: 'true'}]}
          dev: {if: "github.ref == 'refs/heads/dev'", runs-on: x, steps: [{run: 'true'}]}
        """)
    assert conclusions(run) == {
        "build": "success",
        "test": "failure",
        "deploy": "skipped",
        "later": "skipped",
        "report": "success",
        "blame": "success",
        "dev": "skipped",
    }
    assert "success failure skipped" in run.job("report").output()
    assert not run.job("deploy").started
    assert run.conclusion == "failure"
    order = [job.name for job in run.jobs]
    assert order.index("build") < order.index("test") < order.index("report")


def test_a_matrix_runs_once_for_each_combination(bench: Bench) -> None:
    """Each has its own check and its own values; without fail-fast the others go on."""
    run = bench.workflow("""
        on: push
        jobs:
          test:
            runs-on: ${{ matrix.os }}
            strategy:
              fail-fast: false
              matrix: {os: [linux], python: ['3.11', '3.12']}
            env: {VERSION: "${{ matrix.python }}"}
            steps: [{run: 'echo "on $VERSION"; test "$VERSION" = 3.12'}]
          after: {needs: test, runs-on: x, steps: [{run: 'true'}]}
        """)
    assert conclusions(run) == {"test (linux, 3.11)": "failure", "test (linux, 3.12)": "success", "after": "skipped"}
    assert "on 3.12" in run.job("test (linux, 3.12)").output()


def test_a_matrix_fails_fast(bench: Bench) -> None:
    """One failure cancels the combination that still runs, at once."""
    run = bench.workflow("""
        on: push
        jobs:
          test:
            runs-on: x
            strategy: {matrix: {seconds: [60, 0]}}
            steps: [{run: 'sleep ${{ matrix.seconds }}; exit 1'}]
        """)
    assert conclusions(run) == {"test (60)": "cancelled", "test (0)": "failure"}
    assert "##[error]The operation was canceled." in run.job("test (60)").output()
    assert run.conclusion == "failure"


def test_a_job_that_may_fail_leaves_the_run_green(bench: Bench) -> None:
    """With `continue-on-error` the job is red and the run is not."""
    run = bench.workflow("""
        on: push
        jobs:
          nightly: {continue-on-error: true, runs-on: x, steps: [{run: exit 1}]}
          after: {needs: nightly, runs-on: x, steps: [{run: 'true'}]}
        """)
    assert conclusions(run) == {"nightly": "failure", "after": "success"}
    assert run.conclusion == "success"


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ("{if: hashFiles('x'), runs-on: x, steps: [{run: 'true'}]}", "the sandbox has no function hashFiles()"),
        ("{runs-on: x, steps: [{run: 'true'}, {if: a b, run: 'true'}]}", "'a' in the expression 'a b'"),
        ("{runs-on: x, strategy: {matrix: {a: 1}}, steps: [{run: 'true'}]}", "strategy.matrix.a: a list"),
        ("{runs-on: x, steps: [{run: 'true', shell: pwsh}]}", "shell: 'pwsh' is not in the sandbox; allowed are bash"),
        ("{runs-on: x, container: alpine, steps: [{run: 'true'}]}", "jobs.test.container is not in the sandbox"),
        ("{uses: ./.github/workflows/x.yml}", "jobs.test.uses is not in the sandbox"),
    ],
)
def test_a_job_that_the_sandbox_cannot_read_fails_before_its_first_step(bench: Bench, job: str, told: str) -> None:
    """The log says what, and no step ran."""
    run = bench.workflow(f"on: push\njobs:\n  test: {job}\n")
    found = run.job("test")
    assert (run.conclusion, found.conclusion) == ("failure", "failure")
    assert any(line.startswith("##[error]") and told in line for line in found.output()), found.log
    assert not any("Run true" in line for line in found.output())


def test_close_kills_what_runs_and_reports_it(bench: Bench, widget: Widget, tmp_path: Path) -> None:
    """Running and waiting jobs end as cancelled, none of their processes lives, and nothing starts any more."""
    beacon = tmp_path / "beacon"
    beacon.mkdir()
    workflow = f"""
    on: push
    jobs:
      one:
        runs-on: x
        steps: [{{run: 'cd {beacon}; setsid sleep 300 & echo $! > {beacon}/pid; mkfifo {beacon}/f; cat {beacon}/f'}}]
      two: {{needs: one, runs-on: x, steps: [{{run: 'true'}}]}}
    """
    sha = widget.commit({".github/workflows/ci.yml": textwrap.dedent(workflow)})
    bench.engine.start(widget.bare, CiEvent("push", "", "refs/heads/main", sha))
    wait_for(beacon / "f")
    assert not bench.engine.idle(0.01)
    bench.engine.close()
    (run,) = bench.publisher.runs
    assert (run.conclusion, conclusions(run)) == ("cancelled", {"one": "cancelled", "two": "cancelled"})
    assert not alive(int((beacon / "pid").read_text()))
    assert list(bench.workroom.iterdir()) == []

    bench.engine.start(widget.bare, CiEvent("push", "", "refs/heads/main", sha))
    assert bench.engine.idle(5)
    assert len(bench.publisher.runs) == 1


def test_two_jobs_run_at_once(bench: Bench, tmp_path: Path) -> None:
    """Each waits for the other, which only works side by side."""
    left = tmp_path / "left"
    run = bench.workflow(f"""
        on: push
        jobs:
          one: {{timeout-minutes: 0.2, runs-on: x, steps: [{{run: 'mkfifo {left}; read x < {left}'}}]}}
          two:
            timeout-minutes: 0.2
            runs-on: x
            steps: [{{run: 'until test -p {left}; do sleep 0.05; done; echo go > {left}'}}]
        """)
    assert run.conclusion == "success"


def test_an_engine_that_never_worked_closes(tmp_path: Path) -> None:
    """There is nothing to wait for."""
    engine = CiEngine(RecordingPublisher(), tmp_path / "ci")
    assert engine.idle(0)
    engine.close()
    assert not (tmp_path / "ci").exists()
