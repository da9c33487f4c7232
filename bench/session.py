"""Nightjar driving one trivial Session beside raw `claude -p` with the same instant model: the ratio of median walls.

python -m bench.session [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bot.claude import command
from bot.claude.session import Ask, SessionPlayer
from bot.claude.waits import Limits
from bot.clock import Clock
from bot.guard import Redactor
from bot.sandbox.cli import bundled_claude, offline_environment
from bot.sandbox.model import Conversation, Reply, Script, ScriptedModel

TARGET = 1.25


def main() -> None:
    """Print both medians and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    script = Script(tuple(Conversation(f"{number}", (Reply("Done."),)) for number in range(2 * rounds + 2)))
    raw: list[float] = []
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(script) as model:
        environment = offline_environment(model.url, Path(folder), os.environ["PATH"])
        for number in range(rounds + 1):  # the first round warms the page cache
            walls = _raw(environment, Path(folder)), _ours(environment, Path(folder))
            if number:
                raw.append(walls[0])
                ours.append(walls[1])
    ratio = statistics.median(ours) / statistics.median(raw)
    print(f"raw claude -p  {statistics.median(raw):.3f} s (median of {rounds})")
    print(f"nightjar       {statistics.median(ours):.3f} s")
    print(f"ratio          {ratio:.3f} (target: at most {TARGET})")


def _raw(environment: dict[str, str], folder: Path) -> float:
    words = [str(bundled_claude()), "-p", "begin", "--output-format", "stream-json", "--verbose"]
    began = Clock.now()
    subprocess.run(
        [*words, "--permission-mode", "bypassPermissions"],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return Clock.now() - began


def _ours(environment: dict[str, str], folder: Path) -> float:
    clock = Clock()
    claude = command.Claude(bundled_claude())
    player = SessionPlayer(
        claude, checkout=folder, logs=folder, log_prefix="bench", limits=Limits(), clock=clock, redactor=Redactor(())
    )
    ask = Ask("implement", "begin", lambda _: "", 1.0, clock.deadline("run", 60), environment)
    began = clock.now()
    played = player.hold(ask, ended=lambda _: None, progress=lambda _: None)
    assert played.entry.words == "Done.", played
    return clock.now() - began


if __name__ == "__main__":
    main()
