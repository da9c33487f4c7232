"""How a `run:` script is started, by its `shell:`. Pure but for looking up Python."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

SHELLS = {
    "": "bash -e {0}",
    "bash": "bash --noprofile --norc -eo pipefail {0}",
    "sh": "sh -e {0}",
    "python": "python {0}",
}


class UnknownShell(ValueError):
    """A `shell:` that the sandbox does not have."""


def command_line(shell: str) -> str:
    """The command for `shell`, with `{0}` for the script. Raises `UnknownShell`."""
    if shell in SHELLS:
        return SHELLS[shell]
    if "{0}" in shell:
        return shell
    allowed = ", ".join(filter(None, SHELLS))
    raise UnknownShell(f"shell: {shell!r} is not in the sandbox; allowed are {allowed}, or a command with {{0}}")


def script_command(shell: str, script: Path, path: str) -> list[str]:
    """The argument list that runs `script`; `path` is the step's PATH, where a Python may be called `python3` only."""
    words = shlex.split(command_line(shell).replace("{0}", shlex.quote(str(script))))
    if words[0] == "python" and shutil.which("python", path=path) is None:
        words[0] = "python3"
    return words
