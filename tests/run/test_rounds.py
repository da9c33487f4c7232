"""The rounds of a Run: the base branch moves, conflicts, is red itself; failures repeat, flake, or are hidden."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bot.sandbox.github import SandboxRepository
from tests.run.conftest import MakeStage
from tests.run.stage import (
    ADD_RIGHT,
    ADD_WRONG,
    CI,
    FILES,
    GREEN_AT_ONCE,
    HAND_OVER,
    MEND,
    RED_AT_FIRST,
    Played,
    Playing,
    Stage,
    does,
    note,
    says,
    session,
)


def meets(stage: Stage, command: str) -> tuple[str, Path, Path]:
    """A shell command that runs `command`, tells the test, and waits for its word; the pipes to hear and to answer."""
    heard, answer = stage.fifo("heard"), stage.fifo("answer")
    return f"{command}; echo here > {heard}; cat {answer}", heard, answer


def meanwhile(playing: Playing, heard: Path, answer: Path, files: dict[str, str | None]) -> Played:
    """Once the session is there, dana commits `files` to main; then the Run goes on to its end."""
    heard.read_text(encoding="utf-8")
    playing.stage.repository.commit("main", files, "Meanwhile on main", author="dana")
    answer.write_text("go\n", encoding="utf-8")
    return playing.finish()


def contains(repository: SandboxRepository, path: str, text: str) -> bool:
    """Whether the Issue branch's file holds `text`."""
    return text in repository.file("nightjar/issue-1", path)


def test_the_base_that_moved_is_merged_before_the_push(stage: Stage) -> None:
    """What came to main during the session is in the pull request's branch, by a merge, before CI sees it."""
    command, heard, answer = meets(stage, f"{ADD_RIGHT}; {HAND_OVER}")
    playing = stage.start(session("implement", does(command), says()))
    played = meanwhile(playing, heard, answer, {"NEWS.md": "Something else.\n"})
    assert played.exit_code == 0
    assert contains(stage.repository, "NEWS.md", "Something else.")
    assert played.outputs["repairs"] == "0"


def test_a_conflict_is_repaired_and_judged_by_the_merge(stage: Stage) -> None:
    """A conflict with main costs one Repair, which resolves the open merge; both sides are in the result."""
    command, heard, answer = meets(stage, f"{ADD_RIGHT}; {HAND_OVER}")
    resolve = "sed -i '/^<<<<<<<\\|^=======\\|^>>>>>>>/d' calc.py; git add -A; git commit -q --no-edit"
    playing = stage.start(
        session("implement", does(command), says()),
        session("repair-1", does(f"{resolve}; {note('Kept both functions.')}"), says()),
    )
    other = "def add(a, b):\n    return a + b\ndef mul(a, b):\n    return a * b\n"
    played = meanwhile(playing, heard, answer, {"calc.py": other})
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "1"
    assert contains(stage.repository, "calc.py", "def sub")
    assert contains(stage.repository, "calc.py", "def mul")
    assert "conflict in `calc.py`" in played.comments[0]
    assert "calc.py" in played.prompt("repair-1")
    assert "git commit --no-edit" in played.prompt("repair-1")


def test_a_conflict_that_stays_ends_the_run_with_the_paths(stage: Stage) -> None:
    """A conflict Repair that leaves the merge open counts; when none is left the reason names the files in conflict."""
    command, heard, answer = meets(stage, f"{ADD_RIGHT}; {HAND_OVER}")
    playing = stage.start(
        session("implement", does(command), says()),
        session("repair-1", says("I cannot.")),
        settings={"max-repairs": "1"},
    )
    played = meanwhile(playing, heard, answer, {"calc.py": "def add(a, b):\n    return b + a\n"})
    assert played.exit_code == 1
    assert "conflicts with the branch in" in played.ending
    assert "calc.py" in played.ending
    assert contains(stage.repository, "calc.py", "def sub")
    assert "<<<<<<<" not in stage.repository.file("nightjar/issue-1", "calc.py")


def test_the_same_failure_twice_stops_early(stage: Stage) -> None:
    """A Repair that changes the code but not the failure is not followed by another of its kind."""
    played = stage.run(RED_AT_FIRST, session("repair-1", does("echo '# hm' >> calc.py; git commit -qam 'Hm'"), says()))
    assert played.exit_code == 1
    assert played.outputs["repairs"] == "1"
    assert "the same failure came back" in played.ending


BROKEN_DOCS = """\
name: Docs
on:
  pull_request:
  push:
    branches: [main]
jobs:
  docs:
    runs-on: ubuntu-latest
    steps:
      - run: grep -q installation README.md
"""


def test_red_on_the_base_costs_no_repair(make_stage: MakeStage) -> None:
    """When only what is red on main too is red, no Repair is spent, and the reason says whose failure it is."""
    stage = make_stage({**FILES, "README.md": "Nothing here.\n", ".github/workflows/docs.yml": BROKEN_DOCS})
    assert stage.hub.idle(20)
    played = stage.run(GREEN_AT_ONCE)
    assert played.exit_code == 1
    assert played.outputs["repairs"] == "0"
    assert "only checks that are red on `main` too are red: `docs`" in played.ending


def test_only_the_branchs_own_failure_is_repaired(make_stage: MakeStage) -> None:
    """Beside an inherited failure the branch's own is repaired, and the Repair is not given the other's log."""
    stage = make_stage({**FILES, "README.md": "Nothing here.\n", ".github/workflows/docs.yml": BROKEN_DOCS})
    assert stage.hub.idle(20)
    played = stage.run(RED_AT_FIRST, session("repair-1", does(MEND), says()))
    assert played.outputs["repairs"] == "1"
    assert 'The check "test"' in played.prompt("repair-1")
    assert 'The check "docs"' not in played.prompt("repair-1")


def test_a_flaky_check_is_run_once_more(make_stage: MakeStage, tmp_path: Path) -> None:
    """A Repair that finds nothing to change is followed by one re-run of the failed jobs; green then is green."""
    flaky = CI.replace("python3 -m unittest -v", f"test -e {tmp_path}/lucky || {{ touch {tmp_path}/lucky; exit 1; }}")
    stage = make_stage({**FILES, ".github/workflows/ci.yml": flaky.replace("  push:\n    branches: [main]\n", "")})
    played = stage.run(GREEN_AT_ONCE, session("repair-1", does(note("Nothing is wrong with the code.")), says()))
    assert played.exit_code == 0, played.log
    assert played.outputs["repairs"] == "1"
    assert played.labels == ("nightjar:ready",)


def test_two_workflows_may_own_the_same_job_name(make_stage: MakeStage) -> None:
    """A green job does not hide the red one of the same name in another workflow."""
    nightly = "test -z \"$(grep 'b - a' calc.py)\""
    other = CI.replace("name: CI", "name: Nightly").replace("python3 -m unittest -v", nightly)
    stage = make_stage(
        {
            **FILES,
            ".github/workflows/ci.yml": CI.replace("python3 -m unittest -v", "true"),
            ".github/workflows/nightly.yml": other,
        }
    )
    played = stage.run(RED_AT_FIRST, session("repair-1", does(MEND), says()))
    assert played.exit_code == 0
    assert played.outputs["repairs"] == "1"


def test_a_protected_file_is_not_pushed(stage: Stage) -> None:
    """A change of a workflow ends the Run before anything of it reaches GitHub; the work is kept as a patch."""
    touch = f"{ADD_RIGHT}; echo '# hm' >> .github/workflows/ci.yml; git commit -qam 'CI'"
    played = stage.run(session("implement", does(touch), says()))
    assert played.exit_code == 1
    assert "`.github/workflows/ci.yml`" in played.ending
    assert "`protected-paths`" in played.ending
    assert "refs/heads/nightjar/issue-1" not in stage.repository.refs()
    assert "nightjar-issue-1.patch" in played.kept


def test_a_weakened_test_is_shown_first(stage: Stage) -> None:
    """A Repair that skips the failing test is named on top of the pull request, in its comment and in the ending."""
    skip = "sed -i 's/    def test_sub/    @unittest.skip(\"later\")\\n    def test_sub/' test_calc.py"
    cheat = f"{skip}; git commit -qam 'Later'"
    played = stage.run(RED_AT_FIRST, session("repair-1", does(cheat), says()))
    assert played.exit_code == 0, played.log
    assert played.pull.body.index("> **Look at this first**") < played.pull.body.index("Adds `sub`.")
    assert "`test_calc.py` skips a test" in played.pull.body
    assert "skips a test" in played.repair_comments[0]
    assert "to look at first" in played.ending


def test_a_rerun_of_the_workflow_run_refills_nothing(stage: Stage) -> None:
    """Running the same workflow run again goes on with the Repairs it had; a fresh label starts anew."""
    tries = [does(f"echo '# {number}' >> calc.py; git commit -qam Try") for number in range(4)]
    wrong = session("implement", does(f"{ADD_WRONG}; {HAND_OVER}"), says())
    settings = {"max-repairs": "1", "repeat-limit": "0"}
    first = stage.run(wrong, session("repair-1", tries[0], says()), settings=settings)
    assert first.outputs["repairs"] == "1"
    again = stage.run(
        session("continue", says()),
        session("none", tries[1], says()),
        settings=settings,
        environment={"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "2"},
    )
    assert again.exit_code == 1
    assert not [request for request in again.model.requests if request.conversation == "none"]
    fresh = stage.run(session("continue", says()), session("repair-1", tries[2], says()), settings=settings)
    assert [request.conversation for request in fresh.model.requests].count("repair-1") > 0


def test_unfinished_work_on_a_protected_file_is_not_pushed_either(stage: Stage) -> None:
    """A Run that ends badly keeps its work on the branch, but a changed workflow only as a patch."""
    fifo = stage.fifo("started")
    touch = f"{ADD_RIGHT}; echo '# hm' >> .github/workflows/ci.yml; git commit -qam 'CI'"
    playing = stage.start(
        session("implement", does(f"{touch}; echo started > {fifo}; exec sleep 300"), says()),
        environment={"GITHUB_ACTIONS": "false"},  # else the job's last step does this
    )
    fifo.read_text(encoding="utf-8")
    playing.process.terminate()
    played = playing.finish()
    assert played.exit_code == 130
    assert "touches protected files and was not pushed" in played.ending
    assert "refs/heads/nightjar/issue-1" not in stage.repository.refs()
    assert "nightjar-issue-1.patch" in played.kept


def test_an_unreadable_record_counts_as_used_up(stage: Stage) -> None:
    """When a re-run cannot read what was spent, it makes no Repair at all, and says why."""
    wrong = session("implement", does(f"{ADD_WRONG}; {HAND_OVER}"), says())
    tried = session("repair-1", does("echo '# one' >> calc.py; git commit -qam One"), says())
    assert stage.run(wrong, tried, settings={"max-repairs": "1"}).exit_code == 1
    spoil_record(stage.repository)
    again = stage.run(
        session("continue", says()),
        session("none", does("echo '# two' >> calc.py; git commit -qam Two"), says()),
        environment={"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "2"},
    )
    assert again.exit_code == 1
    assert "Record could not be read" in again.ending
    assert again.outputs["repairs"] == "0"


def spoil_record(repository: SandboxRepository) -> None:
    """Somebody with write access puts a file on the Record's ref that is no Record."""
    ref = "refs/nightjar/issue-1"

    def git(*words: str, given: str = "") -> str:
        argv = ["git", "-c", "user.name=octo", "-c", "user.email=octo@example.invalid", *words]
        done = subprocess.run(argv, cwd=repository.path, input=given, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    tree = git("mktree", given=f"100644 blob {git('hash-object', '-w', '--stdin', given='no Record')}\trecord.json\n")
    git("update-ref", ref, git("commit-tree", tree, "-p", ref, "-m", "Hm"))
