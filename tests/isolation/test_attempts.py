"""A child that tries: each of these works where nothing is isolated, and none under `isolation: strict`."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from bot.isolation.kernel import LANDLOCK_LEAST, landlock_version
from tests.isolation.conftest import ROLES, SECRET, Runner, furnished

SIGNALS_SCOPED_FROM = 6
"""The version of Landlock."""


def python(code: str) -> str:
    """A script that runs `code` with the system's Python."""
    return f"python3 - <<'END'\n{code}\nEND"


_HALVES = f"{SECRET[:20]!r} + {SECRET[20:]!r}"
READ_MEMORY = f"""
import os, sys
wanted = ({_HALVES}).encode()
process = os.environ["WHOSE"]
with open(f"/proc/{{process}}/maps") as maps, open(f"/proc/{{process}}/mem", "rb", 0) as memory:
    for line in maps:
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if " rw" not in line:
            continue
        try:
            memory.seek(first)
            if wanted in memory.read(last - first):
                sys.exit(0)
        except OSError:
            pass
sys.exit(1)
"""
TRACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
process = int(os.environ["PROGRAM"])
if libc.ptrace(16, process, 0, 0):
    sys.exit(1)
os.waitpid(process, 0)
sys.exit(libc.ptrace(17, process, 0, 0))
"""

OF_THE_PROGRAM = {
    "the program's environment": "grep -q INPUT_GITHUB_TOKEN=ghs_ /proc/$PROGRAM/environ",
    "its guard's environment": "grep -q INPUT_GITHUB_TOKEN=ghs_ /proc/$GUARD/environ",
    "any environment": "grep -qs INPUT_GITHUB_TOKEN=ghs_ /proc/*/environ",
    "the program's memory": f"export WHOSE=$PROGRAM; {python(READ_MEMORY)}",
    "its guard's memory": f"export WHOSE=$GUARD; {python(READ_MEMORY)}",
    "to trace the program": python(TRACE),
    "the program's folder by its root": "ls /proc/$PROGRAM/root/ >/dev/null && ls /proc/$PROGRAM/cwd/ >/dev/null",
}
ATTEMPTS = OF_THE_PROGRAM | {
    "a variable for later steps": "echo NODE_OPTIONS=x >> {commands}/set_env_1",
    "a new file among the runner's": "echo /tmp/x > {commands}/add_path_2",
    "what an earlier step noted down": "cat {commands}/set_env_1",
    "the Record": "echo '{}' > {record}",
    "another Record in its place": "echo > new; mv new {record}",
    "no Record": "rm {record}",
    "the Record by a link": "ln -s {record} link && echo >> link",
    "the Record by a second name": "ln {record} name && echo >> name",
    "the folder of the Record moved away": "mv {temp}/nightjar {temp}/elsewhere",
    "the program's code": "echo >> {program}/bot/clock.py",
    "a module beside it": "echo > {program}/bot/json.py",
    "another program in its place": "mv {program} {program}-old",
    "the credential of the job's checkout": "grep -q ghs_ {workspace}/.git/config",
    "a hook in the job's checkout": "mkdir -p {workspace}/.git/hooks && echo > {workspace}/.git/hooks/post-checkout",
    "the runner's logins": "grep -q ghs_ {home}/.docker/config.json",
    "the runner's git configuration": "echo '[core]' >> {home}/.gitconfig",
    "the runner's shell start-up": "echo > {home}/.bashrc",
}


def filled(what: str, runner: Runner) -> str:
    """The attempt with the runner's paths in it."""
    script = ATTEMPTS[what]
    for name in ("commands", "record", "temp", "program", "workspace", "home"):
        script = script.replace(f"{{{name}}}", str(getattr(runner, name)))
    return script


def all_that_succeed(role: str, attempts: Iterable[str], *, mounts: bool) -> set[str]:
    """Those of `attempts` that succeed when one child makes them all, under `isolation: strict`."""
    with furnished(role) as runner:
        tried = [f"(\n{filled(what, runner)}\n) && echo {shlex.quote(what)} >> $HOME/succeeded" for what in attempts]
        played = runner.play("\n".join([*tried, "echo all tried >> $HOME/succeeded"]), mounts=mounts)
        lines = (runner.session_home / "succeeded").read_text().splitlines()
        assert lines[-1] == "all tried"
        assert bool(played.gaps) is (mounts and role != "own-user")
        return set(lines)


@pytest.fixture(scope="module", params=ROLES)
def succeeded(request: pytest.FixtureRequest) -> set[str]:
    """The attempts that succeed."""
    if landlock_version() < LANDLOCK_LEAST:
        pytest.skip("this kernel has no Landlock")
    return all_that_succeed(request.param, ATTEMPTS, mounts=False)


@pytest.fixture(scope="module", params=ROLES)
def succeeded_without_landlock(request: pytest.FixtureRequest) -> set[str]:
    """The attempts that succeed on a kernel without Landlock, or where Sessions have to mount."""
    return all_that_succeed(request.param, OF_THE_PROGRAM, mounts=True)


@pytest.mark.parametrize("what", OF_THE_PROGRAM)
def test_program_shuts_itself(succeeded_without_landlock: set[str], what: str) -> None:
    """What the program and its guard hold cannot be read on any kernel."""
    assert what not in succeeded_without_landlock


@pytest.mark.parametrize("what", ATTEMPTS)
def test_attempt(succeeded: set[str], what: str) -> None:
    """What a child could read or write of its program and of the runner, it cannot."""
    assert what not in succeeded


@pytest.mark.parametrize("what", ATTEMPTS)
def test_attempt_works_where_nothing_is_isolated(what: str) -> None:
    """Each attempt is one that does succeed without isolation."""
    with furnished("plain") as runner:
        assert runner.play(filled(what, runner), strict=False).succeeded


def test_setuid_file(runner: Runner) -> None:
    """A program that would make anybody root makes nobody root: sudo is one of them."""
    if os.geteuid() != 0:
        pytest.skip("takes root, to make one")
    become = runner.folder / "become"
    shutil.copy(shutil.which("id") or "", become)
    become.chmod(0o4755)
    user = {"plain": "65534", "root": "0", "own-user": "60999"}[runner.role]
    assert runner.play(f'[ "$({become} -u)" = {user} ]').succeeded
    if runner.role == "plain":
        assert runner.play(f'[ "$({become} -u)" = 0 ]', strict=False).succeeded, "the file does not work"


def test_signal(runner: Runner) -> None:
    """A child cannot stop its program or its guard."""
    if landlock_version() < SIGNALS_SCOPED_FROM and runner.role != "own-user":
        pytest.skip("this kernel keeps no signals from the same user's processes")
    script = "kill -0 $PROGRAM || kill -0 $GUARD"
    assert not runner.play(script).succeeded
    assert runner.play(script, strict=False).succeeded, "the attempt itself does not work"


def test_capabilities(runner: Runner) -> None:
    """A child has no capability, no way to one, and no group of the program's."""
    script = "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -qv 0000000000000000"
    assert not runner.play(script).succeeded
    assert runner.play("grep -q 'NoNewPrivs:.1' /proc/self/status").succeeded
    if runner.role != "plain":
        assert runner.play(script, strict=False).succeeded, "the attempt itself does not work"
        assert runner.play("grep -q 'CapBnd:.0000000000000000' /proc/self/status").succeeded


@pytest.mark.parametrize("file", ["/etc/passwd", "/usr/bin/env", "/proc/sys/kernel/core_pattern"])
def test_root_without_capabilities_still_owns_the_system(runner: Runner, file: str) -> None:
    """What only root may write is not written by a child of root's either."""
    script = python(f"open({file!r}, 'r+b')")
    assert not runner.play(script).succeeded
    if runner.role != "plain":
        assert runner.play(script, strict=False).succeeded, "the attempt itself does not work"


def test_disk(runner: Runner) -> None:
    """The disks can be read by no child: they hold every file."""
    disks = [path for path in Path("/dev").iterdir() if path.is_block_device() and os.access(path, os.R_OK)]
    if not disks:
        pytest.skip("there is no disk that root could read")
    script = f"head -c 1 {disks[0]} >/dev/null"
    assert not runner.play(script).succeeded
    if runner.role != "plain":
        assert runner.play(script, strict=False).succeeded, "the attempt itself does not work"


def test_mounts_do_not_help(runner: Runner) -> None:
    """Namespaces of its own bring a child no nearer to what is closed to it."""
    script = f"unshare -Urm sh -c 'mount --bind /tmp {runner.temp}/nightjar && echo > {runner.record}'"
    assert not runner.play(script).succeeded
    assert runner.record.read_text() == "{}"


def test_what_is_left_running(runner: Runner) -> None:
    """What a child detaches from itself ends with its guard, whoever's process it is."""
    assert runner.play("setsid sleep 60 & (setsid sh -c 'sleep 61 & sleep 62' &) ; exit 0").left == 0
