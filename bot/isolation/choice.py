"""How Sessions are confined on this runner, decided by what is found on it: `look` asks, `choose` decides (pure)."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bot.isolation import kernel
from bot.isolation.paths import block_devices, in_a_child, reaches
from bot.isolation.rules import UNCONFINED, Confinement, Rules

SESSION_ID = 60_999
"""User and group of Sessions where the program is root: of no account, and in none of the ranges that others use."""
POWERFUL_GROUPS = ("docker", "incus", "incus-admin", "lxd", "libvirt", "podman", "disk", "kvm")
"""Whoever is in one of them is root by a detour."""
SOCKETS = (
    *("/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock"),
    *("/run/dbus/system_bus_socket", "/run/systemd/private", "/run/snapd.socket"),
    *("/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"),
)
"""Whoever is user 0 and reaches one of them is root with all capabilities by a detour."""
SYSTEM = ("/boot", "/etc", "/proc", "/sys", "/usr", "/var/lib", "/var/spool")
"""User 0 owns what is there, with capabilities or without."""
LOGINS = (
    *(".aws", ".azure", ".config/gcloud", ".config/gh", ".config/git", ".docker", ".git-credentials", ".gitconfig"),
    *(".gnupg", ".kube", ".m2/settings.xml", ".netrc", ".npmrc", ".pypirc", ".ssh", ".cargo/credentials.toml"),
)
"""In the runner's home: what tools keep a person's or the job's login in."""
_SUDO_SECONDS = 10
_TOOLS = ("bash", "git", "node", "python3")


@dataclass(frozen=True, slots=True)
class Places:
    """Folders that the choice is about."""

    home: Path
    """The runner's own."""
    temp: Path
    """RUNNER_TEMP: the runner's files, the program's environment, Record and logs."""
    workspace: Path | None
    """What the job itself has checked out, perhaps with a credential in its `.git`."""
    claude: Path | None
    """The CLI, where Sessions are to come."""
    session: tuple[Path, ...]
    """What a Session may write: its checkout, its home, its Handover."""
    shown: tuple[Path, ...]
    """Of the temporary files, what a Session reads: where the CLI is installed, the program's own clone."""
    control: Path
    """A folder of the program's own."""
    tools: Path | None = None
    """RUNNER_TOOL_CACHE: what a project's own toolchain may be installed into."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found."""

    root: bool
    reachable: bool
    """That an unprivileged user can run the CLI and the tools on PATH, and come to the checkout. Only asked as root."""
    may_mount: bool
    powerful_groups: tuple[str, ...]
    sudo: str
    """The path of a sudo that asks for no password, or ""."""
    landlock: int


@dataclass(frozen=True, slots=True)
class Files:
    """What a Session must not write, what not even read, and the exceptions; see `Rules`."""

    sealed: tuple[str, ...]
    hidden: tuple[str, ...]
    shown: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The Confinement, and for the job log what it is and what it leaves open."""

    confinement: Confinement
    said: str
    gaps: tuple[str, ...]


def relaxed() -> Choice:
    """Nothing is confined: sudo and docker work for Sessions as they do for the job."""
    return Choice(UNCONFINED, "Sessions run as the job does, with sudo and docker where it has them", ())


def choose(facts: Facts, places: Places, files: Files, *, mounts: bool) -> Choice:
    """The strictest Confinement that works here. `mounts`: Sessions have to mount, which Landlock never allows."""
    own_user = facts.root and facts.reachable
    through = facts.sudo if facts.powerful_groups and not facts.root else ""
    landlock = facts.landlock >= kernel.LANDLOCK_LEAST and not mounts
    user, group = (SESSION_ID, SESSION_ID) if own_user else (os.getuid(), SESSION_ID) if through else (-1, -1)
    rules = Rules(
        no_new_privileges=True,
        capabilities=False,
        user=user,
        group=group,
        covered=SOCKETS if facts.root and not own_user and facts.may_mount else (),
        landlock=landlock,
    )
    if landlock:
        rules = replace(
            rules,
            sealed=files.sealed + (SYSTEM if facts.root else ()),
            hidden=files.hidden,
            shown=files.shown,
            open=files.open,
        )
    who = (
        f"as a user of their own ({SESSION_ID})"
        if own_user
        else "as root without capabilities"
        if facts.root
        else f"without the group {facts.powerful_groups[0]}"
        if through
        else "as the runner's user"
    )
    where = "; they write nothing of the runner's or the program's" if landlock else ""
    said = f"Sessions run {who}; sudo does nothing for them{where}"
    return Choice(Confinement(rules, through, places.control), said, tuple(_gaps(facts, landlock, mounts, own_user)))


def _gaps(facts: Facts, landlock: bool, mounts: bool, own_user: bool) -> Iterator[str]:
    if not landlock:
        why = "claude's own scrubbing needs mounts" if mounts else "this kernel has no Landlock of version 3 or newer"
        whose = "what is root's" if facts.root else "what is the runner's, the program's code and this Run's Record too"
        if not own_user:
            yield f"{why}: a Session can write {whose}"
    if facts.powerful_groups and not facts.root and not facts.sudo:
        names = ", ".join(facts.powerful_groups)
        yield f"the runner's user is in {names} and there is no sudo to leave that with: a Session can become root"
    if facts.root and not own_user and not facts.may_mount:
        yield "the sockets of docker and systemd cannot be covered here: where there is one, a Session can become root"


def look(places: Places, path: str) -> Facts:
    """Find out. `path`: the PATH of Sessions. Starts sudo once, where that could help."""
    root = os.geteuid() == 0
    groups = () if root else tuple(_powerful(os.getgroups()))
    return Facts(
        root=root,
        reachable=root and _reachable(places, path),
        may_mount=root and in_a_child(_covers),
        powerful_groups=groups,
        sudo=_sudo() if groups else "",
        landlock=kernel.landlock_version(),
    )


def _covers() -> bool:
    kernel.cover(())
    return True


def _powerful(groups: Sequence[int]) -> Iterator[str]:
    for number in (os.getegid(), *groups):
        with suppress(KeyError):
            if (name := grp.getgrgid(number).gr_name) in POWERFUL_GROUPS:
                yield name


def _sudo() -> str:
    sudo = shutil.which("sudo", path=os.defpath)
    if sudo is None:
        return ""
    with suppress(OSError, subprocess.TimeoutExpired):
        words = [sudo, "-n", "--", "true"]
        nothing = subprocess.DEVNULL
        done = subprocess.run(
            words, stdin=nothing, stdout=nothing, stderr=nothing, timeout=_SUDO_SECONDS, env={}, check=False
        )
        return sudo if done.returncode == 0 else ""
    return ""


def _reachable(places: Places, path: str) -> bool:
    with suppress(KeyError):
        pwd.getpwuid(SESSION_ID)
        return False  # somebody's account after all
    tools = [Path(found) for name in _TOOLS if (found := shutil.which(name, path=path))]
    tools += [places.claude] if places.claude else []
    folders = [folder for folder in path.split(os.pathsep) if folder and Path(folder).is_dir()]
    parents = [folder.parent for folder in places.session]
    with suppress(OSError):  # a root that may not become somebody else
        return reaches(SESSION_ID, SESSION_ID, tools, [*map(Path, folders), *parents])
    return False


def files_of(places: Places, path: str) -> Files:
    """What Sessions on this runner can read and write, whoever's it is. `path`: the PATH of Sessions."""
    program = Path(__file__).resolve().parents[2]
    actions = next((folder for folder in program.parents if folder.name == "_actions"), program)
    standard = Path(sysconfig.get_path("stdlib"))
    base = Path(os.path.realpath(sys.base_prefix))
    folders = [Path(folder) for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    # A project that works with the very Python that the program runs on may install into it.
    shared = any(Path(os.path.realpath(folder)).is_relative_to(base) for folder in folders)
    own = [base] if shared else []
    own += [places.tools] if places.tools else []
    sealed = [
        *(places.home, places.temp, actions, Path(sys.prefix)),
        standard if shared or base == Path("/usr") else base,
        # A later step of the job takes what it finds there first, with the job's secrets.
        *(folder for folder in folders if not any(folder.is_relative_to(tools) for tools in own)),
    ]
    hidden = [places.temp, *(places.home / login for login in LOGINS), *block_devices()]
    if places.workspace is not None:
        hidden.append(places.workspace / ".git")
    opened = [*places.session, *([standard / "site-packages"] if shared else [])]
    return Files(_texts(sealed), _texts(hidden), _texts(places.shown), _texts(opened))


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(path) for path in paths if path != Path("/")))
