"""Waiting on facts of the machine: a file that appears, a process that is gone."""

from __future__ import annotations

from pathlib import Path

from bot.clock import Clock


def wait_for(path: Path, seconds: float = 10.0) -> None:
    """Until `path` exists; fails after `seconds`."""
    clock = Clock()
    limit = clock.reaction("file", seconds)
    while not path.exists():
        assert not limit.passed(), f"{path} did not appear"
        clock.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False
