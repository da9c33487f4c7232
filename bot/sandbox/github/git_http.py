"""Git over smart HTTP: `git http-backend` behind token authentication, refusing what GitHub refuses and in its words.

A bad token is 401, a token that may only read gets 403 on a push. Protected branches (GH006) and workflow files (for
a token without the `workflows` permission) are refused ref by ref by an `update` hook; its reasons replace git's
"hook declined" in the answer.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bot.sandbox.github import pushes, webhooks
from bot.sandbox.github.edge import Request
from bot.sandbox.github.gitdata import environment
from bot.sandbox.github.http import Reply
from bot.sandbox.github.state import Token
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import Actor, Repository

# `git log` names the workflow files of the commits that this push brings; what other branches already have was let in
# before.
_HOOK = r"""#!/bin/sh
[ -n "$NIGHTJAR_REFUSALS" ] || exit 0
ref=$1 new=$3
refuse() { printf '%s\t%s\n' "$ref" "$1" >>"$NIGHTJAR_REFUSALS"; exit 1; }
for branch in $NIGHTJAR_PROTECTED; do
    if [ "$ref" = "refs/heads/$branch" ]; then
        printf 'error: GH006: Protected branch update failed for %s.\n\n' "$ref" >&2
        printf '%s\n' '- Changes must be made through a pull request.' >&2
        refuse "protected branch hook declined"
    fi
done
case $new in *[!0]*) ;; *) exit 0 ;; esac
[ -z "$NIGHTJAR_NO_WORKFLOWS" ] && exit 0
file=$(git log --full-history --format= --name-only "$new" --not --all -- .github/workflows | head -n 1)
[ -z "$file" ] && exit 0
refuse "$(printf "$NIGHTJAR_NO_WORKFLOWS" "$file")"
"""
_NO_WORKFLOWS = {
    "pat": "refusing to allow a Personal Access Token to create or update workflow `%s` without `workflow` scope",
    "app": "refusing to allow a GitHub App to create or update workflow `%s` without `workflows` permission",
}
_DECLINED = b"hook declined"
_BAND_LIMIT = 65_515  # bytes of payload in one side-band packet


def install_hook(repository: Path) -> None:
    """Put the `update` hook into a bare repository."""
    hook = repository / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_HOOK, encoding="utf-8")
    hook.chmod(0o755)


def answer(site: Site, repository: Repository, service: str, request: Request, token: Token | None) -> Reply:
    """Answer one request of a git client; `service` is the path below the repository."""
    pushing = "git-receive-pack" in (service, urlsplit(request.target).query.partition("service=")[2])
    if token is None and (pushing or repository.private):
        return unauthorized()
    if token is not None and not may_use(repository, token, pushing):
        text = f"Permission to {repository.full_name}.git denied to {token.login}.\n"
        return Reply(403, text.encode(), content_type="text/plain; charset=utf-8")
    if service != "git-receive-pack" or token is None:
        return _reply(_backend(repository, service, request, token, {}))
    return _push(site, repository, service, request, token)


def unauthorized() -> Reply:
    """The answer to a missing or bad credential."""
    return Reply(
        401,
        b"Invalid username or token. Password authentication is not supported for Git operations.\n",
        {"WWW-Authenticate": 'Basic realm="GitHub"'},
        "text/plain; charset=utf-8",
    )


def may_use(repository: Repository, token: Token, pushing: bool) -> bool:
    """Whether a token may fetch, or push; a person's token may no more than the person."""
    if not token.allows("contents", "write" if pushing else "read"):
        return False
    return token.kind != "pat" or repository.can(token.login, "write" if pushing else "read")


def _push(site: Site, repository: Repository, service: str, request: Request, token: Token) -> Reply:
    with tempfile.TemporaryDirectory(prefix="nightjar-push-") as folder:
        refusals = Path(folder) / "refusals"
        refusals.touch()
        no_workflows = (
            "" if token.allows("workflows", "write") else _NO_WORKFLOWS["pat" if token.kind == "pat" else "app"]
        )
        extra = {
            "NIGHTJAR_REFUSALS": str(refusals),
            "NIGHTJAR_PROTECTED": " ".join(repository.protections),
            "NIGHTJAR_NO_WORKFLOWS": no_workflows,
        }
        reply = _reply(_backend(repository, service, request, token, extra))
        reasons = dict(line.split("\t", 1) for line in refusals.read_text(encoding="utf-8").splitlines())
    body = reply.payload()
    done = {line.split(b" ", 1)[1].strip().decode() for line in _report(body) if line.startswith(b"ok ")}
    changes = [change for change in _commands(request.body) if change.ref in done]
    with repository.world.lock:
        actor, before = Actor(token.login, token.kind), len(repository.events)
        pushes.refs_changed(repository, actor, changes)
        webhooks.announce(site, repository, repository.events[before:], actor)
    return Reply(reply.status, _reworded(body, reasons) if reasons else body, reply.headers, reply.content_type)


def _backend(
    repository: Repository, service: str, request: Request, token: Token | None, extra: Mapping[str, str]
) -> bytes:
    env = (
        environment()
        | dict(extra)
        | {
            "GIT_PROJECT_ROOT": str(repository.world.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": f"/{repository.full_name}.git/{service}",
            "QUERY_STRING": urlsplit(request.target).query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(request.body)),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "REMOTE_USER": token.login if token else "",
            "REMOTE_ADDR": "127.0.0.1",
        }
    )
    return subprocess.run(["git", "http-backend"], input=request.body, capture_output=True, check=False, env=env).stdout


def _reply(output: bytes) -> Reply:
    """A CGI program's output as an answer."""
    head, _, body = output.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return Reply(status, body, headers, headers.pop("Content-Type", "text/plain"))


def _packets(data: bytes) -> Iterator[bytes]:
    """The pkt-lines of `data` up to its first flush."""
    position = 0
    while position + 4 <= len(data):
        size = int(data[position : position + 4], 16)
        if size < 4:
            return
        yield data[position + 4 : position + size]
        position += size


def _packet(payload: bytes) -> bytes:
    return f"{len(payload) + 4:04x}".encode() + payload


def _commands(body: bytes) -> list[pushes.RefChange]:
    """What a receive-pack request asks for."""
    changes = []
    for line in _packets(body):
        words = line.split(b"\0", 1)[0].decode().strip().split(" ", 2)
        if len(words) == 3:
            changes.append(pushes.RefChange(words[2], words[0], words[1]))
    return changes


def _report(body: bytes) -> list[bytes]:
    """The lines of the status report inside a receive-pack answer."""
    return list(_packets(b"".join(packet[1:] for packet in _packets(body) if packet[:1] == b"\x01")))


def _reworded(body: bytes, reasons: Mapping[str, str]) -> bytes:
    """The answer with our own reasons for the refs that the hook refused."""
    lines = []
    for line in _report(body):
        words = line.split(b" ", 2)
        refused = words[0] == b"ng" and words[2].strip() == _DECLINED
        reason = reasons.get(words[1].decode()) if refused else None
        lines.append(_packet(b"ng %s %s\n" % (words[1], reason.encode()) if reason else line))
    report = b"".join(lines) + b"0000"
    said = [_packet(packet) for packet in _packets(body) if packet[:1] != b"\x01"]
    bands = [_packet(b"\x01" + report[start : start + _BAND_LIMIT]) for start in range(0, len(report), _BAND_LIMIT)]
    return b"".join([*said, *bands]) + b"0000"
