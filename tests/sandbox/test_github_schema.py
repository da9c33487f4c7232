"""Every answer of the embedded GitHub against GitHub's own published schema, and every route against GitHub's own
list of operations."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from ghapi.gh_spec import spec
from githubkit_schemas.v2026_03_10 import models
from pydantic import BaseModel, TypeAdapter

from bot.sandbox.github import Annotation, EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.server import ROUTES
from bot.sandbox.github.state import ActionsPolicy
from tests.sandbox.conftest import Caller

REPO = "/repos/acme/widget"


class Model(BaseModel):
    """A body that GitHub publishes only as part of an operation."""


class CheckRuns(Model):
    total_count: int
    check_runs: list[models.CheckRun]


class CheckSuites(Model):
    total_count: int
    check_suites: list[models.CheckSuite]


class Runs(Model):
    total_count: int
    workflow_runs: list[models.WorkflowRun]


class Jobs(Model):
    total_count: int
    jobs: list[models.Job]


class Workflows(Model):
    total_count: int
    workflows: list[models.Workflow]


class Secrets(Model):
    total_count: int
    secrets: list[models.ActionsSecret]


IssueEvents = (
    models.LabeledIssueEvent
    | models.UnlabeledIssueEvent
    | models.AssignedIssueEvent
    | models.RenamedIssueEvent
    | models.ReviewRequestedIssueEvent
    | models.IssueEvent
)
Timeline = (
    models.LabeledIssueEvent
    | models.UnlabeledIssueEvent
    | models.TimelineAssignedIssueEvent
    | models.RenamedIssueEvent
    | models.ReviewRequestedIssueEvent
    | models.StateChangeIssueEvent
    | models.TimelineCommentEvent
    | models.TimelineCrossReferencedEvent
    | models.TimelineCommittedEvent
    | models.TimelineReviewedEvent
)

# Request, body, and what GitHub says the answer is. {placeholders} are filled from the repository that the test makes.
ANSWERS: tuple[tuple[str, object, Any], ...] = (
    ("GET {repo}", None, models.FullRepository),
    ("GET {repo}/collaborators/alice/permission", None, models.RepositoryCollaboratorPermission),
    ("GET /users/alice", None, models.PublicUser),
    ("GET /user", None, models.PublicUser),
    ("GET {repo}/contents/README.md", None, models.ContentFile),
    ("GET {repo}/contents/", None, list[models.ContentDirectoryItems]),
    ("GET {repo}/branches/work", None, models.BranchWithProtection),
    ("GET {repo}/branches/main", None, models.BranchWithProtection),
    ("GET {repo}/compare/main...work", None, models.CommitComparison),
    ("GET {repo}/commits", None, list[models.Commit]),
    ("GET {repo}/commits/{sha}", None, models.Commit),
    ("GET {repo}/git/ref/heads/work", None, models.GitRef),
    ("GET {repo}/git/matching-refs/heads", None, list[models.GitRef]),
    ("POST {repo}/git/refs", {"ref": "refs/heads/new", "sha": "{sha}"}, models.GitRef),
    ("PATCH {repo}/git/refs/heads/new", {"sha": "{sha}"}, models.GitRef),
    ("GET {repo}/issues", None, list[models.Issue]),
    ("POST {repo}/issues", {"title": "T", "body": "B", "labels": ["bug"], "assignees": ["alice"]}, models.Issue),
    ("GET {repo}/issues/1", None, models.Issue),
    ("PATCH {repo}/issues/1", {"state": "closed", "title": "U", "assignees": ["alice"]}, models.Issue),
    ("GET {repo}/issues/1/labels", None, list[models.Label]),
    ("POST {repo}/issues/1/labels", {"labels": ["one"]}, list[models.Label]),
    ("PUT {repo}/issues/1/labels", ["one", "two"], list[models.Label]),
    ("DELETE {repo}/issues/1/labels/two", None, list[models.Label]),
    ("GET {repo}/labels", None, list[models.Label]),
    ("POST {repo}/labels", {"name": "n", "color": "112233", "description": "d"}, models.Label),
    ("GET {repo}/labels/n", None, models.Label),
    ("GET {repo}/issues/1/comments", None, list[models.IssueComment]),
    ("POST {repo}/issues/1/comments", {"body": "hello"}, models.IssueComment),
    ("GET {repo}/issues/comments/{comment}", None, models.IssueComment),
    ("PATCH {repo}/issues/comments/{comment}", {"body": "changed"}, models.IssueComment),
    ("POST {repo}/issues/1/reactions", {"content": "eyes"}, models.Reaction),
    ("GET {repo}/issues/1/reactions", None, list[models.Reaction]),
    ("POST {repo}/issues/comments/{comment}/reactions", {"content": "+1"}, models.Reaction),
    ("GET {repo}/issues/comments/{comment}/reactions", None, list[models.Reaction]),
    ("POST {repo}/pulls", {"title": "T", "body": "Closes #1", "head": "work", "base": "main"}, models.PullRequest),
    ("GET {repo}/pulls", None, list[models.PullRequestSimple]),
    ("GET {repo}/pulls/{pull}", None, models.PullRequest),
    ("PATCH {repo}/pulls/{pull}", {"title": "U"}, models.PullRequest),
    ("GET {repo}/pulls/{pull}/files", None, list[models.DiffEntry]),
    ("GET {repo}/pulls/{pull}/commits", None, list[models.Commit]),
    ("GET {repo}/pulls/{pull}/reviews", None, list[models.PullRequestReview]),
    ("GET {repo}/pulls/{pull}/reviews/{review}", None, models.PullRequestReview),
    ("GET {repo}/pulls/{pull}/reviews/{review}/comments", None, list[models.ReviewComment]),
    ("GET {repo}/pulls/{pull}/comments", None, list[models.PullRequestReviewComment]),
    ("POST {repo}/pulls/{pull}/requested_reviewers", {"reviewers": ["dana"]}, models.PullRequestSimple),
    ("GET {repo}/issues/{pull}", None, models.Issue),
    ("GET {repo}/commits/{sha}/check-runs", None, CheckRuns),
    ("GET {repo}/commits/{sha}/check-suites", None, CheckSuites),
    ("GET {repo}/check-runs/{check}", None, models.CheckRun),
    ("GET {repo}/check-runs/{check}/annotations", None, list[models.CheckAnnotation]),
    ("POST {repo}/statuses/{sha}", {"state": "success", "context": "lint"}, models.Status),
    ("GET {repo}/commits/{sha}/status", None, models.CombinedCommitStatus),
    ("GET {repo}/commits/{sha}/statuses", None, list[models.Status]),
    ("GET {repo}/statuses/{sha}", None, list[models.Status]),
    ("GET {repo}/actions/workflows", None, Workflows),
    ("GET {repo}/actions/workflows/ci.yml", None, models.Workflow),
    ("GET {repo}/actions/runs", None, Runs),
    ("GET {repo}/actions/runs/{run}", None, models.WorkflowRun),
    ("GET {repo}/actions/runs/{run}/jobs", None, Jobs),
    ("GET {repo}/actions/runs/{run}/attempts/1/jobs", None, Jobs),
    ("GET {repo}/actions/jobs/{check}", None, models.Job),
    ("GET {repo}/actions/runs/{run}/attempts/1", None, models.WorkflowRun),
    ("GET {repo}/actions/runs/{held}", None, models.WorkflowRun),
    ("POST {repo}/actions/runs/{held}/approve", None, models.EmptyObject),
    ("POST {repo}/actions/runs/{run}/rerun-failed-jobs", None, models.EmptyObject),
    ("GET {repo}/actions/runs/{run}", None, models.WorkflowRun),
    ("POST {repo}/actions/runs/{busy}/cancel", None, models.EmptyObject),
    ("GET {repo}/actions/variables/NIGHTJAR_PAUSED", None, models.ActionsVariable),
    ("GET {repo}/actions/permissions", None, models.ActionsRepositoryPermissions),
    ("GET {repo}/actions/permissions/workflow", None, models.ActionsGetDefaultWorkflowPermissions),
    ("GET {repo}/actions/permissions/selected-actions", None, models.SelectedActions),
    ("GET {repo}/actions/secrets", None, Secrets),
    ("GET {repo}/actions/organization-secrets", None, Secrets),
    ("GET {repo}/rulesets", None, list[models.RepositoryRuleset]),
    ("GET {repo}/rulesets/{ruleset}", None, models.RepositoryRuleset),
    ("GET {repo}/branches/release/protection", None, models.BranchProtection),
    ("GET {repo}/branches/release/protection/required_status_checks", None, models.StatusCheckPolicy),
    ("GET {repo}/rules/branches/release", None, list[models.RepositoryRuleDetailedOneof8]),
    (
        "GET {repo}/rules/branches/work",
        None,
        list[models.RepositoryRuleDetailedOneof6 | models.RepositoryRuleDetailedOneof9],
    ),
    ("GET {repo}/issues/1/events", None, list[IssueEvents]),
    ("GET {repo}/issues/1/timeline", None, list[Timeline]),
    ("GET {repo}/issues/{pull}/timeline", None, list[Timeline]),
    ("PUT {repo}/pulls/{pull}/merge", {"merge_method": "squash"}, models.PullRequestMergeResult),
    ("GET {repo}/pulls/{pull}", None, models.PullRequest),
    ("GET {repo}/issues/99", None, models.BasicError),
    ("POST {repo}/labels", {"name": "n"}, models.ValidationError),
)
# These answer without a body (or, the logs, elsewhere; or with HTML).
BODILESS = {
    "DELETE /repos/{owner}/{repo}/git/refs/{ref}",
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment}",
    "POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches",
    "POST /repos/{owner}/{repo}/dispatches",
    "GET /repos/{owner}/{repo}/actions/jobs/{id}/logs",
    "POST /markdown",
}
# These answer as one of the others does, and would only change what it is asked about.
SAME = {
    "POST /repos/{owner}/{repo}/actions/runs/{id}/rerun",
    "POST /repos/{owner}/{repo}/actions/jobs/{id}/rerun",
}


# GitHub still answers at these older addresses, but documents them no more.
UNDOCUMENTED = {("GET", "/repos/{owner}/{repo}/statuses/{ref}")}


@pytest.fixture
def call(hub: EmbeddedGitHub) -> Caller:
    """Plain HTTP as somebody who may do everything."""
    return Caller(hub, hub.issue_token("alice", "pat"))


def _unknown_keys(sent: Any, understood: Any, where: str = "") -> list[str]:
    """Where `sent` has a key that the schema, as it read `sent`, lacks."""
    if isinstance(sent, dict) and isinstance(understood, BaseModel):
        names = {field.alias or name: name for name, field in type(understood).model_fields.items()}
        if type(understood).model_config.get("extra") == "allow":
            return []
        missing = [f"{where}.{key}" for key in sent if key not in names]
        known = [key for key in sent if key in names]
        return missing + [
            path
            for key in known
            for path in _unknown_keys(sent[key], getattr(understood, names[key]), f"{where}.{key}")
        ]
    if isinstance(sent, list) and isinstance(understood, list):
        pairs = enumerate(zip(sent, understood, strict=True))
        return [path for count, pair in pairs for path in _unknown_keys(*pair, f"{where}[{count}]")]
    return []


def _check(answer: Any, schema: Any) -> list[str]:
    return _unknown_keys(answer, TypeAdapter(schema).validate_python(answer))


def test_every_answer_is_what_github_publishes(hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller) -> None:
    """Each route's answer validates against GitHub's model for it and holds no key that the model lacks."""
    number = repo.open_issue("Broken", "It is.", labels=["bug"])
    repo.protect("main")
    repo.commit("release", {"a": "b"}, "Release")
    repo.protect("release", checks=["test"], reviews=1, up_to_date=True)
    repo.require_checks("release", ["lint"])
    repo.add_rules("work*", "required_signatures", "non_fast_forward")
    repo.set_actions_policy(ActionsPolicy("selected", ("acme/nightjar@*",)))
    repo.name_secret("DEPLOY_KEY")
    repo.name_secret("ANTHROPIC_API_KEY", shared=True)
    repo.set_permission("dana", "read")
    sha = repo.commit("work", {"app.py": "one\n", "new.py": "new\n", "README.md": None}, "Change", author="alice")
    comment = repo.comment(number, "hello", "dana")
    check = repo.set_check_run(sha, "test", "failure", workflow="ci.yml", log="no\n")
    repo.annotate(check, Annotation("failure", "no", "app.py", 2, 3, "Broken"), Annotation("warning", "perhaps"))
    repo.add_suite(sha, "linter")
    names: dict[str, object] = {"repo": REPO, "sha": sha, "comment": comment, "check": check, "pull": 0, "run": 0}
    names["busy"] = repo.add_run(sha, "busy.yml")
    repo.set_variable("NIGHTJAR_PAUSED", "true")
    names["held"] = repo.add_run(sha, "held.yml", "action_required", event="pull_request")
    names["ruleset"] = call.get(f"{REPO}/rulesets")[-1]["id"]
    names["run"] = call.get(f"{REPO}/actions/runs")["workflow_runs"][-1]["id"]
    covered = set()
    for line, body, schema in ANSWERS:
        method, path = line.split(" ", 1)
        path = path.format(**names)
        sent = json.loads(json.dumps(body).replace("{sha}", sha))
        got = call(method, path, sent)
        status, answer = got.status, got.body
        if "pull" in line and method == "POST" and path.endswith("/pulls"):
            names["pull"] = answer["number"]
            remarks = [("app.py", 1, "Why?")]
            names["review"] = repo.review(answer["number"], "dana", "COMMENTED", "Looks fine.", remarks)
        refused = schema in (models.BasicError, models.ValidationError)
        assert (status >= 400) == refused, (line, status, answer)
        assert _check(answer, schema) == [], line
        covered |= {
            f"{route.method} {route.pattern}"
            for route in ROUTES
            if route.method == method and route.match(path) is not None
        }
    routes = {f"{route.method} {route.pattern}".replace("*}", "}") for route in ROUTES}
    assert routes - {name.replace("*}", "}") for name in covered} == BODILESS | SAME


def test_the_labelled_event_is_what_github_publishes(repo: SandboxRepository) -> None:
    """The payload validates against GitHub's model of the `issues` webhook and holds no key that it lacks."""
    number = repo.open_issue("Broken", "It is.", labels=["bug"])
    assert _check(repo.label_issue(number, "nightjar", actor="alice"), models.WebhookIssuesLabeled) == []


def test_every_route_is_one_of_githubs() -> None:
    """Each method and path is an operation that GitHub documents."""

    def shape(path: str) -> str:
        return re.sub(r"\{\w+\*?\}", "{}", path)

    operations: Any = spec["ops"]
    known = {(operation["verb"].upper(), shape(operation["path"])) for operation in operations}
    unknown = {(route.method, route.pattern) for route in ROUTES if (route.method, shape(route.pattern)) not in known}
    assert unknown == UNDOCUMENTED
