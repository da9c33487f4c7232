"""What can be done to reviews of pull requests, and where what they say about lines stands in the diff.

The caller holds the world's lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.sandbox.github import pulls
from bot.sandbox.github.gitdata import FileChange
from bot.sandbox.github.state import PullRequest, Review, ReviewComment
from bot.sandbox.github.world import Actor, Refused, Repository, not_found

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reviewer writes at a line of a file, as it is on the pull request's head."""

    path: str
    line: int
    body: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands in a file's diff: `position` counts the lines below the first `@@`; `hunk` is its hunk down
    to the line.
    """

    position: int
    hunk: str


def find(repository: Repository, number: int, review_id: int) -> Review:
    """A review of a pull request. Raises `Refused` (404)."""
    pulls.find(repository, number)
    found = repository.reviews.get(review_id)
    if found is None or found.number != number:
        raise not_found()
    return found


def comments_of(repository: Repository, number: int, review_id: int = 0) -> Sequence[ReviewComment]:
    """What the reviews of a pull request (0) or one of them say about lines, oldest first. Raises `Refused` (404)."""
    pulls.find(repository, number)
    rows = (row for row in repository.review_comments.values() if row.number == number)
    return [row for row in rows if review_id in (0, row.review)]


def submit(
    repository: Repository, actor: str, number: int, state: str, body: str, remarks: Sequence[Remark] = ()
) -> Review:
    """A person's review of the head as it is. Raises `Refused` (422) for a remark on what the diff does not show."""
    pull = pulls.find(repository, number)
    for remark in remarks:
        place(repository, pull, remark.path, remark.line)
    world = repository.world
    given = Review(world.next_id(), number, world.user(actor).login, state, body, pull.head_sha, world.now())
    repository.reviews[given.id] = given
    for remark in remarks:
        row = ReviewComment(
            id=world.next_id(),
            review=given.id,
            number=number,
            author=given.author,
            path=remark.path,
            line=remark.line,
            body=remark.body,
            sha=given.sha,
            created_at=given.submitted_at,
        )
        repository.review_comments[row.id] = row
    waiting = tuple(login for login in pull.reviewers if login != actor)
    repository.pulls[number] = replace(pull, reviewers=waiting)
    repository.record(actor, "reviewed", f"{state}\n\n{body}" if body else state, number)
    pulls.start_ci(repository, Actor(actor), repository.pulls[number], "submitted", given)
    return given


def place(repository: Repository, pull: PullRequest, path: str, line: int, sha: str = "") -> Place:
    """Where a line of a file at `sha` ("" for the head) stands in what the pull request changed until then. Raises
    `Refused` (422) where it does not.
    """
    head = sha or pull.head_sha
    base = repository.git.merge_base(repository.git.branch(pull.base) or pull.base_sha, head) or pull.base_sha
    change = next((one for one in repository.git.diff(base, head) if one.path == path), None)
    if change is None or change.patch is None:
        raise Refused(422, "Unprocessable Entity", ["Path could not be resolved"])
    found = next((spot for number, spot in _places(change) if number == line), None)
    if found is None:
        raise Refused(422, "Unprocessable Entity", ["Line could not be resolved"])
    return found


def _places(change: FileChange) -> Iterator[tuple[int, Place]]:
    """Every line of the new file that the diff shows, with its place."""
    number = 0
    hunk: list[str] = []
    for position, text in enumerate((change.patch or "").split("\n")):
        if head := _HUNK.match(text):
            number, hunk = int(head[1]) - 1, []
        hunk.append(text)
        if text[:1] in ("+", " "):
            number += 1
            yield number, Place(position, "\n".join(hunk))


def outdated(repository: Repository, pull: PullRequest, row: ReviewComment) -> bool:
    """Whether the file has been changed since the review."""
    return repository.git.file(row.sha, row.path) != repository.git.file(pull.head_sha, row.path)
