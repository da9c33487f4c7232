"""An issue's title and text for somebody at a terminal: one request, with their token or without any."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from bot.credential import Credential
from bot.failures import RunFailed

TIMEOUT = 30
"""Real seconds GitHub may take to answer."""
_HIDDEN = "; a private repository needs a token"


@dataclass(frozen=True, slots=True)
class IssueText:
    """What somebody wrote."""

    title: str
    body: str


def read_issue_text(api_url: str, repository: str, number: int, credential: Credential | None) -> IssueText:
    """The issue `number` of `repository` (owner/name); without a `credential` it is asked for anonymously. Raises
    `RunFailed`.
    """
    import httpx2

    path = f"/repos/{repository}/issues/{number}"
    shown = {"Authorization": f"Bearer {credential.current()}"} if credential is not None else {}
    headers = {"User-Agent": "nightjar", "Accept": "application/vnd.github+json", **shown}
    try:
        answer = httpx2.get(f"{api_url.rstrip('/')}{path}", headers=headers, timeout=TIMEOUT, follow_redirects=False)
        data: Any = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        why = str(error) or type(error).__name__
        raise RunFailed("github_unavailable", f"GET {path}: no answer that can be read: {why}") from error
    if answer.status_code != HTTPStatus.OK or not isinstance(data, dict) or not isinstance(data.get("title"), str):
        said = str(data.get("message", "")) if isinstance(data, dict) else ""
        hint = _HIDDEN if answer.status_code == HTTPStatus.NOT_FOUND and credential is None else ""
        raise RunFailed("github_denied", f"GET {path} → {answer.status_code}: {said or 'nothing was said'}{hint}")
    if data.get("pull_request"):
        raise RunFailed("github_denied", f"{repository}#{number} is a pull request, not an issue")
    return IssueText(data["title"], data.get("body") or "")
