"""The one way to GitHub: PyGithub and ghapi behind one error tree and one retry policy.

Both libraries' own pacing and retries are off. `Client.ask` runs one call of either, with the token of the moment, and
turns whatever goes wrong into `Refused`, a `RunFailed` that names the request, the status and GitHub's message, and
never the token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from bot.clock import Clock
from bot.credential import Credential
from bot.failures import RunFailed
from bot.github.answers import Answer, answer_of

if TYPE_CHECKING:
    import httpx2
    from ghapi.core import GhApi
    from github import Github
    from github.Repository import Repository

T = TypeVar("T")

TIMEOUT = 30
"""Real seconds GitHub may take to answer one request: a reaction, so no time scale touches it."""
ATTEMPTS = 8
"""Times one request is sent at most; with the pauses below that is three minutes of outage."""
LONGEST_LIMIT_WAIT = 3600.0
"""Planned seconds a rate limit is waited for at most: GitHub's own window is an hour. A longer one ends the request at
once.
"""
SECONDARY_WAIT = 60.0
"""Planned seconds after a limit that names no time: GitHub asks for a minute at least, then growing."""
PAGE = 100
"""Rows a page: GitHub's maximum."""

_REPEATABLE = frozenset({"GET", "HEAD", "PATCH", "PUT", "DELETE"})
_UNNAMED_PAUSE = wait_exponential(multiplier=2, max=60) + wait_random(0, 1)
_log = logging.getLogger(__name__)


class Refused(RunFailed):
    """GitHub did not do what was asked, after all retries."""

    def __init__(self, request: str, answer: Answer) -> None:
        """`request` is `METHOD path`."""
        self.request = request
        self.answer = answer
        said = answer.message or "nothing was said"
        super().__init__(_code(answer), f"{request} → {answer.status or 'no answer'}: {said}")


def _code(answer: Answer) -> str:
    if answer.limited or answer.transient:
        return "github_unavailable"
    return "token_expired" if answer.status == 401 else "github_denied"


def limit_wait(answer: Answer, attempt: int, now: float) -> float:
    """Planned seconds to wait for a rate limit: what GitHub names, else a minute that doubles with each `attempt` (from
    1).
    """
    if answer.retry_after is not None:
        return answer.retry_after
    if answer.reset_at is not None:
        return max(1.0, answer.reset_at - now + 1)
    return min(SECONDARY_WAIT * 2.0 ** (attempt - 1), LONGEST_LIMIT_WAIT)


class Client:
    """GitHub for one repository with one credential."""

    def __init__(
        self, api_url: str, repository: str, credential: Credential, clock: Clock, *, attempts: int = ATTEMPTS
    ) -> None:
        """`repository` is owner/name. A request is sent `attempts` times at most: once where somebody at a terminal
        would have to wait for the end of an outage or of a rate limit.
        """
        self._attempts = attempts
        self.api_url = api_url.rstrip("/")
        self.name = repository
        self.owner = repository.partition("/")[0]
        self.clock = clock
        self.credential = credential
        self._token = ""
        """What the request under way shows."""

    @cached_property
    def _github(self) -> Github:
        import github

        client = self

        class Shown(github.Auth.JWT):
            """`Bearer`, which GitHub takes for an App's JWT and for every token."""

            @property
            def token(self) -> str:
                """Asked for with each request."""
                return client._token

        return github.Github(
            auth=Shown(),
            base_url=self.api_url,
            timeout=TIMEOUT,
            user_agent="nightjar",
            per_page=PAGE,
            lazy=True,
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )

    @cached_property
    def repository(self) -> Repository:
        """The repository as PyGithub's object; no request is made for it."""
        return self._github.get_repo(self.name)

    @cached_property
    def _http(self) -> httpx2.Client:
        """A connection pool that knows no token."""
        import httpx2

        return httpx2.Client(timeout=TIMEOUT, headers={"User-Agent": "nightjar"}, follow_redirects=False)

    @cached_property
    def api(self) -> GhApi:
        """ghapi with owner and repository filled in; every endpoint blocks."""
        from ghapi.core import GhApi

        owner, _, name = self.name.partition("/")
        # authenticate=False: ghapi would let GITHUB_JWT_TOKEN of the environment win over the token that it is given.
        build: Callable[..., GhApi] = GhApi  # published half typed
        api = build(owner=owner, repo=name, gh_host=self.api_url, authenticate=False, sync=True)
        api.transport.base_headers["Authorization"] = f"Bearer {self._token}"
        api.transport.client = self._http
        api.transport.retries = 0
        return api

    def close(self) -> None:
        """Close the connections that were opened."""
        if "_github" in self.__dict__:
            self._github.close()
        if "_http" in self.__dict__:
            self._http.close()

    def ask(self, request: str, call: Callable[[], T], *, repeatable: bool | None = None) -> T:
        """What `call`, one request to GitHub by either library, returns.

        `request` is `METHOD path`, for messages. A `repeatable` request (by default all but POST) is sent again after a
        server error or a dropped connection; any is after a rate limit or a connection that was never made. Raises
        `Refused`.
        """
        again = request.partition(" ")[0] in _REPEATABLE if repeatable is None else repeatable
        policy: Callable[..., T] = Retrying(
            sleep=self.clock.sleep,
            stop=stop_after_attempt(self._attempts),
            wait=self._pause,
            retry=retry_if_exception(partial(self._worth_another, repeatable=again)),
            before_sleep=_say,
            reraise=True,
        )
        return policy(self._once, request, call)

    def _once(self, request: str, call: Callable[[], T]) -> T:
        """One request. A 401 is not acted on, so that any is sent again where the credential has another token."""
        while True:
            self.clock.cancel.check()
            token = self.credential.current()
            self._show(token)
            try:
                return self._sent(request, call)
            except Refused as refused:
                if refused.answer.status != HTTPStatus.UNAUTHORIZED or not self.credential.renew(token):
                    raise

    def _show(self, token: str) -> None:
        self._token = token
        if "api" in self.__dict__:
            self.api.transport.base_headers["Authorization"] = f"Bearer {token}"

    def _sent(self, request: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:  # two libraries with trees of their own; what is neither's is raised again
            answer = answer_of(error)
            if answer is None:
                raise
            raise Refused(request, answer.without(self._token)) from error

    def _worth_another(self, error: BaseException, *, repeatable: bool) -> bool:
        if not isinstance(error, Refused):
            return False
        answer = error.answer
        if answer.limited:
            return limit_wait(answer, 1, self.clock.today().timestamp()) <= LONGEST_LIMIT_WAIT
        return answer.transient and (repeatable or not answer.reached)

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Refused) and error.answer.limited:
            return limit_wait(error.answer, state.attempt_number, self.clock.today().timestamp())
        return _UNNAMED_PAUSE(state)

    def download(self, url: str) -> Iterator[bytes]:
        """The bytes behind `url`, streamed, without the token: it often is another host, which would refuse it.
        Redirects are followed.

        Raises the HTTP library's exceptions: call it inside `ask`.
        """
        with self._http.stream("GET", url, follow_redirects=True) as response:
            if response.is_error:
                response.read()
            response.raise_for_status()
            yield from response.iter_bytes()


def _say(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Refused) and state.next_action is not None:
        _log.warning("%s; trying again in %.0f s", error.reason, state.next_action.sleep)
