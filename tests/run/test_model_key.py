"""`pass-model-key`: Sessions hold the model's key themselves, and `claude` hides it from the commands that it runs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.claude.hiding import HIDES_WITH
from bot.isolation.choice import SESSION_ID
from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.model import Script, ScriptedModel
from tests.run.stage import ADD_RIGHT, FILES, GREEN_AT_ONCE, HAND_OVER, Played, Stage, does, says, session
from tests.run.test_refusals import errors
from tests.run.test_secrets import assert_not_in_logs, everything_on_github

KEY = "sk-scripted-" + "Zq7w" * 8
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
"""What users reach that are nobody."""
LOOK = r"""
env > {seen}/own
for process in /proc/[0-9]*; do tr '\0' '\n' < $process/environ; tr '\0' '\n' < $process/cmdline; done > {seen}/all 2>&1
true
"""


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage with a small Python project, where root's Sessions can be somebody else's: pytest's own folders are
    closed to others.
    """
    with tempfile.TemporaryDirectory(prefix="nightjar-key-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedGitHub(folder / "hub") as hub:
            made = Stage(folder, hub, FILES)
            made.shared.chmod(0o777)
            yield made


def play(stage: Stage, *, isolation: str = "strict", **environment: str) -> Played:
    """A Run that is to pass the key, with these variables of the job."""
    settings = {"anthropic-api-key": KEY, "pass-model-key": "true", "isolation": isolation}
    return stage.run(GREEN_AT_ONCE, settings=settings, environment=environment)


def some_tools(stage: Stage, *names: str) -> Path:
    """A folder with only these commands of the machine's."""
    folder = stage.folder / "bin"
    folder.mkdir(mode=0o755)
    for name in names:
        (folder / name).symlink_to(shutil.which(name, path=SYSTEM_PATH) or "/bin/true")
    return folder


def assert_refused(played: Played, said: str) -> None:
    """The Run ended for its settings before a Session: one line in the log, and the same words on the issue."""
    assert played.exit_code == 2, played.log
    assert played.labels == ("nightjar:failed",)
    (line,) = errors(played)
    assert said in line
    assert said in played.ending
    assert played.model.requests == ()


def why_not_here() -> str:
    """What is missing on this machine for a key that is hidden; "" for nothing."""
    missing = [tool for tool in HIDES_WITH if shutil.which(tool, path=SYSTEM_PATH) is None]
    if missing:
        return f"takes {' and '.join(missing)} on this machine"
    words = ["bwrap", "--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--proc", "/proc", "true"]
    user = SESSION_ID if os.geteuid() == 0 else None
    tried = subprocess.run(words, user=user, cwd="/", capture_output=True, text=True, check=False)
    return f"bwrap does not work on this machine: {tried.stderr.strip()}" if tried.returncode else ""


def test_key_is_hidden_from_commands(stage: Stage) -> None:
    """A Session talks to the model's API with the key itself and gets its work done; none of its commands finds the key
    in an environment or in arguments, its own or anybody's.
    """
    if why := why_not_here():
        pytest.skip(why)
    look = LOOK.replace("{seen}", shlex.quote(str(stage.shared)))
    implement = session("implement", does(look, "look"), does(f"{ADD_RIGHT}; {HAND_OVER}"), says())
    with ScriptedModel(Script(conversations=(implement,)), api_key=KEY) as model:
        played = stage.run(
            settings={"anthropic-api-key": KEY, "pass-model-key": "true"},
            environment={"PATH": SYSTEM_PATH, "ANTHROPIC_BASE_URL": model.url},
        )
        assert played.exit_code == 0, played.log
        assert len(model.requests) == 3

    own, everything = (stage.path(name).read_text(encoding="utf-8") for name in ("own", "all"))
    assert f"ANTHROPIC_BASE_URL={model.url}\n" in own
    assert "NIGHTJAR_HANDOVER=" in everything
    assert "ANTHROPIC_API_KEY" not in own + everything
    assert KEY not in own + everything
    assert played.labels == ("nightjar:ready",)
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    assert KEY not in everything_on_github(stage) + played.log
    assert_not_in_logs(played, KEY)


@pytest.mark.parametrize("there", [(), ("bwrap",), ("socat",)], ids=["neither", "no socat", "no bwrap"])
def test_key_that_cannot_be_hidden_is_not_passed(stage: Stage, there: tuple[str, ...]) -> None:
    """On a runner that lacks what hides the key, one line says what to install, and no Session starts."""
    missing = [tool for tool in HIDES_WITH if tool not in there]
    played = play(stage, PATH=str(some_tools(stage, "git", *there)))

    assert_refused(played, f"`pass-model-key` needs {' and '.join(missing)} on the runner")


@pytest.mark.parametrize("isolation", ["strict", "relaxed"])
def test_key_is_not_passed_where_the_sandbox_does_not_work(stage: Stage, isolation: str) -> None:
    """Where the kernel keeps bwrap from making its sandbox, as newer Ubuntus do, one line says so, and no Session
    starts that could run no command.
    """
    refuses = some_tools(stage, "socat") / "bwrap"
    refuses.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", encoding="utf-8")
    refuses.chmod(0o755)
    played = play(stage, isolation=isolation, PATH=f"{refuses.parent}:{SYSTEM_PATH}")

    assert_refused(played, "here it says: bwrap: setting up uid map: Permission denied. Let it make user namespaces")


def test_key_is_not_passed_where_sockets_have_too_long_a_path(stage: Stage) -> None:
    """Where the runner's folder for temporary files has a path of which Linux takes no sockets, one line says by how
    much.
    """
    temp = stage.folder / "job-1" / ("x" * 100)
    tools = f"{some_tools(stage, 'socat', 'bwrap')}:{SYSTEM_PATH}"
    played = play(stage, PATH=tools, RUNNER_TEMP=str(temp))

    over = len(f"{temp}/nightjar/run-1-1/claude/tmp/claude-socks-0123456789abcdef.sock") - 107
    assert_refused(played, f"needs a runner whose RUNNER_TEMP is {over} characters shorter")
