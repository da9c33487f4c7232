"""What a branch asks for before a merge, as GitHub's API tells it, and what it makes of a pull request's state."""

from __future__ import annotations

import pytest
from github.Repository import Repository

from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.state import ActionsPolicy
from tests.sandbox.conftest import Caller

REPO = "/repos/acme/widget"


@pytest.fixture
def owner(hub: EmbeddedGitHub) -> Caller:
    """Plain HTTP as the repository's owner."""
    return Caller(hub, hub.issue_token("acme", kind="pat"))


def test_protection_is_for_administrators(
    hub: EmbeddedGitHub, repo: SandboxRepository, call: Caller, owner: Caller
) -> None:
    """The owner reads what is required; a token without administration gets 403, and the branch itself tells it too."""
    repo.protect("main", checks=["build", "test"], reviews=1, up_to_date=True)
    path = f"{REPO}/branches/main/protection"
    required = owner.get(f"{path}/required_status_checks")
    assert (required["strict"], required["contexts"]) == (True, ["build", "test"])
    whole = owner.get(path)
    assert whole["required_status_checks"] == required
    assert whole["required_pull_request_reviews"]["required_approving_review_count"] == 1
    for refused in (call("GET", path), call("GET", f"{path}/required_status_checks")):
        assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
    shown = call.get(f"{REPO}/branches/main")["protection"]["required_status_checks"]
    assert shown["contexts"] == ["build", "test"]


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ("none/such", "Branch not found"),
        ("main", "Branch not protected"),
        ("safe", "Required status checks not enabled"),
    ],
)
def test_where_nothing_is_required_the_answer_says_why(
    repo: SandboxRepository, owner: Caller, branch: str, message: str
) -> None:
    """No branch, no protection and no required checks are three kinds of 404."""
    repo.commit("safe", {"a": "b"}, "Add")
    repo.protect("safe")
    got = owner("GET", f"{REPO}/branches/{branch}/protection/required_status_checks")
    assert (got.status, got.body["message"]) == (404, message)


def test_the_rules_of_a_branch_are_for_everybody(repo: SandboxRepository, call: Caller) -> None:
    """Rulesets are listed for the branch they hold for; protection is not among them."""
    repo.protect("main", checks=["build"])
    assert call.get(f"{REPO}/rules/branches/main") == []
    repo.require_checks("main", ["test", "lint"], up_to_date=True)
    (rule,) = call.get(f"{REPO}/rules/branches/main")
    assert rule["type"] == "required_status_checks"
    assert rule["parameters"]["strict_required_status_checks_policy"]
    assert [one["context"] for one in rule["parameters"]["required_status_checks"]] == ["test", "lint"]
    assert call.get(f"{REPO}/rules/branches/other") == []


def test_the_state_of_a_pull_request_follows_the_facts(repo: SandboxRepository, remote: Repository) -> None:
    """Blocked until what is required has passed, behind until it has the base's tip, unstable while something else is
    red, clean, and dirty once it conflicts."""
    sha = repo.commit("work", {"app.py": "one\n2\nthree\n"}, "Fix")
    repo.require_checks("main", ["test"], up_to_date=True)
    number = remote.create_pull(title="T", body="", head="work", base="main").number

    def state() -> str:
        return [remote.get_pull(number).mergeable_state for _ in range(2)][-1]

    seen = [state()]
    repo.set_check_run(sha, "test", "success", workflow="ci.yml")
    repo.set_app_check(sha, "extra", "failure", "linter")
    seen.append(state())
    repo.set_app_check(sha, "extra", "success", "linter")
    seen.append(state())
    repo.commit("main", {"other.txt": "new\n"}, "Elsewhere")
    seen.append(state())
    repo.commit("main", {"app.py": "one\nTWO\nthree\n"}, "Same line")
    seen.append(state())
    assert seen == ["blocked", "unstable", "clean", "behind", "dirty"]


def test_rules_hold_for_the_branches_of_their_pattern(repo: SandboxRepository, call: Caller) -> None:
    """A ruleset with a pattern is told for each branch that it matches, there or not, and to who asks whether they may
    pass it by."""
    repo.add_rules("nightjar/**", "required_signatures", "creation", bypass="always")
    rules = call.get(f"{REPO}/rules/branches/nightjar/issue-1")
    assert [rule["type"] for rule in rules] == ["required_signatures", "creation"]
    assert call.get(f"{REPO}/rules/branches/main") == []
    (listed,) = call.get(f"{REPO}/rulesets")
    assert listed["id"] == rules[0]["ruleset_id"]
    assert call.get(f"{REPO}/rulesets/{listed['id']}")["current_user_can_bypass"] == "always"
    assert call("GET", f"{REPO}/rulesets/1").status == 404


def test_names_of_secrets_are_for_who_may_read_them(
    repo: SandboxRepository, call: Caller, owner: Caller, hub: EmbeddedGitHub
) -> None:
    """The owner gets the names, the organisation's apart; a Run's token gets 403."""
    repo.name_secret("anthropic_api_key")
    repo.name_secret("NPM_TOKEN", shared=True)
    assert [row["name"] for row in owner.get(f"{REPO}/actions/secrets")["secrets"]] == ["ANTHROPIC_API_KEY"]
    assert [row["name"] for row in owner.get(f"{REPO}/actions/organization-secrets")["secrets"]] == ["NPM_TOKEN"]
    assert call("GET", f"{REPO}/actions/secrets").status == 403
    reader = Caller(hub, hub.issue_token("alice", "pat", {"secrets": "read"}))
    assert reader("GET", f"{REPO}/actions/secrets").status == 200


def test_scopes_are_told_of_older_tokens_only(repo: SandboxRepository, call: Caller, owner: Caller) -> None:
    """A person's token of the older kind gets its scopes with each answer, an App's none."""
    assert owner("GET", REPO).headers["x-oauth-scopes"] == "repo, workflow"
    assert "x-oauth-scopes" not in call("GET", REPO).headers


def test_the_actions_policy_is_told(repo: SandboxRepository, owner: Caller) -> None:
    """Which actions may be used, and what a token may do by default; the list only where there is one."""
    selected = f"{REPO}/actions/permissions/selected-actions"
    assert owner("GET", selected).status == 409
    repo.set_actions_policy(ActionsPolicy("selected", ("acme/nightjar@*",), True, "write"))
    told = owner.get(f"{REPO}/actions/permissions")
    assert (told["allowed_actions"], told["sha_pinning_required"]) == ("selected", True)
    assert owner.get(selected)["patterns_allowed"] == ["acme/nightjar@*"]
    assert owner.get(f"{REPO}/actions/permissions/workflow")["default_workflow_permissions"] == "write"


def test_the_settings_for_tokens_are_told(repo: SandboxRepository, owner: Caller) -> None:
    """Whether Actions may open pull requests can be read by who administers the repository."""
    path = f"{REPO}/actions/permissions/workflow"
    assert owner.get(path)["can_approve_pull_request_reviews"]
    repo.allow_actions_to_open_pull_requests(False)
    assert not owner.get(path)["can_approve_pull_request_reviews"]
    assert owner.get(f"{REPO}/actions/permissions")["enabled"]
