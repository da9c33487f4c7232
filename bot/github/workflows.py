"""`bot.ports.Workflows`: starting a job that takes a Run up, and what became of the jobs that had one."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

from bot.github.client import Client, Refused

STALE = "stale"


class GitHubWorkflows:
    """The workflows of one repository."""

    def __init__(self, client: Client, default_branch: Callable[[], str]) -> None:
        """`default_branch`: where a workflow that is started is taken from."""
        self._client = client
        self._default_branch = default_branch
        self._refused: set[str] = set()

    def take_up(self, workflow: str, issue: int) -> str:
        """Start `workflow` (the name of its file) by `workflow_dispatch`; "" when GitHub started it, else its reason.

        Safe to send again: of two jobs that would take up the same Run the second finds it taken up.
        """
        if not workflow:
            return "the job does not tell which workflow it belongs to (GITHUB_WORKFLOW_REF)"
        path = f"/actions/workflows/{quote(workflow, safe='')}/dispatches"
        given = {"ref": self._default_branch(), "inputs": {"issue": str(issue), "take-up": "true"}}
        try:
            self._ask("POST", path, given)
        except Refused as refused:
            if refused.code != "github_denied":
                raise
            return refused.answer.message or refused.reason
        return ""

    def cancel(self, run_id: str) -> str:
        """Cancel a workflow run; "" when GitHub does, or when there is nothing left to cancel, else its reason."""
        try:
            self._ask("POST", f"/actions/runs/{quote(run_id, safe='')}/cancel")
        except Refused as refused:
            if refused.answer.status in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                return ""  # it is over
            if refused.code != "github_denied":
                raise
            return refused.answer.message or refused.reason
        return ""

    def variable(self, name: str) -> str:
        """A variable of the repository; "" when there is none, or when the token may not read variables."""
        if name in self._refused:
            return ""
        try:
            answer = self._ask("GET", f"/actions/variables/{quote(name, safe='')}")
        except Refused as refused:
            if refused.code != "github_denied":
                raise
            if refused.answer.status == HTTPStatus.FORBIDDEN:
                self._refused.add(name)
            return ""
        return str(answer.get("value", ""))

    def conclusion(self, run_id: str, run_attempt: int) -> str:
        """How that attempt of a workflow run ended; "" while it goes on, `stale` when there is no such run."""
        try:
            answer = self._ask("GET", f"/actions/runs/{quote(run_id, safe='')}/attempts/{run_attempt}")
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return STALE
            raise
        return str(answer.get("conclusion") or STALE) if answer.get("status") == "completed" else ""

    def files(self, branch: str) -> tuple[str, ...]:
        """The paths of the workflow files there, those that Nightjar's own are called like first."""
        folder = ".github/workflows"
        try:
            found = self._list(f"/contents/{folder}?ref={quote(branch, safe='')}")
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return ()
            raise
        names = [name for name in found if name.endswith((".yml", ".yaml"))]
        return tuple(f"{folder}/{name}" for name in sorted(names, key=lambda name: "nightjar" not in name))

    def _list(self, path: str) -> tuple[str, ...]:
        """The names in what GitHub lists there."""
        requester, url = self._client.repository.requester, self._client.repository.url + path

        def read() -> tuple[str, ...]:
            _, data = requester.requestJsonAndCheck("GET", url)
            return tuple(str(one["name"]) for one in data)

        return self._client.ask(f"GET /repos/{self._client.name}{path}", read)

    def _ask(self, method: str, path: str, given: object = None) -> dict[str, object]:
        requester, url = self._client.repository.requester, self._client.repository.url + path
        request = f"{method} /repos/{self._client.name}{path}"

        def send() -> dict[str, object]:
            _, data = requester.requestJsonAndCheck(method, url, input=given)
            return data if isinstance(data, dict) else {}

        return self._client.ask(request, send, repeatable=True)
