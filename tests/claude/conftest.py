"""A Session on the real `claude` CLI of both generations, with the scripted model behind it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.claude import command
from bot.claude.descendants import marked
from bot.claude.session import Ask, Played, SessionPlayer
from bot.claude.waits import Limits
from bot.clock import Clock
from bot.guard import Redactor
from bot.record import SessionEntry
from bot.sandbox.cli import bundled_claude, offline_environment
from bot.sandbox.model import Call, Conversation, Fault, ModelRequest, Reply, Script, ScriptedModel

OLDER_CLAUDE = Path(os.environ.get("NIGHTJAR_OLDER_CLAUDE", ".venv/older/claude_agent_sdk/_bundled/claude")).absolute()
"""2.1.211, from its own wheel (`make environment`): it kills background work 5 s after its stdin is closed."""


@pytest.fixture(params=["waits", "kills"])
def claude(request: pytest.FixtureRequest) -> Path:
    """The real CLI: the generation that waits for background work, and the older one that kills it."""
    if request.param == "waits":
        return bundled_claude()
    if not OLDER_CLAUDE.exists():
        pytest.skip("the older claude is not installed: make environment")
    return OLDER_CLAUDE


@dataclass(slots=True)
class Desk:
    """Everything around one Session."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    limits: Limits = field(default_factory=lambda: Limits(settle=0.3))
    entries: list[SessionEntry] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    on_progress: Callable[[str], object] | None = None
    retries: int = 0
    extra: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    configure: Callable[[str], command.Configuration] = lambda _: command.Configuration()

    def hold(self, claude: Path, url: str) -> Played:
        """Play one Session to its end; afterwards nothing that it started is left."""
        home, work, logs = (self.folder / name for name in ("home", "work", "logs"))
        for path in (home, work, logs):
            path.mkdir(exist_ok=True)
        environment = offline_environment(url, home, os.environ["PATH"]) | {
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "NIGHTJAR_TEST": self.folder.name,
            **self.variables,
        }
        player = SessionPlayer(
            command.Claude(claude, extra=self.extra),
            checkout=work,
            logs=logs,
            log_prefix="issue-1-run-1-1",
            limits=self.limits,
            clock=self.clock,
            redactor=Redactor(()),
        )
        ask = Ask(
            kind="implement",
            prompt="begin",
            resume_prompt=lambda verdict: f"resume: {'; '.join(verdict.tasks)}",
            retry_prompt=lambda verdict: f"retry: {'; '.join(verdict.tasks)}",
            nudge_prompt=lambda tasks: f"nudge: {'; '.join(tasks)}",
            budget_usd=10,
            deadline=Clock.reaction("run", 100),
            environment=environment,
            retries_left=self.retries,
            configure=self.configure,
        )
        played = player.hold(ask, ended=self.entries.append, progress=self._progress)
        assert marked(f"NIGHTJAR_TEST={self.folder.name}") == ()
        return played

    def _progress(self, line: str) -> None:
        self.said.append(line)
        if self.on_progress:
            self.on_progress(line)

    @property
    def names(self) -> list[str]:
        """The processes of the Session, by their logs' names."""
        return [entry.name for entry in self.entries]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A Session's surroundings, with short limits."""
    return Desk(tmp_path)


def background(name: str, seconds: float) -> Call:
    """A background command that runs for `seconds`."""
    line = f"python3 -c 'import time; time.sleep({seconds})'"
    return Call("Bash", {"command": line, "run_in_background": True, "description": name})


class Model(ScriptedModel):
    """A scripted model whose calls can name the background task that it was told of, as `TASK`."""

    task = ""

    def answer(self, body: bytes, headers: Mapping[str, str]) -> tuple[ModelRequest, Reply | Fault]:
        """As scripted, with the task's id filled in."""
        request, item = super().answer(body, headers)
        told = re.search(r"background with ID: (\w+)", "".join(request.tool_results))
        self.task = told[1] if told else self.task
        if isinstance(item, Reply) and item.calls:
            filled = [{k: self.task if v == "TASK" else v for k, v in call.input.items()} for call in item.calls]
            item = replace(item, calls=tuple(Call(c.name, f) for c, f in zip(item.calls, filled, strict=True)))
        return request, item


def model(*replies: Reply | Fault, agents: tuple[Conversation, ...] = ()) -> Model:
    """A scripted model for one Session."""
    return Model(Script((Conversation("only", replies),), agents=agents))
