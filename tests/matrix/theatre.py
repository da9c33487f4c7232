"""A small stage for very many Runs: an embedded GitHub with real CI, a `claude` that needs no time, jobs that die.

Every Run implements something that is red, repairs it once, and is green: all that a Run does, in a second or two.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.clock import Clock
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.job import Job, Server

SCALE = 200
"""A planned minute is 0.3 s: an outage of three minutes is over within one."""
REPAIRS = 2
LIMIT = 90
"""Real seconds that one job may take."""
PATIENCE = 20
"""Real seconds until what a killed Run left has gone."""
CI = """\
name: CI
on:
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: "! grep -n 'b - a' calc.py"
"""
FILES = {"calc.py": "def add(a, b):\n    return a + b\n", ".github/workflows/ci.yml": CI}
SETTINGS = {"max-repairs": str(REPAIRS), "ci-start-minutes": "60"}

# What it does next is read from the work that is there, as a model would: so it suits a Continuation too.
_CLAUDE = """\
#!/bin/sh
case " $* " in *" --version "*) echo "2.1.332 (matrix)"; exit 0;; esac
read -r prompt
say() { printf '%s\\n' "$1"; }
id='"session_id":"5e551017-0000-4000-8000-000000000001"'
say '{"type":"system","subtype":"init",'$id',"uuid":"1","claude_code_version":"2.1.332","model":"claude-opus-4-8"}'
if ! grep -q 'def sub' calc.py; then
  printf 'def sub(a, b):\\n    return b - a\\n' >>calc.py
  git commit -qam 'Add subtraction'
  printf 'Add subtraction\\n\\nAdds it.\\n' >"$NIGHTJAR_HANDOVER/pull-request.md"
elif grep -q 'b - a' calc.py; then
  sed -i 's/b - a/a - b/' calc.py
  git commit -qam 'Subtract the right way round'
fi
echo "$NIGHTJAR_HANDOVER $(git rev-parse HEAD)" >>'@SESSIONS@'
say '{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,'\
$id',"uuid":"2"}'
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.","total_cost_usd":0.01,'\
'"terminal_reason":"completed",'$id',"uuid":"3"}'
exec cat >/dev/null
"""


@dataclass(frozen=True, slots=True)
class Lived:
    """One step of a job, as it ended."""

    exit_code: int
    log: str
    summary: str

    @property
    def killed(self) -> bool:
        """Whether a signal ended it."""
        return self.exit_code < 0


@dataclass(slots=True)
class Acted:
    """A job: its folder, its GitHub job, and what its steps came to."""

    run_id: int
    home: Path
    job: Job
    said: Path
    """What the Sessions of all jobs leave word in."""
    steps: list[Lived] = field(default_factory=list)

    @property
    def sessions(self) -> tuple[tuple[str, str], ...]:
        """The Sessions that began here, by kind, and the commit that each left."""
        rows = (line.split() for line in self.said.read_text(encoding="utf-8").splitlines())
        return tuple((Path(handover).name, commit) for handover, commit in rows if f"{self.home}/" in handover)


class Theatre:
    """One repository, one issue, and the jobs that a label on it starts."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub, files: Mapping[str, str]) -> None:
        """`folder` is the theatre's own; `files` are in its repository beside those that always are."""
        self.folder = folder
        self.hub = hub
        self.repository: SandboxRepository = hub.create_repository("acme/widget", {**FILES, **files})
        self.repository.set_permission("alice", "write")
        self.issue = self.repository.open_issue("Add subtraction", "We need `sub(a, b)`.", author="dana")
        self.token = hub.issue_token("nightjar[bot]")
        self.jobs: list[Acted] = []
        self._payload: dict[str, object] = {}
        self.missed = False
        """Whether the request that was to go wrong never came."""
        self.lost = ""
        """A commit that a Session had made when its runner was lost, before the Record was pushed again."""
        self.claude = folder / "claude"
        self._sessions = folder / "sessions"
        self._sessions.touch()
        self._sessions.chmod(0o666)  # whoever Sessions run as
        self.claude.write_text(_CLAUDE.replace("@SESSIONS@", str(self._sessions)), encoding="utf-8")
        self.claude.chmod(0o755)

    def label(self) -> Acted:
        """alice labels the issue (anew, where the label is still there): a job begins."""
        if "nightjar" in self.repository.labels(self.issue):
            self.repository.unlabel_issue(self.issue, "nightjar", actor="alice")
        payload = self.repository.label_issue(self.issue, "nightjar", actor="alice")
        self._payload = payload
        number = len(self.jobs) + 1
        home = self.folder / f"job-{number}"
        server = Server(self.hub.api_url, self.hub.server_url, self.repository.full_name, self.token)
        job = Job(home, server, model_url="http://127.0.0.1:9", claude=self.claude, scale=SCALE, run_id=number)
        self.jobs.append(Acted(number, home, job, self._sessions))
        return self.jobs[-1]

    def begin(
        self,
        acted: Acted,
        command: str = "run",
        *,
        dies: tuple[str, int] | None = None,
        status: str = "failure",
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a step of a job; `dies` names a point of `tests.matrix.dying`. `status` of the job is told to `finish`;
        `extra` is added to the environment.
        """
        told = {"job-status": status} if command == "finish" else {}
        environment = acted.job.environment("issues", self._payload, {**SETTINGS, **told}) | dict(extra or {})
        place, nth = dies or ("git", 0)
        words = [sys.executable, "-m", "tests.matrix.dying", place, str(nth), str(acted.home / place), command]
        return subprocess.Popen(
            words if dies else [sys.executable, "-m", "bot", command],
            cwd=acted.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def end(self, acted: Acted, process: subprocess.Popen[str]) -> Lived:
        """Wait for the end of a step. Raises `subprocess.TimeoutExpired` after killing it."""
        try:
            log, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        summary = acted.home / "summary.md"
        acted.steps.append(Lived(process.returncode, log, summary.read_text() if summary.is_file() else ""))
        return acted.steps[-1]

    def play(
        self, acted: Acted, command: str = "run", *, dies: tuple[str, int] | None = None, status: str = "failure"
    ) -> Lived:
        """A step from its start to its end."""
        return self.end(acted, self.begin(acted, command, dies=dies, status=status))

    # ── what people and processes can see afterwards ────────────────────────────────────────────────────────────

    def survivors(self) -> tuple[str, ...]:
        """Command lines of processes of any job here that still live, after a moment of patience."""
        limit = Clock.reaction("survivors", PATIENCE)
        while (found := tuple(self._alive())) and not limit.passed():
            Clock.pause(0.05)
        return found

    def _alive(self) -> Iterator[str]:
        marks = [f"{acted.home}/".encode() for acted in self.jobs]
        for entry in Path("/proc").iterdir():
            try:
                known = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
                if any(mark in known for mark in marks):
                    yield (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue

    def markers(self) -> tuple[str, ...]:
        """The hidden lines of all comments on the issue and on its pull requests."""
        places = [self.issue, *(pull.number for pull in self.repository.pull_requests())]
        texts = [comment.body for place in places for comment in self.repository.comments(place)]
        return tuple(mark for text in texts for mark in re.findall(r"<!-- nightjar:[^>]* -->", text))

    def missing(self) -> tuple[str, ...]:
        """Commits that a Session left and that no branch of the remote has."""
        wanted = dict.fromkeys(commit for acted in self.jobs for _, commit in acted.sessions)
        return tuple(commit[:10] for commit in wanted if commit != self.lost and not self._on_a_branch(commit))

    def lose_the_runner(self) -> None:
        """The newest job's runner is gone: a Session's commit that had no chance to leave it is nobody's fault."""
        sessions = self._sessions
        ref = self.folder / "hub" / "repositories" / "acme" / "widget.git" / "refs" / "nightjar" / "issue-1"
        if self.jobs[-1].sessions and (not ref.is_file() or ref.stat().st_mtime_ns < sessions.stat().st_mtime_ns):
            self.lost = self.jobs[-1].sessions[-1][1]

    def _on_a_branch(self, commit: str) -> bool:
        bare = self.folder / "hub" / "repositories" / "acme" / "widget.git"
        words = ["git", "for-each-ref", f"--contains={commit}", "refs/heads/nightjar"]
        return bool(subprocess.run(words, cwd=bare, capture_output=True, check=False).stdout)


@contextmanager
def theatre(folder: Path, files: Mapping[str, str] | None = None) -> Iterator[Theatre]:
    """A theatre in `folder`, which is made."""
    folder.mkdir(parents=True)
    with EmbeddedGitHub(folder / "hub") as hub:
        yield Theatre(folder, hub, files or {})
