"""CI as GitHub lists it."""

from __future__ import annotations

import pytest

from bot.ci.expectation import Expectation
from bot.ci.verdict import judge
from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.github.checks import Checks
from bot.github.client import Client
from bot.github.conditional import Reader
from bot.record import CheckState, CiState, CiVerdict
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from tests.github.conftest import NAME


@pytest.fixture
def head(widget: SandboxRepository) -> str:
    """A commit without any check."""
    return widget.commit("nightjar/issue-1", {"a.py": "x\n"}, "Work")


def look(client: Client, head: str, own_run: str = "") -> CiVerdict:
    """One look at CI, after the start window."""
    expectation = Expectation(expected=(".github/workflows/ci.yml",))
    return judge(Checks(Reader(client), own_run).observe(head), expectation, start_over=True)


def test_nothing(client: Client, head: str) -> None:
    """A commit without checks is told as that."""
    assert look(client, head).state is CiState.NEVER_STARTED


def test_failure_on_page_two(client: Client, widget: SandboxRepository, head: str) -> None:
    """Of 103 checks the one that failed is on the second page, and is found."""
    widget.set_check_run(head, "the red one", "failure", "ci.yml")
    for index in range(102):
        widget.set_check_run(head, f"check {index}", "success", "ci.yml")
    verdict = look(client, head)
    assert verdict.state is CiState.RED
    assert len(verdict.checks) == 103
    assert [check.name for check in verdict.failed] == ["the red one"]


def test_checks_only(client: Client, widget: SandboxRepository, head: str) -> None:
    """No commit status at all carries no information: green by check runs alone, with all that a reader needs."""
    number = widget.set_check_run(head, "build", "success", "ci.yml")
    verdict = look(client, head)
    assert verdict.state is CiState.GREEN
    (check,) = verdict.checks
    assert (check.name, check.app, check.workflow) == ("build", "github-actions", ".github/workflows/ci.yml")
    assert check.job_id == number
    assert check.url.startswith("http")


def test_statuses_only(client: Client, widget: SandboxRepository, head: str) -> None:
    """A repository that only publishes commit statuses is judged by them, the newest of each context."""
    widget.set_status(head, "ci/ext", "success")
    widget.set_status(head, "ci/ext", "failure", description="2 tests failed")
    verdict = look(client, head)
    assert verdict.state is CiState.RED
    (check,) = verdict.failed
    assert (check.name, check.conclusion, check.summary, check.job_id) == ("ci/ext", "failure", "2 tests failed", None)
    widget.set_status(head, "ci/ext", "success")
    assert look(client, head).state is CiState.GREEN


def test_both_systems(client: Client, widget: SandboxRepository, head: str) -> None:
    """Green checks wait for a pending status; a status that errs is red."""
    widget.set_check_run(head, "build", "success", "ci.yml")
    widget.set_status(head, "deploy", "pending")
    assert look(client, head).state is CiState.PENDING
    widget.set_status(head, "deploy", "success")
    assert look(client, head).state is CiState.GREEN
    widget.set_status(head, "deploy", "error")
    assert look(client, head).state is CiState.RED


def test_same_name_in_two_workflows(client: Client, widget: SandboxRepository, head: str) -> None:
    """Two workflows may own a job of one name: each counts, the newest row of each."""
    widget.set_check_run(head, "test", "failure", "ci.yml")
    widget.set_check_run(head, "test", "failure", "nightly.yml")
    widget.set_check_run(head, "test", "success", "ci.yml")
    verdict = look(client, head)
    assert [(check.workflow, check.state) for check in verdict.checks] == [
        (".github/workflows/ci.yml", CheckState.PASSED),
        (".github/workflows/nightly.yml", CheckState.FAILED),
    ]
    widget.set_check_run(head, "test", None, "nightly.yml")
    assert look(client, head).state is CiState.PENDING


def test_other_apps_check(client: Client, widget: SandboxRepository, head: str) -> None:
    """A check of an app of its own has no job and no workflow."""
    widget.set_app_check(head, "scan", "failure", "some-app")
    (check,) = look(client, head).failed
    assert (check.app, check.workflow, check.job_id) == ("some-app", "", None)


def test_own_run_is_no_ci(client: Client, widget: SandboxRepository, head: str) -> None:
    """The workflow run that this process works in never ends while it waits: it is left out."""
    widget.set_check_run(head, "nightjar", None, "nightjar.yml")
    widget.set_check_run(head, "build", "success", "ci.yml")
    runs = Checks(Reader(client)).observe(head).runs
    own = next(str(run.id) for run in runs if run.path.endswith("nightjar.yml"))
    assert look(client, head).state is CiState.PENDING
    verdict = look(client, head, own)
    assert verdict.state is CiState.GREEN
    assert [check.name for check in verdict.checks] == ["build"]


@pytest.mark.parametrize("scope", ["checks", "actions", "statuses"])
def test_token_that_may_not_read_ci(scope: str, hub: EmbeddedGitHub, head: str) -> None:
    """What cannot be read is named: it is not "no CI"."""
    granted = {name: "read" for name in ("checks", "actions", "statuses", "contents") if name != scope}
    client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("weak[bot]", "job", granted)), Clock(scale=2000))
    with pytest.raises(RunFailed, match="→ 403: Resource not accessible") as failed:
        look(client, head)
    client.close()
    assert failed.value.code == "github_denied"
