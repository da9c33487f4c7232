"""The rehearsal itself: an embedded GitHub with the user's commit in it, the issue, and the real `nightjar run`."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.github.issue_text import IssueText
from bot.proof.facts import Trial
from bot.rehearsal import words
from bot.rehearsal.ci import CiSeen, only_ci, seen, start_on_base
from bot.rehearsal.plan import Plan
from bot.rehearsal.script import rehearsal_script
from bot.rehearsal.source import CannotRehearse, Source
from bot.sandbox.github import EmbeddedGitHub, PullRequestView, SandboxRepository
from bot.sandbox.github.gitdata import GitData, GitError
from bot.sandbox.job import Finished, Job, Server
from bot.sandbox.model import ScriptedModel
from bot.stored import UnreadableRecord, from_json

YOU = "you"
_PEER = "nightjar[bot]"
_DIFF_CONTEXT = "--unified=3"


class Interrupts:
    """SIGINT and SIGTERM while a rehearsal runs: the Run is asked to stop, once; it tells its own end."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = False
        self._say = say
        self._process: subprocess.Popen[str] | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until the end of the block."""
        asking = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, lambda _number, _frame: self._ask()) for number in asking}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self) -> None:
        if self.asked:
            return
        self.asked = True
        if self._process is None:
            raise KeyboardInterrupt
        self._process.send_signal(signal.SIGINT)
        self._say(words.STOPPING)

    @contextmanager
    def over(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """`process` is the Run."""
        self._process = process
        try:
            yield
        finally:
            self._process = None


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What came of it."""

    repository: SandboxRepository
    issue: int
    job: Finished
    pull_request: PullRequestView | None
    diff: str
    ci: tuple[CiSeen, ...]
    check: Trial | None
    """`check-command` on the newest head that the Run tried it on."""

    @property
    def logs(self) -> Path:
        """The Run's logs folder."""
        return self.job.temp / "nightjar" / "logs"


class Stage:
    """A context manager: leaving it stops whatever was started and removes the embedded GitHub."""

    def __init__(self, source: Source, plan: Plan, folder: Path) -> None:
        """`folder` is made. Raises `CannotRehearse` where the commit is not to be had."""
        self._source = source
        self._plan = plan
        self._folder = folder
        self._open = ExitStack()
        self._open.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            self._hub = self._open.enter_context(EmbeddedGitHub(folder / "github"))
            self._repository = self._hub.import_repository(source.repository, source.top, source.commit, source.base)
        except GitError as error:
            self._open.close()
            raise CannotRehearse(words.NO_GIT_ANSWER.format(why=str(error).splitlines()[0])) from error
        self._desk = self._hub.ci_of(self._repository)
        self._desk.leave_out(plan.ci.unplayed)
        self._desk.engine.play_by(only_ci(plan.ci.play))

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def base_ci(self, seconds: float) -> tuple[tuple[CiSeen, ...], bool]:
        """CI on the commit itself, and whether it ended within real `seconds`."""
        branch = f"{self._plan.config.branch_prefix}base"
        start_on_base(self._desk, self._repository, self._source.base, self._source.commit, branch)
        ended = self._hub.idle(seconds)
        return tuple(seen(self._desk, self._source.commit)), ended

    def run(self, issue: IssueText, interrupts: Interrupts, scale: float, line: Callable[[str], None]) -> Rehearsed:
        """The Run from the label on the issue to its end; `line` hears its log."""
        repository, plan = self._repository, self._plan
        self._hub.add_user(YOU)
        repository.set_permission(YOU, "admin")
        number = repository.open_issue(issue.title, issue.body, author=YOU)
        model_url = ""
        if plan.scripted:
            model_url = self._open.enter_context(ScriptedModel(rehearsal_script())).url
        server = Server(self._hub.api_url, self._hub.server_url, repository.full_name, self._hub.issue_token(_PEER))
        job = Job(self._folder / "job", server, model_url=model_url, claude=Path(plan.claude or "-"), scale=scale)
        payload = repository.label_issue(number, plan.config.label, actor=YOU)
        environment = self._environment(job.environment("issues", payload, plan.inputs), model_url)
        process = job.start(environment)
        with interrupts.over(process):
            finished = job.finish(process, line)
        return self._rehearsed(number, finished)

    def _environment(self, job: Mapping[str, str], model_url: str) -> dict[str, str]:
        """At a terminal, and not in a job: no step completes the ending of a Run that is asked to stop."""
        left_out = {"GITHUB_ACTIONS", *(() if model_url else ("ANTHROPIC_BASE_URL",))}
        return {name: value for name, value in job.items() if name not in left_out} | dict(self._plan.environment)

    def _rehearsed(self, number: int, finished: Finished) -> Rehearsed:
        repository, base = self._repository, self._source.commit
        pulls = repository.pull_requests()
        pull = pulls[-1] if pulls else None
        head = pull.head_sha if pull else _newest(repository, finished.outputs.get("branch", ""), number)
        diff = b""
        if head:
            diff = GitData(repository.path).run(
                "diff", "--no-color", "--no-ext-diff", _DIFF_CONTEXT, f"{base}...{head}"
            )
        ci = tuple(seen(self._desk, head)) if head else ()
        return Rehearsed(repository, number, finished, pull, diff.decode(errors="replace"), ci, _checked(finished.temp))


def _newest(repository: SandboxRepository, branch: str, issue: int) -> str:
    """The newest commit of a Run that opened no pull request: pushed, or only checkpointed; "" for none."""
    refs = repository.refs()
    return refs.get(f"refs/heads/{branch}", "") or refs.get(f"refs/nightjar/wip-{issue}", "")


def _checked(temp: Path) -> Trial | None:
    """What the Record on the runner says of `check-command`."""
    try:
        record = from_json((temp / "nightjar" / "record.json").read_text(encoding="utf-8"))
    except (OSError, UnreadableRecord):  # a Run that ended before it was claimed has none
        return None
    return record.proof.check if record.proof is not None else None
