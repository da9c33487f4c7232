"""Jobs played by act: the real act, without Docker, in the sandbox's CI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.config import Config, read_config
from bot.rehearsal.act_job import by_act
from bot.rehearsal.ci_choice import CiWay, choose
from bot.sandbox.ci import CiEngine, CiEvent
from bot.sandbox.ci.runs import Play
from bot.sandbox.ci.workflow import Workflow, read_workflow
from tests.rehearse.machine import Machine
from tests.sandbox.ci.bench import Bench, RecordedRun, RecordingPublisher, Widget

LONG, LONGER = "import time; time.sleep(298.75)", "import time; time.sleep(299.5)"


def config(**inputs: str) -> Config:
    """Settings, with inputs by their variables."""
    return read_config({"INPUT_GITHUB_TOKEN": "x", "INPUT_ANTHROPIC_API_KEY": "x", **inputs}, None)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One with act, and with a `docker` that nobody answers."""
    return Machine(tmp_path / "machine").with_act().with_docker()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A running engine with a repository; closed afterwards."""
    publisher = RecordingPublisher()
    engine = CiEngine(publisher, tmp_path / "ci")
    yield Bench(engine, publisher, Widget(tmp_path), tmp_path / "ci")
    engine.close()


def played(bench: Bench, play: Play, workflow: str, **files: str) -> RecordedRun:
    """The workflow of a pull request that adds a file to main."""
    bench.engine.play_by(play)
    names = {name.replace("__", "/"): text for name, text in files.items()}
    base = bench.widget.commit({".github/workflows/ci.yml": workflow, **names})
    head = bench.widget.commit({"new.txt": "new\n"}, branch="work", start=base)
    (run,) = bench.run(CiEvent("pull_request", "opened", "refs/heads/work", head, base="main", number=5))
    return run


def act_way(machine: Machine) -> CiWay:
    """`--ci act` there."""
    return choose("act", config(), machine.environment)


WORKFLOW = """\
name: CI
on: pull_request
jobs:
  test:
    runs-on: macos-latest
    strategy: {matrix: {word: [one]}}
    outputs: {seen: "${{ steps.facts.outputs.seen }}", made: "${{ steps.make.outputs.made }}"}
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.event.pull_request.head.sha }}"}
      - {name: make, id: make, uses: ./make}
      - {name: may fail, run: exit 4, continue-on-error: true}
      - name: facts
        id: facts
        run: |
          test -f new.txt && test -f kept.log
          git log -1 --format=%s
          echo "${{ matrix.word }} ${{ github.event.number }} $GITHUB_REPOSITORY $GITHUB_HEAD_REF"
          echo "given:$LEAK${{ secrets.LEAK }}${{ github.token }}:"
          echo "seen=it's ${{ matrix.word }}" >> "$GITHUB_OUTPUT"
  after:
    needs: test
    if: needs.test.result == 'success'
    runs-on: ubuntu-latest
    steps:
      - name: says
        run: echo "${{ needs.test.outputs.seen }}, ${{ needs.test.outputs.made }}, ${{ needs.test.result }}"
      - {name: breaks, run: 'echo "::error file=a.py,line=3::wrong"; exit 3'}
      - {if: always(), name: afterwards, run: 'true'}
"""


_MAKE = """\
name: Make
outputs: {made: {value: "${{ steps.a.outputs.made }}"}}
runs:
  using: composite
  steps: [{id: a, shell: bash, run: 'printf "made<<E\\ntwo\\n lines\\nE\\n" >> "$GITHUB_OUTPUT"'}]
"""


def test_jobs_as_on_github(bench: Bench, machine: Machine) -> None:
    """Jobs run in a clean checkout of the pull request's merge, with matrix, needs and event; steps, log and notes of a
    red one are those of a job on GitHub, and no secret or option of the user's or the repository's is taken.
    """
    planted = {
        ".env": "LEAK=env\n",
        ".secrets": "LEAK=secrets\n",
        ".actrc": "--env LEAK=actrc\n",
        ".gitignore": "*.log\n",
        "make/action.yml": _MAKE,
    }
    (machine.home / ".actrc").write_text("--env LEAK=home\n", encoding="utf-8")
    bench.widget.tree.joinpath("kept.log").write_text("kept\n", encoding="utf-8")
    bench.widget.git(bench.widget.tree, "add", "-f", "kept.log")
    run = played(bench, act_way(machine).play, WORKFLOW, **planted)
    test, after = run.job("test (one)"), run.job("after")
    assert (test.conclusion, after.conclusion, run.conclusion) == ("success", "failure", "failure")
    assert (test.step("may fail"), test.step("facts")) == ("success", "success")
    lines = test.output()
    assert re.fullmatch(r"act \d+\.\d+\.\d+ plays job 'test \(one\)' of \.github/workflows/ci\.yml\.", lines[0])
    assert any(re.match(r"Merge \w{40} into \w{40}", line) for line in lines)
    assert "one 5 acme/widget work" in lines
    assert "given::" in lines
    assert [(step.name, step.conclusion) for step in after.steps if "job" not in step.name] == [
        ("says", "success"),
        ("breaks", "failure"),
        ("afterwards", "success"),
    ]
    lines = after.output()
    said = lines.index("it's one, two")
    assert lines[said + 1] == " lines, success"
    assert lines.index("##[error]wrong") < lines.index("##[error]Process completed with exit code 3.")
    assert [(note.path, note.start_line, note.message) for note in after.annotations[:1]] == [("a.py", 3, "wrong")]


def test_all_that_a_failing_step_says(bench: Bench, machine: Machine) -> None:
    """However much a step prints before it fails, its log has the end of it, and before the failure; what it starts
    finds the machine's own PATH.
    """
    step = "python3 -c 'print((str(7) * 99 + chr(10)) * 9000)'; echo $PATH; echo the end; exit 7"
    job = f'on: pull_request\njobs: {{a: {{runs-on: x, steps: [{{run: "{step}"}}]}}}}\n'
    found = played(bench, act_way(machine).play, job).job("a")
    assert (found.conclusion, found.output()[-3:]) == (
        "failure",
        [machine.environment["PATH"], "the end", "##[error]Process completed with exit code 7."],
    )
    assert found.output().count("7" * 99) == 9000


def test_a_job_that_takes_too_long(bench: Bench, machine: Machine) -> None:
    """Its time over, a job is cancelled, and nothing that it started is alive."""
    step = f"setsid python3 -c '{LONG}' & python3 -c '{LONG}'"
    job = f'on: pull_request\njobs: {{a: {{runs-on: x, steps: [{{run: "{step}"}}]}}}}\n'
    run = played(bench, by_act(machine.act(), 0.05), job)
    assert run.job("a").conclusion == "cancelled"
    assert "##[error]The job has exceeded the maximum execution time of 0.05 minutes." in run.job("a").output()
    assert _running(LONG) == 0


def test_the_end_of_a_rehearsal_ends_its_jobs(bench: Bench, machine: Machine) -> None:
    """What act has started is dead when the sandbox is closed, whatever it was at."""
    job = f"on: push\njobs: {{a: {{runs-on: x, steps: [{{run: \"python3 -c '{LONGER}'\"}}]}}}}\n"
    bench.engine.play_by(by_act(machine.act(), 5))
    sha = bench.widget.commit({".github/workflows/ci.yml": job})
    bench.engine.start(bench.widget.bare, CiEvent("push", "", "refs/heads/main", sha))
    limit = Clock.reaction("start", 30)
    while not (_running(LONGER) or limit.passed()):
        Clock.pause(0.05)
    assert _running(LONGER)
    bench.engine.close()
    assert _running(LONGER) == 0
    assert bench.publisher.runs[0].job("a").conclusion == "cancelled"


def _running(program: str) -> int:
    """How many processes of a job run this program."""
    return sum(_runs(entry, program) for entry in Path("/proc").glob("[0-9]*"))


def _runs(entry: Path, program: str) -> bool:
    try:
        return (entry / "cmdline").read_bytes().endswith(b"\0-c\0" + program.encode() + b"\0")
    except OSError:
        return False


def test_what_act_could_not_play(bench: Bench, machine: Machine) -> None:
    """A job that act does not take has no verdict of its own: it is skipped, with what act says of it."""
    run = played(bench, act_way(machine).play, "on: pull_request\njobs: {a: {colour: blue, steps: [{run: exit 1}]}}\n")
    assert run.job("a").conclusion == "skipped"
    (note,) = run.job("a").annotations
    assert re.match(r"act \d+\.\d+\.\d+ could not play it: workflow is not valid\.", note.message)


JOBS = """\
on: push
jobs:
  plain: {steps: [{run: make}]}
  other: {uses: ./.github/workflows/other.yml}
  services: {services: {db: {image: postgres}}, steps: [{run: make}]}
  container: {container: python, steps: [{run: make}]}
  image: {steps: [{uses: "docker://alpine"}]}
"""


def test_what_is_left_out(machine: Machine) -> None:
    """Without Docker what needs it is skipped with the reason; with Docker only jobs of other files are."""
    workflow = read_workflow("ci.yml", JOBS)
    assert isinstance(workflow, Workflow)
    here, there = act_way(machine), act_way(machine.with_docker(images=True))
    assert {name: here.unplayed(job) for name, job in workflow.jobs.items()} == {
        "plain": "",
        "other": "jobs.other.uses: a job of another workflow file is not played",
        "services": "jobs.services.services: act needs Docker for it, and none answers",
        "container": "jobs.container.container: act needs Docker for it, and none answers",
        "image": "jobs.image.steps: act needs Docker for it, and none answers",
    }
    assert [name for name, job in workflow.jobs.items() if there.unplayed(job)] == ["other"]


def test_what_act_is_told_where_there_is_docker(bench: Bench, machine: Machine) -> None:
    """It gets Docker's address, the user's own images but nothing else of theirs, no socket for the jobs, and what is
    left of a job's containers is removed.
    """
    (machine.home / ".actrc").write_text("-P ubuntu-latest=acme/image:1\n-s TOKEN=hush\n", encoding="utf-8")
    machine.with_docker(images=True).with_stand_in_act()
    run = played(bench, act_way(machine).play, "on: pull_request\njobs: {a: {runs-on: big, steps: [{run: 'true'}]}}\n")
    assert run.job("a").conclusion == "success"
    told = machine.told("act")[-1]
    options = told["argv"]
    assert options[0] == "pull_request"
    assert "ubuntu-latest=acme/image:1" in options
    assert "ubuntu-latest=-self-hosted" not in options
    assert options[options.index("--container-daemon-socket") + 1] == "-"
    assert told["environ"]["DOCKER_HOST"] == "unix:///run/docker.sock"
    assert "hush" not in json.dumps(told)
    assert "runs-on: big" in told["workflow"]
    (label,) = [one.removeprefix("--label ") for one in options if one.startswith("--label ")]
    removals = [one["argv"] for one in machine.told("docker") if one["argv"][0] in ("ps", "rm")]
    assert removals == [
        ["ps", "--all", "--quiet", "--filter", f"label={label}"],
        ["rm", "--force", "--volumes", "f00"],
    ]


def test_when_act_is_taken_by_itself(tmp_path: Path) -> None:
    """`auto` takes act where it has Docker and its image; else the `run:` steps, saying so where act is there."""
    number = iter(range(9))

    def said(make: str) -> str:
        machine = Machine(tmp_path / str(next(number)))
        for part in make.split():
            getattr(machine, f"with_{part}")()
        return " ".join(choose("auto", config(), machine.environment).said)

    steps = "CI: the `run:` steps of the workflows"
    assert said("docker").startswith(steps)
    assert said("old_act docker_and_image").startswith(steps)
    assert "is here too" not in said("old_act")
    for without in ("act docker", "act docker_without_image"):
        assert said(without).startswith(steps)
        assert "is here too, but no Docker with its image: `--ci act` plays whole jobs all the same" in said(without)
    assert said("act docker_and_image").startswith("CI: the workflows by act ")
