"""REST: issues, their labels, comments and reactions (for pull requests too, as on GitHub)."""

from __future__ import annotations

from bot.sandbox.github import attachments, issues, views, views_issues
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.state import Issue
from bot.sandbox.github.world import invalid


def _list(call: Call) -> Reply:
    repo, query = call.repository, call.query
    wanted = {name.lower() for name in query.get("labels", "").split(",") if name}
    state = query.get("state", "open")

    def asked(issue: Issue) -> bool:
        return (
            state in ("all", issue.state)
            and wanted <= {name.lower() for name in issue.labels}
            and query.get("creator", issue.author) == issue.author
        )

    found = [issue for issue in repo.issues.values() if asked(issue)]
    found.sort(key=lambda issue: issue.number, reverse=query.get("direction", "desc") == "desc")
    return call.paged(found, views.many(views_issues.issue, call.site, repo))


def _get(call: Call) -> Reply:
    issue = issues.find(call.repository, call.number())
    body = views_issues.issue(call.site, call.repository, issue)
    if attachments.wants_html(call.headers):
        body["body_html"] = attachments.rendered(call.site, call.repository, issue.body or "")
        body["body_text"] = issue.body
    return Reply(200, body)


def _create(call: Call) -> Reply:
    repo, actor = call.repository, call.actor.login
    issue = issues.open_issue(repo, actor, call.text("title"), call.maybe_text("body"))
    issues.add_labels(repo, actor, issue.number, call.texts("labels") or ())
    issue = issues.set_assignees(repo, actor, issue.number, call.texts("assignees") or ())
    return Reply(201, views_issues.issue(call.site, repo, issue))


def _edit(call: Call) -> Reply:
    repo, actor, number = call.repository, call.actor.login, call.number()
    issues.edit(repo, actor, number, title=call.maybe_text("title"), body=call.maybe_text("body"))
    if (labels := call.texts("labels")) is not None:
        issues.replace_labels(repo, actor, number, labels)
    if (assignees := call.texts("assignees")) is not None:
        issues.set_assignees(repo, actor, number, assignees)
    set_state(call, number)
    return _get(call)


def set_state(call: Call, number: int) -> None:
    """Close or reopen as the body's `state` says. Raises `Refused` (422) for another state."""
    state = call.maybe_text("state")
    if state in ("open", "closed"):
        reason = call.maybe_text("state_reason")
        issues.set_state(call.repository, call.actor.login, number, "open" if state == "open" else "closed", reason)
    elif state is not None:
        raise invalid("Issue", "state", "invalid")


def _labels(call: Call, issue: Issue) -> Reply:
    repo = call.repository
    return call.paged(
        (repo.labels[name.lower()] for name in issue.labels), views.many(views_issues.label, call.site, repo)
    )


def _list_labels(call: Call) -> Reply:
    return _labels(call, issues.find(call.repository, call.number()))


def _add_labels(call: Call) -> Reply:
    return _labels(
        call, issues.add_labels(call.repository, call.actor.login, call.number(), call.texts("labels") or ())
    )


def _set_labels(call: Call) -> Reply:
    return _labels(
        call, issues.replace_labels(call.repository, call.actor.login, call.number(), call.texts("labels") or ())
    )


def _remove_label(call: Call) -> Reply:
    return _labels(call, issues.remove_label(call.repository, call.actor.login, call.number(), call.names["name"]))


def _repository_labels(call: Call) -> Reply:
    return call.paged(call.repository.labels.values(), views.many(views_issues.label, call.site, call.repository))


def _get_label(call: Call) -> Reply:
    return Reply(
        200, views_issues.label(call.site, call.repository, issues.find_label(call.repository, call.names["name"]))
    )


def _create_label(call: Call) -> Reply:
    color = call.text("color", issues.NEW_LABEL_COLOR)
    label = issues.create_label(call.repository, call.text("name"), color, call.maybe_text("description"))
    return Reply(201, views_issues.label(call.site, call.repository, label))


def _list_comments(call: Call) -> Reply:
    return call.paged(
        issues.comments_of(call.repository, call.number()), views.many(views_issues.comment, call.site, call.repository)
    )


def _create_comment(call: Call) -> Reply:
    comment = issues.comment_on(call.repository, call.actor.login, call.number(), call.text("body"))
    return Reply(201, views_issues.comment(call.site, call.repository, comment))


def _get_comment(call: Call) -> Reply:
    return Reply(
        200,
        views_issues.comment(call.site, call.repository, issues.find_comment(call.repository, call.number("comment"))),
    )


def _edit_comment(call: Call) -> Reply:
    comment = issues.edit_comment(call.repository, call.actor.login, call.number("comment"), call.text("body"))
    return Reply(200, views_issues.comment(call.site, call.repository, comment))


def _delete_comment(call: Call) -> Reply:
    issues.delete_comment(call.repository, call.actor.login, call.number("comment"))
    return Reply(204)


def _target(call: Call) -> tuple[int, int]:
    """What a reaction is to: (issue number, comment id or 0)."""
    if "comment" in call.names:
        comment = issues.find_comment(call.repository, call.number("comment"))
        return comment.number, comment.id
    return issues.find(call.repository, call.number()).number, 0


def _list_reactions(call: Call) -> Reply:
    target = _target(call)
    found = [row for row in call.repository.reactions if (row.number, row.comment) == target]
    return call.paged(found, views.many(views_issues.reaction, call.site, call.repository))


def _react(call: Call) -> Reply:
    reaction, new = issues.react(call.repository, call.actor.login, *_target(call), call.text("content"))
    return Reply(201 if new else 200, views_issues.reaction(call.site, call.repository, reaction))


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{number}"
_COMMENT = _REPO + "/issues/comments/{comment}"
ROUTES = (
    Route("GET", _REPO + "/issues", _list, "issues"),
    Route("POST", _REPO + "/issues", _create, "issues", "write"),
    Route("GET", _ISSUE, _get, "issues"),
    Route("PATCH", _ISSUE, _edit, "issues", "write"),
    Route("GET", _ISSUE + "/labels", _list_labels, "issues"),
    Route("POST", _ISSUE + "/labels", _add_labels, "issues", "write"),
    Route("PUT", _ISSUE + "/labels", _set_labels, "issues", "write"),
    Route("DELETE", _ISSUE + "/labels/{name*}", _remove_label, "issues", "write"),
    Route("GET", _REPO + "/labels", _repository_labels, "issues"),
    Route("POST", _REPO + "/labels", _create_label, "issues", "write"),
    Route("GET", _REPO + "/labels/{name*}", _get_label, "issues"),
    Route("GET", _ISSUE + "/comments", _list_comments, "issues"),
    Route("POST", _ISSUE + "/comments", _create_comment, "issues", "write"),
    Route("GET", _COMMENT, _get_comment, "issues"),
    Route("PATCH", _COMMENT, _edit_comment, "issues", "write"),
    Route("DELETE", _COMMENT, _delete_comment, "issues", "write"),
    Route("GET", _ISSUE + "/reactions", _list_reactions, "issues"),
    Route("POST", _ISSUE + "/reactions", _react, "issues", "write"),
    Route("GET", _COMMENT + "/reactions", _list_reactions, "issues"),
    Route("POST", _COMMENT + "/reactions", _react, "issues", "write"),
)
