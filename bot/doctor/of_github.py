"""The repository's settings on GitHub: Actions, rules, labels, and whether CI will start. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase

from bot.doctor.facts import ActionsPolicy, Facts, Hub, JobTokens, Rule, Unknown
from bot.doctor.of_files import files_of, listed
from bot.doctor.of_token import has_own_token, is_readable, page_of, why_not
from bot.doctor.shipped import action_of, is_by_commit
from bot.doctor.words import Finding, Level, say, unknown
from bot.init.files import WORKFLOW

_REFUSING = frozenset(
    {
        *("creation", "update", "pull_request", "required_signatures", "required_linear_history", "merge_queue"),
        *("required_status_checks", "required_deployments", "workflows", "code_scanning"),
    }
)
"""Rules that no push of a Run's gets past: its commits are unsigned, merges among them, and new."""
_PICKY = frozenset(
    {
        *("commit_message_pattern", "commit_author_email_pattern", "committer_email_pattern", "branch_name_pattern"),
        *("file_path_restriction", "file_extension_restriction", "max_file_size", "max_file_path_length"),
    }
)
_ASKING = ("pull_request", "merge_queue", "update", "required_deployments")
"""Rules by which a merge waits for people or for a queue."""


def actions(facts: Facts) -> Finding:
    """Whether workflows run, and whether Nightjar's action may be used in them."""
    if not isinstance(facts.hub, Hub):
        return unknown("actions", why_not(facts))
    policy, page = facts.hub.actions, facts.hub.page
    if isinstance(policy, Unknown):
        return unknown("actions", policy.why)
    whole = action_of(facts.files.workflow or "") if is_readable(facts) else ""
    action = whole.partition("@")[0] or "acme/nightjar"
    if not policy.enabled:
        return say("actions.off", page=page)
    if policy.by_commit and whole and not is_by_commit(whole):
        return say("actions.pinned", action=action, file=WORKFLOW)
    return _allowed(policy, action, whole, page)


def _allowed(policy: ActionsPolicy, action: str, whole: str, page: str) -> Finding:
    owner = action.partition("/")[0].lower()
    is_own = f"/{owner}/" in f"{page.lower()}/"
    if policy.allowed == "local_only" and not is_own:
        return say("actions.local", action=action, page=page)
    if policy.allowed == "selected" and not is_own:
        names = (whole or f"{action}@v1").lower()
        if not any(fnmatchcase(names, pattern.lower()) for pattern in policy.patterns):
            return say("actions.selected", action=action, page=page)
    return say("actions.on", action=action)


def pull_requests(facts: Facts) -> Finding:
    """Whether the token that Runs have may open pull requests."""
    with_own = has_own_token(facts)
    if with_own is True:
        return say("pull-requests.own")
    settings = facts.hub.job_tokens if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    match settings:
        case Unknown(why):
            return unknown("pull-requests", why)
        case JobTokens(_, True):
            return say("pull-requests.allowed")
    worse = Level.WARNING if isinstance(with_own, Unknown) else None
    return say("pull-requests.forbidden", worse, page=page_of(facts))


def job_tokens(facts: Facts) -> Finding:
    """What the tokens of all jobs may do by default."""
    settings = facts.hub.job_tokens if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    if isinstance(settings, Unknown):
        return unknown("job-tokens", settings.why)
    return say("job-tokens.write" if settings.default == "write" else "job-tokens.read", page=page_of(facts))


def ci(facts: Facts) -> Finding:
    """Whether CI starts for what Runs push."""
    files = facts.files
    if files.unread:
        return unknown("ci", files.unread)
    dispatched = files.config.ci_dispatch
    refusing = [name for name in dispatched if name.rpartition("/")[2] not in files.dispatchable]
    if refusing:
        return say("ci.not-dispatchable", names=listed(refusing, "and"))
    if files.ci.unreadable:
        return say("ci.unreadable", why="; ".join(files.ci.unreadable))
    if dispatched:
        return say("ci.dispatched", names=listed(dispatched, "and"))
    if not files.ci.workflows:
        return say("ci.none")
    own = has_own_token(facts)
    if isinstance(own, Unknown):
        return unknown("ci", own.why)
    names = files_of(files.ci.workflows)
    if own:
        return say("ci.starts", names=names)
    startable = [workflow.file for workflow in files.ci.workflows if workflow.dispatchable]
    dispatch = f"; or set `ci-dispatch: {', '.join(startable)}`" if startable else ""
    public = isinstance(facts.hub, Hub) and facts.hub.is_public_github
    return say("ci.waits" if public else "ci.nothing", names=names, dispatch=dispatch, page=page_of(facts))


def issue_branch(facts: Facts) -> Finding:
    """Rules that keep Runs from pushing."""
    prefix = facts.files.config.branch_prefix
    branch = f"{prefix}issue-1"
    if isinstance(facts.hub, Hub) and facts.hub.is_archived:
        return say("issue-branch.archived", page=facts.hub.page)
    rules = facts.hub.work_rules if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    if isinstance(rules, Unknown):
        return unknown("issue-branch", rules.why)
    blocking, picky = ([rule for rule in rules if rule.kind in kinds] for kinds in (_REFUSING, _PICKY))
    found = blocking or picky
    if not found:
        return say("issue-branch.free", branch=branch)
    names = _kinds(found)
    if facts.in_job and all(rule.bypassed for rule in (*blocking, *picky)):
        return say("issue-branch.bypassed", rules=names, branch=branch)
    key = "issue-branch.blocked" if blocking else "issue-branch.pattern"
    return say(key, rules=names, branch=branch, prefix=prefix, page=page_of(facts))


def base_branch(facts: Facts) -> Finding:
    """The branch that pull requests go to, and whether it takes the merges that the settings ask for."""
    if not isinstance(facts.hub, Hub):
        return unknown("base-branch", why_not(facts))
    hub, merge = facts.hub, facts.files.config.merge
    base = facts.files.config.base_branch or hub.default_branch
    if hub.base_exists is False:
        return say("base-branch.missing", base=base)
    if isinstance(hub.base_exists, Unknown):
        return unknown("base-branch", hub.base_exists.why)
    if merge == "never":
        return say("base-branch.free", base=base, merge=", and people merge them")
    if isinstance(hub.base_rules, Unknown):
        return unknown("base-branch", hub.base_rules.why)
    rules = [rule for rule in hub.base_rules if not (facts.in_job and rule.bypassed)]
    refusing = {"required_linear_history", "required_signatures"} if merge == "merge" else set()
    if found := [rule for rule in rules if rule.kind in refusing]:
        return say("base-branch.refuses", rules=_kinds(found), base=base, merge=merge, other="squash", page=hub.page)
    if found := [rule for rule in rules if rule.kind in _ASKING]:
        return say("base-branch.waits", rules=_kinds(found), base=base, merge=merge)
    return say("base-branch.free", base=base, merge=f", by `merge: {merge}`")


def labels(facts: Facts) -> Finding:
    """The labels that ask for a Run; the others are made when they are needed."""
    asking = facts.files.config.asking
    if isinstance(facts.hub, Hub) and not facts.hub.has_issues:
        return say("labels.off", page=facts.hub.page)
    there = facts.hub.labels if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    if isinstance(there, Unknown):
        return unknown("labels", there.why)
    if asking.asked not in there:
        return say("labels.missing", label=asking.asked, page=page_of(facts))
    if absent := [label for label in asking.profiles if label not in there]:
        return say("labels.profiles", label=listed(absent), page=page_of(facts))
    missing = "" if there & set(asking.states) else "; Runs make the others when they need them"
    return say("labels.there", label=listed([asking.asked, *asking.profiles], "and"), missing=missing)


def paused(facts: Facts) -> Finding:
    """The variable that stops all new spend."""
    state = facts.hub.paused if isinstance(facts.hub, Hub) else Unknown(why_not(facts))
    state = facts.files.config.paused if facts.in_job else state  # the workflow has handed it over
    if isinstance(state, Unknown):
        return unknown("paused", state.why)
    return say("paused.yes" if state else "paused.no", page=page_of(facts))


def _kinds(rules: list[Rule]) -> str:
    return "the rule " + listed(dict.fromkeys(rule.kind for rule in rules), "and")
