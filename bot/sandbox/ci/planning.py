"""Which workflows of a commit an event starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from bot.ci.filters import skip_requested
from bot.sandbox.ci.commit import TestedCommit, workflow_files
from bot.sandbox.ci.subscriptions import asks_for
from bot.sandbox.ci.workflow import Broken, Workflow, read_workflow

SKIPPABLE = ("push", "pull_request")
"""The events that a marker in the head commit's message holds back."""


def planned(commit: TestedCommit) -> Iterator[tuple[Workflow | Broken, TestedCommit]]:
    """The workflows that the commit's event starts, each with the commit as it sees it. A file without readable
    triggers counts for a push.
    """
    event = commit.event
    if event.name in SKIPPABLE and skip_requested(commit.message):
        return
    for workflow in _workflows(commit.repository, commit.sha):
        if (
            event.name == "workflow_dispatch"
            and PurePosixPath(workflow.path).name != PurePosixPath(event.workflow).name
        ):
            continue
        if workflow.on is None:
            if event.name in ("push", "workflow_dispatch"):
                yield workflow, commit
        elif asks_for(workflow.on, workflow.subscriptions, event, lambda: commit.changed_paths):
            yield workflow, _with_its_schedule(workflow, commit)


def _with_its_schedule(workflow: Workflow | Broken, commit: TestedCommit) -> TestedCommit:
    """`github.event.schedule` is the workflow's own, where nobody said which."""
    event = commit.event
    if event.name != "schedule" or not workflow.subscriptions.crons:
        return commit
    cron = event.detail or workflow.subscriptions.crons[0]
    return replace(commit, event=replace(event, payload={**event.payload, "schedule": cron}))


@lru_cache(maxsize=256)
def _workflows(repository: Path, sha: str) -> tuple[Workflow | Broken, ...]:
    """The workflow files of a commit, read once."""
    return tuple(read_workflow(path, text) for path, text in workflow_files(repository, sha).items())
