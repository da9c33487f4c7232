"""REST: Actions' workflows, runs, jobs, logs and variables; runs started, approved, cancelled and run again."""

from __future__ import annotations

from bot.sandbox.ci import CiEvent
from bot.sandbox.ci.subscriptions import BadInputs, complete_inputs
from bot.sandbox.ci.values import as_text
from bot.sandbox.ci.workflow import Broken, Workflow, read_workflow
from bot.sandbox.github import checks, runs, views, views_actions
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import CheckRun, WorkflowRun
from bot.sandbox.github.storage import signed_address
from bot.sandbox.github.world import Refused, not_found


def _workflows(call: Call) -> Reply:
    return call.paged(
        runs.workflows(call.repository), views.many(views_actions.workflow, call.site, call.repository), "workflows"
    )


def _workflow(call: Call) -> Reply:
    known = runs.find_workflow(call.repository, call.names["workflow"])
    return Reply(200, views_actions.workflow(call.site, call.repository, known))


def _dispatch(call: Call) -> Reply:
    repo, ref = call.repository, call.text("ref").removeprefix("refs/heads/")
    sha = repo.git.branch(ref)
    if sha is None:
        raise Refused(422, f"No ref found for: {ref}")
    if not repo.actions_enabled:
        raise Refused(422, "Actions has been disabled for this repository.")
    workflow = _dispatched_workflow(call, sha)
    given = call.body.get("inputs") or {}
    if not isinstance(given, dict):
        raise Refused(422, "Invalid request.\n\nFor 'properties/inputs', the value is not an object.")
    try:
        inputs = complete_inputs(workflow.subscriptions.inputs, {str(key): as_text(one) for key, one in given.items()})
    except BadInputs as error:
        raise Refused(422, str(error)) from error
    name = workflow.path.rsplit("/", 1)[-1]
    event = CiEvent("workflow_dispatch", "", f"refs/heads/{ref}", sha, inputs=inputs, workflow=name)
    repo.start_ci(event, call.actor)
    return Reply(204)


def _dispatched_workflow(call: Call, sha: str) -> Workflow | Broken:
    """The workflow of the path at a commit. Raises `Refused`: 404 unless the default branch has it, 422 unless it can
    be dispatched."""
    repo, key = call.repository, call.names["workflow"]
    path = runs.find_workflow(repo, key).path if key.isdigit() else f".github/workflows/{key}"
    default = repo.git.branch(repo.default_branch)
    if default is None or repo.git.file(default, path) is None:
        raise not_found()
    content = repo.git.file(sha, path)
    workflow = read_workflow(path, content.decode(errors="replace")) if content is not None else None
    if workflow is None or "workflow_dispatch" not in (workflow.on or {}):
        raise Refused(422, "Workflow does not have 'workflow_dispatch' trigger")
    return workflow


def _repository_dispatch(call: Call) -> Reply:
    given = call.body.get("client_payload") or {}
    if not isinstance(given, dict):
        raise Refused(422, "Invalid request.\n\nFor 'properties/client_payload', the value is not an object.")
    call.repository.happened(call.actor, "repository_dispatch", call.text("event_type"), said=given)
    return Reply(204)


def _variable(call: Call) -> Reply:
    found = call.repository.variables.get(call.names["name"].upper())
    if found is None:
        raise not_found()
    return Reply(200, views_actions.variable(found))


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
    return call.paged(found, views.many(views_actions.workflow_run, call.site, call.repository), "workflow_runs")


def _find_run(call: Call) -> WorkflowRun:
    run = runs.find(call.repository, call.number("id"))
    return runs.find_attempt(call.repository, run.id, call.number("attempt")) if "attempt" in call.names else run


def _run(call: Call) -> Reply:
    return Reply(200, views_actions.workflow_run(call.site, call.repository, _find_run(call)))


def _jobs(call: Call) -> Reply:
    repo, run = call.repository, _find_run(call)
    found = runs.jobs(repo, run)
    if call.query.get("filter") == "all":
        found = [row for row in repo.checks.values() if row.run == run.id]
    return call.paged(found, views.many(views_actions.job, call.site, repo), "jobs")


def _rerun(call: Call) -> Reply:
    run = runs.find(call.repository, call.number("id"))
    return _run_again(call, run, {row.name for row in runs.jobs(call.repository, run)})


def _rerun_failed(call: Call) -> Reply:
    run = runs.find(call.repository, call.number("id"))
    return _run_again(call, run, runs.failed_names(call.repository, run))


def _rerun_job(call: Call) -> Reply:
    job = _find_job(call)
    return _run_again(call, runs.find(call.repository, job.run or 0), {job.name})


def _run_again(call: Call, run: WorkflowRun, names: set[str]) -> Reply:
    runs.rerun(call.repository, run, names, call.actor.login)
    return Reply(201, {})


def _cancel(call: Call) -> Reply:
    runs.cancel(call.repository, runs.find(call.repository, call.number("id")))
    return Reply(202, {})


def _approve(call: Call) -> Reply:
    run = runs.find(call.repository, call.number("id"))
    if run.approval == "job token":
        raise Refused(403, "This run is not from a fork pull request")
    runs.approve(call.repository, run)
    return Reply(201, {})


def _find_job(call: Call) -> CheckRun:
    check = checks.find(call.repository, call.number("id"))
    if check.run is None:
        raise not_found()
    return check


def _job(call: Call) -> Reply:
    return Reply(200, views_actions.job(call.site, call.repository, _find_job(call)))


def _logs(call: Call) -> Reply:
    job = _find_job(call)
    if job.log is None:
        raise not_found()
    return Reply(302, headers={"Location": signed_address(call.site.storage, call.world.signing_key, job.id)})


_ACTIONS = "/repos/{owner}/{repo}/actions"
_RUN = _ACTIONS + "/runs/{id}"
ROUTES = (
    Route("GET", _ACTIONS + "/workflows", _workflows, "actions"),
    Route("GET", _ACTIONS + "/workflows/{workflow}", _workflow, "actions"),
    Route("POST", _ACTIONS + "/workflows/{workflow}/dispatches", _dispatch, "actions", "write"),
    Route("GET", _ACTIONS + "/runs", _runs, "actions"),
    Route("GET", _RUN, _run, "actions"),
    Route("GET", _RUN + "/jobs", _jobs, "actions"),
    Route("GET", _RUN + "/attempts/{attempt}", _run, "actions"),
    Route("GET", _RUN + "/attempts/{attempt}/jobs", _jobs, "actions"),
    Route("POST", _RUN + "/approve", _approve, "actions", "write"),
    Route("POST", _RUN + "/cancel", _cancel, "actions", "write"),
    Route("POST", _RUN + "/rerun", _rerun, "actions", "write"),
    Route("POST", _RUN + "/rerun-failed-jobs", _rerun_failed, "actions", "write"),
    Route("GET", _ACTIONS + "/jobs/{id}", _job, "actions"),
    Route("GET", _ACTIONS + "/jobs/{id}/logs", _logs, "actions"),
    Route("POST", _ACTIONS + "/jobs/{id}/rerun", _rerun_job, "actions", "write"),
    Route("GET", _ACTIONS + "/variables/{name}", _variable, "actions_variables"),
    Route("POST", "/repos/{owner}/{repo}/dispatches", _repository_dispatch, "contents", "write"),
)
