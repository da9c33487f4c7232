"""How every command behaves at a terminal, in a pipe and when it is interrupted, in a clone that nobody has set up."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.sandbox.stories import SAMPLE

ROOT = Path(__file__).resolve().parents[1]
HAPPY = ROOT / "tests" / "claude" / "recordings" / "a_happy.jsonl"
LOG = "issue-7-run-1-1-implement.jsonl"
WITHOUT_CONFIGURATION: Mapping[str, tuple[tuple[str, ...], int]] = {
    "run": ((), 2),
    "finish": ((), 2),
    "sweep": ((), 2),
    "init": (("--dry-run",), 0),
    "doctor": (("--offline",), 1),
    "show": (("7",), 1),
    "page": (("7",), 1),
    "rehearse": (("--issue", "none.md"), 2),
    "demo": (("none",), 2),
    "replay": ((f"../{LOG}",), 0),
}
"""Every command: arguments with which it ends at once, and its exit code in a clone without any configuration."""
COMMANDS = list(WITHOUT_CONFIGURATION)
PATIENCE = 60.0
"""Real seconds that a command may take to end."""
CALL = re.compile(r"  .*\bnightjar .*|  [A-Z_]+=.*|  +(with|- uses): .*")
"""A line of `--help` that is to be copied."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Visitor:
    """Somebody in a fresh clone of a repository with CI; issue #7 has seen no Run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.home.mkdir()
        shutil.copytree(SAMPLE, folder / "widget")
        self._git("init", "-q", "-b", "main", where=folder / "widget")
        self._git("add", ".", where=folder / "widget")
        who = ("-c", "user.name=dana", "-c", "user.email=dana@example.com")
        self._git(*who, "commit", "-q", "-m", "Begin", where=folder / "widget")
        self._git("clone", "-q", str(folder / "widget"), str(self.clone), where=folder)
        said = HAPPY.read_text(encoding="utf-8").replace("Done: wrote", r"Gr\u00fc\u00dfe \u001b[31mred, wrote")
        (folder / LOG).write_text(said, encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """With little in it, and neither token nor key."""
        known = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        return {**known, "TERM": "xterm", "TMPDIR": str(self.folder), **more}

    def start(self, *words: str, to: int = subprocess.PIPE, **environ: str) -> subprocess.Popen[bytes]:
        """Start a command; what it prints goes `to` a file. It leads a group of processes and can be interrupted, as at
        a terminal, also where the tests themselves run in the background, which a shell has ignore SIGINT.
        """
        return subprocess.Popen(
            ["env", "--default-signal=INT", sys.executable, "-m", "bot", *words],
            cwd=self.clone,
            env=self.environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=to,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def call(self, *words: str, to: int = subprocess.PIPE, **environ: str) -> Ended:
        """The same to its end."""
        return ended(self.start(*words, to=to, **environ))

    def call_in_ascii(self, *words: str) -> Ended:
        """The same where nothing else is known; Python would look for UTF-8 if it was let."""
        return self.call(*words, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")

    def shell(self, line: str, **environ: str) -> Ended:
        """A line of shell, in which `nightjar` is the command."""
        script = f'nightjar() {{ "{sys.executable}" -m bot "$@"; }}; {line}'
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.clone, env=self.environment(**environ), capture_output=True, check=False
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def on_a_terminal(self, *words: str, columns: int = 40, **environ: str) -> str:
        """What a terminal of so many columns gets to see on stdout."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with self.start(*words, to=theirs, **environ) as running:
            os.close(theirs)
            seen = b""
            with suppress(OSError):  # Linux tells the end so
                while part := os.read(ours, 65_536):
                    seen += part
            assert b"Traceback" not in (running.stderr.read() if running.stderr else b"")
        os.close(ours)
        return seen.decode().replace("\r\n", "\n")

    def comes_from(self, address: str) -> None:
        """Have the clone's remote be there."""
        self._git("remote", "set-url", "origin", address, where=self.clone)

    def _git(self, *words: str, where: Path) -> None:
        subprocess.run(["git", *words], cwd=where, env=self.environment(), check=True, capture_output=True)


def ended(running: subprocess.Popen[bytes]) -> Ended:
    """A command, at its end; one that does not end is killed."""
    with running:
        try:
            out, err = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
    return Ended(running.returncode, (out or b"").decode(), err.decode())


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Visitor:
    """One for all tests: nothing here changes the clone."""
    return Visitor(tmp_path_factory.mktemp("visit"))


def too_long(text: str, columns: int) -> list[str]:
    """Lines that are too long, though there is a blank in them at which they could have been folded."""
    return [line for line in text.splitlines() if len(line) > columns and len(line.split()) > 1]


def test_all_commands_are_here(visitor: Visitor) -> None:
    """`nightjar --help` lists these commands and no others; `nightjar` alone names them, with exit code 2."""
    listed = re.findall(r"^    ([a-z]+) ", visitor.call("--help").out, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    alone = visitor.call()
    assert (alone.code, alone.out) == (2, "")
    assert alone.err.endswith(f"nightjar: error: say which command: {', '.join(listed)}\n")
    assert re.fullmatch(r"nightjar \d+\.\d+\.\d+\n", visitor.call("--version").out)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_the_exit_codes(visitor: Visitor, command: str) -> None:
    """`--help` shows a call that can be copied, and the very exit codes of docs/exit-codes.md."""
    help_text = visitor.call(command, "--help", COLUMNS="200").out
    assert re.search(rf"^examples?[:,].*\n(  .*\n)*  .*(nightjar {command}\b|\bcommand: {command}\b)", help_text, re.M)
    told = help_text.partition("exit codes: ")[2].replace("\n", " ")
    table = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{command}` \| (.*?) \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", table, re.MULTILINE)
    assert row is not None
    documented = {code for code, text in zip("012", row.groups(), strict=False) if text}
    documented |= set(re.findall(r"\b(\d+) [a-z]", row[4]))
    assert set(re.findall(r"(?:^|; )(\d+) ", told)) == documented


@pytest.mark.parametrize("command", COMMANDS)
def test_help_on_a_narrow_terminal(visitor: Visitor, command: str) -> None:
    """With 40 columns only a call that is to be copied is longer, and nothing has a colour."""
    seen = visitor.on_a_terminal(command, "--help", NO_COLOR="1")
    assert [line for line in too_long(seen, 40) if not CALL.fullmatch(line)] == []
    assert "\x1b" not in seen


@pytest.mark.parametrize("command", COMMANDS)
def test_without_configuration(visitor: Visitor, command: str) -> None:
    """In a fresh clone each command ends with its documented exit code; in a pipe there is no colour and no traceback,
    and where nothing could be done one line says why.
    """
    words, code = WITHOUT_CONFIGURATION[command]
    said = visitor.call(command, *words)
    assert said.code == code
    assert "\x1b" not in said.out + said.err
    assert "Traceback" not in said.err
    if code == 2:
        assert re.fullmatch(rf"nightjar {command}: .+\n|(error: Nightjar: .+\n)+", said.err or said.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_that_there_is_not(visitor: Visitor, command: str) -> None:
    """The command itself says so, after how it is called, with exit code 2."""
    words, _ = WITHOUT_CONFIGURATION[command]
    said = visitor.call(command, *words, "--nope")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"usage: nightjar {command} ")
    assert said.err.endswith(f"nightjar {command}: error: unrecognized arguments: --nope\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_reads_on(visitor: Visitor, command: str) -> None:
    """`nightjar … | true` ends with the exit code that it would have had, and prints no traceback."""
    words, code = WITHOUT_CONFIGURATION[command]
    for given, wanted in ((words, code), (("--help",), 0)):
        reader, writer = os.pipe()
        os.close(reader)
        said = visitor.call(command, *given, to=writer)
        os.close(writer)
        assert said.code == wanted
        assert len(said.err.splitlines()) <= 1
        assert "Error" not in said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_that_knows_ascii_only(visitor: Visitor, command: str) -> None:
    """Other letters become question marks; the exit code is the same, and so is that of `--help`."""
    words, code = WITHOUT_CONFIGURATION[command]
    for given, wanted in ((words, code), (("--help",), 0)):
        said = visitor.call_in_ascii(command, *given)
        assert (said.code, "Traceback" in said.err) == (wanted, False)
        assert (said.out + said.err).isascii()
    if command == "replay":
        assert "Gr??e" in visitor.call_in_ascii(command, *words).out


@pytest.mark.parametrize("command", ["init", "doctor", "replay", "show"])
def test_output_that_cannot_be_written(visitor: Visitor, command: str) -> None:
    """On a full disk one line says so, with exit code 2: half a file never passes for a whole one."""
    words = {"init": "init --print .github/nightjar.yml", "show": "show --help"}.get(
        command, " ".join((command, *WITHOUT_CONFIGURATION[command][0]))
    )
    said = visitor.shell(f"nightjar {words} > /dev/full")
    assert said == Ended(2, "", "nightjar: what it printed could not be written: No space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_was_never_open(tmp_path: Path, closed: str) -> None:
    """Whichever is closed, the command does its work, and nothing that is printed gets into a file that it writes."""
    guest = Visitor(tmp_path)
    said = guest.shell(f"nightjar init {closed}")
    assert (said.code, said.err) == (0, "")
    settings = (guest.clone / ".github" / "nightjar.yml").read_text(encoding="utf-8")
    assert settings == guest.call("init", "--print", ".github/nightjar.yml").out
    assert guest.shell(f"nightjar doctor --offline {closed}").code == 0


@pytest.mark.parametrize(
    "words", [("doctor", "--offline"), ("init",), ("replay", f"../{LOG}")], ids=lambda words: words[0]
)
def test_a_narrow_terminal(tmp_path: Path, words: tuple[str, ...]) -> None:
    """With 40 columns lines are folded at blanks, and COLUMNS goes before what the terminal says; NO_COLOR and a dumb
    terminal take the colours away.
    """
    guest = Visitor(tmp_path)
    quiet = guest.on_a_terminal(*words, NO_COLOR="1")
    assert too_long(quiet, 40) == []
    assert len(quiet.splitlines()) > 10
    assert "\x1b" not in quiet + guest.on_a_terminal(*words, TERM="dumb")
    assert max(map(len, guest.on_a_terminal(*words, COLUMNS="200", NO_COLOR="1").splitlines())) > 40


@pytest.mark.parametrize("command", ["init", "doctor", "rehearse"])
def test_a_folder_that_is_gone(visitor: Visitor, tmp_path: Path, command: str) -> None:
    """One line says so, with exit code 2."""
    words = " ".join(WITHOUT_CONFIGURATION[command][0])
    said = visitor.shell(f'cd "{tmp_path}" && rmdir "{tmp_path}" && nightjar {command} {words}')
    assert said == Ended(2, "", f"nightjar {command}: the folder that it was called in is not there any more\n")


def test_no_such_remote(visitor: Visitor) -> None:
    """`show` and `page` name the remote that is not there, and what would help."""
    for command in ("show", "page"):
        said = visitor.call(command, "7", "--remote", "upstream")
        assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
        assert "there is no remote `upstream`; name another by --remote" in said.err


@pytest.mark.parametrize("command", ["init", "doctor", "show", "page"])
def test_interrupted_while_github_is_asked(tmp_path: Path, command: str) -> None:
    """Ctrl-C ends it with exit code 130, and without a traceback."""
    guest = Visitor(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes calls, and never answers
        server.settimeout(PATIENCE)
        guest.comes_from(f"http://127.0.0.1:{server.getsockname()[1]}/acme/widget.git")
        words = () if command in ("init", "doctor") else ("7",)
        running = guest.start(command, *words, GH_TOKEN="ghp_ofNoUse0000000000000000")
        with server.accept()[0]:
            os.killpg(running.pid, signal.SIGINT)
            assert ended(running) == Ended(130, "", "")


@pytest.mark.parametrize("command", ["replay", "page"])
def test_interrupted_while_a_file_is_read(visitor: Visitor, tmp_path: Path, command: str) -> None:
    """Ctrl-C ends it with exit code 130, and without a traceback."""
    slow = tmp_path / "record.json"
    os.mkfifo(slow)
    running = visitor.start(command, str(slow))
    with slow.open("wb"):  # which waits for who reads
        os.killpg(running.pid, signal.SIGINT)
        assert ended(running) == Ended(130, "", "")


def test_an_interrupted_demo(tmp_path: Path) -> None:
    """Ctrl-C ends its job too, with exit code 130, and leaves nothing behind."""
    guest = Visitor(tmp_path)
    running = guest.start("demo", "repair", "--out", str(tmp_path / "out"), PYTHONUNBUFFERED="1")
    assert running.stdout is not None
    while line := running.stdout.readline():
        if b"working on the issue" in line:
            break
    os.kill(running.pid, signal.SIGINT)
    said = ended(running)
    assert (said.code, said.err) == (130, "")
    assert list(tmp_path.glob("nightjar-demo-*")) == []
