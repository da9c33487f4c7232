"""`nightjar show`, the real command: a Run from its ref, in a job's environment and in a person's clone."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.journal import RunJournal
from bot.record import (
    VERSION,
    CiState,
    CiVerdict,
    FailureEntry,
    JobEntry,
    Outcome,
    PullRequest,
    Record,
    RepairEntry,
    SessionEntry,
    Trigger,
    WaitsFor,
)
from bot.report.terminal import plain
from bot.sandbox.github import EmbeddedGitHub
from bot.stored import from_json, to_json
from tests.run.stage import FILES, MEND, RED_AT_FIRST, Stage, does, note, says, session

MENDED = session("repair", does(f"{MEND}; {note('The operands were swapped.')}", "mend it"), says("Fixed."))
ROOT = Path(__file__).resolve().parents[1]
HEAD = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"
JOB = "https://github.example/acme/widget/actions/runs/4711"
TRIGGER = Trigger("acme/widget", 7, "Greet people", "b", "nightjar", "alice", "2026-03-04T02:00:00Z", "4711", 1, JOB)
CLAIMED = Record(
    trigger=TRIGGER,
    base="main",
    branch="nightjar/issue-7",
    max_repairs=5,
    jobs=(JobEntry("4711", 1, JOB, "nightjar.yml", "2026-03-04T02:00:05.000+00:00"),),
)
PARKED = replace(
    CLAIMED,
    claimed=True,
    pushed=HEAD,
    head=HEAD,
    implemented=True,
    pull_request=PullRequest(12, "https://github.example/acme/widget/pull/12", draft=True),
    sessions=(SessionEntry("implement", "S1", 754.2, 0.61, 14, "done", began="2026-03-04T02:00:41.000+00:00"),),
).parked_for(WaitsFor.CI, "2026-03-04T02:15:00.000+00:00", "2026-03-04T04:15:00.000+00:00")
FAILED = replace(
    PARKED.taken_up(JobEntry("4712", 1, f"{JOB}/2", "nightjar-wake.yml", "2026-03-04T02:45:00.000+00:00")),
    repairs=(RepairEntry(1, ("unit",), HEAD, "c" * 40, ("greet.py",), ci=CiState.RED),),
    ci=CiVerdict(HEAD, CiState.RED),
    notes=("GitHub did not take bob as a reviewer.",),
    outcome=Outcome.FAILED,
    failure=FailureEntry("ci_red", "CI is still red after 1 Repair of at most 1: `unit`"),
    told=True,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the command printed."""

    code: int
    out: str
    err: str


class Desk:
    """A repository with Runs on it, somebody's clone of it, and the command."""

    def __init__(self, folder: Path, hub: EmbeddedGitHub) -> None:
        self.hub = hub
        self.repository = hub.create_repository("acme/widget", {"a.txt": "one\n"})
        self.token = hub.issue_token("nightjar[bot]")
        remote = Remote(f"{hub.server_url}/acme/widget.git", FixedToken(self.token))
        self.git = Git(folder / "runner", remote, Clock(scale=1000), os.environ)
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.home.mkdir()

    def publish(self, *records: Record) -> None:
        """Save after save, as a Run does."""
        journal = RunJournal(self.git.bare.parent / "record.json", self.git, 7, lambda text: text)
        journal.last()
        for record in records:
            journal.publish(record, work=self._work() if record.implemented else "")

    def _work(self) -> str:
        """A commit that a Session made."""
        tree = self.git.local("mktree").out.strip()
        words = ("-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", tree, "-m", "Greet people")
        return self.git.local(*words).out.strip()

    def publish_text(self, text: str) -> None:
        """A record.json that this Nightjar did not write."""
        self.git.open()
        blob = self.git.local("hash-object", "-w", "--stdin", given=text).out.strip()
        tree = self.git.local("mktree", given=f"100644 blob {blob}\trecord.json\n").out.strip()
        words = ("-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", tree, "-m", "claiming the issue")
        commit = self.git.local(*words).out.strip()
        assert not self.git.network("push", "-q", self.git.remote.url, f"{commit}:refs/nightjar/issue-7").code

    def in_a_job(self, *words: str, to: int = subprocess.PIPE, **environ: str) -> Shown:
        """With the variables of a job; what it prints goes `to` a file."""
        given = {"GITHUB_REPOSITORY": "acme/widget", "GITHUB_SERVER_URL": self.hub.server_url}
        return self._run(self.home, words, {**given, "GITHUB_TOKEN": self.token, **environ}, to)

    def in_a_clone(self, *words: str) -> Shown:
        """By somebody whose git has the credential in its own configuration."""
        self.make_clone()
        return self._run(self.clone, words, {})

    def make_clone(self) -> None:
        """Clone the repository, once."""
        if not self.clone.exists():
            login = f"url.{self._with_login}.insteadOf"
            self._git("config", "--global", login, self.hub.server_url)
            self._git("clone", "-q", f"{self.hub.server_url}/acme/widget.git", str(self.clone))

    def clone_files(self) -> dict[Path, bytes]:
        """All that is in the clone, but for objects."""
        files = (path for path in self.clone.rglob("*") if path.is_file() and "objects" not in path.parts)
        return {path: path.read_bytes() for path in files}

    @property
    def _with_login(self) -> str:
        return self.hub.server_url.replace("://", f"://x-access-token:{self.hub.issue_token('alice', 'pat')}@")

    def _git(self, *words: str) -> None:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        subprocess.run(["git", *words], env=environ, check=True, capture_output=True)

    def _run(self, where: Path, words: Sequence[str], environ: dict[str, str], to: int = subprocess.PIPE) -> Shown:
        known = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "bot", "show", *words],
            cwd=where,
            env={**known, **environ},
            stdout=to,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        return Shown(done.returncode, done.stdout or "", done.stderr)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as hub:
        yield Desk(tmp_path, hub)


def test_a_failed_run_reads_from_top_to_bottom(desk: Desk) -> None:
    """State, reason, where the work is, jobs, Sessions, Repairs, notes, and one line for each save with its time."""
    desk.publish(CLAIMED, PARKED, FAILED)
    shown = desk.in_a_job("7")
    assert (shown.code, shown.err) == (0, "")
    head, _, journal = shown.out.partition("\nJournal\n")
    for text in (
        "Run on issue #7 of acme/widget: failed\n",
        "Nightjar stopped (ci_red): CI is still red after the last Repair.\n",
        "CI is still red after 1 Repair of at most 1: unit\n",
        "alice, label nightjar, 2026-03-04 02:00 UTC\n",
        "nightjar/issue-7 at a1b2c3d4e5, to be merged into main\n",
        "#12, a draft, https://github.example/acme/widget/pull/12\n",
        "waits for CI, 30 min 00 s  ",
        "  implement  12 min 34 s  14 turns  $0.61  done\n",
        "  1  red was unit; changed: greet.py (cccccccccc); CI then: red\n",
        "  - GitHub did not take bob as a reviewer.\n",
    ):
        assert text in head
    assert [line[23:] for line in journal.splitlines()] == ["failed", "parked: waits for CI", "claiming the issue"]
    assert all(line[2:6].isdigit() and line[18] == ":" for line in journal.splitlines())


def test_a_clone_is_enough(desk: Desk) -> None:
    """Without a job's variables the user's own git is asked, and no ref and no file of the clone is changed."""
    desk.publish(PARKED)
    desk.make_clone()
    before = desk.clone_files()
    shown = desk.in_a_clone("#7")
    assert (shown.code, shown.err) == (0, "")
    assert "Run on issue #7 of acme/widget: parked\n" in shown.out
    assert "It waits for CI, until 2026-03-04 04:15 UTC at the latest." in shown.out
    assert desk.clone_files() == before


def test_the_record_itself(desk: Desk) -> None:
    """`--json` prints the Record as it is, for other programs."""
    desk.publish(FAILED)
    assert from_json(desk.in_a_job("7", "--json").out) == FAILED


def test_no_run(desk: Desk) -> None:
    """An issue without a Run is one line and exit code 1."""
    for shown in (desk.in_a_job("7"), desk.in_a_clone("7")):
        assert (shown.code, shown.out) == (1, "")
        assert shown.err == "nightjar show: no Run was begun on issue #7\n"


def test_a_newer_record(desk: Desk) -> None:
    """A Record of a newer Nightjar is refused in one line that names both versions, with exit code 2."""
    desk.publish_text(json.dumps(json.loads(to_json(FAILED)) | {"version": VERSION + 1}))
    shown = desk.in_a_job("7")
    assert (shown.code, shown.out) == (2, "")
    assert f"has version {VERSION + 1}; this Nightjar reads version {VERSION}" in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "not json", '{"version": 1}'])
def test_a_damaged_record(desk: Desk, text: str) -> None:
    """A Record that is torn is refused in one line, with exit code 2."""
    desk.publish_text(text)
    shown = desk.in_a_job("7", "--json")
    assert (shown.code, shown.out, len(shown.err.splitlines())) == (2, "", 1)
    assert "the Run on issue #7 cannot be shown: record.json" in shown.err


def test_no_access(desk: Desk) -> None:
    """A token that GitHub does not take is told in one line that does not hold it, with exit code 2."""
    shown = desk.in_a_job("7", GITHUB_TOKEN="ghs_wrong", NIGHTJAR_TIME_SCALE="1000")
    assert (shown.code, shown.out, len(shown.err.splitlines())) == (2, "", 1)
    assert "ghs_wrong" not in shown.err


def test_outside_of_any_repository(desk: Desk) -> None:
    """In a folder that is no clone one line says what would help, with exit code 2."""
    shown = desk.in_a_job("7", GITHUB_REPOSITORY="")
    assert (shown.code, shown.out, len(shown.err.splitlines())) == (2, "", 1)
    assert "set GITHUB_REPOSITORY and GITHUB_TOKEN" in shown.err


@pytest.mark.parametrize("issue", ["0", "seven", "-7", "٣"])
def test_bad_numbers(capsys: pytest.CaptureFixture[str], issue: str) -> None:
    """What is no issue's number is refused before anything is asked."""
    with pytest.raises(SystemExit) as refused:
        main(["show", "--", issue])
    assert refused.value.code == 2
    assert "is not the number of an issue; give a number such as 7" in capsys.readouterr().err


def test_strangers_do_not_steer_the_terminal(desk: Desk) -> None:
    """Escape sequences, line breaks and characters that turn text around are gone, wherever a stranger wrote them."""
    nasty = "a\x1b[2J\x1b]0;owned\x07b\x9b31m\r\nRun on issue #8: ready\u202e\u2028c\x00"
    failed = FailureEntry("ci_red", nasty)
    session = replace(FAILED.sessions[0], name=nasty, lost=(nasty,), ended="fail")
    repair = replace(FAILED.repairs[0], red=(nasty,), files=(nasty,))
    trigger = replace(TRIGGER, title=nasty, requested_by=nasty, label=nasty)
    nasty_record = replace(
        FAILED, trigger=trigger, branch=nasty, notes=(nasty,), failure=failed, sessions=(session,), repairs=(repair,)
    )
    desk.publish(nasty_record)
    shown = desk.in_a_job("7")
    assert shown.code == 0
    assert [char for char in shown.out if not (char.isprintable() or char == "\n")] == []
    assert "\nRun on issue #8" not in shown.out
    assert plain(nasty) == "ab31m Run on issue #8: ready c"


def test_a_narrow_terminal(desk: Desk) -> None:
    """On a terminal of 40 columns lines are folded at blanks, and only an address is longer."""
    desk.publish(FAILED)
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    desk.in_a_job("7", to=theirs)
    os.close(theirs)
    lines = _read(ours).replace("\r\n", "\n").splitlines()
    assert max(len(line) for line in lines if "https://" not in line) <= 40
    assert "CI is still red after 1 Repair of at" in lines
    assert "  most 1: unit" in lines
    assert "Branch        nightjar/issue-7 at" in lines
    assert "              a1b2c3d4e5, to be merged" in lines


def test_a_reader_that_has_gone(desk: Desk) -> None:
    """`nightjar show 7 | head -1` prints no traceback."""
    desk.publish(FAILED)
    reader, writer = os.pipe()
    os.close(reader)
    shown = desk.in_a_job("7", to=writer)
    os.close(writer)
    assert (shown.code, shown.err) == (0, "")


def _read(terminal: int) -> str:
    """What was written to a terminal whose other end is closed."""
    parts = []
    with suppress(OSError):  # Linux tells the end so
        while part := os.read(terminal, 65_536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


def test_any_encoding(desk: Desk) -> None:
    """A terminal that knows ASCII only gets question marks, not a traceback."""
    desk.publish(replace(FAILED, notes=("Grüße",)))
    shown = desk.in_a_job("7", PYTHONIOENCODING="ascii")
    assert (shown.code, shown.err) == (0, "")
    assert "  - Gr??e\n" in shown.out


def test_a_run_that_was_just_played(tmp_path: Path) -> None:
    """A whole Run with a Repair notes when it did what: its step summary draws it, and the command tells the same."""
    with EmbeddedGitHub(tmp_path / "hub") as hub:
        stage = Stage(tmp_path, hub, FILES)
        played = stage.run(RED_AT_FIRST, MENDED)
        environ = {"GITHUB_REPOSITORY": "acme/widget", "GITHUB_SERVER_URL": hub.server_url, "GITHUB_TOKEN": stage.token}
        command = [sys.executable, "-m", "bot", "show", str(stage.issue)]
        shown = subprocess.run(
            command, env={**os.environ, **environ}, cwd=ROOT, capture_output=True, text=True, check=True
        )
    drawn = re.findall(r"^    (\w+).*?(?:, (?:done|test))? :((?:crit, )?)([\d-]+ [\d:]+), ", played.job.summary, re.M)
    assert [(what, look) for what, look, _ in drawn] == [
        ("Job", ""),
        ("Session", ""),
        ("Session", ""),
        ("CI", "crit, "),
        ("CI", ""),
    ]
    job, implement, repair, red, green = (began for _, _, began in drawn)
    assert job <= implement <= red <= repair <= green
    assert "**Repair" in played.job.summary
    assert f"Run on issue #{stage.issue} of acme/widget: ready\n" in shown.stdout
    assert "\n  implement  " in shown.stdout
    assert "claiming the issue\n" in shown.stdout
