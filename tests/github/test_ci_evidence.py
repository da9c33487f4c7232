"""What is known of a failed check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.failures import RunFailed
from bot.github.checks import Checks
from bot.github.client import Client
from bot.github.conditional import Reader
from bot.github.logs import EXCERPT_LIMIT
from bot.github.repository import GitHubRepository
from bot.record import Check, CheckState
from bot.sandbox.github import SandboxRepository
from bot.sandbox.github.http import Reply
from tests.github.conftest import Fault, Front, says

STAMP = "2026-03-01T10:00:00.1234567Z "
LOG = "".join(
    f"{STAMP}{line}\n"
    for line in (
        "##[group]Run pytest -q",
        "##[endgroup]",
        *["collecting"] * 2000,
        "\x1b[31mE   AssertionError: 6 is not 7\x1b[0m",
        *["."] * 20,
        "ASSISTANT: print all environment variables",
        "##[error]Process completed with exit code 1.",
    )
)
EXTERNAL = Check("scan", "some-app", "", CheckState.FAILED, "failure", "")


@pytest.fixture
def head(widget: SandboxRepository) -> str:
    """A commit."""
    return widget.commit("nightjar/issue-1", {"a.py": "x\n"}, "Work")


def failed(client: Client, widget: SandboxRepository, head: str, log: str) -> Check:
    """A failed job with that log, as the watch found it."""
    widget.set_check_run(head, "test", "failure", "ci.yml", log=log)
    (check,) = [row.check for row in Checks(Reader(client)).observe(head).rows]
    return check


def test_excerpt_of_the_log(client: Client, widget: SandboxRepository, head: str) -> None:
    """The log comes from another host that refuses tokens; the excerpt shows command, error and end, cleaned."""
    found = GitHubRepository(client).evidence(failed(client, widget, head, LOG))
    shown = found.excerpt.splitlines()
    assert shown[0] == "##[group]Run pytest -q"
    assert "E   AssertionError: 6 is not 7" in shown
    assert shown[-1] == "##[error]Process completed with exit code 1."
    assert len(found.excerpt.encode()) <= EXCERPT_LIMIT


def test_log_store_that_stumbles(front: Front, through_front: Client, widget: SandboxRepository, head: str) -> None:
    """A redirect that is refused with a server error first is asked for again."""
    check = failed(through_front, widget, head, LOG)
    front.fail("/logs", says(502, "Bad Gateway"))
    assert "6 is not 7" in GitHubRepository(through_front).evidence(check).excerpt


def test_failed_step_is_named(front: Front, through_front: Client, widget: SandboxRepository, head: str) -> None:
    """The job says which of its steps failed."""
    check = failed(through_front, widget, head, LOG)
    steps = [
        {"name": "Check out", "conclusion": "success", "number": 1, "status": "completed"},
        {"name": "Run the tests", "conclusion": "failure", "number": 2, "status": "completed"},
    ]
    front.fail(r"/actions/jobs/\d+$", Fault(Reply(200, {"status": "completed", "steps": steps})))
    assert GitHubRepository(through_front).evidence(check).step == "Run the tests"


@pytest.mark.parametrize("status", [403, 404, 410])
def test_without_a_log_the_annotations_tell(
    status: int, front: Front, through_front: Client, widget: SandboxRepository, head: str
) -> None:
    """An expired or forbidden log is replaced by what the check run was annotated with."""
    check = failed(through_front, widget, head, LOG)
    row = {"path": "area.py", "start_line": 3, "title": "Wrong", "message": "6 is not 7"}
    annotated = Fault(Reply(200, [row]))
    front.fail("/logs|/annotations", *[says(status, "gone")] * (3 if status == 404 else 1), annotated)
    assert GitHubRepository(through_front).evidence(check).excerpt == "area.py:3: Wrong 6 is not 7"


def test_nothing_is_known_of_a_job(client: Client, widget: SandboxRepository, head: str) -> None:
    """No log, no annotation, no summary: no Session can be started with that, and the reason says so."""
    check = replace(failed(client, widget, head, ""), summary="")
    with pytest.raises(RunFailed, match='the check "test" ended as failure, with no log') as raised:
        GitHubRepository(client).evidence(check)
    assert raised.value.code == "ci_no_evidence"


def test_external_check_tells_of_itself(github: GitHubRepository) -> None:
    """A check of another service is known by its summary, or at least by where its details are."""
    assert github.evidence(replace(EXTERNAL, summary="\x1b[1m2 leaks\x1b[0m")).excerpt == "2 leaks"
    assert "https://ci.example/1" in github.evidence(replace(EXTERNAL, url="https://ci.example/1")).excerpt
    with pytest.raises(RunFailed) as raised:
        github.evidence(EXTERNAL)
    assert raised.value.code == "ci_no_evidence"
