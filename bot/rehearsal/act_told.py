"""What act tells of a job, one object a line (`--json`), as a job's log, steps and outputs on GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.rehearsal.act_workflow import OUTPUTS
from bot.sandbox.ci.events import Conclusion, StepResult
from bot.sandbox.ci.log import JobLog
from bot.sandbox.ci.workflow import Job, Step

LONGEST = 4 * 1024 * 1024
"""Bytes of a line of act's that are kept; a longer one is none that could be read."""
_EXIT = re.compile(r"exit status (\d+)|exitcode '(\d+)': failure")
_ENDS: Mapping[str, Conclusion] = {"success": "success", "failure": "failure", "skipped": "skipped"}
_ITS_OWN_END = "Error: "
"""How the line begins that act ends with when not all went well."""


@dataclass(slots=True)
class _Open:
    """A step that has begun."""

    name: str
    started: datetime


@dataclass(slots=True)
class Told:
    """What has been told so far of one job."""

    job: Job
    log: JobLog
    tolerates: Callable[[Step], bool]
    """Whether a step's failure is to count as none (`continue-on-error`)."""
    result: str = ""
    """act's own word for how the job ended; "" until it has."""
    failed: bool = False
    """Whether one of the job's own steps has failed."""
    trouble: str = ""
    """The first thing that act called an error."""
    steps: list[StepResult] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    """The job's."""
    summary: str = ""
    _open: dict[tuple[str, str], _Open] = field(default_factory=dict)
    _rest: bytes = b""

    def heard(self, raw: bytes) -> None:
        """A line, or a piece of one that is long."""
        self._rest += raw
        if self._rest.endswith(b"\n"):
            line, self._rest = self._rest.decode("utf-8", "replace").strip(), b""
            self._line(line)
        self._rest = self._rest[:LONGEST]

    def _line(self, line: str) -> None:
        if not line.startswith("{"):
            if line.startswith(_ITS_OWN_END):
                self._troubled(line.removeprefix(_ITS_OWN_END))
            elif line:
                self.log.line(line)
            return
        try:
            told = json.loads(line)
        except json.JSONDecodeError:
            return
        if isinstance(told, dict) and told.get("jobID") == self.job.id:
            self._object(told)

    def _object(self, told: Mapping[str, Any]) -> None:
        text = str(told.get("msg", "")).rstrip()
        self.result = str(told.get("jobResult", self.result))
        path = told.get("stepID") or told.get("stepid") or []
        place = (str(told.get("stage", "")), str(path[0])) if path else None
        if path and str(path[0]) == OUTPUTS:
            if told.get("command") == "set-output":
                self.outputs[str(told.get("name", ""))] = str(told.get("arg", ""))
            return
        if place is not None and place not in self._open:
            self._begin(place, str(told.get("step", "")))
        if "command" in told:
            self._command(told)
        elif told.get("raw_output"):
            self.log.line(text.replace("\r", ""))
        elif told.get("stepResult"):
            if place is not None and len(path) == 1:
                self._end(place, str(told["stepResult"]))
        elif told.get("level") == "error":
            self._troubled(text)
            code = _EXIT.fullmatch(text)
            self.log.error(f"Process completed with exit code {code[1] or code[2]}." if code else text)

    def _troubled(self, text: str) -> None:
        self.trouble = self.trouble or next(iter(text.splitlines()), "")

    def _begin(self, place: tuple[str, str], told: str) -> None:
        stage, step_id = place
        step = self._step(step_id)
        if step is None:
            self._open[place] = _Open(told.strip(), _now())
            return
        run = f"Run {(step.run or step.uses).strip().splitlines()[0]}"
        name = step.name or run
        main = stage == "Main"
        self._open[place] = _Open(name if main else f"{stage} {name}", _now())
        self.log.line(f"##[group]{run if main else f'{stage} {name}'}")
        if main and step.run:
            self.log.line(step.run.rstrip("\n"))
        self.log.line("##[endgroup]")

    def _end(self, place: tuple[str, str], word: str) -> None:
        opened, step = self._open[place], self._step(place[1])
        outcome = _ENDS.get(word, "failure")
        conclusion = outcome
        if outcome == "failure" and step is not None and self.tolerates(step):
            conclusion = "success"
        self.failed = self.failed or (conclusion == "failure" and place[0] in ("Main", "Post"))
        number = len(self.steps) + 1
        self.steps.append(StepResult(opened.name, number, conclusion, opened.started, _now()))

    def _command(self, told: Mapping[str, Any]) -> None:
        """A workflow command that act has carried out."""
        if told["command"] == "summary":
            self.summary += str(told.get("content", ""))
        elif told.get("raw"):
            self.log.output(str(told["raw"]).encode())

    def _step(self, step_id: str) -> Step | None:
        """A step by its id, else by its place."""
        for index, step in enumerate(self.job.steps):
            if step_id == (step.id or str(index)):
                return step
        return None


def _now() -> datetime:
    return datetime.now(UTC)
