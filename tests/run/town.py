"""A stage for whole stories over several jobs and runners: the shipped workflow files, run by the sandbox's Actions.

    with town(folder) as played:
        played.label()
        played.settle()
        assert played.labels() == ("nightjar:ready",)

Sessions are played by a `claude` that is a few lines of shell: what it does is a script of the test's, in which these
words stand for what a Session may do: `wrong` (red), `right` (green), `mend`, `limit MOMENT` (the usage limit is
reached; seconds since the epoch, or nothing), and `gate NAME`, which waits until the test opens that gate. `$kind` and
`$issue` say whose Session it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.clock import Clock
from bot.record import Record
from bot.sandbox.actions import JobSeen, RunSeen, SandboxActions, Story
from bot.sandbox.github import EmbeddedGitHub, SandboxRepository
from bot.sandbox.github.rates import RATE_LIMIT
from bot.sandbox.github.state import Comment
from bot.sandbox.github.world import RUN_PERMISSIONS
from bot.stored import from_json

WORKFLOWS = Path(__file__).resolve().parents[2] / ".github" / "workflows"
WAKE = ".github/workflows/nightjar-wake.yml"
NOT_SWEPT = {WAKE: "name: Other\non: workflow_dispatch\njobs: {none: {runs-on: x, steps: [{run: 'true'}]}}\n"}
"""In place of the workflow that takes Runs up."""
SCALE = 60
"""A planned minute is a second."""
PATIENCE = 120.0
"""Real seconds that a story may take to come to rest."""
CI = """\
name: CI
on:
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: "{first}! grep -n 'b - a' calc.py"
"""
_GATE = "until [ -e {folder}/$1 ]; do sleep 0.1; done"
_SESSION = """\
#!/bin/sh
case " $* " in *" --version "*) echo "2.1.332 (town)"; exit 0;; esac
read -r prompt
word={folder}
kind="${{NIGHTJAR_HANDOVER##*/}}"
issue="$(git rev-parse --abbrev-ref HEAD | cut -d- -f2)"
say() {{ printf '{{%s,"session_id":"5e551017-0000-4000-8000-000000000001","uuid":"%s"}}\\n' "$1" "$RANDOM"; }}
words() {{
  say '"type":"assistant","message":{{"content":[{{"type":"text","text":"'"$1"'"}}]}},"parent_tool_use_id":null'"$2"
}}
close() {{
  echo "$(date +%s%N) $kind $issue end" >>{folder}/sessions
  say '"type":"result","subtype":"success","is_error":'$1',"num_turns":1,"result":"Done.","total_cost_usd":0.01,'\
'"terminal_reason":"completed"'
  exec cat >/dev/null
}}
gate() {{ {gate}; }}
add() {{
  printf 'def sub(a, b):\\n    return %s\\n' "$1" >>calc.py
  git commit -qam "Add subtraction, as $issue asks"  # else two Sessions of one second make one commit
  printf 'Add subtraction\\n\\nAdds it.\\n' >"$NIGHTJAR_HANDOVER/pull-request.md"
}}
right() {{ add 'a - b'; }}
wrong() {{ add 'b - a'; }}
mend() {{
  sed -i 's/b - a/a - b/' calc.py
  git commit -qam 'Subtract the right way round'
  echo 'The operands were swapped.' >"$NIGHTJAR_HANDOVER/note.md"
}}
limit() {{
  [ -z "$1" ] || say '"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":'$1'}}'
  words 'You have hit your limit.' ',"error":"rate_limit"'
  close true
}}
echo "$(date +%s%N) $kind $issue begin" >>{folder}/sessions
say '"type":"system","subtype":"init","claude_code_version":"2.1.332","model":"claude-opus-4-8"'
{script}
words 'Done.'
close false
"""


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """A Session that began or ended: its kind, its issue, and when; real nanoseconds since the epoch."""

    at: int
    kind: str
    issue: int
    ended: bool


class Town:
    """A repository with Nightjar's workflows in it; everything that happens there happens as on GitHub."""

    def __init__(
        self, folder: Path, hub: EmbeddedGitHub, repository: SandboxRepository, actions: SandboxActions
    ) -> None:
        """alice may write; dana wrote the one issue that is there."""
        self.word = folder / "word"
        """Where Sessions leave word."""
        self.hub = hub
        self.actions = actions
        self.repository = repository
        self.repository.set_permission("alice", "write")
        self.issue = self.open_issue()

    def open_issue(self) -> int:
        """dana opens one more issue."""
        return self.repository.open_issue("Add subtraction", "We need `sub(a, b)`.", author="dana")

    def label(self, issue: int = 0, label: str = "nightjar") -> None:
        """alice puts the label on."""
        self.repository.label_issue(issue or self.issue, label, actor="alice")

    def unlabel(self, label: str, issue: int = 0) -> None:
        """alice takes a label off."""
        self.repository.unlabel_issue(issue or self.issue, label, actor="alice")

    def say(self, text: str, on: int = 0, by: str = "alice") -> int:
        """Somebody comments on the issue, or on `on`; the comment's id."""
        return self.repository.comment(on or self.issue, text, by)

    def reactions(self, comment: int) -> list[str]:
        """What the reactions to a comment or review are, oldest first."""
        return [content for _, content in self.repository.reactions(comment)]

    @property
    def pull_request(self) -> int:
        """The number of the first pull request."""
        return self.repository.pull_requests()[0].number

    def open(self, gate: str) -> None:
        """What waits at this gate goes on."""
        (self.word / gate).touch()

    def tick(self) -> None:
        """An hour has passed: the sweep runs, and all that follows from it."""
        self.actions.tick()
        self.settle()

    def settle(self, patience: float = PATIENCE) -> None:
        """Wait until no job runs or waits. `patience` is in real seconds."""
        assert self.actions.wait_idle(patience), self.log

    def wait(self, happened: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait until something is so. `patience` is in real seconds."""
        limit = Clock.reaction("a story", patience)
        while not happened():
            assert not limit.passed(), self.log
            Clock.pause(0.05)

    def wait_until_parked(self) -> None:
        """Wait until the Run on the first issue waits, for all to see."""
        self.wait(lambda: self.labels() == ("nightjar:parked",) and self.record().parked is not None)

    # ── what can be seen ────────────────────────────────────────────────────────────────────────────────────────

    def labels(self, issue: int = 0) -> tuple[str, ...]:
        """The issue's labels."""
        return self.repository.labels(issue or self.issue)

    def comments(self, issue: int = 0) -> tuple[Comment, ...]:
        """The comments on the issue, oldest first."""
        return self.repository.comments(issue or self.issue)

    def endings(self, issue: int = 0) -> tuple[str, ...]:
        """The endings that were told on the issue."""
        return tuple(comment.body for comment in self.comments(issue) if "<!-- nightjar:ending" in comment.body)

    def tracking(self, issue: int = 0) -> tuple[str, ...]:
        """Every text that the newest Tracking comment has had."""
        found = [comment for comment in self.comments(issue) if "<!-- nightjar:tracking" in comment.body]
        return tuple(found[-1].versions) if found else ()

    def record(self, issue: int = 0) -> Record:
        """The Record on the issue's ref."""
        return from_json(self.repository.file(f"refs/nightjar/issue-{issue or self.issue}", "record.json"))

    @property
    def sessions(self) -> tuple[SessionSeen, ...]:
        """The Sessions that began, in order."""
        return tuple(seen for seen in self.beginnings_and_ends if not seen.ended)

    @property
    def beginnings_and_ends(self) -> tuple[SessionSeen, ...]:
        """Those of all Sessions, in order; one that was killed has no end."""
        lines = (self.word / "sessions").read_text(encoding="utf-8").splitlines()
        words = (line.split() for line in lines)
        return tuple(SessionSeen(int(at), kind, int(issue), what == "end") for at, kind, issue, what in words)

    @property
    def kinds(self) -> list[str]:
        """The kinds of the Sessions that began, in order."""
        return [session.kind for session in self.sessions]

    @property
    def jobs(self) -> tuple[JobSeen, ...]:
        """Nightjar's jobs that came to a runner, in the order in which they were made."""
        names = ("Issue", "Comment", "Wake", "Report")
        found = [job for run in self.actions.runs() for job in run.jobs if job.name.startswith(names)]
        return tuple(sorted((job for job in found if job.conclusion != "skipped"), key=lambda job: job.id))

    @property
    def outcomes(self) -> list[str]:
        """What Nightjar's jobs said of the Run when they ended, in order."""
        return [job.outputs["outcome"] for job in self.jobs if job.outputs.get("outcome")]

    def running(self, workflow: str = "Nightjar") -> RunSeen:
        """The workflow run that goes on."""
        return next(run for run in self.actions.runs(workflow) if run.status == "in_progress")

    @property
    def log(self) -> str:
        """Every job's log, for when something is not as it should be."""
        jobs = (job for run in self.actions.runs() for job in run.jobs if job.conclusion != "skipped")
        return "\n".join(f"── {job.name}: {job.conclusion}\n{job.log}" for job in jobs)


def shipped() -> dict[str, str]:
    """The two workflow files that users copy, by their place in a repository."""
    names = ("nightjar.yml", "nightjar-wake.yml")
    return {f".github/workflows/{name}": (WORKFLOWS / name).read_text(encoding="utf-8") for name in names}


def tiny_claude(folder: Path, script: str) -> Path:
    """A `claude` whose Sessions follow `script`; they leave word in `folder`/word (`$word`), where the gates are."""
    word = folder / "word"
    word.mkdir()
    (word / "sessions").touch()
    for path in (word, word / "sessions"):
        path.chmod(0o777)  # whoever Sessions run as
    claude = folder / "claude"
    claude.write_text(_SESSION.format(gate=_GATE.format(folder=word), folder=word, script=script), encoding="utf-8")
    claude.chmod(0o755)
    return claude


@contextmanager
def town(
    folder: Path,
    script: str = "right",
    *,
    settings: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    ci_gate: str = "",
    runners: int = 16,
    hourly: int = RATE_LIMIT,
    also_may: Collection[str] = (),
    environment: Mapping[str, str] | None = None,
    scale: float = SCALE,
) -> Iterator[Town]:
    """A town whose Sessions follow `script`. `settings` are inputs of every Nightjar step that gives none itself; CI
    waits for `ci_gate`, if there is one. Nightjar's App may also read what `also_may` names; it has `hourly` requests.
    """
    claude = tiny_claude(folder, script)
    first = _GATE.format(folder=folder / "word").replace("$1", ci_gate) + "; " if ci_gate else ""
    given = {"calc.py": "def add(a, b):\n    return a + b\n", ".github/workflows/ci.yml": CI.format(first=first)}
    with EmbeddedGitHub(folder / "hub", scale=scale, rate_limit=hourly) as hub:
        repository = hub.create_repository("acme/widget", {**given, **shipped(), **(files or {})})
        token = hub.issue_token("nightjar[bot]", "app", {**RUN_PERMISSIONS, **dict.fromkeys(also_may, "read")})
        story = Story(
            scale=scale,
            claude=claude,
            model_url="http://127.0.0.1:9",
            settings={"ci-start-minutes": "60", **(settings or {})},
            environment=dict(environment or {}),
        )
        actions = SandboxActions(
            hub,
            repository,
            folder / "jobs",
            story,
            secrets={"ANTHROPIC_API_KEY": "scripted", "NIGHTJAR_TOKEN": token},
            variables=dict(variables or {}),
            runners=runners,
        )
        yield Town(folder, hub, repository, actions)
