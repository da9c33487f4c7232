"""Whole Runs of the real command with the real CLI, whose Session tries to get out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.isolation.rules import Confinement, Rules
from bot.sandbox.github import EmbeddedGitHub
from tests.run.stage import ADD_RIGHT, FILES, HAND_OVER, Stage, does, says, session

TRY = r"""
got() { echo "$1" >> {tried}; }
process=$PPID
while [ "$process" -gt 1 ]; do
  process=$(sed 's/.*) //' /proc/$process/stat | cut -d' ' -f2)
  tr '\0' ' ' < /proc/$process/cmdline | grep -q -- '-m bot run' || continue
  got found
  cat /proc/$process/environ > /dev/null && got environment
  cat /proc/$process/maps > /dev/null && got maps
  kill -0 $process && got signal
done
temp={home}/temp
cat $temp/nightjar/record.json > /dev/null && got 'the Record, read'
echo >> $temp/nightjar/record.json && got 'the Record, written'
echo > $temp/nightjar/logs/issue-1-run-1-1-implement.jsonl && got 'its own log'
echo > {home}/output && got 'outputs'
echo > {home}/summary.md && got 'summary'
echo >> {code}/clock.py && got 'the code of the program'
grep -q 'NoNewPrivs:.0' /proc/self/status && got 'privileges to be had'
grep -E '^Cap(Prm|Eff|Inh|Amb)' /proc/self/status | grep -qv 0000000000000000 && got capabilities
true
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A stage with a small Python project."""
    with EmbeddedGitHub(tmp_path / "hub") as hub:
        yield Stage(tmp_path, hub, FILES)


@pytest.mark.field_case(52, "environment")
def test_session_that_tries(stage: Stage) -> None:
    """The Session finds the program and gets nothing from it or from the runner; `setup` is as confined, and the work
    is done.
    """
    tried = stage.path("tried")
    places = {"tried": tried, "home": stage.folder / "job-1", "code": Path(__file__).parents[2] / "bot"}
    script = TRY
    for name, place in places.items():
        script = script.replace(f"{{{name}}}", str(place))
    played = stage.run(
        session("implement", does(script, "try"), does(f"{ADD_RIGHT}; {HAND_OVER}"), says()),
        settings={"setup": "grep -q 'NoNewPrivs:.1' /proc/self/status"},
    )
    assert played.exit_code == 0, played.log
    assert tried.read_text(encoding="utf-8").splitlines() == ["found", "found"]
    assert "isolation `strict`: Sessions run " in played.log


def test_git_in_the_checkout_is_confined(tmp_path: Path) -> None:
    """What a Session has planted for git to run is as confined as the Session, the program's own git is not."""
    show = ("-c", "alias.show-it=!grep NoNewPrivs /proc/self/status", "show-it")
    git = Git(
        tmp_path, Remote("http://127.0.0.1:9/acme/widget.git", FixedToken("x")), Clock(), {"PATH": "/usr/bin:/bin"}
    )
    git.open()
    git.checkout.mkdir()
    git.confine(Confinement(Rules(no_new_privileges=True, capabilities=False)))
    assert git.in_checkout(*show).out.split() == ["NoNewPrivs:", "1"]
    assert git.local(*show).out.split() == ["NoNewPrivs:", "0"]
