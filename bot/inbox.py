"""Where requests to a Run wait until it takes them: one ref each, `refs/nightjar/asked/<issue>/<comment>`.

The job that hears a comment is not the Run's own, so it leaves there what is asked for, and the Run looks before each
Session and each push. Only who may push can write there, so that what is there was asked by somebody who may. Looking
costs no request of the API's hourly limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.git import Git, unreachable
from bot.open_runs import ASKED
from bot.request import Request
from bot.stored import UnreadableRecord, request_from_json, request_to_json

FILE = "request.json"
_LOOKS = 5
"""Times that they are listed and fetched until none was taken in between."""
_IDENTITY = ("-c", "user.name=nightjar", "-c", "user.email=nightjar@users.noreply.github.com")


class RequestRefs:
    """The `Requests` port on real git."""

    def __init__(self, git: Git, log: Callable[[str], None]) -> None:
        """`git` is a repository that knows nothing of a Session; `log` hears of requests that cannot be read."""
        self._git = git
        self._log = log

    def leave(self, issue: int, request: Request) -> None:
        """Put it where the Run on `issue` finds it. Leaving it twice is once. Raises `RunFailed`."""
        self._git.open()
        blob = self._git.local("hash-object", "-w", "--stdin", given=request_to_json(request)).out.strip()
        tree = self._git.local("mktree", given=f"100644 blob {blob}\t{FILE}\n").out.strip()
        commit = self._git.local(*_IDENTITY, "commit-tree", tree, "-m", f"{request.wants} asked").out.strip()
        # With a plus: a second delivery of the same event makes another commit of the same content.
        done = self._git.network("push", "--quiet", self._git.remote.url, f"+{commit}:{_ref(issue, request)}")
        if done.code:
            raise unreachable("what was asked for could not be kept for the Run", done)

    def waiting(self, issue: int) -> tuple[Request, ...]:
        """What is asked of the Run on `issue`, oldest first. Raises `RunFailed`."""
        self._git.open()
        refs: dict[str, str] = {}
        for _ in range(_LOOKS):
            refs = self._listed(issue)
            if not refs or self._fetched(refs):
                break
        found = (self._read(ref, commit) for ref, commit in refs.items())
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.at, one.id)))

    def _listed(self, issue: int) -> dict[str, str]:
        done = self._git.network("ls-remote", "--quiet", self._git.remote.url, f"{ASKED}{issue}/*")
        if done.code:
            raise unreachable("what people ask of the Run could not be read", done)
        return {ref: commit for commit, _, ref in (line.partition("\t") for line in done.out.splitlines())}

    def _fetched(self, refs: Iterable[str]) -> bool:
        """Whether they are here; not where another job has taken one since they were listed."""
        words = ("fetch", "--quiet", "--no-tags", "--depth", "1", self._git.remote.url)
        done = self._git.network(*words, *refs)
        if done.code and "couldn't find remote ref" not in done.err:
            raise unreachable("what people ask of the Run could not be fetched", done)
        return not done.code

    def taken(self, issue: int, requests: Sequence[Request]) -> None:
        """They have been heard and wait no longer. Raises `RunFailed`."""
        if not requests:
            return
        self._git.open()
        done = self._git.network("push", "--quiet", self._git.remote.url, *(f":{_ref(issue, one)}" for one in requests))
        if done.code and "remote ref does not exist" not in done.err:
            raise unreachable("what was asked for could not be crossed off", done)

    def _read(self, ref: str, commit: str) -> Request | None:
        try:
            return request_from_json(self._git.local("cat-file", "blob", f"{commit}:{FILE}", check=False).out)
        except UnreadableRecord as unreadable:
            self._log(f"What was asked for at {ref} is left alone: {unreadable}.")
            return None


def _ref(issue: int, request: Request) -> str:
    return f"{ASKED}{issue}/{request.id}"
