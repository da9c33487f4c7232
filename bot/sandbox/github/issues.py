"""What can be done to issues, labels, comments and reactions (those of pull requests included).

Every function takes the repository and who acts, changes the tables and records what happened. The caller holds the
world's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from bot.sandbox.github.state import Comment, Issue, Label, Reaction
from bot.sandbox.github.world import Refused, Repository, invalid, not_found

COMMENT_LIMIT = 65_536  # characters, as GitHub's own message says
NEW_LABEL_COLOR = "ededed"  # what GitHub gives a label that is made by using it
REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def next_number(repository: Repository) -> int:
    """The number of the next issue or pull request."""
    return max(repository.issues, default=0) + 1


def find(repository: Repository, number: int) -> Issue:
    """The issue or pull request. Raises `Refused` (404)."""
    if number not in repository.issues:
        raise not_found()
    return repository.issues[number]


def open_issue(repository: Repository, actor: str, title: str, body: str | None) -> Issue:
    """A new issue. Raises `Refused` (422) without a title or with too long a body."""
    issue = add_row(repository, actor, title, body)
    repository.record(actor, "opened", title if not body else f"{title}\n\n{body}", issue.number)
    return issue


def add_row(repository: Repository, actor: str, title: str, body: str | None) -> Issue:
    """The row of a new issue or pull request, checked, with nothing recorded yet."""
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    _check_length(body or "", "Issue")
    now = repository.world.now()
    issue = Issue(
        repository.world.next_id(), next_number(repository), title, body, repository.world.user(actor).login, now, now
    )
    repository.issues[issue.number] = issue
    return issue


def edit(
    repository: Repository, actor: str, number: int, *, title: str | None = None, body: str | None = None
) -> Issue:
    """Change title or body; None leaves as it is."""
    issue = find(repository, number)
    _check_length(body or "", "Issue")
    if title is not None and title != issue.title:
        repository.record(actor, "retitled", title, number, before=issue.title)
        issue = replace(issue, title=title)
    if body is not None and body != issue.body:
        repository.record(actor, "edited", body, number)
        issue = replace(issue, body=body)
    return _save(repository, issue)


def set_state(
    repository: Repository, actor: str, number: int, state: Literal["open", "closed"], reason: str | None = None
) -> Issue:
    """Close or reopen."""
    issue = find(repository, number)
    if issue.state == state:
        return issue
    if state == "closed":
        repository.record(actor, "closed", reason or "completed", number)
        return _save(
            repository,
            replace(
                issue,
                state=state,
                state_reason=reason or "completed",
                closed_at=repository.world.now(),
                closed_by=actor,
            ),
        )
    repository.record(actor, "reopened", "", number)
    return _save(repository, replace(issue, state=state, state_reason="reopened", closed_at=None, closed_by=None))


def set_assignees(repository: Repository, actor: str, number: int, logins: Iterable[str]) -> Issue:
    """Assign exactly these people; those GitHub does not know are left out, as it does."""
    issue = find(repository, number)
    known = tuple(dict.fromkeys(user.login for login in logins if (user := repository.world.find_user(login))))
    for login in known:
        if login not in issue.assignees:
            repository.record(actor, "assigned", login, number)
    return _save(repository, replace(issue, assignees=known))


def find_label(repository: Repository, name: str) -> Label:
    """The repository's label. Raises `Refused` (404)."""
    if name.lower() not in repository.labels:
        raise not_found()
    return repository.labels[name.lower()]


def create_label(
    repository: Repository, name: str, color: str = NEW_LABEL_COLOR, description: str | None = None
) -> Label:
    """A new label of the repository. Raises `Refused` (422) when there is one of that name."""
    if not name.strip():
        raise invalid("Label", "name", "missing_field")
    if name.lower() in repository.labels:
        raise invalid("Label", "name", "already_exists")
    label = Label(repository.world.next_id(), name, color, description)
    repository.labels[name.lower()] = label
    return label


def add_labels(repository: Repository, actor: str, number: int, names: Iterable[str]) -> Issue:
    """Add labels to an issue; a name the repository lacks is made a label, as GitHub does."""
    return _set_labels(repository, actor, number, (*find(repository, number).labels, *names))


def replace_labels(repository: Repository, actor: str, number: int, names: Iterable[str]) -> Issue:
    """Make exactly these the labels of an issue."""
    return _set_labels(repository, actor, number, names)


def remove_label(repository: Repository, actor: str, number: int, name: str) -> Issue:
    """Take one label off an issue. Raises `Refused` (404) when it is not there."""
    issue = find(repository, number)
    kept = tuple(label for label in issue.labels if label.lower() != name.lower())
    if len(kept) == len(issue.labels):
        raise Refused(404, "Label does not exist")
    return _set_labels(repository, actor, number, kept)


def _set_labels(repository: Repository, actor: str, number: int, names: Iterable[str]) -> Issue:
    issue = find(repository, number)
    wanted: dict[str, str] = {}
    for name in names:
        label = repository.labels.get(name.lower()) or create_label(repository, name)
        wanted[label.name.lower()] = label.name
    new = tuple(wanted.values())
    for name in issue.labels:
        if name not in new:
            repository.record(actor, "unlabelled", name, number)
    for name in new:
        if name not in issue.labels:
            repository.record(actor, "labelled", name, number)
    return _save(repository, replace(issue, labels=new))


def comments_of(repository: Repository, number: int) -> Sequence[Comment]:
    """The comments on an issue or pull request, oldest first. Raises `Refused` (404)."""
    find(repository, number)
    return [comment for comment in repository.comments.values() if comment.number == number]


def find_comment(repository: Repository, comment_id: int) -> Comment:
    """A comment by its id. Raises `Refused` (404)."""
    if comment_id not in repository.comments:
        raise not_found()
    return repository.comments[comment_id]


def comment_on(repository: Repository, actor: str, number: int, body: str) -> Comment:
    """A new comment. Raises `Refused` (404, or 422 for an empty or too long body)."""
    issue = find(repository, number)
    _check_body(body)
    now = repository.world.now()
    comment = Comment(repository.world.next_id(), number, repository.world.user(actor).login, (body,), now, now)
    repository.comments[comment.id] = comment
    repository.record_comment(actor, "commented", comment)
    _save(repository, issue)
    return comment


def edit_comment(repository: Repository, actor: str, comment_id: int, body: str) -> Comment:
    """Change a comment's text; the texts before are kept."""
    comment = find_comment(repository, comment_id)
    _check_body(body)
    if body != comment.body:
        before = comment.body
        comment = replace(comment, versions=(*comment.versions, body), updated_at=repository.world.now())
        repository.comments[comment_id] = comment
        repository.record_comment(actor, "comment edited", comment, before)
    return comment


def delete_comment(repository: Repository, actor: str, comment_id: int) -> None:
    """Delete a comment and the reactions to it."""
    comment = find_comment(repository, comment_id)
    del repository.comments[comment_id]
    repository.reactions = [reaction for reaction in repository.reactions if reaction.comment != comment_id]
    repository.record_comment(actor, "comment deleted", comment)


def reactions_to(repository: Repository, comment: int) -> Sequence[Reaction]:
    """The reactions to a comment or a review, oldest first. Raises `Refused` (404)."""
    if comment not in repository.comments and comment not in repository.reviews:
        raise not_found()
    return [row for row in repository.reactions if row.comment == comment]


def react(repository: Repository, actor: str, number: int, comment: int, content: str) -> tuple[Reaction, bool]:
    """React to an issue (`comment` 0), a comment or a review; the reaction and whether it is new. Raises `Refused`
    (422) for an unknown one."""
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "invalid")
    for old in repository.reactions:
        if (old.number, old.comment, old.author, old.content) == (number, comment, actor, content):
            return old, False
    reaction = Reaction(
        repository.world.next_id(), number, comment, repository.world.user(actor).login, content, repository.world.now()
    )
    repository.reactions.append(reaction)
    repository.record(actor, "reacted", content, number)
    return reaction, True


def _save(repository: Repository, issue: Issue) -> Issue:
    saved = replace(issue, updated_at=repository.world.now())
    repository.issues[issue.number] = saved
    return saved


def _check_length(body: str, resource: str) -> None:
    if len(body) > COMMENT_LIMIT:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {COMMENT_LIMIT} characters)")


def _check_body(body: str) -> None:
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    _check_length(body, "IssueComment")
