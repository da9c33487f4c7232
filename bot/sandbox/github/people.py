"""One repository of the embedded GitHub from Python: be the people in a story, change its settings, read what happened
(what CI would set is in `hand_set_ci`).

What people do through it goes the way it goes when they use the browser or git: it is recorded, and it starts CI.
Everything here may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.sandbox.github import attachments, issues, pushes, reviews, runs, views_issues, webhooks
from bot.sandbox.github.gitdata import ZERO, Signature
from bot.sandbox.github.hand_set_ci import HandSetCi
from bot.sandbox.github.state import (
    ActionsPolicy,
    Comment,
    Issue,
    Protection,
    Role,
    Ruleset,
    Secret,
    TimelineEvent,
    Variable,
)
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Actor, JobTokenStarts, Repository


@dataclass(frozen=True, slots=True)
class PullRequestView:
    """A pull request as a reader of the page sees it."""

    number: int
    title: str
    body: str
    author: str
    state: str
    draft: bool
    merged: bool
    head: str
    base: str
    head_sha: str
    labels: tuple[str, ...]
    reviewers: tuple[str, ...]
    created_at: datetime


class SandboxRepository(HandSetCi):
    """One repository of the embedded GitHub. Unknown issue, comment, pull request, run or check numbers raise `Refused`
    (404)."""

    def __init__(self, repository: Repository, site: Site) -> None:
        super().__init__(repository)
        self._site = site
        self.full_name = repository.full_name
        self.path = repository.git.path
        self.clone_url = f"{site.page(repository)}.git"

    @contextmanager
    def _doing(self, login: str) -> Iterator[None]:
        """What somebody does in the browser: what happens to issues and comments meanwhile is an event."""
        with self._lock:
            before = len(self._repository.events)
            yield
            webhooks.announce(self._site, self._repository, self._repository.events[before:], Actor(login))

    def set_permission(self, login: str, role: Role) -> None:
        """Give `login` a role: admin, maintain, write, triage, read or none."""
        with self._lock:
            self._repository.roles[self._repository.world.user(login).login] = role

    def make_private(self) -> None:
        """From now on only whoever has a role, and tokens, can read it."""
        with self._lock:
            self._repository.private = True

    def protect(self, branch: str, *, checks: Sequence[str] = (), reviews: int = 0, up_to_date: bool = False) -> None:
        """Protect a branch: no direct pushes, and before a merge these checks (`up_to_date`: on a head that has the
        branch's tip) and this many approvals."""
        with self._lock:
            self._repository.protections[branch] = Protection(tuple(checks), reviews, up_to_date)

    def require_checks(self, branch: str, checks: Sequence[str], *, up_to_date: bool = False) -> None:
        """A ruleset that asks for these checks before a merge into `branch`."""
        with self._lock:
            world = self._repository.world
            rule = Ruleset(world.next_id(), branch, tuple(checks), up_to_date, world.now())
            self._repository.rulesets.append(rule)

    def add_rules(self, branch: str, *rules: str, bypass: str = "never") -> None:
        """A ruleset with rules of these types for the branches that the pattern `branch` matches. They are told, and
        hold nobody up; `bypass` is what GitHub tells whoever asks: always, pull_requests_only, never or exempt."""
        with self._lock:
            world = self._repository.world
            ruleset = Ruleset(world.next_id(), branch, (), False, world.now(), rules, bypass)
            self._repository.rulesets.append(ruleset)

    def set_actions_policy(self, policy: ActionsPolicy) -> None:
        """The repository's settings for Actions. They are told, and hold nobody up."""
        with self._lock:
            self._repository.actions_policy = policy

    def name_secret(self, name: str, *, shared: bool = False) -> None:
        """Have a secret of that name listed, the organisation's where it is `shared`; its value is CI's equipment's."""
        with self._lock:
            secret = Secret(name.upper(), shared, self._repository.world.now())
            self._repository.secrets[secret.name] = secret

    def enable_actions(self, enabled: bool) -> None:
        """Turn Actions on or off for the repository; where it is off no event starts a workflow."""
        with self._lock:
            self._repository.actions_enabled = enabled

    def require_approval(self, login: str) -> None:
        """From now on hold the `pull_request` runs of what `login` does, as those of a fork by a first-time
        contributor: `completed`, `action_required`, without jobs."""
        with self._lock:
            self._repository.needs_approval.add(login)

    def job_token_starts(self, what: JobTokenStarts) -> None:
        """What a pull request by a job's own token starts: "nothing" (Enterprise Server), or runs that sit "awaiting
        approval" (github.com)."""
        with self._lock:
            self._repository.job_token_starts = what

    def approve_run(self, run: int) -> None:
        """Somebody's "Approve and run workflows" in the browser."""
        with self._lock:
            runs.approve(self._repository, runs.find(self._repository, run))

    def allow_actions_to_open_pull_requests(self, allowed: bool) -> None:
        """The repository setting of that name; where it is off a job's own token gets 403."""
        with self._lock:
            self._repository.actions_may_open_pulls = allowed

    def set_variable(self, name: str, value: str) -> None:
        """Set a variable of the repository's Actions, which jobs that begin from now on see."""
        with self._lock:
            now = self._repository.world.now()
            known = self._repository.variables.get(name.upper(), Variable(name.upper(), value, now, now))
            self._repository.variables[known.name] = replace(known, value=value, updated_at=now)

    def open_issue(self, title: str, body: str = "", author: str = "dana", labels: Sequence[str] = ()) -> int:
        """Open an issue; its number."""
        with self._doing(author):
            number = issues.open_issue(self._repository, author, title, body).number
            issues.add_labels(self._repository, author, number, labels)
            return number

    def attach_image(self, content: bytes, name: str = "image.png", *, older: bool = False) -> str:
        """Drop an image into a text that is being written; the address that GitHub puts there. `older`: in the form
        that names the repository."""
        return self._attach(name, content, image=True, older=older)

    def attach_file(self, name: str, content: bytes, *, older: bool = False) -> str:
        """Drop a file into a text that is being written; the address that GitHub puts there."""
        return self._attach(name, content, image=False, older=older)

    def _attach(self, name: str, content: bytes, *, image: bool, older: bool) -> str:
        with self._lock:
            kept = attachments.attach(self._repository, name, content, image=image, older=older)
            return self._site.host + kept.path

    def edit_issue(self, number: int, body: str, actor: str = "dana", title: str | None = None) -> None:
        """Change the text of an issue or pull request, and its title where one is given."""
        with self._doing(actor):
            issues.edit(self._repository, actor, number, title=title, body=body)

    def label_issue(self, number: int, label: str, actor: str) -> dict[str, Any]:
        """Add a label; the payload of the `issues` webhook (action `labeled`) as GitHub sends it."""
        with self._doing(actor):
            repository, site = self._repository, self._site
            issue = issues.add_labels(repository, actor, number, [label])
            return views_issues.labelled_event(site, repository, issue, label, actor)

    def unlabel_issue(self, number: int, label: str, actor: str) -> None:
        """Take a label off."""
        with self._doing(actor):
            issues.remove_label(self._repository, actor, number, label)

    def comment(self, number: int, body: str, author: str) -> int:
        """Comment on an issue or pull request; the comment's id."""
        with self._doing(author):
            return issues.comment_on(self._repository, author, number, body).id

    def edit_comment(self, comment_id: int, body: str, actor: str) -> None:
        """Change a comment's text."""
        with self._doing(actor):
            issues.edit_comment(self._repository, actor, comment_id, body)

    def delete_comment(self, comment_id: int, actor: str) -> None:
        """Delete a comment."""
        with self._doing(actor):
            issues.delete_comment(self._repository, actor, comment_id)

    def close(self, number: int, actor: str) -> None:
        """Close an issue or pull request."""
        with self._doing(actor):
            issues.set_state(self._repository, actor, number, "closed")

    def reopen(self, number: int, actor: str) -> None:
        """Open an issue or pull request again."""
        with self._doing(actor):
            issues.set_state(self._repository, actor, number, "open")

    def commit(self, branch: str, files: Mapping[str, str | None], message: str, author: str = "dana") -> str:
        """Somebody else's commit, pushed to `branch` (made from the default branch when it is new); None deletes a
        file. The commit id."""
        with self._lock:
            repository = self._repository
            old = repository.git.branch(branch)
            parent = old or repository.git.branch(repository.default_branch)
            login = repository.world.user(author).login
            who = Signature(login, f"{login}@users.noreply.example", repository.world.now())
            new = repository.git.write_commit(parent, files, message, who)
            self._move(f"refs/heads/{branch}", old or ZERO, new, login)
            return new

    def reset_branch(self, branch: str, sha: str, actor: str) -> None:
        """Somebody's force-push of `branch` to an existing commit."""
        with self._lock:
            self._move(f"refs/heads/{branch}", self._repository.git.branch(branch) or ZERO, sha, actor)

    def _move(self, ref: str, old: str, new: str, login: str) -> None:
        self._repository.git.set_ref(ref, new)
        pushes.refs_changed(self._repository, Actor(login), [pushes.RefChange(ref, old, new)])

    def delete_branch(self, branch: str, actor: str) -> None:
        """Delete a branch; an open pull request from it is closed."""
        with self._lock:
            ref = f"refs/heads/{branch}"
            old = self._repository.git.branch(branch) or ZERO
            self._repository.git.delete_ref(ref)
            pushes.refs_changed(self._repository, Actor(actor), [pushes.RefChange(ref, old, ZERO)])

    def review(
        self,
        number: int,
        author: str,
        state: str = "APPROVED",
        body: str = "",
        comments: Sequence[tuple[str, int, str]] = (),
    ) -> int:
        """A person's review: APPROVED, CHANGES_REQUESTED or COMMENTED; its id. `comments` are (path, line, text), each
        at a line that the pull request's diff shows, counted in the file as it is on its head."""
        with self._lock:
            remarks = [reviews.Remark(*comment) for comment in comments]
            return reviews.submit(self._repository, author, number, state, body, remarks).id

    def issue(self, number: int) -> Issue:
        """An issue (or the issue half of a pull request) as it stands."""
        with self._lock:
            return issues.find(self._repository, number)

    def labels(self, number: int) -> tuple[str, ...]:
        """The labels of an issue or pull request."""
        return self.issue(number).labels

    def comments(self, number: int) -> tuple[Comment, ...]:
        """The comments on an issue or pull request, oldest first."""
        with self._lock:
            return tuple(issues.comments_of(self._repository, number))

    def reactions(self, comment_id: int) -> tuple[tuple[str, str], ...]:
        """The reactions to a comment, or to a review, as (login, content), oldest first; content as the API has it
        (`+1`, `eyes`, …)."""
        with self._lock:
            return tuple((row.author, row.content) for row in issues.reactions_to(self._repository, comment_id))

    def pull_requests(self) -> tuple[PullRequestView, ...]:
        """Every pull request, oldest first."""
        with self._lock:
            rows = [(pull, self._repository.issues[number]) for number, pull in sorted(self._repository.pulls.items())]
        return tuple(
            PullRequestView(
                pull.number,
                issue.title,
                issue.body or "",
                issue.author,
                issue.state,
                pull.draft,
                pull.merged_at is not None,
                pull.head,
                pull.base,
                pull.head_sha,
                issue.labels,
                pull.reviewers,
                issue.created_at,
            )
            for pull, issue in rows
        )

    def refs(self) -> Mapping[str, str]:
        """Every ref and the commit it names."""
        return self._repository.git.refs()

    def file(self, ref: str, path: str) -> str:
        """The text of a file at a branch, ref or commit. Raises `FileNotFoundError`."""
        content = self._repository.git.file(self._repository.git.resolve(ref) or ref, path)
        if content is None:
            raise FileNotFoundError(f"{self.full_name} has no {path} at {ref}")
        return content.decode(errors="replace")

    def timeline(self, number: int) -> tuple[TimelineEvent, ...]:
        """What happened to an issue or pull request, in order; for a pull request also the pushes to its branch and
        the checks on them."""
        with self._lock:
            pull = self._repository.pulls.get(number)
            branch = pull.head if pull else None
            return tuple(
                event
                for event in self._repository.events
                if event.number == number or (event.branch and event.branch == branch)
            )
