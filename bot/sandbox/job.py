"""A job of GitHub Actions on this machine, as far as one step can tell: the event's file, the runner's variables and
files, the exit code.

It starts the real command, `python -m bot run`, in a process of its own, with an environment that has nothing of this
machine's but PATH.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clock import SCALE_VARIABLE
from bot.settings import SETTINGS

_MASK = "::add-mask::"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Server:
    """Where the job's GitHub is, and the token that the job uses."""

    api_url: str
    server_url: str
    repository: str
    token: str


@dataclass(frozen=True, slots=True)
class Finished:
    """What a step left behind."""

    exit_code: int
    log: str
    """As the step printed it, before the runner's masks."""
    outputs: Mapping[str, str]
    summary: str
    temp: Path
    """The job's RUNNER_TEMP."""


class Job:
    """One job: a fresh RUNNER_TEMP below `folder`, and one step in it."""

    def __init__(
        self, folder: Path, server: Server, *, model_url: str, claude: Path, scale: float, run_id: int = 1
    ) -> None:
        """`folder` is made; `scale` speeds the planned waits of the step up; `claude` and `model_url` are what Sessions
        use.
        """
        self._folder = folder
        self._server = server
        self._model_url = model_url
        self._claude = claude
        self._scale = scale
        self._run_id = run_id
        self.temp = folder / "temp"
        self.temp.mkdir(parents=True)

    def environment(self, event: str, payload: Mapping[str, object], settings: Mapping[str, str]) -> dict[str, str]:
        """The step's whole environment; `settings` are inputs by their names, and win over what the sandbox gives."""
        (self._folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        given = {
            "github-token": self._server.token,
            "anthropic-api-key": "scripted",
            "claude-path": str(self._claude),
            **settings,
        }
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._folder),
            "PYTHONPATH": str(_PACKAGE_ROOT),
            "ANTHROPIC_BASE_URL": self._model_url,
            "CLAUDE_CODE_TMPDIR": str(self._folder),
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self._server.api_url,
            "GITHUB_SERVER_URL": self._server.server_url,
            "GITHUB_REPOSITORY": self._server.repository,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self._folder / "event.json"),
            "GITHUB_OUTPUT": str(self._folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self._folder / "summary.md"),
            "GITHUB_RUN_ID": str(self._run_id),
            "GITHUB_RUN_ATTEMPT": "1",
            "RUNNER_TEMP": str(self.temp),
            SCALE_VARIABLE: f"{self._scale:g}",
            **{SETTINGS[name].variable: value for name, value in given.items()},
        }

    def start(self, environment: Mapping[str, str], command: str = "run") -> subprocess.Popen[str]:
        """Start a step of this job; its log is the process's stdout."""
        return subprocess.Popen(
            [sys.executable, "-m", "bot", command],
            cwd=self._folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def finish(self, process: subprocess.Popen[str], line: Callable[[str], None] = lambda _line: None) -> Finished:
        """Read the step's log to its end; `line` hears each line as the job's page shows it: masks consumed and
        applied.
        """
        lines, masks = [], []
        with process:
            try:
                for text in process.stdout or ():
                    lines.append(text)
                    if text.startswith(_MASK):
                        masks.append(text.removeprefix(_MASK).strip())
                        continue
                    shown = text.rstrip("\n")
                    for mask in masks:
                        shown = shown.replace(mask, "***")
                    line(shown)
            except BaseException:  # Ctrl-C: the step ends before its folder and its server do
                process.terminate()
                process.wait()
                raise
        return Finished(
            process.returncode, "".join(lines), self._outputs(), self._read(self._folder / "summary.md"), self.temp
        )

    def run(
        self,
        payload: Mapping[str, object],
        settings: Mapping[str, str] | None = None,
        *,
        event: str = "issues",
        line: Callable[[str], None] = lambda _line: None,
    ) -> Finished:
        """The step from start to end."""
        return self.finish(self.start(self.environment(event, payload, settings or {})), line)

    def _outputs(self) -> dict[str, str]:
        """The outputs, as a runner reads them: `name<<delimiter`, lines, `delimiter`."""
        found: dict[str, str] = {}
        lines = iter(self._read(self._folder / "output").splitlines())
        for opening in lines:
            name, _, delimiter = opening.partition("<<")
            value: list[str] = []
            for text in lines:
                if text == delimiter:
                    break
                value.append(text)
            found[name] = "\n".join(value)
        return found

    @staticmethod
    def _read(path: Path) -> str:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
