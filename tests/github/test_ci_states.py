"""What CI on a commit comes to, watched through GitHub's API: every state, and what leads to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from bot.ci.expectation import Pushed
from bot.ci.observation import CiObservation
from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.github.ci_source import GitHubCi
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.github.watch import Limits, Watch
from bot.record import CheckState, CiState, CiVerdict
from bot.sandbox.github import Annotation, EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.faults import Answer, Fault
from tests.github.conftest import NAME, SCALE

CI = "on: [push, pull_request, workflow_dispatch]\n"
DOCS = "on:\n  pull_request:\n    paths: ['docs/**']\n"
BRANCH = "nightjar/issue-1"
PATH = ".github/workflows/ci.yml"
Act = Callable[[], object]


class Scripted(GitHubCi):
    """CI that changes between two looks: before look number n, `acts[n]` happens."""

    acts: Mapping[int, Act]
    looks = 0

    def observe(self, head: str, *, glance: bool = False) -> CiObservation:
        """What is listed after the next act."""
        self.looks += 1
        self.acts.get(self.looks, lambda: None)()
        return super().observe(head, glance=glance)


class Scene:
    """A pushed commit with its pull request, and CI that is set by hand."""

    def __init__(self, hub: EmbeddedGitHub, widget: SandboxRepository, clock: Clock) -> None:
        """The repository has one workflow for everything."""
        self.hub, self.widget, self.clock = hub, widget, clock
        widget.commit("main", {PATH: CI}, "Add CI")
        self.head = widget.commit(BRANCH, {"a.py": "x\n"}, "Work")
        self.client = Client(hub.api_url, NAME, FixedToken(hub.issue_token("nightjar[bot]")), clock)
        self.lines: list[str] = []
        self.files: dict[str, str] = {PATH: CI}
        self.message = "Work"
        self.base_commit = ""
        self.pull_request = 0

    def use(self, login: str, kind: str = "app", permissions: Mapping[str, str] | None = None) -> None:
        """From now on a token of somebody else's."""
        self.client.close()
        token = self.hub.issue_token(login, kind, permissions)  # type: ignore[arg-type]
        self.client = Client(self.hub.api_url, NAME, FixedToken(token), self.clock)

    def open(self) -> int:
        """Open the pull request."""
        github = GitHubRepository(self.client)
        self.pull_request = github.open_pull_request(
            title="Work", body="", branch=BRANCH, base="main", draft=False
        ).number
        return self.pull_request

    def wait(
        self,
        *,
        acts: Mapping[int, Act] | None = None,
        start: float = 2,
        timeout: float = 60,
        dispatch: Sequence[str] = (),
        own_run: str = "",
    ) -> CiVerdict:
        """Watch CI on the head to its end; times in planned minutes."""
        source = Scripted(self.client, own_run, dispatch)
        source.acts = acts or {}
        pushed = Pushed(
            head=self.head,
            branch=BRANCH,
            base="main",
            pull_request=self.pull_request,
            files=self.files,
            paths=("a.py",),
            message=self.message,
            base_commit=self.base_commit,
        )
        return Watch(source, self.clock, Limits(start, timeout), self.lines.append).wait(pushed)

    def run(self, workflow: str = "ci.yml", conclusion: str | None = None) -> int:
        """A workflow run on the head."""
        return self.widget.add_run(self.head, workflow, conclusion)

    def green(self) -> None:
        """The workflow has passed."""
        self.widget.add_job(self.run(conclusion="success"), "build", "success")


@pytest.fixture
def scene(hub: EmbeddedGitHub, widget: SandboxRepository) -> Iterator[Scene]:
    """A planned minute takes 30 ms."""
    made = Scene(hub, widget, Clock(scale=SCALE))
    yield made
    made.client.close()


# -- starting


def test_nothing_is_unknown_until_something_starts(scene: Scene) -> None:
    """Zero checks at first are no verdict: what starts later is waited for, and its failure is one to repair."""
    known: list[int] = []

    def begin() -> None:
        known.append(scene.run())
        known.append(scene.widget.add_job(known[0], "test"))

    def fail() -> None:
        scene.widget.set_check(known[1], "failure", log="no\n")
        scene.widget.set_run(known[0], "failure")

    verdict = scene.wait(acts={4: begin, 8: fail}, start=100)
    assert verdict.state is CiState.RED
    assert [check.name for check in verdict.failed] == ["test"]
    assert scene.lines[0].endswith("nothing has started yet")


def test_no_ci_after_the_window_is_named(scene: Scene) -> None:
    """Workflows should have started and none has: neither success nor a failure to repair."""
    verdict = scene.wait()
    assert verdict.state is CiState.NEVER_STARTED
    assert verdict.checks == ()
    assert verdict.explanation == "did not start although it should have: `ci.yml`"


def test_paths_that_no_workflow_is_for(scene: Scene) -> None:
    """A change beside every workflow's paths is checked by nothing, and that is as it should be: it is said why."""
    scene.files = {
        ".github/workflows/docs.yml": DOCS,
        ".github/workflows/release.yml": "on:\n  push:\n    tags: ['v*']",
    }
    verdict = scene.wait()
    assert verdict.state is CiState.NONE_EXPECTED
    assert verdict.explanation == (
        "`docs.yml` starts for other paths only; `release.yml` does not start for pushes to `nightjar/issue-1`"
    )


def test_other_services_on_the_base_are_told(scene: Scene) -> None:
    """Where no workflow is for this change, the checks that the base branch has from elsewhere are named."""
    scene.base_commit = scene.widget.refs()["refs/heads/main"]
    scene.widget.set_status(scene.base_commit, "ci/ext", "success")
    scene.files = {}
    assert scene.wait().explanation.endswith("; on the base branch there is `ci/ext`")


def test_workflow_that_somebody_switched_off_is_not_expected(scene: Scene) -> None:
    """Green does not wait for a workflow that is disabled."""
    scene.files[".github/workflows/old.yml"] = CI
    row = {"path": ".github/workflows/old.yml", "state": "disabled_manually"}
    scene.hub.faults.add(Fault("GET", r"/actions/workflows\?", Answer(200, {"total_count": 1, "workflows": [row]})))
    scene.green()
    verdict = scene.wait()
    assert (verdict.state, verdict.explanation) == (CiState.GREEN, "")


@pytest.mark.parametrize("how", ["ruleset", "protection"])
def test_required_check_that_never_reports(how: str, scene: Scene) -> None:
    """A check behind a path filter that the base branch requires keeps the pull request from merging: it is named."""
    scene.files = {".github/workflows/docs.yml": DOCS}
    if how == "ruleset":
        scene.widget.require_checks("main", ["docs"])
    else:
        scene.widget.protect("main", checks=["docs"])
    verdict = scene.wait()
    assert verdict.state is CiState.NEVER_STARTED
    assert verdict.explanation == "required check never reported: `docs`"


def test_rules_that_cannot_be_read_are_no_error(scene: Scene) -> None:
    """Without a look at the branch's rules CI is judged by what ran."""
    scene.hub.faults.add(Fault("GET", "/rules/branches/", Answer(404), times=0))
    scene.hub.faults.add(Fault("GET", "/branches/main", Answer(403), times=0))
    scene.hub.faults.add(Fault("GET", r"/actions/workflows\?", Answer(403), times=0))
    scene.green()
    assert scene.wait().state is CiState.GREEN


# -- why nothing starts


def test_job_token_that_starts_nothing(scene: Scene) -> None:
    """A pull request by the job's own token meets no CI: said so."""
    scene.use("github-actions[bot]", "job")
    scene.open()
    verdict = scene.wait()
    assert verdict.state is CiState.NEVER_STARTED
    assert verdict.explanation.startswith("the pull request is by github-actions[bot]")


def test_actions_switched_off(scene: Scene) -> None:
    """A token that may know says that Actions is off; one that may not leaves the cause open."""
    scene.widget.enable_actions(False)
    scene.open()
    verdict = scene.wait()
    assert (verdict.state, verdict.explanation) == (
        CiState.NEVER_STARTED,
        "did not start although it should have: `ci.yml`",
    )
    permissions = dict.fromkeys(("checks", "actions", "statuses", "contents", "administration"), "read")
    scene.use("nightjar[bot]", "app", permissions)
    assert scene.wait().explanation.startswith("GitHub Actions is switched off for this repository")


def test_skip_marker_in_the_head_commit(scene: Scene) -> None:
    """A commit that asks GitHub to skip workflows is no change without CI."""
    scene.message = "Explain [skip ci] in README"
    verdict = scene.wait()
    assert verdict.state is CiState.NEVER_STARTED
    assert "skip marker" in verdict.explanation


def test_run_that_waits_for_approval(scene: Scene) -> None:
    """A held run has no job and no log: it is told with the address where somebody can approve it."""
    run = scene.run(conclusion="action_required")
    verdict = scene.wait()
    assert verdict.state is CiState.NEEDS_APPROVAL
    assert f"/actions/runs/{run}" in verdict.explanation
    assert verdict.failed == ()


def test_pull_request_that_conflicts_is_not_waited_for(scene: Scene) -> None:
    """GitHub starts nothing for a pull request in conflict: the wait ends long before the time for starting does."""
    scene.open()
    scene.widget.commit("main", {"a.py": "y\n"}, "The same file")
    verdict = scene.wait(start=1000, timeout=1000)
    assert verdict.state is CiState.SUPERSEDED
    assert verdict.explanation == "the pull request conflicts with `main`, so that GitHub starts no workflow for it"


def test_head_that_moved_is_not_waited_for(scene: Scene) -> None:
    """Somebody pushed to the branch: CI on the commit before says nothing any more."""
    scene.open()
    scene.widget.add_job(scene.run(), "test")
    newer = scene.widget.commit(BRANCH, {"b.py": "x\n"}, "More")
    verdict = scene.wait(timeout=1000)
    assert (verdict.state, verdict.explanation) == (CiState.SUPERSEDED, f"the pull request is at {newer[:10]} now")


def test_workflow_is_dispatched_and_watched(scene: Scene) -> None:
    """With `ci-dispatch` the workflow is started on the branch, once for each commit, and its run is waited for."""
    scene.files = {PATH: "on: workflow_dispatch\n"}
    verdict = scene.wait(acts={6: scene.green}, start=100, dispatch=["ci.yml"])
    assert verdict.state is CiState.GREEN
    asked = [request for request in scene.hub.requests if request.method == "POST"]
    assert [request.target.partition(NAME)[2] for request in asked] == ["/actions/workflows/ci.yml/dispatches"]
    scene.wait(dispatch=["ci.yml"])
    assert len([request for request in scene.hub.requests if request.method == "POST"]) == 1


def test_dispatch_that_is_refused(scene: Scene) -> None:
    """A workflow that GitHub will not start is named with GitHub's words."""
    verdict = scene.wait(dispatch=["missing.yml"])
    assert verdict.state is CiState.NEVER_STARTED
    assert verdict.explanation.startswith("`missing.yml` could not be dispatched: 404 Not Found")


# -- ends


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        ("success", CiState.GREEN),
        ("neutral", CiState.GREEN),
        ("skipped", CiState.GREEN),
        ("failure", CiState.RED),
        ("timed_out", CiState.RED),
        ("cancelled", CiState.INFRASTRUCTURE),
        ("startup_failure", CiState.INFRASTRUCTURE),
        ("action_required", CiState.NEEDS_APPROVAL),
        ("stale", CiState.TIMED_OUT),
        (None, CiState.TIMED_OUT),
    ],
)
def test_conclusion_beside_a_success(conclusion: str | None, expected: CiState, scene: Scene) -> None:
    """Every word for the end of a check means what GitHub means by it."""
    scene.green()
    scene.widget.set_app_check(scene.head, "odd", conclusion, "some-app")
    assert scene.wait(timeout=3).state is expected


@pytest.mark.parametrize("status", ["queued", "requested", "waiting", "pending", "in_progress"])
def test_unfinished_by_any_name(status: str, scene: Scene) -> None:
    """A workflow run that has not ended is waited for, whatever GitHub calls that."""
    run = scene.run()
    scene.widget.add_job(run, "build", "success")
    scene.widget.set_run(run, None, status=status)
    assert scene.wait(timeout=2).state is CiState.TIMED_OUT


def test_only_skipped_is_no_ci(scene: Scene) -> None:
    """When all jobs were skipped nothing checked the commit."""
    scene.widget.add_job(scene.run(conclusion="success"), "build", "skipped")
    verdict = scene.wait()
    assert (verdict.state, verdict.explanation) == (CiState.NONE_EXPECTED, "every check was skipped")


def test_workflow_that_could_not_start(scene: Scene) -> None:
    """A startup failure has no job and no log: no session is to invent a problem for it."""
    scene.run(conclusion="startup_failure")
    verdict = scene.wait()
    assert (verdict.state, verdict.explanation) == (CiState.INFRASTRUCTURE, "the workflow `ci` could not start")
    assert verdict.failed == ()


def test_cancelled_job_says_who_did_it(scene: Scene) -> None:
    """What GitHub noted on a cancelled job is told; it is not the code's failure."""
    job = scene.widget.add_job(scene.run(conclusion="cancelled"), "test", "cancelled")
    scene.widget.annotate(job, Annotation("failure", "The run was canceled by @dana."))
    verdict = scene.wait()
    assert verdict.state is CiState.INFRASTRUCTURE
    assert verdict.explanation == "`test` was cancelled: The run was canceled by @dana."


def test_lost_runner_is_no_failure_of_the_code(scene: Scene) -> None:
    """A job that failed with no steps and no log lost its runner: there is nothing to repair."""
    scene.widget.lose_runner(scene.run(conclusion="failure"), "test")
    verdict = scene.wait()
    assert verdict.state is CiState.INFRASTRUCTURE
    assert verdict.explanation.startswith("`test`: The hosted runner lost communication")
    assert verdict.failed == ()


def test_real_failure_beside_a_lost_runner_is_repaired(scene: Scene) -> None:
    """Only the job that says something about the code is among the failed."""
    run = scene.run(conclusion="failure")
    scene.widget.lose_runner(run, "slow")
    scene.widget.add_job(run, "test", "failure", log="no\n", steps=[("Run tests", "failure")])
    verdict = scene.wait()
    assert verdict.state is CiState.RED
    assert [check.name for check in verdict.failed] == ["test"]


@pytest.mark.parametrize("status", [403, 410])
def test_log_that_cannot_be_had_is_no_lost_runner(status: int, scene: Scene) -> None:
    """A log that expired, or that the token may not read, was there once: the failure stays a failure."""
    scene.widget.add_job(scene.run(conclusion="failure"), "test", "failure")
    scene.hub.faults.add(Fault("GET", "/logs", Answer(status), times=0))
    assert scene.wait().state is CiState.RED


# -- rows


def test_same_name_in_two_runs_and_two_workflows(scene: Scene) -> None:
    """The newest row of a workflow counts, and the other workflow's row of the same name counts by itself."""
    for workflow, conclusion in (("ci.yml", "failure"), ("nightly.yml", "failure"), ("ci.yml", "success")):
        run = scene.run(workflow, conclusion)
        scene.widget.add_job(run, "test", conclusion, log="x\n", steps=[("test", conclusion)])
    verdict = scene.wait()
    assert verdict.state is CiState.RED
    assert [check.workflow for check in verdict.failed] == [".github/workflows/nightly.yml"]


def test_second_run_takes_the_place_of_the_first(scene: Scene) -> None:
    """An old red row beside the new green one of the same workflow is history."""
    for conclusion in ("failure", "success"):
        scene.widget.add_job(scene.run(conclusion=conclusion), "test", conclusion, log="x\n")
    assert scene.wait().state is CiState.GREEN


def test_job_that_is_allowed_to_fail(scene: Scene) -> None:
    """Its run succeeded, so it is reported and not repaired; unless the base branch requires it."""
    run = scene.run(conclusion="success")
    scene.widget.add_job(run, "lint", "success")
    scene.widget.add_job(run, "nightly", "failure", log="no\n", steps=[("try", "failure")])
    scene.widget.require_checks("main", ["lint"])
    verdict = scene.wait()
    assert verdict.state is CiState.GREEN
    assert "allowed to fail" in next(check.summary for check in verdict.checks if check.name == "nightly")
    scene.widget.require_checks("main", ["nightly"])
    assert [check.name for check in scene.wait().failed] == ["nightly"]


def test_suite_that_never_starts_is_ignored(scene: Scene) -> None:
    """Some app's suite is queued without a check for hours: it is no CI."""
    scene.widget.add_suite(scene.head, "some-app")
    scene.green()
    assert scene.wait().state is CiState.GREEN


def test_job_that_registers_late(scene: Scene) -> None:
    """While the workflow run goes on its green jobs are no verdict: the dependent job appears, and fails."""
    run = scene.run()
    scene.widget.add_job(run, "build", "success")

    def late() -> None:
        scene.widget.add_job(run, "deploy", "failure", log="no\n")
        scene.widget.set_run(run, "failure")

    verdict = scene.wait(acts={6: late})
    assert [check.name for check in verdict.failed] == ["deploy"]


def test_workflow_that_starts_late(scene: Scene) -> None:
    """A second workflow that should run is waited for, although the first is green already."""
    scene.files[".github/workflows/slow.yml"] = CI

    def late() -> None:
        scene.widget.add_job(scene.run("slow.yml", "failure"), "slow", "failure", log="no\n")

    scene.green()
    assert scene.wait(acts={6: late}, start=100).state is CiState.RED


def test_row_that_is_stuck_after_its_run(scene: Scene) -> None:
    """A row that never ends although its run did is settled by the run, long before the time is over."""
    run = scene.run(conclusion="success")
    scene.widget.add_job(run, "build", "success")
    scene.widget.add_job(run, "stuck")
    verdict = scene.wait(timeout=10_000)
    assert verdict.state is CiState.GREEN
    assert next(check.summary for check in verdict.checks if check.name == "stuck").startswith("its workflow run is")


def test_statuses_alone(scene: Scene) -> None:
    """A repository without Actions is judged by its commit statuses; a pending one is waited for."""
    scene.files = {}

    def done() -> None:
        scene.widget.set_status(scene.head, "ci/ext", "failure", target_url="https://ci.example/1")

    scene.widget.set_status(scene.head, "ci/ext", "pending")
    verdict = scene.wait(acts={5: done})
    assert verdict.state is CiState.RED
    assert [(check.name, check.url) for check in verdict.failed] == [("ci/ext", "https://ci.example/1")]


def test_failure_on_the_second_page_is_found(scene: Scene) -> None:
    """Of 103 checks the red one is listed last."""
    scene.widget.set_app_check(scene.head, "the red one", "failure", "some-app")
    for index in range(102):
        scene.widget.set_app_check(scene.head, f"check {index}", "success", "some-app")
    scene.green()
    assert [check.name for check in scene.wait().failed] == ["the red one"]


def test_row_that_moves_between_pages_hides_no_other(scene: Scene) -> None:
    """When rows come twice because the pages shifted, some came not at all: the lists are read again."""
    scene.widget.set_app_check(scene.head, "the red one", "failure", "some-app")
    for index in range(102):
        scene.widget.set_app_check(scene.head, f"check {index}", "success", "some-app")
    scene.green()
    repository = scene.client.repository
    path = f"{repository.url}/commits/{scene.head}/check-runs?per_page=100&page=1"
    first = scene.client.ask("GET", lambda: repository.requester.requestJsonAndCheck("GET", path)[1]["check_runs"])
    shifted = Answer(200, {"total_count": 104, "check_runs": first[-4:]})
    scene.hub.faults.add(Fault("GET", "/check-runs.*page=2", shifted, times=3))
    assert [check.name for check in scene.wait().failed] == ["the red one"]


def test_short_page_is_read_again(scene: Scene) -> None:
    """A list that holds fewer rows than its count is no verdict: the next look decides."""
    run = scene.run(conclusion="failure")
    scene.widget.add_job(run, "build", "success")
    scene.widget.add_job(run, "test", "failure", log="no\n")
    short = Answer(200, {"total_count": 2, "check_runs": []})
    scene.hub.faults.add(Fault("GET", "/check-runs", short, times=2))
    verdict = scene.wait()
    assert [check.name for check in verdict.failed] == ["test"]


@pytest.mark.parametrize(
    ("scope", "needed"), [("checks", "checks: read"), ("actions", "actions: read"), ("statuses", "statuses: read")]
)
def test_token_that_may_not_read(scope: str, needed: str, scene: Scene) -> None:
    """The missing permission is named; that nothing can be read is not taken for no CI."""
    scene.green()
    granted = {name: "read" for name in ("checks", "actions", "statuses", "contents") if name != scope}
    scene.use("weak[bot]", "job", granted)
    verdict = scene.wait()
    assert verdict.state is CiState.UNREADABLE
    assert verdict.explanation.endswith(f"the token needs `{needed}`")


def test_answer_that_makes_no_sense_is_asked_for_again(scene: Scene) -> None:
    """A proxy's page instead of the list is no verdict, and is tried again."""
    scene.green()
    scene.hub.faults.add(Fault("GET", "/check-runs", Answer(200, "<html>"), times=2))
    assert scene.wait().state is CiState.GREEN
    scene.hub.faults.add(Fault("GET", "/actions/runs", Answer(502), times=0))
    with pytest.raises(RunFailed) as failed:
        scene.wait()
    assert failed.value.code == "github_unavailable"


def test_nothing_that_has_not_changed_is_paid_for(scene: Scene) -> None:
    """Looks at a CI that stands still are answered with 304, which GitHub does not count."""
    scene.widget.add_job(scene.run(), "slow")
    before, waits = len(scene.hub.requests), 0
    while len(asked := scene.hub.requests[before:]) <= 20:  # a busy machine takes more than one
        assert scene.wait(timeout=10).state is CiState.TIMED_OUT
        waits += 1
    assert sum(request.counted for request in asked) <= 8 * waits
    assert next(check.state for check in scene.wait(timeout=1).checks) is CheckState.RUNNING
