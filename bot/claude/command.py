"""How the CLI is started: its arguments, and the environment it is given. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.claude.waits import Limits
from bot.kinds import NEVER_PASSED

DISALLOWED_TOOLS = ("ScheduleWakeup", "CronCreate", "CronDelete", "CronList")
"""Headless they promise a wake that no Roster shows (measured with CLI 2.1.332)."""
DEFAULT_BASH_SECONDS = 10 * 60
"""Not more: a server that is started in the foreground must not hang the Session."""
MIN_BUDGET_USD = 0.01
CLI_RETRIES = 6
"""The CLI's own attempts after a transient API failure: half a minute; a longer one is waited for without a process (an
API retry). Its default of 10 takes 3 minutes (measured with CLI 2.1.197)."""

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


@dataclass(frozen=True, slots=True)
class Claude:
    """The CLI as the settings want it."""

    path: Path
    model: str = ""
    permission_mode: str = "bypassPermissions"
    extra: tuple[str, ...] = ()


def argv(claude: Claude, *, resume: str = "", budget_usd: float) -> list[str]:
    """The command line of one process. The prompt is not on it: it goes in by stdin."""
    words = [str(claude.path), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    words += ["--permission-mode", claude.permission_mode]
    words += ["--disallowedTools", ",".join(DISALLOWED_TOOLS)]
    words += ["--max-budget-usd", f"{max(budget_usd, MIN_BUDGET_USD):.4f}"]
    if claude.model:
        words += ["--model", claude.model]
    if resume:
        words += ["--resume", resume]
    return [*words, *claude.extra]


_CREDENTIAL = re.compile(
    r"(TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE_KEY|API_?KEY|ACCESS_KEY|CREDENTIALS?)($|_)", re.IGNORECASE
)
_RUNNER = ("GITHUB_*", "ACTIONS_*", "RUNNER_*", "INPUT_*", "NIGHTJAR_*", "CLAUDE*", "ANTHROPIC_*")
_KEPT = frozenset(
    {
        "GITHUB_ACTIONS",
        "RUNNER_OS",
        "RUNNER_ARCH",
        "RUNNER_TOOL_CACHE",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_TMPDIR",
    }
)


def session_environment(
    environ: Mapping[str, str], *, secrets: Iterable[str], pass_env: Iterable[str], own: Mapping[str, str]
) -> dict[str, str]:
    """What a Session gets to see: what the job set up, less the runner's own variables, known secrets by value, and
    names that look like credentials unless `pass_env` (names or patterns) lists them; then `own` on top.
    """
    hidden = [secret for secret in secrets if secret]
    wanted = tuple(pass_env)

    def passes(name: str, value: str) -> bool:
        if name in NEVER_PASSED:
            return False
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted):
            return True
        if any(secret in value for secret in hidden) or _CREDENTIAL.search(name):
            return False
        return name in _KEPT or not any(fnmatch.fnmatchcase(name, pattern) for pattern in _RUNNER)

    return {**{name: value for name, value in environ.items() if passes(name, value)}, **own}


def own_variables(
    *, limits: Limits, config_dir: Path, handover: Path, credential: Mapping[str, str], background: bool, as_root: bool
) -> dict[str, str]:
    """What Nightjar itself adds. `credential`: the variable for the model's API; none where `pass-env` brings it."""
    own = {
        **QUIET,
        "CLAUDE_CONFIG_DIR": str(config_dir),
        "BASH_DEFAULT_TIMEOUT_MS": str(int(min(DEFAULT_BASH_SECONDS, limits.bash) * 1000)),
        "BASH_MAX_TIMEOUT_MS": str(int(limits.bash * 1000)),
        "CLAUDE_CODE_MAX_RETRIES": str(CLI_RETRIES),
        "NIGHTJAR_HANDOVER": str(handover),
        **credential,
    }
    if not background:
        own["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    if as_root:
        own["IS_SANDBOX"] = "1"  # the CLI refuses to bypass permissions as root without it
    return own
