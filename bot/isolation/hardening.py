"""Shuts the process that holds the keys: nobody reads its memory or its environment, and it keeps no spare copies."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import MutableMapping
from pathlib import Path

from bot.isolation import kernel
from bot.isolation.names import must_go


def harden() -> None:
    """This process, and what it forks before an exec, leaves no core file and can be read or traced by no process of
    its own user. A root with all its capabilities still can. Raises `OSError` where the kernel refuses.
    """
    kernel.forbid_dumps()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def take_environment(environ: MutableMapping[str, str]) -> dict[str, str]:
    """A copy of the process's environment `environ`. Afterwards the inputs and what looks like a credential are nowhere
    else: not in `environ`, which children inherit, and not in the block of memory that `/proc/<pid>/environ` shows.
    """
    taken = dict(environ)
    names = {name for name in taken if must_go(name)}
    _blank({name.encode() for name in names})
    for name in names:
        del environ[name]
    return taken


def _blank(names: set[bytes]) -> None:
    """Overwrite the values of `names` in the block that the kernel laid out at exec."""
    start, end = _block()
    block = ctypes.string_at(start, end - start) if end > start else b""
    at = start
    for entry in block.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and name in names:
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1


def _block() -> tuple[int, int]:
    """Where it begins and ends; (0, 0) where the kernel does not say."""
    # The command in parentheses can hold anything; `env_start` and `env_end` are fields 50 and 51.
    fields = Path(f"/proc/{os.getpid()}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return (int(fields[47]), int(fields[48])) if len(fields) > 48 else (0, 0)
