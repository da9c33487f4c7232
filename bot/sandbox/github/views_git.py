"""Commits, files, refs and branches as GitHub's REST API words them (schema of API version 2026-03-10)."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from urllib.parse import quote

from bot.sandbox.github.gitdata import CommitInfo, FileChange, Signature, TreeEntry
from bot.sandbox.github.views import Json, Site, user
from bot.sandbox.github.world import Repository

_SHOWN = 2**20
"""Bytes of a file up to which its content is told."""
_UNSIGNED: Json = {
    "verified": False,
    "reason": "unsigned",
    "payload": None,
    "signature": None,
    "verified_at": None,
}


def _git_user(who: Signature) -> Json:
    return {"name": who.name, "email": who.email, "date": who.date.isoformat()}


def commit(site: Site, repo: Repository, item: CommitInfo, files: Iterable[FileChange] | None = None) -> Json:
    """A commit; with `files` also what it changed."""
    url, git = f"{site.repo(repo)}/commits/{item.sha}", f"{site.repo(repo)}/git"
    page = f"{site.page(repo)}/commit"
    body: Json = {
        "url": url,
        "sha": item.sha,
        "node_id": f"C_{item.sha}",
        "html_url": f"{page}/{item.sha}",
        "comments_url": f"{url}/comments",
        "commit": {
            "url": f"{git}/commits/{item.sha}",
            "author": _git_user(item.author),
            "committer": _git_user(item.committer),
            "message": item.message,
            "comment_count": 0,
            "tree": {"sha": item.tree, "url": f"{git}/trees/{item.tree}"},
            "verification": _UNSIGNED,
        },
        "author": _known(site, repo, item.author.name),
        "committer": _known(site, repo, item.committer.name),
        "parents": [
            {"sha": sha, "url": f"{site.repo(repo)}/commits/{sha}", "html_url": f"{page}/{sha}"} for sha in item.parents
        ],
    }
    if files is not None:
        changes = list(files)
        added, removed = sum(change.additions for change in changes), sum(change.deletions for change in changes)
        body["stats"] = {"additions": added, "deletions": removed, "total": added + removed}
        body["files"] = [file_change(site, repo, item.sha, change) for change in changes]
    return body


def timeline_commit(site: Site, repo: Repository, item: CommitInfo) -> Json:
    """A commit as the timeline of a pull request holds it."""
    git, page = f"{site.repo(repo)}/git", f"{site.page(repo)}/commit"
    return {
        "event": "committed",
        "sha": item.sha,
        "node_id": f"C_{item.sha}",
        "url": f"{git}/commits/{item.sha}",
        "html_url": f"{page}/{item.sha}",
        "author": _git_user(item.author),
        "committer": _git_user(item.committer),
        "message": item.message,
        "tree": {"sha": item.tree, "url": f"{git}/trees/{item.tree}"},
        "verification": _UNSIGNED,
        "parents": [{"sha": sha, "url": f"{git}/commits/{sha}", "html_url": f"{page}/{sha}"} for sha in item.parents],
    }


def _known(site: Site, repo: Repository, name: str) -> Json | None:
    found = repo.world.find_user(name)
    return user(site, found) if found else None


def file_change(site: Site, repo: Repository, sha: str, change: FileChange) -> Json:
    """A file of a diff."""
    body: Json = {
        "sha": change.blob,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{site.page(repo)}/blob/{sha}/{quote(change.path)}",
        "raw_url": f"{site.page(repo)}/raw/{sha}/{quote(change.path)}",
        "contents_url": f"{site.repo(repo)}/contents/{quote(change.path)}?ref={sha}",
    }
    extras = {"patch": change.patch, "previous_filename": change.previous}
    return body | {key: value for key, value in extras.items() if value is not None}


def ref(site: Site, repo: Repository, name: str, sha: str) -> Json:
    """A git ref."""
    url = f"{site.repo(repo)}/git"
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": f"{url}/{name}",
        "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
    }


def branch(site: Site, repo: Repository, name: str, tip: CommitInfo) -> Json:
    """A branch with its tip and whether it is protected."""
    url, protection = f"{site.repo(repo)}/branches/{name}", repo.protections.get(name)
    guarded: Json = {"enabled": protection is not None}
    if protection:
        guarded["required_status_checks"] = {
            "enforcement_level": "non_admins",
            "contexts": list(protection.checks),
            "checks": [{"context": check, "app_id": None} for check in protection.checks],
        }
    return {
        "name": name,
        "commit": commit(site, repo, tip),
        "protected": protection is not None,
        "protection": guarded,
        "protection_url": f"{url}/protection",
        "_links": {"self": url, "html": f"{site.page(repo)}/tree/{name}"},
    }


def entry(site: Site, repo: Repository, revision: str, item: TreeEntry, content: bytes | None = None) -> Json:
    """A file with its content, or (without) one line of a folder's listing."""
    url = f"{site.repo(repo)}/contents/{quote(item.path)}?ref={revision}"
    page = f"{site.page(repo)}/{'tree' if item.kind == 'tree' else 'blob'}/{revision}/{quote(item.path)}"
    git = f"{site.repo(repo)}/git/{'trees' if item.kind == 'tree' else 'blobs'}/{item.sha}"
    kind = {"tree": "dir", "commit": "submodule"}.get(item.kind, "symlink" if item.mode == "120000" else "file")
    raw = None if kind == "dir" else f"{site.page(repo)}/raw/{revision}/{quote(item.path)}"
    body: Json = {
        "type": kind,
        "size": item.size,
        "name": item.path.rsplit("/", 1)[-1],
        "path": item.path,
        "sha": item.sha,
        "url": url,
        "git_url": git,
        "html_url": page,
        "download_url": raw,
        "_links": {"git": git, "self": url, "html": page},
    }
    if content is not None:
        shown = len(content) <= _SHOWN
        encoded = base64.encodebytes(content).decode() if shown else ""
        body |= {"type": "file", "encoding": "base64" if shown else "none", "content": encoded}
    return body
