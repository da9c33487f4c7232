"""A user's machine as far as PATH and HOME tell: with act or without, with a Docker that answers or does not."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.rehearsal.act import Act, find_act

_RECORDER = """\
#!{python}
import json, os, sys
argv = sys.argv[1:]
told = {{"argv": argv, "environ": dict(os.environ)}}
if "--workflows" in argv:
    told["workflow"] = open(argv[argv.index("--workflows") + 1]).read()
with open({file!r}, "a") as file:
    print(json.dumps(told), file=file)
{rest}
"""
_ACT = """\
if argv == ["--version"]:
    print("act version {version}")
else:
    print(json.dumps({{"jobID": argv[argv.index("--job") + 1], "jobResult": "success", "msg": "Job succeeded"}}))
"""
_DOCKER = """\
answers = {{"context": "unix:///run/docker.sock", "version": {server!r}, "image": {image!r}, "ps": "f00", "rm": "f00"}}
print(answers[argv[0]])
sys.exit(0 if answers[argv[0]] else 1)
"""


def real_act() -> str:
    """The act that is installed beside this Python, else one on PATH."""
    found = shutil.which("act", path=sysconfig.get_path("scripts")) or shutil.which("act")
    assert found, "act is not installed; `make environment` installs it"
    return found


class Machine:
    """Programs in a folder that is first on PATH, and a HOME."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "programs"
        self.home = folder / "home"
        for one in (self.programs, self.home):
            one.mkdir(parents=True)

    @property
    def environment(self) -> Mapping[str, str]:
        """PATH and HOME."""
        return {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home)}

    def act(self) -> Act:
        """The act that is found here."""
        return find_act(self.environment)

    def with_act(self) -> Machine:
        """The real one."""
        (self.programs / "act").symlink_to(real_act())
        return self

    def with_stand_in_act(self, version: str = "0.2.89") -> Machine:
        """One that plays nothing and calls every job green."""
        return self._recorder("act", _ACT.format(version=version))

    def with_old_act(self) -> Machine:
        """One that is too old."""
        return self.with_stand_in_act("0.2.20")

    def with_docker(self, *, server: str = "", images: bool = False) -> Machine:
        """A `docker`; nothing answers it, unless `server` says with which version, or it has `images` too."""
        image = "sha256:1" if images else ""
        return self._recorder("docker", _DOCKER.format(server=server or ("28.0.0" if images else ""), image=image))

    def with_docker_and_image(self) -> Machine:
        """A Docker that has act's image."""
        return self.with_docker(images=True)

    def with_docker_without_image(self) -> Machine:
        """A Docker that has no image."""
        return self.with_docker(server="28.0.0")

    def told(self, name: str) -> list[Mapping[str, Any]]:
        """How a stand-in was called each time: arguments, environment, and the workflow file's text."""
        file = self.programs / f"{name}.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def program(self, name: str, script: str) -> None:
        """Any other program."""
        file = self.programs / name
        file.unlink(missing_ok=True)
        file.write_text(script, encoding="utf-8")
        file.chmod(0o755)

    def _recorder(self, name: str, rest: str) -> Machine:
        file = str(self.programs / f"{name}.jsonl")
        self.program(name, _RECORDER.format(python=sys.executable, file=file, rest=rest))
        return self
