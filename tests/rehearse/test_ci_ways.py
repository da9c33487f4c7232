"""`nightjar rehearse --ci`: by the steps, by act, or by the check command alone."""

from __future__ import annotations

import re

from bot.sandbox.model import Script, ScriptedModel
from tests.rehearse.conftest import MakePlace
from tests.rehearse.machine import Machine
from tests.rehearse.place import FILE, Place
from tests.run.stage import ADD_WRONG, HAND_OVER, MEND, does, note, says, session

_CI = """\
name: CI
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    outputs: {tests: "${{ steps.count.outputs.tests }}"}
    steps:
      - uses: actions/checkout@v4
      - uses: ./.github/actions/unit
      - {id: count, run: 'echo "tests=$(grep -c "def test" test_calc.py)" >> "$GITHUB_OUTPUT"'}
  secrets:
    runs-on: ubuntu-latest
    steps: [{run: '! env | grep -e sk-ant -e ghs_ -e ANTHROPIC'}]
  after:
    needs: test
    runs-on: ubuntu-latest
    steps: [{run: 'test "${{ needs.test.outputs.tests }}" -ge 1'}]
"""
_UNIT = """\
name: Unit tests
runs: {using: composite, steps: [{shell: bash, run: python3 -m unittest -v}]}
"""


def _machine(place: Place) -> Machine:
    machine = Machine(place.folder / "machine").with_docker()
    place.path = machine.environment["PATH"]
    return machine


def test_red_then_green_by_act(make_place: MakePlace) -> None:
    """What act finds red in an action of the repository's own is a Repair's evidence, and the repaired head is green
    by act; no key is among what its jobs see.
    """
    place = make_place({".github/workflows/ci.yml": _CI, ".github/actions/unit/action.yml": _UNIT})
    _machine(place).with_act()
    script = Script(
        (
            session("implement", does(f"{ADD_WRONG}; {HAND_OVER}", "add subtraction"), says()),
            session("repair-1", does(f"{MEND}; {note('Subtracts the right way round now.')}", "mend it"), says()),
        )
    )
    with ScriptedModel(script) as model:
        process = place.real(model.url, "--ci", "act")
        out, err = process.communicate()
        asked = next(one.first_text for one in model.requests if one.conversation == "repair-1")
    assert (process.returncode, err) == (0, "")
    assert re.search(r"^CI: the workflows by act \d+\.\d+\.\d+ without Docker, on this machine and as you", out, re.M)
    assert "AssertionError: -2 != 2" in asked
    assert out.index("check CI / test: failure") < out.index("check CI / test: success")
    last = out.partition("\nCI on what was pushed:\n")[2]
    for name in ("test", "secrets", "after"):
        assert f"  ok  CI / {name} (pull_request)\n" in last
    assert "Repairs: 1." in last
    (log,) = place.kept.glob("ci/*-CI-test-*.log")
    assert " plays job 'test' of .github/workflows/ci.yml." in log.read_text(encoding="utf-8")
    assert list(place.temp.iterdir()) == []


def test_the_check_command_alone(place: Place) -> None:
    """`--ci check` plays no workflow and says so; what the check command says is what counts."""
    said = place.scripted("--ci", "check", "--set", f"check-command=test ! -e {FILE}", "--set", "max-repairs=0")
    assert said.code == 1
    assert f"CI: `test ! -e {FILE}` (check-command) alone, as the Run itself runs it." in said.out
    last = said.after("CI on what was pushed:")
    assert "  failure  `check-command`, as the Run itself ran it (exit code 1 alone)\n" in last
    assert "  skipped  CI / test (pull_request): `--ci check` plays no workflow\n" in last


def test_a_way_that_will_not_do(place: Place) -> None:
    """No act, one that is too old or says nothing, no check command, an unknown way: each is one line, and nothing is
    made.
    """
    machine = _machine(place)
    for prepare, way, told in (
        (lambda: machine.program("act", "#!/bin/sh\nexit 1\n"), "act", "act does not say which version of act it is"),
        (machine.with_old_act, "act", "act is act 0.2.20, and 0.2.73 or newer is needed; `--ci steps` does without it"),
        (lambda: None, "check", "there is no check-command in the settings; `--set check-command='make test'` gives"),
        (lambda: None, "docker", "--ci docker: is no way to play CI; give one of auto, steps, act, check"),
    ):
        prepare()
        said = place.rehearse("--issue", place.issue, "--scripted", "--ci", way)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
        assert said.err.startswith("nightjar rehearse: ")
        assert told in said.err
    place.path = "/usr/bin:/bin"
    said = place.rehearse("--issue", place.issue, "--scripted", "--ci", "act")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert "--ci act: there is no `act` on PATH (nektosact.com says how to install it)" in said.err
    assert list(place.temp.iterdir()) == []
