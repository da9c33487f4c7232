"""The program keeps no spare copies of its keys."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.adversary.attempt import TOKEN
from tests.isolation.conftest import ROOT

SCRIPT = """
import os, subprocess
from bot.isolation.hardening import take_environment
taken = take_environment(os.environ)
shown = open("/proc/self/environ", "rb").read()
inherited = subprocess.run(["env"], capture_output=True, check=True).stdout
for what in (taken["INPUT_GITHUB_TOKEN"] + taken["NPM_TOKEN"] + taken["PLAIN"], shown, inherited, os.environ):
    print(str(what).count("SECRET"), str(what).count("harmless"))
"""


def test_environment_is_taken() -> None:
    """Inputs and credentials are handed on once, and are in no environment of the process afterwards."""
    secret = f"SECRET{TOKEN}"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"INPUT_GITHUB_TOKEN": secret, "NPM_TOKEN": secret, "PLAIN": "harmless", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["2 1", "0 1", "0 1", "0 1"]


COMMAND = """
import ctypes, os, resource, sys
from bot.__main__ import main
sys.platform = os.environ.get("PLATFORM", sys.platform)
code = main([os.environ["COMMAND"]])
print(code, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE), "INPUT_X" in os.environ)
"""


def command(name: str, **environ: str) -> list[str]:
    """What a command of a job prints, and at the end its exit code and how its process is shut (PR_GET_DUMPABLE)."""
    given = {"COMMAND": name, "INPUT_X": "x", "PYTHONPATH": str(ROOT), "GITHUB_REPOSITORY": "acme/widget", **environ}
    done = subprocess.run([sys.executable, "-c", COMMAND], env=given, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["run", "finish", "sweep"])
def test_commands_of_a_job_are_shut(name: str) -> None:
    """Each command that is given keys makes its process one that cannot be read, and leaves no core file."""
    assert command(name)[-1].split(" ", 1)[1] == "0 (0, 0) False"


def test_another_system_gets_one_sentence() -> None:
    """A runner that is no Linux is told so, before anything is looked at."""
    said, state = command("run", PLATFORM="darwin")
    assert said == "::error::nightjar: this runner is no Linux (darwin); give the job `runs-on: ubuntu-latest`"
    assert state.startswith("2 ")
