"""Plays a case: one whole Run of the real command in a job, and what people then see on GitHub."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.failures import CATALOGUE
from bot.proof.facts import Verdict
from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.job import Finished, Job, Server
from tests.exam.case import Case
from tests.run.town import tiny_claude

SCALE = 60
"""How much faster than planned Nightjar's own waits are: a planned minute is a second."""
HEADINGS = {
    "Proved": Verdict.PROVED,
    "Not proved": Verdict.PASSES_BEFORE_TOO,
    "Fails after": Verdict.FAILS_AFTER,
    "Could not be run": Verdict.COULD_NOT_RUN,
    "Nothing proves this": Verdict.NOT_NAMED,
}
"""How a pull request begins, and what that says."""
_BIN = Path(sys.executable).parent
_PYTEST_ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The samples need none of the plugins that are installed here, which take longer to load than the tests do."""
_SESSION = """\
case "$kind" in
implement)
set -e
{does}
set +e
touch "$word/played"
;;
*)
{repairs}
;;
esac
"""
_HEADING = re.compile(r"\A\*\*(.+?)\.\*\* (.*)")
_LOOK = re.compile(r"^> \*\*Look at this first\*\*\n>\n((?:> - .*\n)+)", re.MULTILINE)
_STOPPED = re.compile(r"^### Nightjar stopped: (.*)$", re.MULTILINE)
_TRIAL = re.compile(r"trial on [0-9a-f]+: .*, ([0-9.]+) s$", re.MULTILINE)


class NotPlayed(Exception):
    """The Session of a case did not do what the case says: the case is wrong, whatever came of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a Run, as people see it."""

    outcome: str
    failure: str
    """The code of the Failure that people are told of; "" for none."""
    body: str
    """Of the pull request; "" where there is none."""
    log: str
    seconds: float
    """Of the whole job, real ones."""

    @property
    def verdict(self) -> Verdict | None:
        """What the pull request begins with; None where it does not begin with one."""
        found = _HEADING.match(self.body)
        return HEADINGS.get(found[1]) if found else None

    @property
    def ended(self) -> str:
        """The outcome, with the Failure if there is one."""
        return f"{self.outcome}: {self.failure}" if self.outcome == "failed" else self.outcome

    @property
    def heading(self) -> str:
        """The line that the pull request begins with."""
        return self.body.partition("\n")[0]

    @property
    def looks(self) -> tuple[str, ...]:
        """The lines under "Look at this first"."""
        found = _LOOK.search(self.body)
        return tuple(line.removeprefix("> - ") for line in found[1].splitlines()) if found else ()

    @property
    def proving(self) -> float:
        """Seconds that the Trials took."""
        return sum(float(seconds) for seconds in _TRIAL.findall(self.log))


def sit(case: Case, settings: Mapping[str, str] | None = None) -> Answer:
    """Play a case; `settings` win over its own. Raises `NotPlayed`."""
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="nightjar-exam-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedGitHub(folder / "hub", scale=SCALE) as hub:
            files = {**case.sample.files, **case.files}
            workflow = ".github/workflows/ci.yml"
            repository = hub.create_repository(
                "acme/widget", {**files, workflow: files[workflow].replace("{bin}", str(_BIN))}
            )
            repository.set_permission("alice", "write")
            issue = repository.open_issue(case.title, case.body, author="dana")
            payload = repository.label_issue(issue, "nightjar", actor="alice")
            server = Server(hub.api_url, hub.server_url, "acme/widget", hub.issue_token("nightjar[bot]"))
            job = Job(folder / "job", server, model_url="http://127.0.0.1:9", claude=_claude(case, folder), scale=SCALE)
            finished, seconds = _run(job, payload, {"ci-start-minutes": "60", **case.settings, **(settings or {})})
            if not (folder / "word" / "played").exists():
                raise NotPlayed(f"{case.name}: the Session failed half-way\n{finished.log}")
            pulls = repository.pull_requests()
            ending = repository.comments(issue)[-1].body
        outcome = finished.outputs.get("outcome", "none")
        return Answer(outcome, _failure(ending), pulls[-1].body if pulls else "", finished.log, seconds)


def _failure(ending: str) -> str:
    """The code of the Failure whose title an ending has."""
    found = _STOPPED.search(ending)
    codes = {failure.title: code for code, failure in CATALOGUE.items()}
    return codes.get(found[1], found[1]) if found else ""


def _claude(case: Case, folder: Path) -> Path:
    script = _SESSION.format(does="\n".join(case.does), repairs="\n".join(case.repairs))
    return tiny_claude(folder, script)


def _run(job: Job, payload: Mapping[str, object], settings: Mapping[str, str]) -> tuple[Finished, float]:
    environment = job.environment("issues", payload, settings)
    started = os.times().elapsed
    process = job.start(environment | {"PATH": f"{_BIN}{os.pathsep}{environment['PATH']}"} | _PYTEST_ALONE)
    finished = job.finish(process)
    return finished, os.times().elapsed - started
