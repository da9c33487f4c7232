"""How the CLI is started: its arguments, and what it is told by environment. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.claude.waits import Limits

DISALLOWED_TOOLS = ("ScheduleWakeup", "CronCreate", "CronDelete", "CronList")
"""Headless they promise a wake that no Roster shows (measured with CLI 2.1.332)."""
ALLOWED_TOOLS = (
    *("Agent", "Bash", "Edit", "Glob", "Grep", "Monitor", "NotebookEdit", "Read", "Skill", "Task", "TaskOutput"),
    *("TaskStop", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write"),
)
"""While the CLI hides its key from the commands it runs, no permission mode counts, and nobody can be asked (measured
with CLI 2.1.332)."""
FROM_USER = ("--setting-sources", "user", "--strict-mcp-config")
"""Nothing in the checkout configures the CLI, instruction files neither (measured with CLI 2.1.332 and 2.1.211)."""
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
    hides_key: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """What configures one process. The default: what is in the folder that its environment names."""

    variables: Mapping[str, str] = field(default_factory=dict)
    servers: Path | None = None
    """A file with the MCP servers."""


def argv(
    claude: Claude, *, resume: str = "", budget_usd: float, configuration: Configuration = Configuration()
) -> list[str]:
    """The command line of one process. The prompt is not on it: it goes in by stdin."""
    words = [str(claude.path), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    words += FROM_USER
    if configuration.servers is not None:
        words += ["--mcp-config", str(configuration.servers)]
    words += ["--permission-mode", claude.permission_mode]
    if claude.hides_key:
        words += ["--allowedTools", ",".join(ALLOWED_TOOLS)]
    words += ["--disallowedTools", ",".join(DISALLOWED_TOOLS)]
    words += ["--max-budget-usd", f"{max(budget_usd, MIN_BUDGET_USD):.4f}"]
    if claude.model:
        words += ["--model", claude.model]
    if resume:
        words += ["--resume", resume]
    return [*words, *claude.extra]


def told(limits: Limits, *, handover: Path, background: bool) -> dict[str, str]:
    """What the CLI is told by environment."""
    variables = {
        **QUIET,
        "BASH_DEFAULT_TIMEOUT_MS": str(int(min(DEFAULT_BASH_SECONDS, limits.bash) * 1000)),
        "BASH_MAX_TIMEOUT_MS": str(int(limits.bash * 1000)),
        "CLAUDE_CODE_MAX_RETRIES": str(CLI_RETRIES),
        "NIGHTJAR_HANDOVER": str(handover),
    }
    if not background:
        variables["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    return variables
