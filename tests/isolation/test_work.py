"""What a confined child can still do: its work."""

from __future__ import annotations

import pytest

from tests.isolation.conftest import Runner

COMMIT = """
git init -q . && git config user.name alice && git config user.email alice@example.org
mkdir -p a/b && echo one > a/one && mv a/one a/b/two && git add -A && git commit -qm one && git mv a/b/two a/three
git commit -qm two && [ "$(git log --oneline | wc -l)" = 2 ] && git gc -q && rm -r a
"""


@pytest.mark.parametrize(
    "script",
    [
        COMMIT,
        'echo > "$HOME/.npmrc" && mkdir -p "$HOME/.cache/x" && echo > "$HOME/tmp/y"',
        "echo > {handover}/pull-request.md",
        "cat /etc/passwd >/dev/null; echo > /dev/null; head -c 4 /dev/urandom >/dev/null; echo > /dev/stdout",
        "python3 -c 'import socket; socket.socketpair(); socket.create_server((\"127.0.0.1\", 0))'",
        "sleep 5 & kill $! && ! wait $!",
        "ls / >/dev/null && ls {temp} >/dev/null",
        'yes | head -n 1 >/dev/null; [ "${PIPESTATUS[0]}" = 141 ]',
    ],
    ids=["git", "home", "handover", "devices", "sockets", "own processes", "listing", "pipes"],
)
def test_work(runner: Runner, script: str) -> None:
    """A Session works in its checkout, its home and its Handover, and with its own processes, as ever."""
    for name in ("handover", "temp"):
        script = script.replace(f"{{{name}}}", str(getattr(runner, name)))
    played = runner.play(script)
    assert played.succeeded, played.printed


def test_said(runner: Runner) -> None:
    """The job log says as whom Sessions run."""
    played = runner.play("true")
    wanted = {
        "plain": "Sessions run as the runner's user",
        "root": "Sessions run as root without capabilities",
        "own-user": "Sessions run as a user of their own (60999)",
    }
    assert played.said.startswith(wanted[runner.role])
