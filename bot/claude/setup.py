"""The `setup` commands: run once before the first Session, on the trusted base and without credentials."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.claude.descendants import end_descendants
from bot.clock import Clock, Deadline
from bot.failures import RunFailed
from bot.isolation.rules import UNCONFINED, Confinement

_EVIDENCE = 3000


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run, what they see, and how they are confined."""

    folder: Path
    environment: Mapping[str, str]
    confinement: Confinement = UNCONFINED


def run_setup(scripts: Sequence[str], place: Place, clock: Clock, limit: Deadline) -> None:
    """Run each script with bash; what they leave running is ended. Raises `RunFailed` (`setup_failed`), `Cancelled`."""
    for script in scripts:
        clock.cancel.check()
        name = script.strip().splitlines()[0][:80]
        output = _run(script, name, place, clock, limit)
        if output.code:
            raise RunFailed(
                "setup_failed", f"the setup command `{name}` ended with exit code {output.code}", output.tail
            )


class _Output:
    def __init__(self, code: int, tail: str) -> None:
        self.code, self.tail = code, tail


def _run(script: str, name: str, place: Place, clock: Clock, limit: Deadline) -> _Output:
    argv, env = place.confinement.command(["bash", "-eo", "pipefail", "-c", script], place.environment)
    process = subprocess.Popen(
        argv,
        cwd=place.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=max(limit.left(), 0.1))
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise RunFailed(
            "setup_failed", f"the setup command `{name}` was still running when the Run's time was over"
        ) from error
    finally:
        end_descendants(clock, 1, 2)
    return _Output(process.returncode, said.decode("utf-8", "replace")[-_EVIDENCE:])
