"""Pull requests as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

from bot.sandbox.github import pulls, reviews
from bot.sandbox.github.state import PullRequest, Review, ReviewComment
from bot.sandbox.github.views import Json, Site, login, maybe_time, node_id, repository, time
from bot.sandbox.github.views_issues import association, labels_of, rollup
from bot.sandbox.github.world import Repository


def pull(site: Site, repo: Repository, item: PullRequest) -> Json:
    """A pull request as lists show it."""
    issue, url = repo.issues[item.number], f"{site.repo(repo)}/pulls/{item.number}"
    issue_url, page = f"{site.repo(repo)}/issues/{item.number}", f"{site.page(repo)}/pull/{item.number}"
    urls = {
        "commits": f"{url}/commits",
        "review_comments": f"{url}/comments",
        "review_comment": f"{url}/comments{{/number}}",
        "comments": f"{issue_url}/comments",
        "statuses": f"{site.repo(repo)}/statuses/{item.head_sha}",
    }
    links = {"self": url, "html": page, "issue": issue_url} | urls
    return {
        "id": item.id,
        "node_id": node_id("PR", item.id),
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url,
        **{f"{name}_url": address for name, address in urls.items()},
        "number": item.number,
        "state": issue.state,
        "locked": False,
        "active_lock_reason": None,
        "title": issue.title,
        "user": login(site, repo, issue.author),
        "body": issue.body,
        "labels": labels_of(site, repo, issue),
        "milestone": None,
        "created_at": time(issue.created_at),
        "updated_at": time(issue.updated_at),
        "closed_at": maybe_time(issue.closed_at),
        "merged_at": maybe_time(item.merged_at),
        "assignees": [login(site, repo, name) for name in issue.assignees],
        "requested_reviewers": [login(site, repo, name) for name in item.reviewers],
        "requested_teams": [],
        "head": _end(site, repo, item.head, item.head_sha),
        "base": _end(site, repo, item.base, item.base_sha),
        "_links": {name: {"href": address} for name, address in links.items()},
        "author_association": association(repo, issue.author),
        "auto_merge": None,
        "draft": item.draft,
    }


def _end(site: Site, repo: Repository, branch: str, sha: str) -> Json:
    return {
        "label": f"{repo.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": login(site, repo, repo.owner),
        "repo": repository(site, repo),
    }


def full_pull(site: Site, repo: Repository, item: PullRequest) -> Json:
    """The answer to asking for one pull request, with what it changes and whether it can be merged."""
    changes = repo.git.diff(pull_base(repo, item), item.head_sha)
    return pull(site, repo, item) | {
        "merged": item.merged_at is not None,
        "mergeable": item.mergeable,
        "rebaseable": item.mergeable,
        "mergeable_state": pulls.mergeable_state(repo, item),
        "merged_by": login(site, repo, item.merged_by) if item.merged_by else None,
        "comments": sum(1 for comment in repo.comments.values() if comment.number == item.number),
        "review_comments": len(reviews.comments_of(repo, item.number)),
        "maintainer_can_modify": False,
        "commits": repo.git.count(pull_base(repo, item), item.head_sha),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def pull_base(repo: Repository, item: PullRequest) -> str:
    """The commit a pull request's changes are counted from."""
    tip = item.base_sha if item.merged_at else repo.git.branch(item.base) or item.base_sha
    return repo.git.merge_base(tip, item.head_sha) or item.base_sha


def review(site: Site, repo: Repository, item: Review) -> Json:
    """A review."""
    url = f"{site.repo(repo)}/pulls/{item.number}"
    page = f"{site.page(repo)}/pull/{item.number}#pullrequestreview-{item.id}"
    return {
        "id": item.id,
        "node_id": node_id("PRR", item.id),
        "user": login(site, repo, item.author),
        "body": item.body,
        "state": item.state,
        "html_url": page,
        "pull_request_url": url,
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "submitted_at": time(item.submitted_at),
        "commit_id": item.sha,
        "author_association": association(repo, item.author),
    }


def review_comment(site: Site, repo: Repository, item: ReviewComment) -> Json:
    """What a review says about a line, as the list of one review has it: where it stands in the diff, not which line of
    the file that is."""
    pull = repo.pulls[item.number]
    url, pull_url = f"{site.repo(repo)}/pulls/comments/{item.id}", f"{site.repo(repo)}/pulls/{item.number}"
    page = f"{site.page(repo)}/pull/{item.number}#discussion_r{item.id}"
    place = reviews.place(repo, pull, item.path, item.line, item.sha)
    old = reviews.outdated(repo, pull, item)
    return {
        "id": item.id,
        "node_id": node_id("PRRC", item.id),
        "url": url,
        "pull_request_review_id": item.review,
        "diff_hunk": place.hunk,
        "path": item.path,
        "position": None if old else place.position,
        "original_position": place.position,
        "commit_id": item.sha if old else pull.head_sha,
        "original_commit_id": item.sha,
        "user": login(site, repo, item.author),
        "body": item.body,
        "created_at": time(item.created_at),
        "updated_at": time(item.created_at),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": association(repo, item.author),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": rollup(url, (row for row in repo.reactions if row.comment == item.id)),
    }


def full_review_comment(site: Site, repo: Repository, item: ReviewComment) -> Json:
    """What a review says about a line, as the list of a pull request has it, with the line of the file: null once the
    file has been changed since."""
    old = reviews.outdated(repo, repo.pulls[item.number], item)
    return review_comment(site, repo, item) | {
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": None if old else item.line,
        "original_line": item.line,
        "side": "RIGHT",
        "subject_type": "line",
    }
