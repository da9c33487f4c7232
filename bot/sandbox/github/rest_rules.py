"""REST: what a branch asks for before a merge (protection and rulesets), and the repository's Actions settings.

Protection and settings need `administration`, which a job's own token cannot have; the rules of a branch are readable
to all who can read the repository, and leave protection out.
"""

from __future__ import annotations

from bot.sandbox.github import pulls
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import Protection
from bot.sandbox.github.views import Json
from bot.sandbox.github.world import Refused


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
    return call.paged(
        pulls.rulesets_for(repo, call.names["branch"]),
        lambda rule: {
            "type": "required_status_checks",
            "parameters": {
                "strict_required_status_checks_policy": rule.strict,
                "do_not_enforce_on_create": False,
                "required_status_checks": [{"context": name} for name in rule.checks],
            },
            "ruleset_source_type": "Repository",
            "ruleset_source": repo.full_name,
            "ruleset_id": rule.id,
        },
    )


def _actions(call: Call) -> Reply:
    if not call.repository.actions_enabled:
        return Reply(200, {"enabled": False})
    return Reply(200, {"enabled": True, "allowed_actions": "all", "sha_pinning_required": False})


def _actions_tokens(call: Call) -> Reply:
    may_open = call.repository.actions_may_open_pulls
    return Reply(200, {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": may_open})


_REPO = "/repos/{owner}/{repo}"
_PROTECTION = _REPO + "/branches/{branch*}/protection"
ROUTES = (
    Route("GET", _PROTECTION, _protection, "administration"),
    Route("GET", _PROTECTION + "/required_status_checks", _required_status_checks, "administration"),
    Route("GET", _REPO + "/rules/branches/{branch*}", _rules, "metadata"),
    Route("GET", _REPO + "/actions/permissions", _actions, "administration"),
    Route("GET", _REPO + "/actions/permissions/workflow", _actions_tokens, "administration"),
)
