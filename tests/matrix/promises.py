"""What holds after any Run, whatever died or stumbled: each promise that does not is one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from bot.sandbox.github.people import PullRequestView
from tests.matrix.theatre import REPAIRS, Acted, Theatre

_REASON = re.compile(r"^::(error|warning|notice) title=Nightjar", re.MULTILINE)
ENDED = ("nightjar:ready", "nightjar:failed")


def broken(theatre: Theatre, *, refused: str = "") -> Iterator[str]:
    """Promises that do not hold. `refused`: the shape of a request that GitHub refused whenever it was made; what
    depends on it alone must then be in the job's log, or kept on the runner.
    """
    last = theatre.jobs[-1]
    markers = Counter(theatre.markers())
    told = bool(markers[f"<!-- nightjar:ending run={last.run_id} attempt=1 -->"])
    yield from (f"{times} comments {marker}" for marker, times in markers.items() if times > 1)
    if not told and not refused:
        yield "no ending was told"
    if not told and not _REASON.search(last.steps[-1].log):
        yield "no reason in the log"
    if told and "/labels" not in refused:
        yield from _labels(theatre)
    if told and not any(part in refused for part in ("/labels", "/pulls", "/graphql")):
        yield from _pull_requests(theatre)
    for acted in theatre.jobs:
        yield from _sessions(acted)
    kept = "widget.git" in refused and list(last.job.temp.glob("nightjar/logs/*.patch"))
    if not kept:
        yield from (f"commit {commit} of a Session is on no branch of the remote" for commit in theatre.missing())
    yield from (f"still alive: {process[:80]}" for process in theatre.survivors())
    for log in (step.log for acted in theatre.jobs for step in acted.steps):
        if "Traceback" in log or "Nightjar itself failed" in log:
            yield f"a traceback: {log.strip().splitlines()[-1][:150]}"


def _labels(theatre: Theatre) -> Iterator[str]:
    labels = theatre.repository.labels(theatre.issue)
    if len(labels) != 1 or labels[0] not in ENDED:
        yield f"labels {', '.join(labels) or 'none'}"


def _pull_requests(theatre: Theatre) -> Iterator[str]:
    pulls: tuple[PullRequestView, ...] = theatre.repository.pull_requests()
    if len(pulls) > 1:
        yield f"{len(pulls)} pull requests"
    labels = theatre.repository.labels(theatre.issue)
    for pull in pulls:
        if pull.draft == ("nightjar:ready" in labels):
            yield f"pull request is {'a draft' if pull.draft else 'no draft'} with labels {', '.join(labels)}"


def _sessions(acted: Acted) -> Iterator[str]:
    kinds = Counter(kind for kind, _ in acted.sessions)
    for kind, times in kinds.items():
        if times > 1:
            yield f"{times} Sessions {kind} in one Run"
    if sum(kind.startswith("repair") for kind in kinds) > REPAIRS:
        yield f"more than {REPAIRS} Repairs"
