"""A child that tries: each of these works where nothing is isolated, and none under `isolation: strict`."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from bot.isolation.kernel import LANDLOCK_LEAST, landlock_version
from tests.adversary.attempt import FILES, ROOT, Attempt, filled, python
from tests.adversary.attempts import ATTEMPTS, OF_THE_FORWARDER, OF_THE_PROGRAM, OF_THE_RUN
from tests.isolation.conftest import ROLES, Runner, furnished

KNOWN = {"code", "commands", "home", "logs", "nightjar", "own-token-1", "own-token-2", "record", "workspace"}
"""Of what Sessions' attempts know, what there is beside a child that is no Session: no git, forwarder or server."""
HERE = (
    *(one for one in ATTEMPTS if one.names <= KNOWN and one not in OF_THE_FORWARDER),
    Attempt("replaces-the-program", "puts another program in place", "mv @code@ @code@-old", landlock=FILES),
)
ON_ANY_KERNEL = tuple(one for one in HERE if not one.landlock)


def named(one: Attempt) -> str:
    """The attempt's id, which is the test's."""
    return one.id


def all_that_succeed(role: str, attempts: Iterable[Attempt], *, mounts: bool) -> set[str]:
    """Those of `attempts` that succeed when one child makes them all, under `isolation: strict`."""
    with furnished(role) as runner:
        succeeded = "$HOME/succeeded"
        tried = [
            f"(\n{filled(one.script, runner.names)}\n) > /dev/null && echo {shlex.quote(one.id)} >> {succeeded}"
            for one in attempts
        ]
        played = runner.play("\n".join([*tried, f"echo all tried >> {succeeded}"]), mounts=mounts)
        lines = (runner.session_home / "succeeded").read_text().splitlines()
        assert lines[-1] == "all tried"
        closed = landlock_version() >= LANDLOCK_LEAST and not mounts
        assert bool(played.gaps) is (not closed and role != "own-user")
        return set(lines)


@pytest.fixture(scope="module", params=ROLES)
def role(request: pytest.FixtureRequest) -> str:
    """Whose the program and its child are."""
    named: str = request.param
    return named


@pytest.fixture(scope="module")
def succeeded(role: str) -> set[str]:
    """The attempts that succeed."""
    return all_that_succeed(role, HERE, mounts=False)


@pytest.fixture(scope="module")
def succeeded_without_landlock(role: str) -> set[str]:
    """The attempts that succeed on a kernel without Landlock, or where Sessions have to mount."""
    return all_that_succeed(role, ON_ANY_KERNEL, mounts=True)


@pytest.mark.parametrize("attempt", ON_ANY_KERNEL, ids=named)
def test_program_shuts_itself(succeeded_without_landlock: set[str], attempt: Attempt) -> None:
    """What the program and its guard hold cannot be read on any kernel."""
    assert attempt.id not in succeeded_without_landlock


@pytest.mark.parametrize("attempt", HERE, ids=named)
def test_attempt(succeeded: set[str], role: str, attempt: Attempt) -> None:
    """What a child could read or write of its program and of the runner, it cannot."""
    if reason := attempt.impossible() or attempt.lacking(role):
        pytest.skip(reason)
    assert attempt.id not in succeeded


@pytest.mark.parametrize("attempt", [one for one in HERE if one.control], ids=named)
def test_attempt_works_where_nothing_is_isolated(attempt: Attempt) -> None:
    """Each attempt is one that does succeed without isolation."""
    if reason := attempt.impossible():
        pytest.skip(reason)
    # Here the program does not shut itself, and its code is its user's: only what is the system's takes root.
    systems = attempt.control == ROOT and attempt not in (*OF_THE_PROGRAM, *OF_THE_RUN)
    with furnished("root" if systems else "plain") as runner:
        assert runner.play(filled(attempt.script, runner.names), strict=False).succeeded


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


def test_capabilities(runner: Runner) -> None:
    """A child has no way to a capability."""
    assert runner.play("grep -q 'NoNewPrivs:.1' /proc/self/status").succeeded
    if runner.role != "plain":
        assert runner.play("grep -q 'CapBnd:.0000000000000000' /proc/self/status").succeeded


def test_root_without_capabilities_still_owns_the_system(runner: Runner) -> None:
    """A tool that only root may write is not written by a child of root's either."""
    script = python("open('/usr/bin/env', 'r+b')")
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
