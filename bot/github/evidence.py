"""What went wrong in a failed check: the excerpt of its job's log, else its annotations, else what it says of itself.
Never nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.failures import RunFailed
from bot.github.client import PAGE, Client, Refused
from bot.github.logs import EXCERPT_LIMIT, clean, excerpt, read_lines
from bot.record import Check, Evidence

_GONE = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
"""The log has expired, was never written, or the token may not read it: the check's other words have to do."""
_LOG_LOOKS = 3
_LOG_PAUSE = 5.0
"""Planned seconds between looks for a log: it can come a little after the job's end."""
_ANNOTATIONS = 20


def gather(client: Client, check: Check) -> Evidence:
    """The Evidence for `check`; its excerpt is bounded by `EXCERPT_LIMIT` bytes and never empty. Raises
    `ci_no_evidence`, `Refused`.
    """
    step = log = ""
    notes: list[str] = []
    if check.job_id is not None:
        step = _failed_step(client, check.job_id)
        log = _log(client, check.job_id)
        if not log:
            notes = _annotations(client, check.job_id)
    text = log or "\n".join([*notes, *(clean(line) for line in check.summary.splitlines())]).strip()
    if not text and check.job_id is None and check.url:
        text = f"It says no more than: {check.conclusion}. Details: {check.url}"
    if not text:
        ended = f'the check "{check.name}" ended as {check.conclusion}'
        raise RunFailed("ci_no_evidence", f"{ended}, with no log, no annotation and no summary to read")
    return Evidence(check, step, text.encode("utf-8", "replace")[:EXCERPT_LIMIT].decode("utf-8", "ignore"))


def _failed_step(client: Client, job_id: int) -> str:
    """Name of the step that failed; "" when no step tells."""
    request = f"GET /repos/{client.name}/actions/jobs/{job_id}"
    job = _unless_gone(client, request, lambda: client.api.actions.get_job_for_workflow_run(job_id=job_id))
    steps = job.steps if job is not None and job.steps else []
    return next((str(step.name) for step in steps if step.conclusion in ("failure", "timed_out")), "")


def _log(client: Client, job_id: int) -> str:
    """The excerpt of the job's log; "" when there is none to be had."""
    requester, repository = client.repository.requester, client.repository.url
    path = f"/actions/jobs/{job_id}/logs"
    request = f"GET /repos/{client.name}{path}"

    def read() -> str:
        # PyGithub does not follow this redirect: its target must not see the token.
        headers, _ = requester.requestJsonAndCheck("GET", repository + path)
        return excerpt(read_lines(client.download(str(headers["location"])))) if "location" in headers else ""

    for look in range(_LOG_LOOKS):
        if look:
            client.clock.sleep(_LOG_PAUSE)
        try:
            text = client.ask(request, read)
        except Refused as refused:
            if refused.answer.status not in _GONE or refused.answer.limited:
                raise
            if refused.answer.status != HTTPStatus.NOT_FOUND:
                return ""
        else:
            if text:
                return text
    return ""


def _annotations(client: Client, check_run: int) -> list[str]:
    """The check run's annotations as `path:line: message`."""
    request = f"GET /repos/{client.name}/check-runs/{check_run}/annotations"
    listed = partial(client.api.checks.list_annotations, check_run_id=check_run, per_page=PAGE)
    return [_annotation(row) for row in (_unless_gone(client, request, listed) or [])[:_ANNOTATIONS]]


def _annotation(row: Any) -> str:
    message = clean(" ".join(str(part) for part in (row.title, row.message) if part))
    return f"{row.path}:{row.start_line}: {message}" if row.path else message


def _unless_gone(client: Client, request: str, call: Callable[[], Any]) -> Any:
    try:
        return client.ask(request, call)
    except Refused as refused:
        if refused.answer.status in _GONE and not refused.answer.limited:
            return None
        raise
