"""What plays Nightjar's program in these tests: it holds a secret, shuts itself, and starts a child under its guard.

    python program.py ORDER

ORDER is JSON: `places` (paths by the fields of `Places`), `path`, `strict`, `script`, `mounts`. The child runs the
script with bash and gets PROGRAM and GUARD, the ids of the two processes that it should not be able to read. Printed
is JSON: what the choice says, the child's exit code, and how much was left of it after its end.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from bot.claude.descendants import adopt_orphans, marked
from bot.claude.guard_process import GuardedChild, Start
from bot.clock import Clock
from bot.isolation.choice import Places, choose, files_of, look, relaxed
from bot.isolation.hardening import harden, take_environment

_MARK = "ISOLATION_TEST"


def main(order: str) -> None:
    """Do as ordered."""
    asked = json.loads(order)
    fields: dict[str, Any] = {
        name: tuple(map(Path, given)) if isinstance(given, list) else Path(given)
        for name, given in asked["places"].items()
    }
    places = Places(**fields)
    secret = os.environ["INPUT_GITHUB_TOKEN"]
    choice = relaxed()
    if asked["strict"]:
        harden()
        secret = take_environment(os.environ)["INPUT_GITHUB_TOKEN"]
        choice = choose(look(places, asked["path"]), places, files_of(places, asked["path"]), mounts=asked["mounts"])
        for folder in places.session:
            choice.confinement.owns(folder)
    adopt_orphans()
    mark = f"{_MARK}={os.getpid()}"
    env = {"PATH": asked["path"], "HOME": str(places.session[1]), "PROGRAM": str(os.getpid()), _MARK: str(os.getpid())}
    script = f"export GUARD=$PPID\n{asked['script']}"
    argv, env = choice.confinement.command(["/bin/bash", "-c", script], env)
    _unread, written = os.pipe()
    streams = (os.open(os.devnull, os.O_RDONLY), written, os.dup(2))
    child = GuardedChild(Start(argv, places.session[0], env, streams))
    for stream in streams:
        os.close(stream)
    limit = Clock.reaction("the script's end", 30)
    while not (child.ended or limit.passed()):
        Clock.pause(0.01)
        child.look()
    child.kill_all()
    while not (child.over or limit.passed()):
        Clock.pause(0.01)
        child.look()
    child.close()
    said = {"said": choice.said, "gaps": choice.gaps, "code": child.exit_code, "alone": child.alone}
    print(json.dumps({**said, "left": len(marked(mark)), "secret": len(secret)}))


if __name__ == "__main__":
    main(sys.argv[1])
