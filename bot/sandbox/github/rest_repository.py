"""REST: the repository itself, its people, its files, commits, branches and refs."""

from __future__ import annotations

from bot.sandbox.github import pushes, views, views_git
from bot.sandbox.github.gitdata import ZERO, CommitInfo, GitError
from bot.sandbox.github.http import Call, Reply, Route
from bot.sandbox.github.world import Refused, not_found

_RAW = "application/vnd.github.raw"


def _get(call: Call) -> Reply:
    repo = call.repository
    return Reply(200, views.full_repository(call.site, repo, repo.role(call.actor.login)))


def _permission(call: Call) -> Reply:
    who = call.world.find_user(call.names["user"])
    if who is None:
        raise not_found()
    return Reply(200, views.collaborator(call.site, who, call.repository.role(who.login)))


def _user(call: Call) -> Reply:
    who = call.world.find_user(call.names["user"])
    if who is None:
        raise not_found()
    return Reply(200, views.profile(call.site, who))


def _me(call: Call) -> Reply:
    if call.token is None:
        raise Refused(401, "Requires authentication")
    if call.token.kind != "pat":
        raise Refused(403, "Resource not accessible by integration")
    return Reply(200, views.profile(call.site, call.world.user(call.token.login)))


def resolve(call: Call, name: str) -> str:
    """The commit id that a ref, branch or id in a request means. Raises `Refused` (422)."""
    sha = call.repository.git.resolve(name.removeprefix("heads/") if name.startswith("heads/") else name)
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {name}")
    return sha


def _contents(call: Call) -> Reply:
    repo, path = call.repository, call.names["path"].strip("/")
    revision = call.query.get("ref") or repo.default_branch
    sha = repo.git.resolve(revision)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {revision}")
    entries = repo.git.entries(sha, path)
    if not entries:
        raise not_found()
    if len(entries) == 1 and entries[0].path == path and entries[0].kind == "blob":
        content = repo.git.blob(entries[0].sha)
        if call.headers.get("accept", "").startswith(_RAW):
            return Reply(200, content, content_type=f"{_RAW}; charset=utf-8")
        return Reply(200, views_git.entry(call.site, repo, revision, entries[0], content))
    return Reply(200, [views_git.entry(call.site, repo, revision, item) for item in entries])


def _branch(call: Call) -> Reply:
    repo, name = call.repository, call.names["branch"]
    sha = repo.git.branch(name)
    if sha is None:
        raise Refused(404, "Branch not found")
    return Reply(200, views_git.branch(call.site, repo, name, repo.git.commit(sha)))


def _commit(call: Call) -> Reply:
    repo = call.repository
    commit = repo.git.commit(resolve(call, call.names["ref"]))
    files = repo.git.diff(commit.parents[0] if commit.parents else None, commit.sha)
    return Reply(200, views_git.commit(call.site, repo, commit, files))


def _commits(call: Call) -> Reply:
    repo = call.repository
    start = repo.git.resolve(call.query.get("sha") or repo.default_branch)
    if start is None:
        raise not_found()
    return call.paged(repo.git.commits(start, limit=1000), views.many(views_git.commit, call.site, repo))


def _compare(call: Call) -> Reply:
    repo, (base, found, head) = call.repository, call.names["basehead"].partition("...")
    one, other = repo.git.resolve(base), repo.git.resolve(head.split(":", 1)[-1])
    if not found or one is None or other is None:
        raise not_found()
    fork = repo.git.merge_base(one, other)
    if fork is None:
        raise Refused(404, f"No common ancestor between {base} and {head}.")
    ahead, behind = repo.git.count(one, other), repo.git.count(other, one)
    status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}.get(
        (ahead > 0, behind > 0), "diverged"
    )
    site, page = call.site, f"{call.site.page(repo)}/compare/{base}...{head}"

    def shown(commit: CommitInfo) -> views.Json:
        return views_git.commit(site, repo, commit)

    return Reply(
        200,
        {
            "url": f"{site.repo(repo)}/compare/{base}...{head}",
            "html_url": page,
            "permalink_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "base_commit": shown(repo.git.commit(one)),
            "merge_base_commit": shown(repo.git.commit(fork)),
            "status": status,
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "commits": [shown(commit) for commit in reversed(repo.git.commits(f"{one}..{other}"))],
            "files": [views_git.file_change(site, repo, other, change) for change in repo.git.diff(fork, other)],
        },
    )


def _get_ref(call: Call) -> Reply:
    name, refs = f"refs/{call.names['ref']}", call.repository.git.refs()
    if name not in refs:
        raise not_found()
    return Reply(200, views_git.ref(call.site, call.repository, name, refs[name]))


def _matching_refs(call: Call) -> Reply:
    start = f"refs/{call.names['ref']}"
    found = [(name, sha) for name, sha in call.repository.git.refs().items() if name.startswith(start)]
    return call.paged(found, lambda row: views_git.ref(call.site, call.repository, *row))


def _create_ref(call: Call) -> Reply:
    name, sha = call.text("ref"), call.text("sha")
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refused(422, "Reference name must start with 'refs/' and contain at least one '/' after that.")
    if name in call.repository.git.refs():
        raise Refused(422, "Reference already exists")
    return _move(call, name, ZERO, sha, 201)


def _update_ref(call: Call) -> Reply:
    name, sha, git = f"refs/{call.names['ref']}", call.text("sha"), call.repository.git
    old = git.refs().get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    if git.resolve(sha) and not call.flag("force") and not git.is_ancestor(old, sha):
        raise Refused(422, "Update is not a fast forward")
    return _move(call, name, old, sha, 200)


def _move(call: Call, name: str, old: str, sha: str, status: int) -> Reply:
    repo = call.repository
    _check_protection(call, name)
    if repo.git.resolve(sha) != sha:
        raise Refused(422, "Object does not exist")
    try:
        repo.git.set_ref(name, sha, old)
    except GitError as error:
        raise Refused(422, "Reference cannot be updated") from error
    pushes.refs_changed(repo, call.actor, [pushes.RefChange(name, old, sha)])
    return Reply(status, views_git.ref(call.site, repo, name, sha))


def _check_protection(call: Call, name: str) -> None:
    if name.removeprefix("refs/heads/") in call.repository.protections:
        raise Refused(422, "Changes must be made through a pull request.")


def _delete_ref(call: Call) -> Reply:
    repo, name = call.repository, f"refs/{call.names['ref']}"
    old = repo.git.refs().get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    _check_protection(call, name)
    repo.git.delete_ref(name)
    pushes.refs_changed(repo, call.actor, [pushes.RefChange(name, old, ZERO)])
    return Reply(204)


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", _REPO, _get, "metadata"),
    Route("GET", _REPO + "/collaborators/{user}/permission", _permission, "metadata"),
    Route("GET", "/users/{user}", _user),
    Route("GET", "/user", _me),
    Route("GET", _REPO + "/contents/{path*}", _contents, "contents"),
    Route("GET", _REPO + "/branches/{branch*}", _branch, "contents"),
    Route("GET", _REPO + "/compare/{basehead*}", _compare, "contents"),
    Route("GET", _REPO + "/commits", _commits, "contents"),
    Route("GET", _REPO + "/commits/{ref*}", _commit, "contents"),
    Route("GET", _REPO + "/git/ref/{ref*}", _get_ref, "contents"),
    Route("GET", _REPO + "/git/matching-refs/{ref*}", _matching_refs, "contents"),
    Route("POST", _REPO + "/git/refs", _create_ref, "contents", "write"),
    Route("PATCH", _REPO + "/git/refs/{ref*}", _update_ref, "contents", "write"),
    Route("DELETE", _REPO + "/git/refs/{ref*}", _delete_ref, "contents", "write"),
)
