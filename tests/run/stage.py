"""A stage for whole Runs: an embedded GitHub with its people, a scripted model, and the real command in a job.

    played = stage.run(session("implement", does(ADD_RIGHT), says("Done.")))
    assert played.exit_code == 0

Each `run` is one job: it labels the issue, starts `nightjar run` with the real CLI, and waits for its end.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from bot.sandbox.cli import bundled_claude
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.people import PullRequestView
from bot.sandbox.github.state import TokenKind
from bot.sandbox.job import Finished, Job, Server
from bot.sandbox.model import Call, Conversation, Reply, Script, ScriptedModel

SCALE = 30
"""How much faster than planned Nightjar's own waits are: a planned minute is two seconds."""

CI = """\
name: CI
on:
  pull_request:
  push:
    branches: [main]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: python3 -m unittest -v
"""
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": (
        "import unittest\n\nimport calc\n\n\n"
        "class Calc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
    ),
    ".github/workflows/ci.yml": CI,
}

# What a scripted session does in its checkout, as shell commands.
_TEST = r"printf '    def test_sub(self):\n        self.assertEqual(calc.sub(3, 1), 2)\n' >> test_calc.py"
ADD_RIGHT = rf"printf 'def sub(a, b):\n    return a - b\n' >> calc.py; {_TEST}; git commit -qam 'Add subtraction'"
ADD_WRONG = rf"printf 'def sub(a, b):\n    return b - a\n' >> calc.py; {_TEST}; git commit -qam 'Add subtraction'"
MEND = "sed -i 's/b - a/a - b/' calc.py; git commit -qam 'Subtract the right way round'"
_CLAIM = '{"command": "python3 -m unittest -v test_calc", "files": ["test_calc.py"]}'
PROVE = f"""printf '%s' '{_CLAIM}' > "$NIGHTJAR_HANDOVER/proof.json" """
HAND_OVER = r"""printf 'Add subtraction\n\nAdds `sub`.\n' > "$NIGHTJAR_HANDOVER/pull-request.md" """


def note(text: str) -> str:
    """A shell command that leaves a Repair's note."""
    return f"printf '{text}' > \"$NIGHTJAR_HANDOVER/note.md\""


def does(command: str, about: str = "work", *, background: bool = False) -> Reply:
    """The model calls Bash."""
    given: dict[str, object] = {"command": command, "description": about}
    return Reply(text=f"I {about}.", calls=(Call("Bash", given | ({"run_in_background": True} if background else {})),))


def says(text: str = "Done.") -> Reply:
    """The model ends its turn with words."""
    return Reply(text=text)


def session(name: str, *replies: Reply) -> Conversation:
    """What one Session, and its Resume, gets to hear from the model, in order."""
    return Conversation(name=name, replies=replies)


GREEN_AT_ONCE = session("implement", does(f"{ADD_RIGHT}; {HAND_OVER}", "add subtraction"), says())
RED_AT_FIRST = session("implement", does(f"{ADD_WRONG}; {HAND_OVER}", "add subtraction"), says())


@dataclass(frozen=True, slots=True)
class Played:
    """One Run that is over, as people see it."""

    stage: Stage
    issue: int
    job: Finished
    model: ScriptedModel
    home: Path
    """HOME of the job: what marks its processes."""
    runner: Job

    @property
    def exit_code(self) -> int:
        """The command's exit code."""
        return self.job.exit_code

    @property
    def outputs(self) -> Mapping[str, str]:
        """The step's outputs."""
        return self.job.outputs

    @property
    def log(self) -> str:
        """The job log as somebody reads it: the runner swallows the lines that tell it what to mask."""
        return "".join(line for line in self.job.log.splitlines(True) if not line.startswith("::add-mask::"))

    @property
    def comments(self) -> tuple[str, ...]:
        """The texts on the issue, oldest first, as they are now."""
        return tuple(comment.body for comment in self.stage.repository.comments(self.issue))

    @property
    def ending(self) -> str:
        """The newest comment on the issue."""
        return self.comments[-1]

    @property
    def labels(self) -> tuple[str, ...]:
        """The issue's labels."""
        return self.stage.repository.labels(self.issue)

    @property
    def pull(self) -> PullRequestView:
        """The newest pull request."""
        return self.stage.repository.pull_requests()[-1]

    @property
    def repair_comments(self) -> tuple[str, ...]:
        """The texts on the newest pull request."""
        return tuple(comment.body for comment in self.stage.repository.comments(self.pull.number))

    @property
    def transcripts(self) -> tuple[str, ...]:
        """Names of the Sessions' logs."""
        return tuple(sorted(path.name for path in (self.job.temp / "nightjar" / "logs").glob("*.jsonl")))

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of all that is left in the logs folder."""
        return tuple(sorted(path.name for path in (self.job.temp / "nightjar" / "logs").iterdir()))

    def prompt(self, conversation: str) -> str:
        """The first prompt of the Session that got this conversation."""
        return next(request.first_text for request in self.model.requests if request.conversation == conversation)

    def survivors(self) -> tuple[str, ...]:
        """Command lines of processes of this job that still live."""
        mark = f"HOME={self.home}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Playing:
    """A Run that is under way."""

    stage: Stage
    issue: int
    process: subprocess.Popen[str]
    job: Job
    model: ScriptedModel
    home: Path

    def finish(self) -> Played:
        """Wait for its end."""
        finished = self.job.finish(self.process)
        self.model.close()
        return Played(self.stage, self.issue, finished, self.model, self.home, self.job)


class Stage:
    """The embedded GitHub, its repository acme/widget with the issue #1, and jobs that run in it."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub, files: Mapping[str, str]) -> None:
        """alice may write, bob and dana may read; dana wrote the issue."""
        self.folder = folder
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.hub = hub
        self.repository: SandboxRepository = hub.create_repository("acme/widget", files)
        self.repository.set_permission("alice", "write")
        self.repository.set_permission("bob", "read")
        self.issue = self.repository.open_issue("Add subtraction", "We need `sub(a, b)`.", author="dana")
        self.token = hub.issue_token("nightjar[bot]")
        self._jobs = 0

    def use_token(self, kind: TokenKind, login: str = "github-actions[bot]") -> None:
        """The jobs that follow use a token of that kind."""
        self.token = self.hub.issue_token(login, kind)

    def reopen_issue(self, actor: str) -> None:
        """Somebody opens the issue again, with a token of their own."""
        request = Request(
            f"{self.hub.api_url}/repos/{self.repository.full_name}/issues/{self.issue}",
            data=b'{"state": "open"}',
            method="PATCH",
            headers={"Authorization": f"Bearer {self.hub.issue_token(actor, 'pat')}"},
        )
        with urlopen(request, timeout=10) as answer:
            assert answer.status == 200

    def path(self, name: str) -> Path:
        """A path that sessions and the test both know, in a folder that is no part of the runner's."""
        return self.shared / name

    def fifo(self, name: str) -> Path:
        """A named pipe: a session writes to it, and the test that reads from it has waited for that."""
        os.mkfifo(self.path(name))
        return self.path(name)

    def start(
        self,
        *conversations: Conversation,
        settings: Mapping[str, str] | None = None,
        actor: str = "alice",
        label: str = "nightjar",
        payload: Mapping[str, object] | None = None,
        event: str = "issues",
        environment: Mapping[str, str] | None = None,
    ) -> Playing:
        """Label the issue (unless the event's `payload` is given) and start a job with that event."""
        if payload is None:
            payload = self.repository.label_issue(self.issue, label, actor=actor)
        self._jobs += 1
        home = self.folder / f"job-{self._jobs}"
        model = ScriptedModel(Script(conversations=conversations or (session("nobody", says()),))).start()
        server = Server(self.hub.api_url, self.hub.server_url, self.repository.full_name, self.token)
        job = Job(home, server, model_url=model.url, claude=bundled_claude(), scale=SCALE, run_id=self._jobs)
        whole = job.environment(event, payload, settings or {}) | dict(environment or {})
        return Playing(self, self.issue, job.start(whole), job, model, home)

    def run(
        self,
        *conversations: Conversation,
        settings: Mapping[str, str] | None = None,
        actor: str = "alice",
        label: str = "nightjar",
        payload: Mapping[str, object] | None = None,
        event: str = "issues",
        environment: Mapping[str, str] | None = None,
    ) -> Played:
        """One job from its start to its end."""
        return self.start(
            *conversations,
            settings=settings,
            actor=actor,
            label=label,
            payload=payload,
            event=event,
            environment=environment,
        ).finish()

    def writes(self) -> tuple[str, ...]:
        """What was asked of the GitHub that changes something, git pushes too: `METHOD path`."""
        return tuple(
            f"{request.method} {request.path}"
            for request in self.hub.requests
            if request.method != "GET" and not request.path.endswith("/git-upload-pack")
        )
