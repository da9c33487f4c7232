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
    for marker, times in markers.items():
        if times > 1:
            yield f"{times} comments {marker}"
    endings = markers[f"<!-- nightjar:ending run={last.run_id} attempt=1 -->"]
    if not endings:
        if not refused:
            yield "no ending was told"
        elif not _REASON.search(last.steps[-1].log):
            yield "no reason, neither on the issue nor in the log"
    told = bool(endings)
    if told and "/labels" not in refused:
        yield from _labels(theatre)
    if told and "/pulls" not in refused and "/graphql" not in refused:
        yield from _pull_requests(theatre)
    for acted in theatre.jobs:
        yield from _sessions(acted)
    kept = "widget.git" in refused and list(last.job.temp.glob("nightjar/logs/*.patch"))
    for commit in theatre.missing():
        if not kept:
            yield f"commit {commit} of a Session is on no branch of the remote"
    for process in theatre.survivors():
        yield f"still alive: {process[:80]}"
    for step in (step for acted in theatre.jobs for step in acted.steps):
        if "Traceback" in step.log or "Nightjar itself failed" in step.log:
            yield f"a traceback: {step.log.strip().splitlines()[-1][:150]}"


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
