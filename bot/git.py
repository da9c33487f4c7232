"""Runs git for one Run: in the program's own bare repository, in the Session's checkout, and over the network.

A Session can plant anything in its checkout's `.git/config` (`core.fsmonitor`, filters, `url.insteadOf`, `http.proxy`),
so that no command that carries a credential ever runs there. System and global configuration are off and hooks do not
run; the credential reaches git as one header in its environment, never in argv, a URL or a file.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt, wait_exponential, wait_random

from bot.clock import Clock
from bot.credential import Credential
from bot.failures import RunFailed
from bot.isolation.rules import UNCONFINED, Confinement

NETWORK_SECONDS = 15 * 60
"""Planned seconds that one command over the network may take."""
LOCAL_SECONDS = 5 * 60
"""Real seconds that any other may take."""
ATTEMPTS = 7
"""Times that a command over the network is run at most; with the pauses between them that is two minutes of outage."""
HANGS = 2
"""How many of these may have been ended for not ending."""
_HUNG = -1
"""As an exit code: ended at its limit."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "https_proxy", "http_proxy", "no_proxy")
_NO = "false"
_EVIDENCE = 2000


@dataclass(frozen=True, slots=True)
class Remote:
    """Where the repository lives. The credential's token is sent to `url`'s server only."""

    url: str
    credential: Credential


@dataclass(frozen=True, slots=True)
class Done:
    """A git command that ended."""

    code: int
    out: str
    err: str


class Git:
    """The program's repository (`bare`) and the Session's checkout, below one folder."""

    def __init__(self, root: Path, remote: Remote, clock: Clock, environ: Mapping[str, str]) -> None:
        """`root` is a folder of this Run's own; it is made when needed."""
        self.bare = root / "repository.git"
        self.checkout = root / "checkout"
        self.remote = remote
        self._no_hooks = root / "no-hooks"
        self._trusted = root / "gitconfig"
        self._clock = clock
        self._environ = {name: environ[name] for name in _KEPT if name in environ}
        self._confinement = UNCONFINED
        # Found once, before there is a Session that could put another into a folder of PATH.
        self._git = shutil.which("git", path=environ.get("PATH")) or "git"

    def open(self) -> None:
        """Make the bare repository, empty, unless it is there."""
        self._no_hooks.mkdir(parents=True, exist_ok=True)
        if not self.bare.exists():
            self.local("init", "--quiet", "--bare", str(self.bare), where=self.bare.parent)

    def confine(self, confinement: Confinement) -> None:
        """From here on what runs in the checkout is confined like a Session, which may have planted what it runs."""
        self._confinement = confinement

    def commit(self, ref: str) -> str:
        """The commit id that `ref` names."""
        return self.local("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").out.strip()

    def fetch(self, branch: str) -> None:
        """Fetch a branch of the remote as `refs/remotes/origin/<branch>`. Raises `RunFailed`."""
        spec = f"+refs/heads/{branch}:refs/remotes/origin/{branch}"
        done = self.network("fetch", "--quiet", "--no-tags", self.remote.url, spec)
        if done.code:
            raise unreachable(f"the branch {branch} could not be fetched", done)
        if "shallow roots" in done.err:  # git then leaves the ref as it was, and ends well
            raise RunFailed(
                "branch_conflict", f"the server has only a part of the history of {branch}: its repository is shallow"
            )

    def remote_ref(self, ref: str) -> str:
        """The commit id of `ref` on the remote, or "" when there is none. Raises `RunFailed`."""
        done = self.network("ls-remote", "--quiet", self.remote.url, ref)
        if done.code:
            raise unreachable("the remote's branches could not be read", done)
        return next((line.split("\t")[0] for line in done.out.splitlines() if line.endswith(f"\t{ref}")), "")

    def remote_branches(self, *patterns: str) -> tuple[str, ...]:
        """The remote's branches that match one of `patterns`, which are whole names or globs. Raises `RunFailed`."""
        given = [f"refs/heads/{pattern}" for pattern in patterns]
        done = self.network("ls-remote", "--quiet", self.remote.url, *given)
        if done.code:
            raise unreachable("the remote's branches could not be read", done)
        refs = [line.split("\t")[1] for line in done.out.splitlines()]
        return tuple(ref.removeprefix("refs/heads/") for ref in refs if any(fnmatchcase(ref, one) for one in given))

    def local(self, *words: str, check: bool = True, where: Path | None = None, given: str = "") -> Done:
        """Run in the program's repository with stdin `given`. Raises `RunFailed` (`internal`), if `check`."""
        return self._here(words, where or self.bare, {}, check=check, given=given)

    def in_checkout(self, *words: str, check: bool = True, given: str = "") -> Done:
        """Run in the Session's checkout, without any credential and without the filters that its configuration has."""
        words = ("-c", "core.fsmonitor=false", *words)
        trusted = {"GIT_CONFIG_GLOBAL": str(self._trusting())}
        return self._here(words, self.checkout, {**trusted, **self._no_filters()}, check=check, given=given)

    @contextmanager
    def reading(self, *words: str, given: str) -> Iterator[IO[bytes]]:
        """What a command in the program's repository prints, of any length; the command ends with the block."""
        argv, env = self._command(words, self.bare, {})
        with tempfile.TemporaryFile() as stdin:
            stdin.write(given.encode(errors="replace"))
            stdin.seek(0)
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(
                argv, cwd=self.bare, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=quiet, process_group=0
            )
        with process:
            try:
                if process.stdout is None:
                    raise AssertionError("a pipe was asked for")
                yield process.stdout
            finally:
                process.kill()

    def from_checkout(self, spec: str) -> Done:
        """Fetch `spec` from the Session's checkout into the program's repository, whoever owns the checkout."""
        words = ("fetch", "--quiet", "--no-tags", str(self.checkout), spec)
        return self._here(words, self.bare, {"GIT_CONFIG_GLOBAL": str(self._trusting())}, check=False)

    def _trusting(self) -> Path:
        """Configuration for what a fetch starts at its other end, which takes no `-c`, only a file."""
        self._trusted.write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
        return self._trusted

    def _no_filters(self) -> Mapping[str, str]:
        """Filters are commands, which a Session may have planted, and one that is missing would end git."""
        pattern = r"^filter\..*\.(clean|smudge|process|required)$"
        names = ("-C", str(self.checkout), "config", "--name-only", "-z", "--get-regexp", pattern)
        # Not confined, because it runs nothing and is asked often.
        found = self._here(names, self.bare, {}, check=False).out.split("\0")
        keys = list(dict.fromkeys(key for key in found if key))
        pairs = [(f"GIT_CONFIG_KEY_{at}", key) for at, key in enumerate(keys)]
        values = [(f"GIT_CONFIG_VALUE_{at}", _NO if key.endswith("required") else "") for at, key in enumerate(keys)]
        return {"GIT_CONFIG_COUNT": str(len(keys)), **dict(pairs), **dict(values)}

    def network(self, *words: str) -> Done:
        """Run in the program's repository with the credential for the remote's server. An outage is waited for: git's
        fetches and fast-forward pushes come to the same when they are run again, whatever became of the first. Raises
        `RunFailed` when none of several came to an end.
        """
        hung = 0

        def passes(done: Done) -> bool:
            nonlocal hung
            hung += done.code == _HUNG
            return hung < HANGS and _passing(done)

        policy: Callable[..., Done] = Retrying(
            sleep=self._clock.sleep,
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=2, max=60) + wait_random(0, 1),
            retry=retry_if_result(passes),
            retry_error_callback=_last_result,
        )
        done = policy(self._once, *words)
        if done.code == _HUNG:
            limit = f"{NETWORK_SECONDS / 60:.0f} min"
            raise RunFailed("github_unavailable", f"git {_verb(words)} did not end within {limit}")
        return done

    def _once(self, *words: str) -> Done:
        """One command, and once more where a 401 brings another token."""
        while True:
            token = self.remote.credential.current()
            done = self._with(token, words)
            if done.code == 0 or _status(done) != 401 or not self.remote.credential.renew(token):
                return done

    def _with(self, token: str, words: Sequence[str]) -> Done:
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        server = "/".join(self.remote.url.split("/")[:3])
        credential = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{server}/.extraheader",
            "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {login}",
        }
        return self._run(words, self.bare, credential, NETWORK_SECONDS / self._clock.scale)

    def _here(
        self, words: Sequence[str], where: Path, extra: Mapping[str, str], *, check: bool, given: str = ""
    ) -> Done:
        """Run without a network, where there is nothing to wait for."""
        done = self._run(words, where, extra, LOCAL_SECONDS, given=given)
        if done.code == _HUNG:
            raise RunFailed("internal", f"git {_verb(words)} did not end within {LOCAL_SECONDS / 60:.0f} min")
        if check and done.code:
            raise RunFailed("internal", f"git {_verb(words)} failed: {last_line(done.err)}", evidence(done.err))
        return done

    def _command(
        self, words: Sequence[str], where: Path, extra: Mapping[str, str]
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        """The whole command line and environment."""
        argv = [
            self._git,
            "-c",
            f"core.hooksPath={self._no_hooks}",
            "-c",
            "safe.directory=*",
            "-c",
            "gc.auto=0",
            *words,
        ]
        env = {
            **self._environ,
            "LC_ALL": "C",  # its refusals are told apart by its words
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CEILING_DIRECTORIES": str(self.bare.parent),  # a checkout whose .git is gone is no part of another
            "GIT_LFS_SKIP_SMUDGE": "1",
            **extra,
        }
        if where == self.checkout:
            argv, env = self._confinement.command(argv, env)
        return argv, env

    def _run(
        self, words: Sequence[str], where: Path, extra: Mapping[str, str], seconds: float, *, given: str = ""
    ) -> Done:
        self._clock.cancel.check()
        argv, env = self._command(words, where, extra)
        process = subprocess.Popen(
            argv,
            cwd=where,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,  # git's helpers end with it
        )
        try:
            out, err = process.communicate(given.encode(), timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = _HUNG
        return Done(code, out.decode(errors="replace"), err.decode(errors="replace"))


_HTTP_STATUS = re.compile(r"returned error: (\d{3})")


def _passing(done: Done) -> bool:
    """Whether a command failed for a reason that may pass: a server error, a limit, no or half an answer, no end."""
    if done.code == 0 or "rejected]" in done.out or "couldn't find remote ref" in done.err:
        return False
    status = _status(done)
    return status in (0, 429) or status >= 500


def _status(done: Done) -> int:
    """The HTTP status that git names; 0 when it names none."""
    found = _HTTP_STATUS.search(done.err)
    asked = "Authentication failed" in done.err or "could not read Username" in done.err  # what git makes of a 401
    missing = re.search(r"fatal: repository '.*' not found", done.err)
    return int(found[1]) if found else 401 if asked else 404 if missing else 0


def _last_result(state: RetryCallState) -> Done:
    if state.outcome is None:
        raise AssertionError("a retry ends with an outcome")
    done: Done = state.outcome.result()
    return done


def unreachable(what: str, done: Done) -> RunFailed:
    """Why git could not talk to the remote: the HTTP status that it names decides."""
    status = _status(done)
    code = {401: "token_expired", 403: "github_denied", 404: "github_denied"}.get(status, "github_unavailable")
    if "couldn't find remote ref" in done.err:
        code = "github_denied"
    said = "GitHub did not accept the token (401)" if status == 401 else last_line(done.err)
    return RunFailed(code, f"{what}: {said}", evidence(done.err))


def _verb(words: Sequence[str]) -> str:
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word == "-c"
            continue
        return word
    return ""


def last_line(text: str) -> str:
    """The most telling line of what git printed."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Done")]
    telling = [line for line in lines if line.startswith(("remote:", "fatal:", "error:", "!"))]
    return (telling or lines or ["git printed nothing"])[-1]


def evidence(text: str) -> str:
    """The tail of what git printed."""
    return text.strip()[-_EVIDENCE:]
