"""Which Confinement is chosen for what is found on a runner."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.isolation.choice import SESSION_ID, SOCKETS, SYSTEM, Choice, Facts, Files, Places, choose, relaxed
from bot.isolation.paths import all_but
from bot.isolation.rules import UNCONFINED, Confinement, Rules

HOSTED = Facts(
    root=False, reachable=False, may_mount=False, powerful_groups=("docker",), sudo="/usr/bin/sudo", landlock=4
)
PLAIN = replace(HOSTED, powerful_groups=(), sudo="")
CONTAINER = Facts(root=True, reachable=True, may_mount=False, powerful_groups=(), sudo="", landlock=4)
FILES = Files(("/home/alice",), ("/home/alice/.ssh",), ("/opt/claude",), ("/w/checkout",))
PLACES = Places(*(Path("/home/alice"), Path("/w"), None, Path("/opt/claude")), (), (), Path("/w/control"))


def chosen(facts: Facts, *, mounts: bool = False) -> Choice:
    """What is chosen for `facts`."""
    return choose(facts, PLACES, FILES, mounts=mounts)


@pytest.mark.parametrize("facts", [HOSTED, PLAIN, CONTAINER, replace(CONTAINER, reachable=False)])
def test_always(facts: Facts) -> None:
    """Whatever is found, sudo does nothing, no capability is left, and files are closed where the kernel can."""
    rules = chosen(facts).confinement.rules
    assert (rules.no_new_privileges, rules.capabilities, rules.landlock) == (True, False, True)
    assert (rules.hidden, rules.shown, rules.open) == (FILES.hidden, FILES.shown, FILES.open)
    assert rules.sealed[:1] == FILES.sealed


def test_hosted_runner_leaves_docker() -> None:
    """Where sudo asks for no password, Sessions are started through it, to be without the group docker."""
    choice = chosen(HOSTED)
    assert choice.confinement.sudo == "/usr/bin/sudo"
    assert (choice.confinement.rules.user, choice.confinement.rules.group) == (os.getuid(), SESSION_ID)
    assert (choice.gaps, "without the group docker" in choice.said) == ((), True)


def test_docker_without_sudo_is_said() -> None:
    """Where the group cannot be left, the job log says what that means."""
    (gap,) = chosen(replace(HOSTED, sudo="")).gaps
    assert gap == "the runner's user is in docker and there is no sudo to leave that with: a Session can become root"


def test_root_becomes_somebody_else() -> None:
    """A root whose tools everybody reaches runs Sessions as a user without an account."""
    rules = chosen(CONTAINER).confinement.rules
    assert (rules.user, rules.group, rules.covered) == (SESSION_ID, SESSION_ID, ())
    assert set(SYSTEM) <= set(rules.sealed)


@pytest.mark.parametrize("may_mount", [True, False])
def test_root_that_stays_root(may_mount: bool) -> None:
    """Else they stay root, and the sockets of what would give them all capabilities are covered, or it is said."""
    choice = chosen(replace(CONTAINER, reachable=False, may_mount=may_mount))
    assert choice.confinement.rules.user == -1
    assert choice.confinement.rules.covered == (SOCKETS if may_mount else ())
    assert len(choice.gaps) == (not may_mount)


@pytest.mark.parametrize(("landlock", "mounts"), [(2, False), (0, False), (7, True)])
def test_without_landlock_it_is_said(landlock: int, mounts: bool) -> None:
    """Where files cannot be closed to the runner's own user, the job log says what a Session can write."""
    choice = chosen(replace(PLAIN, landlock=landlock), mounts=mounts)
    assert choice.confinement.rules == Rules(no_new_privileges=True, capabilities=False)
    assert "a Session can write what is the runner's, the program's code and this Run's Record too" in choice.gaps[0]


def test_relaxed_changes_nothing() -> None:
    """With `isolation: relaxed` a child is started as it is."""
    assert relaxed().confinement == UNCONFINED
    assert UNCONFINED.command(["git", "status"], {"A": "b"}) == (["git", "status"], {"A": "b"})


def test_rules_survive_the_way() -> None:
    """Rules are the same after their way through an argument."""
    rules = chosen(HOSTED).confinement.rules
    assert Rules.from_json(rules.to_json()) == rules


def test_environment_passes_sudo_in_a_file(tmp_path: Path) -> None:
    """sudo clears the environment: it is in a file of the user's own, and in no argument."""
    confinement = Confinement(Rules(no_new_privileges=True), "/usr/bin/sudo", tmp_path / "control")
    argv, env = confinement.command(["true"], {"PLACEHOLDER": "nightjar-1"})
    (file,) = (tmp_path / "control").iterdir()
    assert (argv[:3], argv[-2:], list(env)) == (["/usr/bin/sudo", "-n", "--"], [str(file), "true"], ["PATH"])
    assert "nightjar-1" not in " ".join(argv)
    assert (file.stat().st_mode & 0o777, file.read_text()) == (0o600, '{"PLACEHOLDER": "nightjar-1"}')


def test_all_but(tmp_path: Path) -> None:
    """What is granted is everything beside what is kept, at the highest folder possible, and no link."""
    for path in ("a/kept/x", "a/other/y", "b/c", "d"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "a" / "kept")
    granted = {
        str(path.relative_to(tmp_path)) for path in all_but([tmp_path / "a/kept", tmp_path / "d/gone"], tmp_path)
    }
    assert granted == {"a/file", "a/other", "b"}
