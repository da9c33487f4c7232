"""REST: check runs, check suites and commit statuses."""

from __future__ import annotations

from bot.sandbox.github import checks, views, views_checks
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.rest_repository import resolve


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
        200, views_checks.check_run(call.site, call.repository, checks.find(call.repository, call.number("id")))
    )


def _annotations(call: Call) -> Reply:
    check = checks.find(call.repository, call.number("id"))
    return call.paged(check.annotations, lambda item: views_checks.annotation(call.site, call.repository, check, item))


def _check_suites(call: Call) -> Reply:
    repo, sha, query = call.repository, resolve(call, call.names["ref"]), call.query
    found = [
        suite
        for suite in checks.suites_on(repo, sha)
        if query.get("app_id", "") in ("", str(views_checks.app_id(suite.app)))
    ]
    tip = repo.git.commit(sha)
    return call.paged(found, lambda suite: views_checks.check_suite(call.site, repo, suite, tip), "check_suites")


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
    call.repository.happened(call.actor, "status", number=status.id)
    return Reply(201, views_checks.status(call.site, call.repository, status))


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", _REPO + "/commits/{ref*}/check-runs", _check_runs, "checks"),
    Route("GET", _REPO + "/commits/{ref*}/check-suites", _check_suites, "checks"),
    Route("GET", _REPO + "/commits/{ref*}/status", _combined_status, "statuses"),
    Route("GET", _REPO + "/commits/{ref*}/statuses", _statuses, "statuses"),
    Route("GET", _REPO + "/statuses/{ref}", _statuses, "statuses"),  # the older address, which PyGithub uses
    Route("POST", _REPO + "/statuses/{sha}", _create_status, "statuses", "write"),
    Route("GET", _REPO + "/check-runs/{id}", _check_run, "checks"),
    Route("GET", _REPO + "/check-runs/{id}/annotations", _annotations, "checks"),
)
