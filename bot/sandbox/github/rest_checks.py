"""REST: check runs, commit statuses, and Actions' workflows, runs, jobs and logs."""

from __future__ import annotations

from bot.sandbox.ci import CiEvent
from bot.sandbox.github import checks, views, views_checks
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.rest_repository import resolve
from bot.sandbox.github.state import CheckRun, WorkflowRun
from bot.sandbox.github.storage import signed_address
from bot.sandbox.github.world import Refused, not_found


def _check_runs(call: Call) -> Reply:
    sha, query = resolve(call, call.names["ref"]), call.query
    found = [
        check
        for check in checks.on_commit(call.repository, sha, latest=query.get("filter", "latest") == "latest")
        if query.get("check_name", check.name) == check.name and query.get("status", check.status) == check.status
    ]
    return call.paged(found, views.many(views_checks.check_run, call.site, call.repository), "check_runs")


def _check_run(call: Call) -> Reply:
    return Reply(
        200, views_checks.check_run(call.site, call.repository, checks.find_check(call.repository, call.number("id")))
    )


def _annotations(call: Call) -> Reply:
    checks.find_check(call.repository, call.number("id"))
    return call.paged((), lambda row: row)


def _check_suites(call: Call) -> Reply:
    repo, sha = call.repository, resolve(call, call.names["ref"])
    suites: dict[int, list[CheckRun]] = {}
    for check in checks.on_commit(repo, sha):
        suites.setdefault(check.suite, []).append(check)
    tip = repo.git.commit(sha)
    return call.paged(
        suites.values(), lambda members: views_checks.check_suite(call.site, repo, members, tip), "check_suites"
    )


def _combined_status(call: Call) -> Reply:
    sha = resolve(call, call.names["ref"])
    return Reply(
        200, views_checks.combined_status(call.site, call.repository, sha, checks.statuses_on(call.repository, sha))
    )


def _statuses(call: Call) -> Reply:
    sha = resolve(call, call.names["ref"])
    return call.paged(
        checks.statuses_on(call.repository, sha, latest=False),
        views.many(views_checks.status, call.site, call.repository),
    )


def _create_status(call: Call) -> Reply:
    report = checks.StatusReport(
        call.text("state"),
        call.text("context", "default"),
        call.maybe_text("description"),
        call.maybe_text("target_url"),
    )
    sha = resolve(call, call.names["sha"])
    status = checks.add_status(call.repository, call.actor.login, sha, report)
    return Reply(201, views_checks.status(call.site, call.repository, status))


def _workflows(call: Call) -> Reply:
    return call.paged(
        checks.workflows(call.repository), views.many(views_checks.workflow, call.site, call.repository), "workflows"
    )


def _workflow(call: Call) -> Reply:
    known = checks.find_workflow(call.repository, call.names["workflow"])
    return Reply(200, views_checks.workflow(call.site, call.repository, known))


def _dispatch(call: Call) -> Reply:
    repo, ref = call.repository, call.text("ref").removeprefix("refs/heads/")
    sha = repo.git.branch(ref)
    if sha is None:
        raise Refused(422, f"No ref found for: {ref}")
    name = _workflow_file(call, sha)
    inputs = call.body.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise Refused(422, "Invalid request.\n\nFor 'properties/inputs', the value is not an object.")
    event = CiEvent(
        name="workflow_dispatch",
        action="",
        ref=f"refs/heads/{ref}",
        sha=sha,
        base="",
        before="",
        number=0,
        inputs={str(key): str(value) for key, value in inputs.items()},
        workflow=name,
    )
    repo.start_ci(event, call.actor.login)
    return Reply(204)


def _workflow_file(call: Call, sha: str) -> str:
    """The file name of the workflow of the path. Raises `Refused`: 404 unless the default branch has it, 422 unless
    it can be dispatched."""
    repo, key = call.repository, call.names["workflow"]
    path = checks.find_workflow(repo, key).path if key.isdigit() else f".github/workflows/{key}"
    default = repo.git.branch(repo.default_branch)
    if default is None or repo.git.file(default, path) is None:
        raise not_found()
    content = repo.git.file(sha, path)
    if content is None or b"workflow_dispatch" not in content:
        raise Refused(422, "Workflow does not have 'workflow_dispatch' trigger")
    return path.rsplit("/", 1)[-1]


def _runs(call: Call) -> Reply:
    query = call.query

    def asked(run: WorkflowRun) -> bool:
        return all(
            query.get(key, value) == value
            for key, value in (
                ("head_sha", run.sha),
                ("branch", run.branch),
                ("event", run.event),
                ("actor", run.actor),
            )
        ) and query.get("status", run.status) in (run.status, run.conclusion)

    found = [run for run in reversed(call.repository.runs.values()) if asked(run)]
    return call.paged(found, views.many(views_checks.workflow_run, call.site, call.repository), "workflow_runs")


def _run(call: Call) -> Reply:
    return Reply(
        200, views_checks.workflow_run(call.site, call.repository, checks.find_run(call.repository, call.number("id")))
    )


def _jobs(call: Call) -> Reply:
    repo, run = call.repository, checks.find_run(call.repository, call.number("id"))
    attempts = {call.number("attempt")} if "attempt" in call.names else {run.attempt}
    if call.query.get("filter") == "all":
        attempts = set(range(1, run.attempt + 1))
    found = [check for check in repo.checks.values() if check.run == run.id and check.attempt in attempts]
    return call.paged(found, views.many(views_checks.job, call.site, repo), "jobs")


def _find_job(call: Call) -> CheckRun:
    check = checks.find_check(call.repository, call.number("id"))
    if check.run is None:
        raise not_found()
    return check


def _job(call: Call) -> Reply:
    return Reply(200, views_checks.job(call.site, call.repository, _find_job(call)))


def _logs(call: Call) -> Reply:
    job = _find_job(call)
    if job.log is None:
        raise not_found()
    return Reply(302, headers={"Location": signed_address(call.site.storage, call.world.signing_key, job.id)})


_REPO = "/repos/{owner}/{repo}"
_ACTIONS = _REPO + "/actions"
ROUTES = (
    Route("GET", _REPO + "/commits/{ref*}/check-runs", _check_runs, "checks"),
    Route("GET", _REPO + "/commits/{ref*}/check-suites", _check_suites, "checks"),
    Route("GET", _REPO + "/commits/{ref*}/status", _combined_status, "statuses"),
    Route("GET", _REPO + "/commits/{ref*}/statuses", _statuses, "statuses"),
    Route("GET", _REPO + "/statuses/{ref}", _statuses, "statuses"),  # the older address, which PyGithub uses
    Route("POST", _REPO + "/statuses/{sha}", _create_status, "statuses", "write"),
    Route("GET", _REPO + "/check-runs/{id}", _check_run, "checks"),
    Route("GET", _REPO + "/check-runs/{id}/annotations", _annotations, "checks"),
    Route("GET", _ACTIONS + "/workflows", _workflows, "actions"),
    Route("GET", _ACTIONS + "/workflows/{workflow}", _workflow, "actions"),
    Route("POST", _ACTIONS + "/workflows/{workflow}/dispatches", _dispatch, "actions", "write"),
    Route("GET", _ACTIONS + "/runs", _runs, "actions"),
    Route("GET", _ACTIONS + "/runs/{id}", _run, "actions"),
    Route("GET", _ACTIONS + "/runs/{id}/jobs", _jobs, "actions"),
    Route("GET", _ACTIONS + "/runs/{id}/attempts/{attempt}/jobs", _jobs, "actions"),
    Route("GET", _ACTIONS + "/jobs/{id}", _job, "actions"),
    Route("GET", _ACTIONS + "/jobs/{id}/logs", _logs, "actions"),
)
