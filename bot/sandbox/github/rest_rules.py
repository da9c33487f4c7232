"""REST: what a branch asks for before a merge (protection and rulesets), and the repository's Actions settings.

Protection and settings need `administration`, which a job's own token cannot have, and the names of secrets a
permission of their own; the rules of a branch are readable to all who can read the repository, and leave protection
out.
"""

from __future__ import annotations

from bot.sandbox.github import pulls, views
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import Protection, Ruleset
from bot.sandbox.github.views import Json
from bot.sandbox.github.world import Refused, not_found


def _find(call: Call) -> Protection:
    name, repo = call.names["branch"], call.repository
    if repo.git.branch(name) is None:
        raise Refused(404, "Branch not found")
    if name not in repo.protections:
        raise Refused(404, "Branch not protected")
    return repo.protections[name]


def _url(call: Call) -> str:
    return f"{call.site.repo(call.repository)}/branches/{call.names['branch']}/protection"


def _status_checks(call: Call, protection: Protection) -> Json:
    url = f"{_url(call)}/required_status_checks"
    return {
        "url": url,
        "strict": protection.strict,
        "contexts": list(protection.checks),
        "contexts_url": f"{url}/contexts",
        "checks": [{"context": name, "app_id": None} for name in protection.checks],
    }


def _protection(call: Call) -> Reply:
    protection, url = _find(call), _url(call)
    off = ("required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations", "lock_branch")
    body: Json = {
        "url": url,
        "required_signatures": {"url": f"{url}/required_signatures", "enabled": False},
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": False},
        **{name: {"enabled": False} for name in (*off, "required_conversation_resolution", "allow_fork_syncing")},
    }
    if protection.checks:
        body["required_status_checks"] = _status_checks(call, protection)
    if protection.reviews:
        body["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": False,
            "require_code_owner_reviews": False,
            "require_last_push_approval": False,
            "required_approving_review_count": protection.reviews,
        }
    return Reply(200, body)


def _required_status_checks(call: Call) -> Reply:
    protection = _find(call)
    if not protection.checks:
        raise Refused(404, "Required status checks not enabled")
    return Reply(200, _status_checks(call, protection))


def _rules(call: Call) -> Reply:
    repo = call.repository

    def told(ruleset: Ruleset, rule: Json) -> Json:
        source = {"ruleset_source_type": "Repository", "ruleset_source": repo.full_name, "ruleset_id": ruleset.id}
        return rule | source

    found = [
        told(ruleset, rule) for ruleset in pulls.rulesets_for(repo, call.names["branch"]) for rule in _parts(ruleset)
    ]
    return call.paged(found, lambda rule: rule)


def _parts(ruleset: Ruleset) -> list[Json]:
    """The rules of a ruleset."""
    parts: list[Json] = [{"type": kind} for kind in ruleset.rules]
    if ruleset.checks:
        parameters = {
            "strict_required_status_checks_policy": ruleset.strict,
            "do_not_enforce_on_create": False,
            "required_status_checks": [{"context": name} for name in ruleset.checks],
        }
        parts.append({"type": "required_status_checks", "parameters": parameters})
    return parts


def _ruleset(call: Call, ruleset: Ruleset) -> Json:
    repo, made = call.repository, views.time(ruleset.created_at)
    return {
        "id": ruleset.id,
        "name": f"Rules for {ruleset.branch}",
        "target": "branch",
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": "active",
        "node_id": views.node_id("RRS", ruleset.id),
        "_links": {
            "self": {"href": f"{call.site.repo(repo)}/rulesets/{ruleset.id}"},
            "html": {"href": f"{call.site.page(repo)}/rules/{ruleset.id}"},
        },
        "created_at": made,
        "updated_at": made,
    }


def _rulesets(call: Call) -> Reply:
    return call.paged(call.repository.rulesets, lambda ruleset: _ruleset(call, ruleset))


def _one_ruleset(call: Call) -> Reply:
    for ruleset in call.repository.rulesets:
        if ruleset.id == call.number("id"):
            whole = {
                "current_user_can_bypass": ruleset.bypass,
                "conditions": {"ref_name": {"include": [f"refs/heads/{ruleset.branch}"], "exclude": []}},
                "rules": _parts(ruleset),
            }
            return Reply(200, _ruleset(call, ruleset) | whole)
    raise not_found()


def _actions(call: Call) -> Reply:
    policy = call.repository.actions_policy
    if not call.repository.actions_enabled:
        return Reply(200, {"enabled": False})
    body: Json = {"enabled": True, "allowed_actions": policy.allowed, "sha_pinning_required": policy.by_commit}
    if policy.allowed == "selected":
        body["selected_actions_url"] = f"{call.site.repo(call.repository)}/actions/permissions/selected-actions"
    return Reply(200, body)


def _selected_actions(call: Call) -> Reply:
    policy = call.repository.actions_policy
    if policy.allowed != "selected":
        raise Refused(409, "Conflict")
    patterns = list(policy.patterns)
    return Reply(200, {"github_owned_allowed": True, "verified_allowed": False, "patterns_allowed": patterns})


def _actions_tokens(call: Call) -> Reply:
    repo = call.repository
    return Reply(
        200,
        {
            "default_workflow_permissions": repo.actions_policy.default_permissions,
            "can_approve_pull_request_reviews": repo.actions_may_open_pulls,
        },
    )


def _secrets(call: Call) -> Reply:
    return _names(call, shared=False)


def _shared_secrets(call: Call) -> Reply:
    return _names(call, shared=True)


def _names(call: Call, *, shared: bool) -> Reply:
    found = [secret for secret in call.repository.secrets.values() if secret.shared is shared]
    return call.paged(
        found,
        lambda secret: {
            "name": secret.name,
            "created_at": views.time(secret.created_at),
            "updated_at": views.time(secret.created_at),
        },
        "secrets",
    )


_REPO = "/repos/{owner}/{repo}"
_PROTECTION = _REPO + "/branches/{branch*}/protection"
ROUTES = (
    Route("GET", _PROTECTION, _protection, "administration"),
    Route("GET", _PROTECTION + "/required_status_checks", _required_status_checks, "administration"),
    Route("GET", _REPO + "/rules/branches/{branch*}", _rules, "metadata"),
    Route("GET", _REPO + "/rulesets", _rulesets, "metadata"),
    Route("GET", _REPO + "/rulesets/{id}", _one_ruleset, "metadata"),
    Route("GET", _REPO + "/actions/permissions", _actions, "administration"),
    Route("GET", _REPO + "/actions/permissions/selected-actions", _selected_actions, "administration"),
    Route("GET", _REPO + "/actions/secrets", _secrets, "secrets"),
    Route("GET", _REPO + "/actions/organization-secrets", _shared_secrets, "secrets"),
    Route("GET", _REPO + "/actions/permissions/workflow", _actions_tokens, "administration"),
)
