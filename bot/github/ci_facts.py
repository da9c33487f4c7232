"""What GitHub knows about CI beside the checks of a commit: what a branch requires, what is switched off, how the pull
request stands, why a job broke. What the token may not read is unknown, and no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

from bot.github.client import PAGE, Refused
from bot.github.conditional import Reader
from bot.github.logs import clean
from bot.record import Check

T = TypeVar("T")

JOB_TOKEN = "github-actions[bot]"
"""Who a pull request is by that was opened with a job's own token."""
LOOKED_AT = 10
"""Jobs that are asked for what broke them, at most."""
LOST = "its runner was lost: there are no steps and no log"
_UNKNOWN = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


@dataclass(frozen=True, slots=True)
class PullFacts:
    """How a pull request stands."""

    head: str
    author: str
    mergeable: bool | None
    """None while GitHub has not worked it out."""
    open: bool


class CiFacts:
    """Facts about CI of one repository. Methods raise `Refused` for anything but a missing permission."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def required(self, branch: str) -> tuple[str, ...]:
        """Names of the checks that rulesets and protection demand before a merge into `branch`, as far as they can be
        read.

        Protection itself needs `administration`; the branch, readable with `contents`, tells its checks too.
        """
        name = quote(branch, safe="")
        nothing: tuple[str, ...] = ()
        by_rules = self._known(f"/rules/branches/{name}?per_page={PAGE}", _of_rules, nothing)
        by_protection = self._known(f"/branches/{name}", _of_branch, nothing)
        return tuple(sorted({*by_rules, *by_protection}))

    def disabled(self) -> tuple[str, ...]:
        """Paths of the workflows that somebody, or GitHub for want of activity, switched off."""
        return self._known(f"/actions/workflows?per_page={PAGE}", _switched_off, ())

    def actions_enabled(self) -> bool | None:
        """Whether GitHub Actions is on for the repository; None when the token may not know."""
        return self._known("/actions/permissions", lambda data: bool(data["enabled"]), None)

    def pull_request(self, number: int) -> PullFacts | None:
        """How the pull request stands; None when the token may not know."""
        return self._known(f"/pulls/{number}", _pull_facts, None)

    def dispatch(self, path: str, branch: str) -> str:
        """Start the workflow at `path` on `branch`; "" when GitHub took that, else its reason."""
        client = self._reader.client
        address = f"/actions/workflows/{quote(path.rpartition('/')[2])}/dispatches"
        call = partial(
            client.repository.requester.requestJsonAndCheck,
            "POST",
            client.repository.url + address,
            input={"ref": branch},
        )
        try:
            # Sent again when the answer is lost: of two runs of a workflow the newer one counts.
            client.ask(f"POST /repos/{client.name}{address}", call, repeatable=True)
        except Refused as refused:
            if refused.answer.limited or refused.answer.transient:
                raise
            return f"{refused.answer.status} {refused.answer.message}"
        return ""

    def lost(self, failed: Sequence[Check]) -> dict[int, str]:
        """Which of the failed jobs failed by losing their runner, with GitHub's words: no steps and no log."""
        jobs = [check.job_id for check in failed if check.job_id is not None]
        return {job: self.noted(job) or LOST for job in jobs[:LOOKED_AT] if self._is_lost(job)}

    def _is_lost(self, job: int) -> bool:
        steps = self._known(f"/actions/jobs/{job}", lambda data: len(data["steps"] or ()), None)
        return steps == 0 and not self._has_log(job)

    def _has_log(self, job: int) -> bool:
        """Whether there is a log, or may have been: one that expired, or that the token may not read."""
        client = self._reader.client
        path = f"/actions/jobs/{job}/logs"
        call = partial(client.repository.requester.requestJsonAndCheck, "GET", client.repository.url + path)
        try:
            client.ask(f"GET /repos/{client.name}{path}", call)
        except Refused as refused:
            return refused.answer.status != HTTPStatus.NOT_FOUND
        return True

    def noted(self, job: int) -> str:
        """The first annotation on a job: what GitHub itself says about a lost runner or a cancelled job."""
        return self._known(f"/check-runs/{job}/annotations?per_page={PAGE}", _first_message, "")

    def _known(self, path: str, parse: Callable[[Any], T], unknown: T) -> T:
        try:
            return self._reader.get(path, parse)
        except Refused as refused:
            if refused.answer.status in _UNKNOWN and not refused.answer.limited:
                return unknown
            raise


def _of_rules(data: Any) -> tuple[str, ...]:
    rules = [rule["parameters"] for rule in data if rule["type"] == "required_status_checks"]
    return tuple(str(check["context"]) for rule in rules for check in rule["required_status_checks"])


def _of_branch(data: Any) -> tuple[str, ...]:
    wanted = (data.get("protection") or {}).get("required_status_checks") or {}
    if wanted.get("enforcement_level", "everyone") == "off":
        return ()
    return tuple(str(name) for name in wanted.get("contexts") or ())


def _switched_off(data: Any) -> tuple[str, ...]:
    return tuple(str(row["path"]) for row in data["workflows"] if str(row["state"]).startswith("disabled"))


def _pull_facts(data: Any) -> PullFacts:
    author = str((data["user"] or {}).get("login", ""))
    return PullFacts(str(data["head"]["sha"]), author, data["mergeable"], data["state"] == "open")


def _first_message(data: Any) -> str:
    return next((clean(" ".join(str(row["message"]).split())) for row in data if row["message"]), "")
