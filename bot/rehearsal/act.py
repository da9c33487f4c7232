"""The act of this machine (nektos/act): which one, whether it will do, and whether it has Docker."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.rehearsal import words

LEAST = (0, 2, 73)
"""The first version that tells the set-up of a job apart from its steps."""
IMAGES: Mapping[str, str] = {
    "ubuntu-latest": "catthehacker/ubuntu:act-latest",
    "ubuntu-24.04": "catthehacker/ubuntu:act-24.04",
    "ubuntu-22.04": "catthehacker/ubuntu:act-22.04",
}
"""The images that act itself proposes."""
_ANSWER_SECONDS = 20
_DOCKERS = ("PATH", "HOME", "XDG_RUNTIME_DIR")
"""Beside `DOCKER_*`, what the user's `docker` finds its settings and its socket by."""
_VERSION = re.compile(r"\bversion v?(\d+)\.(\d+)\.(\d+)")
_PLATFORM = re.compile(r"\s*(?:-P|--platform)[ =]\s*(?P<label>[^=\s]+)=(?P<image>\S+)\s*")


class ActUnusable(Exception):
    """No act that could play a job; the text is one clause for a person."""


@dataclass(frozen=True, slots=True)
class Act:
    """An act that can play jobs."""

    program: str
    version: str
    path: str
    """PATH, as it was found on."""
    docker_host: str
    """Where Docker answers; "" where it does not, and jobs are played on this machine itself."""
    images: Mapping[str, str]
    """By what `runs-on` says, where there is Docker."""
    pulled: bool
    """Whether the image of `ubuntu-latest` is here already."""

    @property
    def said(self) -> str:
        """What it is called in a sentence."""
        return f"act {self.version}"


def find_act(environ: Mapping[str, str]) -> Act:
    """The act on PATH. Raises `ActUnusable` where there is none, or one that will not do."""
    program = shutil.which("act", path=environ.get("PATH"))
    if program is None:
        raise ActUnusable(words.ACT_MISSING)
    version = _version(program, environ)
    images = {**IMAGES, **_own_images(environ)}
    host = _docker_host(environ)
    pulled = bool(host) and bool(_docker(environ, "image", "inspect", "--format", "{{.Id}}", images["ubuntu-latest"]))
    return Act(program, version, environ.get("PATH", ""), host, images, pulled)


def _version(program: str, environ: Mapping[str, str]) -> str:
    """What act says of itself, asked where none of the user's own options for it lie."""
    with tempfile.TemporaryDirectory(prefix="nightjar-act-") as empty:
        own = {"PATH": environ.get("PATH", ""), "HOME": empty, "XDG_CONFIG_HOME": empty}
        said = _asked([program, "--version"], own, empty)
    found = _VERSION.search(said)
    if found is None:
        raise ActUnusable(words.ACT_SILENT.format(program=program))
    version = tuple(map(int, found.groups()))
    if version < LEAST:
        shown, least = (".".join(map(str, one)) for one in (version, LEAST))
        raise ActUnusable(words.ACT_OLD.format(program=program, version=shown, least=least))
    return ".".join(map(str, version))


def _docker_host(environ: Mapping[str, str]) -> str:
    """The address of the Docker that the user's own `docker` talks to; "" where none answers."""
    host = _docker(environ, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    return host if host and _docker(environ, "version", "--format", "{{.Server.Version}}") else ""


def _docker(environ: Mapping[str, str], *arguments: str) -> str:
    program = shutil.which("docker", path=environ.get("PATH"))
    own = {name: text for name, text in environ.items() if name in _DOCKERS or name.startswith("DOCKER_")}
    return _asked([program, *arguments], own, "/") if program else ""


def _asked(command: list[str], environ: Mapping[str, str], folder: str) -> str:
    """What a program prints; "" where it fails or takes long."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _own_images(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The images that the user's own `actrc` names. Nothing else of it counts: it may hold secrets."""
    home = Path(environ.get("HOME") or "/")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    found: dict[str, str] = {}
    for file in (config / "act" / "actrc", home / ".actrc"):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        found |= {one["label"]: one["image"] for line in lines if (one := _PLATFORM.fullmatch(line))}
    return found
