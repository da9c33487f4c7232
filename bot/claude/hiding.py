"""`pass-model-key`: whether `claude` can hide the key on this runner from the commands that it runs, each in a sandbox.

The CLI starts without its sandbox all the same, and then none of a Session's commands runs (measured with CLI 2.1.332):
so it is tried before a Session costs anything.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bot.failures import RunFailed
from bot.isolation.rules import Confinement

SCRUB = "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"
"""Has the CLI hide the key (measured with CLI 2.1.332)."""
HIDES_WITH = ("bwrap", "socat")
_SANDBOX = ("--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--unshare-user", "--proc", "/proc")
"""What the CLI's sandbox takes of the kernel."""
_TRIAL_SECONDS = 10
_LONGEST = 107 - len("/claude-socks-0123456789abcdef.sock")
"""Characters of a folder for sockets by which a sandbox speaks to the CLI: Linux takes no socket with a longer path."""


def check_tools(path: str, temporary: Path) -> None:
    """`path`: the PATH of Sessions; `temporary`: their folder for temporary files. Raises `RunFailed`."""
    missing = [tool for tool in HIDES_WITH if shutil.which(tool, path=path) is None]
    if missing:
        raise _refused(
            f"needs {' and '.join(missing)} on the runner, else claude cannot hide the key from the commands that it "
            "runs; install them (Debian and Ubuntu: bubblewrap, socat)"
        )
    if (over := len(str(temporary)) - _LONGEST) > 0:
        raise _refused(
            f"needs a runner whose RUNNER_TEMP is {over} characters shorter: claude hides the key by sockets below it, "
            "and Linux takes none with so long a path; give the runner a shorter work folder"
        )


def check_sandbox(confinement: Confinement, path: str) -> None:
    """The sandbox works for what is so confined. Raises `RunFailed`."""
    if why := _no_sandbox(confinement, path):
        raise _refused(
            f"needs a bwrap that works, else claude cannot hide the key from the commands that it runs; here it says: "
            f"{why}. Let it make user namespaces (Ubuntu: `sudo sysctl -w "
            "kernel.apparmor_restrict_unprivileged_userns=0` in a step before)"
        )


def _no_sandbox(confinement: Confinement, path: str) -> str:
    """Why there is no sandbox; "" where there is one."""
    argv, env = confinement.command([HIDES_WITH[0], *_SANDBOX, "true"], {"PATH": path})
    nothing = subprocess.DEVNULL
    try:
        done = subprocess.run(
            argv,
            env=env,
            cwd="/",
            stdin=nothing,
            stdout=nothing,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else " ".join(done.stderr.split()) or f"exit code {done.returncode}"


def _refused(why: str) -> RunFailed:
    return RunFailed("config_invalid", f"`pass-model-key` {why}, or leave it out")
