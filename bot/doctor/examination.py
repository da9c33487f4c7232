"""All checks, in the order in which they are read. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from bot.doctor import of_agent, of_files, of_github, of_token
from bot.doctor.facts import Facts
from bot.doctor.words import Finding, Level

CHECKS: tuple[Callable[[Facts], Finding], ...] = (
    *(of_files.settings, of_files.git, of_files.workflow, of_files.commands, of_files.wake),
    *(of_token.token, of_token.permissions, of_github.actions, of_github.pull_requests, of_github.job_tokens),
    *(of_github.ci, of_github.issue_branch, of_github.base_branch, of_github.labels, of_token.secrets),
    *(of_github.paused, of_agent.claude, of_agent.agent_code),
)


def examine(facts: Facts) -> tuple[Finding, ...]:
    """What each check says."""
    return tuple(check(facts) for check in CHECKS)


def counted(findings: Iterable[Finding]) -> str:
    """How the checks came out, in one line."""
    levels = Counter(one.level for one in findings)
    parts = [
        f"{levels[level]} {word}{'s' if levels[level] != 1 and level is not Level.UNKNOWN else ''}"
        for level, word in ((Level.FAILURE, "failure"), (Level.WARNING, "warning"), (Level.UNKNOWN, "unknown"))
        if levels[level]
    ]
    return f"{', '.join(parts)}; {levels[Level.OK]} ok." if parts else f"All {levels[Level.OK]} checks are ok."
