"""The first thing that a confined child runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.isolation.paths import hand_over
from bot.isolation.rules import Confinement, Rules

ENTRY = Path(__file__).parents[2] / "bot/isolation/entry.py"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="takes root")
SHUT = Rules(no_new_privileges=True, capabilities=False)
SOMEBODY = 60_123


def run(
    confinement: Confinement, script: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script with bash, confined."""
    argv, given = confinement.command(["/bin/bash", "-c", script], {"PATH": os.environ["PATH"], **(env or {})})
    return subprocess.run(argv, env=given, cwd="/", capture_output=True, text=True, check=False)


def test_exit_code_is_the_programs_own() -> None:
    """How the program ends is seen as if nothing stood before it."""
    assert run(Confinement(SHUT), "exit 7").returncode == 7
    assert run(Confinement(SHUT), "kill -9 $$").returncode == -9


def test_program_that_is_not_there() -> None:
    """A program that cannot be run is named, with a code of its own."""
    argv, env = Confinement(SHUT).command(["/nowhere/claude"], {})
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert done.stderr == "nightjar: /nowhere/claude could not be run: No such file or directory\n"


@pytest.mark.parametrize("rules", ['{"landlock": true}', '{"no_new_rules": true}', "{"])
def test_nothing_starts_that_cannot_be_isolated(rules: str) -> None:
    """Where the kernel refuses, or the rules are not understood, the program is not started at all."""
    argv = [sys.executable, "-I", "-S", str(ENTRY), rules, "", "/bin/echo", "started"]
    user = None if os.geteuid() else SOMEBODY  # to root the kernel would grant it
    if user and not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("there is no Python here that a plain user could run")
    argv[0] = "/usr/bin/python3" if user else argv[0]
    done = subprocess.run(argv, user=user, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr.startswith("nightjar: /bin/echo was not started, because it could not be isolated: ")


@AS_ROOT
def test_by_sudo_into_another_group(tmp_path: Path) -> None:
    """By way of sudo a child loses its groups and keeps its environment, and the file that brought it is gone."""
    sudo = tmp_path / "sudo"  # what sudo does for whoever may do everything: its own options off, the environment too
    sudo.write_text('#!/bin/bash\n[ "$1 $2" = "-n --" ] || exit 9\nshift 2\nexec env -i PATH="$PATH" "$@"\n')
    sudo.chmod(0o755)
    rules = Rules(no_new_privileges=True, capabilities=False, user=SOMEBODY, group=60_999)
    confinement = Confinement(rules, str(sudo), tmp_path / "control")
    done = run(confinement, 'echo "$(id -u) $(id -G) $KEPT"', {"KEPT": "a line\nand another"})
    assert done.stdout == f"{SOMEBODY} 60999 a line\nand another\n", done.stderr
    assert list((tmp_path / "control").iterdir()) == []


@AS_ROOT
def test_covered_socket(tmp_path: Path) -> None:
    """A socket that would make anybody root is not there for a child of root's, and still is for others."""
    path = tmp_path / "docker.sock"
    script = f"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{path}\")'"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        covered = Rules(no_new_privileges=True, capabilities=False, covered=(str(path), "/run/not-there.sock"))
        assert run(Confinement(SHUT), script).returncode == 0
        assert "ConnectionRefusedError" in run(Confinement(covered), script).stderr
        assert run(Confinement(covered), f"umount {path}").returncode != 0
        assert run(Confinement(SHUT), script).returncode == 0


@AS_ROOT
def test_standard_streams_can_be_opened_by_name() -> None:
    """A child that is another user can still write to /dev/stdout."""
    rules = Rules(no_new_privileges=True, user=SOMEBODY, group=SOMEBODY)
    assert run(Confinement(rules), "echo out > /dev/stdout").stdout == "out\n"


@AS_ROOT
def test_handing_over(tmp_path: Path) -> None:
    """A folder is handed over whole, but no file outside that a link or a second name in it leads to."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    inside.mkdir()
    for name in ("linked", "named"):
        (tmp_path / name).write_text("root's")
    outside.mkdir()
    (inside / "file").touch()
    (inside / "link").symlink_to(tmp_path / "linked")
    (inside / "folder").symlink_to(outside)
    (inside / "name").hardlink_to(tmp_path / "named")
    hand_over(inside, SOMEBODY, SOMEBODY)
    assert {path.name for path in tmp_path.rglob("*") if path.lstat().st_uid == SOMEBODY} == {
        *("inside", "file", "link", "folder"),
    }
