"""What can be done to pull requests: open, change, mark ready, merge; and whether GitHub would merge one.

Whether it would is worked out by a real merge. As on GitHub the first question after head or base moved gets "not
known yet". The caller holds the world's lock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bot.ci.filters import matches
from bot.sandbox.ci import CiEvent
from bot.sandbox.github import checks, issues
from bot.sandbox.github.gitdata import Signature
from bot.sandbox.github.state import Protection, PullRequest, Review, Ruleset
from bot.sandbox.github.world import Actor, Refused, Repository, invalid, not_found

_NO_COLLABORATOR = (
    "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a "
    "collaborator of the {} repository."
)
CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)", re.IGNORECASE)


def find(repository: Repository, number: int) -> PullRequest:
    """A pull request. Raises `Refused` (404)."""
    if number not in repository.pulls:
        raise not_found()
    return repository.pulls[number]


def is_open(repository: Repository, pull: PullRequest) -> bool:
    """Whether a pull request is open."""
    return repository.issues[pull.number].state == "open"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pull request as somebody asks for it; `head` is a branch, or `owner:branch`."""

    title: str
    body: str | None
    head: str
    base: str
    draft: bool = False


def open_pull(repository: Repository, actor: Actor, asked: Proposal) -> PullRequest:
    """A new pull request. Raises `Refused` (422) with GitHub's reasons."""
    branch, base = asked.head.split(":", 1)[-1], asked.base
    head_sha, base_sha = repository.git.branch(branch), repository.git.branch(base)
    if head_sha is None:
        raise invalid("PullRequest", "head", "invalid")
    if base_sha is None:
        raise invalid("PullRequest", "base", "invalid")
    number = issues.next_number(repository)
    pull = PullRequest(number, repository.world.next_id(), branch, base, head_sha, base_sha, asked.draft)
    _check_new(repository, pull)
    issues.add_row(repository, actor.login, asked.title, asked.body)
    _save(repository, pull)
    repository.git.set_ref(f"refs/pull/{number}/head", head_sha)
    what = f"{asked.title} ({branch} into {base}{', draft' if asked.draft else ''})"
    repository.record(actor.login, "opened", f"{what}\n\n{asked.body}" if asked.body else what, number)
    for closed in closes(repository, asked.body):
        repository.record(actor.login, "linked", f"pull request #{number}: {asked.title}", closed)
    start_ci(repository, actor, pull, "opened")
    return pull


def _check_new(repository: Repository, new: PullRequest) -> None:
    for pull in repository.pulls.values():
        if (pull.head, pull.base) == (new.head, new.base) and is_open(repository, pull):
            message = f"A pull request already exists for {repository.owner}:{new.head}."
            raise invalid("PullRequest", "", "custom", message)
    if repository.git.merge_base(new.base_sha, new.head_sha) is None:
        message = f"The {new.head} branch has no history in common with {new.base}"
        raise invalid("PullRequest", "", "custom", message)
    if repository.git.count(new.base_sha, new.head_sha) == 0:
        raise invalid("PullRequest", "", "custom", f"No commits between {new.base} and {new.head}")


def closes(repository: Repository, body: str | None) -> list[int]:
    """The issues of this repository that a pull request's body says it closes."""
    return [int(number) for number in dict.fromkeys(CLOSES.findall(body or "")) if int(number) in repository.issues]


def start_ci(
    repository: Repository, actor: Actor, pull: PullRequest, action: str, review: Review | None = None
) -> None:
    """The `pull_request` event; with a review, `pull_request_review`. None is created while the pull request conflicts
    with its base."""
    base = repository.git.branch(pull.base)
    if base is None or repository.git.merge(base, pull.head_sha) is None:
        return
    before = repository.git.merge_base(base, pull.head_sha) or ""
    event = CiEvent(
        name="pull_request_review" if review else "pull_request",
        action=action,
        ref=f"refs/heads/{pull.head}",
        sha=pull.head_sha,
        base=pull.base,
        before=before,
        number=pull.number,
        inputs={},
        workflow="",
        detail=str(review.id) if review else "",
    )
    repository.start_ci(event, actor, repository.issues[pull.number].author)


def set_base(repository: Repository, actor: str, number: int, base: str) -> PullRequest:
    """Aim at another base branch. Raises `Refused` (422) for one that does not exist."""
    sha = repository.git.branch(base)
    if sha is None:
        raise invalid("PullRequest", "base", "invalid")
    repository.record(actor, "base changed", base, number)
    return _save(repository, replace(find(repository, number), base=base, base_sha=sha))


def set_draft(repository: Repository, actor: Actor, pull: PullRequest, draft: bool) -> PullRequest:
    """Mark ready for review, or turn back into a draft."""
    if pull.draft == draft:
        return pull
    saved = _save(repository, replace(pull, draft=draft))
    repository.record(actor.login, "draft" if draft else "ready", "", pull.number)
    if not draft:
        start_ci(repository, actor, saved, "ready_for_review")
    return saved


def request_reviews(repository: Repository, actor: str, number: int, logins: list[str]) -> PullRequest:
    """Ask people to review. Raises `Refused` (422) for the author or somebody who is no collaborator."""
    pull = find(repository, number)
    for login in logins:
        if login.lower() == repository.issues[number].author.lower():
            raise Refused(422, "Review cannot be requested from pull request author.")
        if login != repository.owner and repository.roles.get(login, "none") == "none":
            raise Refused(422, _NO_COLLABORATOR.format(repository.full_name))
    for login in logins:
        if login not in pull.reviewers:
            repository.record(actor, "review requested", login, number)
    return _save(repository, replace(pull, reviewers=tuple(dict.fromkeys((*pull.reviewers, *logins)))))


def ask_mergeable(repository: Repository, number: int) -> PullRequest:
    """The pull request as a reader sees it: `mergeable` None on the first question about a head and base, worked out
    on the next."""
    pull = find(repository, number)
    base = repository.git.branch(pull.base)
    if base is None or not is_open(repository, pull):
        return pull
    pair = (pull.head_sha, base)
    if pull.asked != pair:
        return _save(repository, replace(pull, asked=pair, mergeable=None))
    if pull.mergeable is None:
        return _save(repository, replace(pull, mergeable=repository.git.merge(base, pull.head_sha) is not None))
    return pull


def mergeable_state(repository: Repository, pull: PullRequest) -> str:
    """GitHub's one-word summary: unknown, dirty, draft, blocked, behind, unstable or clean."""
    if pull.mergeable is None:
        return "unknown"
    if not pull.mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    if blocked(repository, pull):
        return "blocked"
    if _behind(repository, pull):
        return "behind"
    return "unstable" if checks.verdict(repository, pull.head_sha) in ("pending", "failing") else "clean"


def _behind(repository: Repository, pull: PullRequest) -> bool:
    """Whether the base branch's rules ask for a head that has its tip, and this one has not."""
    strict = repository.protections.get(pull.base, Protection()).strict
    strict = strict or any(rule.strict for rule in rulesets_for(repository, pull.base))
    tip = repository.git.branch(pull.base) or pull.base_sha
    return strict and not repository.git.is_ancestor(tip, pull.head_sha)


def rulesets_for(repository: Repository, branch: str) -> list[Ruleset]:
    """The rulesets that hold for a branch."""
    return [rule for rule in repository.rulesets if matches(branch, (rule.branch,))]


def blocked(repository: Repository, pull: PullRequest) -> str:
    """What the base branch's rules still ask for, in GitHub's words; "" for nothing."""
    protection = repository.protections.get(pull.base, Protection())
    latest = {given.author: given.state for given in repository.reviews.values() if given.number == pull.number}
    if "CHANGES_REQUESTED" in latest.values():
        return "Changes requested by reviewers with write access."
    if sum(1 for state in latest.values() if state == "APPROVED") < protection.reviews:
        return f"At least {protection.reviews} approving review is required by reviewers with write access."
    required = {*protection.checks, *(name for rule in rulesets_for(repository, pull.base) for name in rule.checks)}
    missing = required - checks.passed_names(repository, pull.head_sha)
    return f'Required status check "{min(missing)}" is expected.' if missing else ""


@dataclass(frozen=True, slots=True)
class MergeOrder:
    """How to merge: `sha` is what the head has to be ("" for anything), `method` merge or squash."""

    sha: str
    method: str
    title: str
    message: str


def merge(repository: Repository, actor: Actor, number: int, order: MergeOrder) -> str:
    """Merge; the new tip of the base branch. Raises `Refused` (405, or 409 when the head is not `order.sha`)."""
    pull = find(repository, number)
    base = repository.git.branch(pull.base)
    if order.sha and order.sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    if pull.draft:
        raise Refused(405, "Pull Request is still a draft")
    tree = repository.git.merge(base, pull.head_sha) if base and is_open(repository, pull) else None
    if base is None or tree is None:
        raise Refused(405, "Pull Request is not mergeable")
    if reason := blocked(repository, pull):
        raise Refused(405, reason)
    who = Signature(actor.login, f"{actor.login}@users.noreply.example", repository.world.now())
    subject = order.title or f"Merge pull request #{number} from {repository.owner}/{pull.head}"
    parents = [base] if order.method == "squash" else [base, pull.head_sha]
    new = repository.git.commit_tree(tree, parents, f"{subject}\n\n{order.message}".strip(), who)
    repository.git.set_ref(f"refs/heads/{pull.base}", new, base)
    mark_merged(repository, actor.login, pull, new)
    return new


def mark_merged(repository: Repository, actor: str, pull: PullRequest, new: str) -> None:
    """Note that the base now contains the pull request, and close what it closes."""
    _save(repository, replace(pull, merged_at=repository.world.now(), merged_by=actor, merge_sha=new, mergeable=None))
    repository.record(actor, "merged", f"as {new[:7]} into {pull.base}", pull.number)
    issues.set_state(repository, actor, pull.number, "closed")
    if pull.base == repository.default_branch:
        for number in closes(repository, repository.issues[pull.number].body):
            issues.set_state(repository, actor, number, "closed")


def head_moved(repository: Repository, actor: Actor, pull: PullRequest, sha: str) -> None:
    """The head branch was pushed to while the pull request was open."""
    base = repository.git.branch(pull.base) or pull.base_sha
    saved = _save(repository, replace(pull, head_sha=sha, base_sha=base))
    repository.git.set_ref(f"refs/pull/{pull.number}/head", sha)
    start_ci(repository, actor, saved, "synchronize")


def _save(repository: Repository, pull: PullRequest) -> PullRequest:
    repository.pulls[pull.number] = pull
    return pull
