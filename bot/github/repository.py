"""`bot.ports.GitHub`: what a Run says to GitHub about one repository, through PyGithub's objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from bot.failures import RunFailed
from bot.github.answers import UnreadableAnswer
from bot.github.client import ATTEMPTS, Client, Refused
from bot.github.evidence import gather
from bot.github.labels import RepositoryLabels
from bot.ports import Issue, IssueComment, PullRequestNow, PullRequestText
from bot.record import Check, Evidence, PullRequest

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as GitHubPullRequest
    from github.Repository import Repository as GitHubRepo

T = TypeVar("T")

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
"""GitHub's own roles. An organisation can define more; each builds on one of these."""

_LOST_ANSWER_PAUSE = 2.0
"""Planned seconds before looking whether a comment was stored although the answer got lost: GitHub's lists lag a
little.
"""


class GitHubRepository:
    """The repository of one Run. Implements `bot.ports.GitHub`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._repository = client.repository
        self._labels = RepositoryLabels(client)

    def fall_back(self) -> None:
        """From here on another token, where there is one, stands in for a credential that is refused."""
        self._client.credential.fall_back()

    def default_branch(self) -> str:
        """The repository's default branch."""
        return self._client.ask("GET " + self._path(), lambda: _text(self._client.repository.default_branch))

    def is_public(self) -> bool:
        """Whether anybody can read the repository."""
        return self._client.ask("GET " + self._path(), lambda: not self._client.repository.private)

    def role_of(self, login: str) -> str:
        """GitHub's role of `login`; of a custom role the one it builds on; `none` for whoever GitHub does not know."""
        path = f"/collaborators/{quote(login, safe='')}/permission"

        def read() -> tuple[str, str]:
            _, data = self._repository.requester.requestJsonAndCheck("GET", self._repository.url + path)
            return str(data.get("role_name", "")), _text(data.get("permission"))

        try:
            role, permission = self._client.ask("GET " + self._path(path), read)
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return "none"
            raise
        return next((name for name in (role, permission) if name in ROLES), "none")

    def own_login(self) -> str:
        """Whom GitHub takes the credential for: a person, `<slug>[bot]`, `github-actions[bot]`; "" where it does not
        tell. GraphQL says it to tokens of any kind; REST tells an installation's (a job's is one) nothing of its App.
        """
        query = partial(self._repository.requester.graphql_query, "query { viewer { login } }", {})
        try:
            _, answer = self._client.ask("POST /graphql viewer", query, repeatable=True)
        except Refused as refused:
            if refused.code == "github_denied":
                return ""
            raise
        return str(((answer.get("data") or {}).get("viewer") or {}).get("login") or "")

    # -- issues ----------------

    def issue(self, number: int) -> Issue:
        """The issue (or pull request) of that number. One that was moved to another repository is `github_denied`: it
        is not ours.
        """

        def read() -> Issue:
            found = self._repository.get_issue(number).complete()
            expected = f"/repos/{self._client.name}/issues/{number}"
            if not _text(found.url).lower().endswith(expected.lower()):
                raise RunFailed("github_denied", f"issue #{number} has moved to {found.html_url}")
            return Issue(
                number=found.number,
                title=_text(found.title),
                body=found.body or "",
                open=found.state == "open",
                is_pull_request=found.pull_request is not None,
                locked=bool(found.locked),
                labels=tuple(label.name for label in found.labels),
                author=_login(found.user),
            )

        return self._client.ask(f"GET {self._path(f'/issues/{number}')}", read)

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        """All comments, oldest first."""

        def read() -> tuple[IssueComment, ...]:
            found = self._repository.get_issue(number).get_comments()
            return tuple(
                IssueComment(
                    comment.id, _login(comment.user), comment.body or "", comment.created_at, comment.updated_at
                )
                for comment in found
            )

        return self._client.ask(f"GET {self._path(f'/issues/{number}/comments')}", read)

    def read_file(self, path: str, ref: str) -> bytes | None:
        """A file at `ref`, at most the 1 MB that GitHub gives out; None when there is no file of that name."""

        def read() -> bytes | None:
            found = self._repository.get_contents(path, ref=ref)
            if isinstance(found, list) or found.type != "file":
                return None
            if found.encoding != "base64":
                raise RunFailed("config_invalid", f"{path} at {ref} is larger than the 1 MB that GitHub gives out")
            return found.decoded_content

        return self._unless(HTTPStatus.NOT_FOUND, f"GET {self._path(f'/contents/{path}')}", read)

    def swap_labels(self, number: int, *, add: str, remove: Sequence[str]) -> None:
        """Put `add` on the issue, then take `remove` off, one by one: others are kept and no moment shows none."""
        self._labels.ensure(add)
        path = f"/issues/{number}/labels"
        requester, url = self._repository.requester, self._repository.url + path

        def post() -> frozenset[str]:
            _, labels = requester.requestJsonAndCheck("POST", url, input={"labels": [add]})
            return frozenset(label["name"] for label in labels)

        # The answer lists all labels there are: what is not among them need not be taken off.
        there = self._client.ask(f"POST {self._path(path)}", post, repeatable=True)
        for label in remove:
            if label != add and label in there:
                self.remove_label(number, label)

    def remove_label(self, number: int, label: str) -> None:
        """Take one label off; no error when it is not there."""
        path = f"/issues/{number}/labels/{quote(label, safe='')}"  # PyGithub would leave a slash in the name as it is
        url = self._repository.url + path
        requester = self._repository.requester
        request = f"DELETE {self._path(path)}"
        self._unless(HTTPStatus.NOT_FOUND, request, lambda: requester.requestJsonAndCheck("DELETE", url))

    def react(self, number: int, reaction: str) -> None:
        """React to the issue's own text; reacting twice is once."""
        issue = self._repository.get_issue(number)
        request = f"POST {self._path(f'/issues/{number}/reactions')}"
        self._client.ask(request, lambda: issue.create_reaction(reaction), repeatable=True)

    def comment(self, number: int, body: str) -> int:
        """A new comment; its id.

        When the answer is lost, the comment is looked for before it is sent again: by its first line when that is an
        HTML comment (our marker, which therefore has to be unique to this comment), else by its whole text.
        """
        request = f"POST {self._path(f'/issues/{number}/comments')}"
        issue = self._repository.get_issue(number)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._client.ask(request, lambda: _number(issue.create_comment(body).id))
            except Refused as refused:
                maybe_stored = refused.answer.transient and refused.answer.reached
                if not maybe_stored or attempt == ATTEMPTS:
                    raise
            self._client.clock.sleep(_LOST_ANSWER_PAUSE * attempt)
            stored = [comment.id for comment in self.comments(number) if _same_comment(comment.body, body)]
            if stored:
                return stored[-1]
        raise AssertionError("the last attempt either returns or raises")

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace a comment's text."""
        path = f"/issues/comments/{comment}"  # PyGithub knows comments by their issue only
        requester = self._repository.requester
        self._client.ask(
            f"PATCH {self._path(path)}",
            lambda: requester.requestJsonAndCheck("PATCH", self._repository.url + path, input={"body": body}),
        )

    # -- pull requests ----------------

    def find_pull_request(self, branch: str) -> PullRequest | None:
        """The open pull request of `branch`."""
        found = self._pull_requests(branch, "open")
        return found[0] if found else None

    def closed_pull_request_exists(self, branch: str) -> bool:
        """Whether a merged or closed pull request once used `branch`."""
        return bool(self._pull_requests(branch, "closed"))

    def _pull_requests(self, branch: str, state: str) -> tuple[PullRequest, ...]:
        def read() -> tuple[PullRequest, ...]:
            found = self._repository.get_pulls(state=state, head=f"{self._client.owner}:{branch}")
            # GitHub ignores a head that it cannot read and then lists all, forks' too; a fork that is gone is None.
            ours = (pull for pull in found if _is_same(pull.head.repo, pull.base.repo))
            return tuple(_pull_request(pull) for pull in ours if pull.head.ref == branch)

        return self._client.ask(f"GET {self._path(f'/pulls?state={state}&head={branch}')}", read)

    def open_pull_request(self, *, title: str, body: str, branch: str, base: str, draft: bool) -> PullRequest:
        """Open it, or take up the one that is already open. A plan that refuses drafts gets an ordinary one.

        Raises `pr_forbidden` when GitHub does not let this token open pull requests.
        """
        request = f"POST {self._path('/pulls')}"

        def create() -> PullRequest:
            return _pull_request(
                self._repository.create_pull(base=base, head=branch, title=title, body=body, draft=draft)
            )

        try:
            # Safe to send again: a second one for the same branch is refused with 422.
            return self._client.ask(request, create, repeatable=True)
        except Refused as refused:
            if refused.answer.status == HTTPStatus.FORBIDDEN and not refused.answer.limited:
                page = self._client.ask("GET " + self._path(), lambda: _text(self._repository.html_url))
                by_hand = f"{page}/compare/{quote(base)}...{quote(branch)}?expand=1"
                raise RunFailed("pr_forbidden", f"{refused.reason} (by hand: {by_hand} )") from refused
            if refused.answer.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                raise
            already = self.find_pull_request(branch)
            if already is not None:
                return already
            if not draft:
                raise
        return self.open_pull_request(title=title, body=body, branch=branch, base=base, draft=False)

    def edit_pull_request(self, number: int, edit: Callable[[PullRequestText], PullRequestText]) -> None:
        """Put what `edit` makes of title and body in their place."""
        pull = self._pull(number)
        there = PullRequestText(_text(pull.title), pull.body or "")
        new = edit(there)
        if new != there:
            path = self._path(f"/pulls/{number}")
            self._client.ask(f"PATCH {path}", lambda: pull.edit(title=new.title, body=new.body))

    def mark_ready(self, number: int) -> bool:
        """Out of draft; False when the token may not (GitHub often refuses a job's token)."""
        return self._set_draft(number, draft=False)

    def mark_draft(self, number: int) -> bool:
        """Back to draft; False when the token may not or the plan has no drafts."""
        return self._set_draft(number, draft=True)

    def _set_draft(self, number: int, *, draft: bool) -> bool:
        pull = self._pull(number)
        if pull.draft is draft:
            return True
        if draft:
            return self._granted("POST /graphql convertPullRequestToDraft", pull.convert_to_draft)
        return self._granted("POST /graphql markPullRequestReadyForReview", pull.mark_ready_for_review)

    def pull_request_now(self, number: int) -> PullRequestNow:
        """How it stands."""
        pull = self._pull(number)
        state = "merged" if pull.merged else _text(pull.state)
        ours = _is_same(pull.head.repo, pull.base.repo)
        return PullRequestNow(state, _text(pull.base.ref), _text(pull.head.ref) if ours else "")

    def mergeable(self, number: int) -> bool | None:
        """Whether it merges cleanly; None while GitHub has not worked it out."""
        return self._pull(number).mergeable

    def request_review(self, number: int, login: str) -> bool:
        """Ask `login` for a review; False when GitHub refuses: the author, or somebody without access."""
        pull = self._repository.get_pull(number)
        request = f"POST {self._path(f'/pulls/{number}/requested_reviewers')}"
        return self._granted(request, lambda: pull.create_review_request(reviewers=[login]))

    def merge(self, number: int, *, method: str, head: str) -> str:
        """Merge exactly `head`; "" when it is merged, else GitHub's reason for refusing."""
        pull = self._repository.get_pull(number)

        def put() -> str:
            status = pull.merge(merge_method=method, sha=head)
            return "" if status.merged else _text(status.message)

        try:
            return self._client.ask(f"PUT {self._path(f'/pulls/{number}/merge')}", put)
        except Refused as refused:
            if refused.code != "github_denied":
                raise
            now = self._pull(number)  # a merge whose answer was lost is refused when it is sent again
            return "" if now.merged and now.head.sha == head else refused.answer.message or refused.reason

    def evidence(self, check: Check) -> Evidence:
        """What went wrong in a failed check. Raises `ci_no_evidence` when nothing is known."""
        return gather(self._client, check)

    def rerun(self, checks: Sequence[Check]) -> str:
        """Run the Actions jobs among `checks` once more; "" when all were started, else the first reason why not."""
        jobs = [check.job_id for check in checks if check.job_id is not None]
        if not jobs:
            return "no job of GitHub Actions is among them"
        for job in jobs:
            call = partial(self._client.api.actions.re_run_job_for_workflow_run, job_id=job)
            try:
                self._client.ask(f"POST {self._path(f'/actions/jobs/{job}/rerun')}", call)
            except Refused as refused:
                if refused.code != "github_denied":
                    raise
                return refused.answer.message or refused.reason
        return ""

    # -- helpers ----------------

    def _path(self, rest: str = "") -> str:
        return f"/repos/{self._client.name}{rest}"

    def _pull(self, number: int) -> GitHubPullRequest:
        pull = self._repository.get_pull(number)
        return self._client.ask(f"GET {self._path(f'/pulls/{number}')}", pull.complete)

    def _granted(self, request: str, call: Callable[[], object]) -> bool:
        """Whether GitHub did it; False when it refused this very request."""
        try:
            self._client.ask(request, call, repeatable=True)
        except Refused as refused:
            if refused.code == "github_denied":
                return False
            raise
        return True

    def _unless(
        self, status: HTTPStatus, request: str, call: Callable[[], T], *, repeatable: bool | None = None
    ) -> T | None:
        """What `call` returns, or None when GitHub answers `status`."""
        try:
            return self._client.ask(request, call, repeatable=repeatable)
        except Refused as refused:
            if refused.answer.status == status:
                return None
            raise


def _is_same(one: GitHubRepo | None, other: GitHubRepo) -> bool:
    return one is not None and one.id == other.id


def _pull_request(pull: GitHubPullRequest) -> PullRequest:
    return PullRequest(_number(pull.number), _text(pull.html_url), bool(pull.draft))


def _login(user: object) -> str:
    """GitHub shows whoever deleted their account as ghost, and sends null."""
    return str(getattr(user, "login", None) or "ghost")


def _same_comment(stored: str, sent: str) -> bool:
    marker = sent.partition("\n")[0].strip()
    if marker.startswith("<!--") and marker.endswith("-->"):
        return stored.partition("\n")[0].strip() == marker
    return stored.replace("\r\n", "\n").strip() == sent.replace("\r\n", "\n").strip()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableAnswer(f"a text was expected, not {type(value).__name__}")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise UnreadableAnswer(f"a number was expected, not {type(value).__name__}")
    return value
