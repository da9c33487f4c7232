"""The `setup` commands: they make a checkout ready for what is run in it, without credentials."""

from __future__ import annotations

from collections.abc import Sequence

from bot.claude.shell import Place, run_script
from bot.clock import Clock, Deadline
from bot.failures import RunFailed

_EVIDENCE = 3000


def run_setup(scripts: Sequence[str], place: Place, clock: Clock, limit: Deadline) -> None:
    """Run each script with bash; what they leave running is ended. Raises `RunFailed` (`setup_failed`), `Cancelled`."""
    for script in scripts:
        name = script.strip().splitlines()[0][:80]
        ended = run_script(script, place, clock, limit, options=("-eo", "pipefail"))
        if ended.exit_code == 0:
            continue
        how = f"ended with exit code {ended.exit_code}"
        if ended.exit_code is None:
            how = "was still running when its time was over"
        raise RunFailed("setup_failed", f"the setup command `{name}` {how}", ended.output[-_EVIDENCE:])
