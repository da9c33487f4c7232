"""The labels of a repository that Nightjar uses: made where they are missing, with a colour and a description."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from bot.github.client import Client, Refused

LOOKS = {
    "working": ("fbca04", "Nightjar is at work on this issue"),
    "ready": ("0e8a16", "Nightjar stands behind the pull request"),
    "failed": ("b60205", "Nightjar stopped; the newest comment says why"),
    "parked": ("c5def5", "Nightjar waits and continues by itself"),
    "queued": ("d4c5f9", "Nightjar starts when another Run has ended"),
}
"""By what a label's name has after its colon: colour (six hex digits) and description."""
OTHER_LOOK = ("5319e7", "Asks Nightjar to work on this issue")


class RepositoryLabels:
    """The labels of one repository. Methods raise `Refused`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: set[str] = set()

    def ensure(self, name: str) -> bool:
        """The label exists; whether it was made now."""
        if self.exists(name):
            return False
        colour, description = LOOKS.get(name.rpartition(":")[2], OTHER_LOOK)
        repository = self._client.repository
        try:
            self._client.ask(
                f"POST /repos/{self._client.name}/labels",
                lambda: repository.create_label(name, colour, description),
                repeatable=True,
            )
        except Refused as refused:
            if refused.answer.status != HTTPStatus.UNPROCESSABLE_ENTITY:  # somebody else made it in this moment
                raise
        self._known.add(name)
        return True

    def exists(self, name: str) -> bool:
        """Whether the repository has the label."""
        if name in self._known:
            return True
        path = f"/labels/{quote(name, safe='')}"
        requester, url = self._client.repository.requester, self._client.repository.url + path
        try:
            self._client.ask(f"GET /repos/{self._client.name}{path}", lambda: requester.requestJsonAndCheck("GET", url))
        except Refused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return False
            raise
        self._known.add(name)
        return True
