"""Which jobs of a workflow run may start, and what the whole came to. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from bot.sandbox.ci.events import Conclusion
from bot.sandbox.ci.workflow import Job


def ancestors(jobs: Mapping[str, Job], name: str) -> frozenset[str]:
    """Everything that a job needs, directly or not."""
    direct = jobs[name].needs
    return frozenset(direct).union(*(ancestors(jobs, need) for need in direct))


def startable(jobs: Mapping[str, Job], begun: Collection[str], ended: Collection[str]) -> list[Job]:
    """The jobs that have not begun and whose needs have all ended, in the order of the file."""
    return [job for name, job in jobs.items() if name not in begun and all(need in ended for need in job.needs)]


def standing(jobs: Mapping[str, Job], name: str, results: Mapping[str, Conclusion]) -> Conclusion:
    """How things stand before a job starts: `success()` in its `if:` asks all ancestors to have succeeded."""
    before = {results[one] for one in ancestors(jobs, name)}
    worst: tuple[Conclusion, ...] = ("failure", "cancelled", "skipped")
    return next((conclusion for conclusion in worst if conclusion in before), "success")


def combined(conclusions: Iterable[Conclusion]) -> Conclusion:
    """What several jobs came to: one failure fails all; skipped only when every one was."""
    found = set(conclusions)
    worst: tuple[Conclusion, ...] = ("failure", "cancelled")
    bad = next((conclusion for conclusion in worst if conclusion in found), None)
    return bad or ("skipped" if found == {"skipped"} else "success")
