"""git for one Run: the program's own bare repository, which alone speaks to the remote, and the checkout that Sessions
work in.

A Session can plant anything in its checkout's `.git/config` (`core.fsmonitor`, filters, `url.insteadOf`, `http.proxy`),
so that no command that carries a credential ever runs there. The bare repository fetches from the checkout, with system
and global configuration off and no hooks; the credential reaches git as one header in its environment, never in argv, a
URL or a file.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.clock import Clock
from bot.failures import RunFailed

NETWORK_SECONDS = 15 * 60
LOCAL_SECONDS = 5 * 60
_KEPT_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "https_proxy",
    "http_proxy",
    "no_proxy",
)
_EVIDENCE = 2000


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits what the program itself commits."""

    name: str
    email: str
    sign_off: bool = False


@dataclass(frozen=True, slots=True)
class Remote:
    """Where the repository lives. `token` is sent to `url`'s server only."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class _Done:
    code: int
    out: str
    err: str


class GitWorkspace:
    """The `Workspace` port on real git."""

    def __init__(
        self, root: Path, remote: Remote, identity: Identity, clock: Clock, environ: Mapping[str, str]
    ) -> None:
        """`root` is a folder of this Run's own; it is made when needed."""
        self._bare = root / "repository.git"
        self.checkout = root / "checkout"
        self._no_hooks = root / "no-hooks"
        self._remote = remote
        self._identity = identity
        self._clock = clock
        self._environ = {name: environ[name] for name in _KEPT_ENVIRONMENT if name in environ}
        self._base = ""
        self._branch = ""
        self._base_commit = ""

    # ── the Workspace port ──────────────────────────────────────────────────────────────────────────────────────

    def prepare(self, *, base: str, branch: str) -> tuple[str, str]:
        """Fetch base and (where it exists) the Issue branch, and check the Issue branch out; (base commit, head)."""
        self._base, self._branch = base, branch
        for folder in (self._bare, self.checkout):
            shutil.rmtree(folder, ignore_errors=True)
        self._no_hooks.mkdir(parents=True, exist_ok=True)
        self._local("init", "--quiet", "--bare", str(self._bare), where=self._bare.parent)
        self._fetch(base)
        self._base_commit = self._commit(f"refs/remotes/origin/{base}")
        if self.remote_head():
            self._fetch(branch)
            head = self._commit(f"refs/remotes/origin/{branch}")
        else:
            head = self._base_commit
        self._local("update-ref", f"refs/heads/{branch}", head)
        self._check_out(head)
        return self._base_commit, head

    def collect(self, message: str) -> str:
        """Commit what the Session left uncommitted and take its commits over; the new head.

        Raises `RunFailed` (`branch_conflict`) when the Session's commits no longer build on the Issue branch.
        """
        before = self._commit(f"refs/heads/{self._branch}")
        self._in_checkout("add", "--all")
        if self._in_checkout("diff", "--cached", "--quiet", check=False).code:
            self._in_checkout(
                *self._author(), "commit", "--quiet", "--no-verify", "--no-gpg-sign", *self._signed(), "-m", message
            )
        self._local("fetch", "--quiet", "--no-tags", str(self.checkout), "+HEAD:refs/nightjar/session")
        head = self._commit("refs/nightjar/session")
        if self._local("merge-base", "--is-ancestor", before, head, check=False).code:
            raise RunFailed(
                "branch_conflict",
                f"the session left {head[:10]} checked out, which does not build on the Issue branch at {before[:10]}",
            )
        self._local("update-ref", f"refs/heads/{self._branch}", head)
        return head

    def push(self) -> str:
        """Push the Issue branch, fast-forward only; its commit id as read back from the remote. Raises `RunFailed`."""
        head = self._commit(f"refs/heads/{self._branch}")
        ref = f"refs/heads/{self._branch}"
        done = self._network("push", "--quiet", "--porcelain", self._remote.url, f"{ref}:{ref}")
        found = self.remote_head() if done.code == 0 else ""
        if done.code == 0 and found == head:
            return head
        raise self._push_refused(done, found, head)

    def remote_head(self) -> str:
        """The Issue branch on the remote, or "" when there is none."""
        ref = f"refs/heads/{self._branch}"
        done = self._network("ls-remote", "--quiet", self._remote.url, ref)
        if done.code:
            raise _unreachable("the remote's branches could not be read", done)
        return next((line.split("\t")[0] for line in done.out.splitlines() if line.endswith(f"\t{ref}")), "")

    def ahead(self) -> int:
        """Number of commits on the head that the base commit lacks."""
        return int(self._local("rev-list", "--count", f"{self._base_commit}..refs/heads/{self._branch}").out)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """Paths that differ between two commits."""
        out = self._local("diff", "--name-only", "-z", "--no-renames", before, after).out
        return tuple(path for path in out.split("\0") if path)

    def subjects(self) -> tuple[str, ...]:
        """First lines of the messages of the commits over base, oldest first."""
        span = f"{self._base_commit}..refs/heads/{self._branch}"
        return tuple(self._local("log", "--reverse", "--no-merges", "--format=%s", span).out.splitlines())

    def workflow_files(self) -> Mapping[str, str]:
        """The workflow files in the head: path → text."""
        head = f"refs/heads/{self._branch}"
        out = self._local("ls-tree", "-r", "-z", "--name-only", head, ".github/workflows/").out
        paths = [path for path in out.split("\0") if path.endswith((".yml", ".yaml"))]
        return {path: self._local("cat-file", "blob", f"{head}:{path}").out for path in paths}

    def close(self) -> None:
        """Remove checkout and repository."""
        for folder in (self._bare, self.checkout):
            shutil.rmtree(folder, ignore_errors=True)

    # ── git ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _fetch(self, branch: str) -> None:
        spec = f"+refs/heads/{branch}:refs/remotes/origin/{branch}"
        done = self._network("fetch", "--quiet", "--no-tags", self._remote.url, spec)
        if done.code:
            raise _unreachable(f"the branch {branch} could not be fetched", done)

    def _check_out(self, head: str) -> None:
        """A clone with objects of its own, no remote, and `origin/<base>` to compare with: nothing to push to, nothing
        to fetch with.
        """
        self._local(
            "clone", "--quiet", "--no-hardlinks", "--no-checkout", "--no-tags", str(self._bare), str(self.checkout)
        )
        self._in_checkout("remote", "remove", "origin")
        self._in_checkout("update-ref", f"refs/remotes/origin/{self._base}", self._base_commit)
        self._in_checkout("config", "user.name", self._identity.name)
        self._in_checkout("config", "user.email", self._identity.email)
        self._in_checkout("checkout", "--quiet", "-B", self._branch, head)

    def _commit(self, ref: str) -> str:
        return self._local("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").out.strip()

    def _author(self) -> tuple[str, ...]:
        return ("-c", f"user.name={self._identity.name}", "-c", f"user.email={self._identity.email}")

    def _signed(self) -> tuple[str, ...]:
        return ("--signoff",) if self._identity.sign_off else ()

    def _local(self, *words: str, check: bool = True, where: Path | None = None) -> _Done:
        return self._git(words, where or self._bare, {}, LOCAL_SECONDS, check=check)

    def _in_checkout(self, *words: str, check: bool = True) -> _Done:
        # Configuration planted by a Session must not act here either: no fsmonitor, no hooks, no attributes' filters
        # with a command.
        return self._git(("-c", "core.fsmonitor=false", *words), self.checkout, {}, LOCAL_SECONDS, check=check)

    def _network(self, *words: str) -> _Done:
        login = base64.b64encode(f"x-access-token:{self._remote.token}".encode()).decode()
        server = "/".join(self._remote.url.split("/")[:3])
        credential = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{server}/.extraheader",
            "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {login}",
        }
        return self._git(words, self._bare, credential, NETWORK_SECONDS, check=False)

    def _git(
        self, words: Sequence[str], where: Path, extra: Mapping[str, str], seconds: float, *, check: bool
    ) -> _Done:
        self._clock.cancel.check()
        argv = ["git", "-c", f"core.hooksPath={self._no_hooks}", "-c", "safe.directory=*", "-c", "gc.auto=0", *words]
        env = {
            **self._environ,
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            **extra,
        }
        try:
            done = subprocess.run(
                argv, cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise RunFailed(
                "github_unavailable", f"git {_verb(words)} did not end within {seconds / 60:.0f} min"
            ) from error
        result = _Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        if check and result.code:
            raise RunFailed("internal", f"git {_verb(words)} failed: {_last_line(result.err)}", _tail(result.err))
        return result

    @staticmethod
    def _push_refused(done: _Done, found: str, head: str) -> RunFailed:
        said = f"{done.out}\n{done.err}"
        if done.code == 0:
            return RunFailed(
                "push_rejected", f"the push was accepted, but the remote's branch is at {found[:10]}, not {head[:10]}"
            )
        if "workflow" in said and "permission" in said:
            return RunFailed("push_workflow_forbidden", f"the push was refused: {_last_line(said)}", _tail(said))
        if "non-fast-forward" in said or "fetch first" in said:
            return RunFailed(
                "handed_over", "somebody else pushed to the Issue branch meanwhile; their commits were left alone"
            )
        if "[rejected]" not in said and "[remote rejected]" not in said:
            return _unreachable("the push did not get through", done)
        return RunFailed("push_rejected", f"the push was refused: {_last_line(said)}", _tail(said))


_HTTP_STATUS = re.compile(r"returned error: (\d{3})")


def _unreachable(what: str, done: _Done) -> RunFailed:
    """Why git could not talk to the remote: the HTTP status that it names decides."""
    found = _HTTP_STATUS.search(done.err)
    status = int(found[1]) if found else 401 if "Authentication failed" in done.err else 0
    code = {401: "token_expired", 403: "github_denied", 404: "github_denied"}.get(status, "github_unavailable")
    if "couldn't find remote ref" in done.err:
        code = "github_denied"
    return RunFailed(code, f"{what}: {_last_line(done.err)}", _tail(done.err))


def _verb(words: Sequence[str]) -> str:
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word == "-c"
            continue
        return word
    return ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Done")]
    telling = [line for line in lines if line.startswith(("remote:", "fatal:", "error:", "!"))]
    return (telling or lines or ["git printed nothing"])[-1]


def _tail(text: str) -> str:
    return text.strip()[-_EVIDENCE:]
