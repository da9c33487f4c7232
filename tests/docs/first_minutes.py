"""`docs/examples/first-five-minutes.md`: somebody's first five minutes with Nightjar, played and written down.

python -m tests.docs.first_minutes        prints it
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase

from bot.clock import SCALE_VARIABLE
from bot.sandbox.github import EmbeddedGitHub
from tests.docs.pages import ROOT
from tests.init.desk import Desk
from tests.rehearse.place import FILES, SCALE

PAGE = ROOT / "docs" / "examples" / "first-five-minutes.md"
_HEAD = """\
# The first five minutes

From a fresh clone to a whole Run, with nothing at risk. A test plays this and compares it with what stands here.
Times, commit ids, folders and what differs from machine to machine are masked; the GitHub is an Enterprise Server, so
that it can be played.
"""
_ISSUE = r"printf 'Add subtraction\n\nWe need `sub(a, b)`.\n' > ../issue.md"
_STORY = (
    (
        "In a clone of a small repository whose CI runs its tests on pull requests, with a token in `GH_TOKEN`:",
        "nightjar init",
    ),
    (
        "The files are committed. What is still missing `nightjar doctor` knows, before a Run fails of it:",
        "git add -A && git commit -q -m 'Have Nightjar' && git push -q && nightjar doctor",
    ),
    ("With the two secrets added on the page that `nightjar init` named:", "nightjar doctor | tail -n 1"),
    (
        "Now a whole Run, on a copy on this machine. A fixed script stands in for the model, so that it needs no key:",
        f"{_ISSUE}\nnightjar rehearse --issue ../issue.md --scripted --ci steps -o ../rehearsal",
    ),
)
_SECRETS_FROM = 2
"""The part of the story by which the secrets are there."""
_TAIL = "Without `--scripted` the real `claude` works on the issue: [a rehearsal](../rehearse.md).\n"
_MASKS = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "<day> <time> UTC"),
    (r"\b\d\d:\d\d:\d\d\b", "hh:mm:ss"),
    (r"http://127\.0\.0\.1:\d+", "https://github.example.com"),
    (r"\bgit \d+\.\d+[.\w]*", "git <version>"),
    (r"(isolation `strict`:) .*", r"\1 …"),
    (r"(Sessions do not get these variables of the job:) .*", r"\1 …"),
    (r"\b\d+ s\b", "<n> s"),
)
_PASSING = re.compile(r"^.*(CI is under way|edits? of comments|nothing heard for).*\n", re.MULTILINE)
"""Lines that come as often as somebody happened to look."""
_COMMIT = re.compile(r"\b(?!0{7}|41898282)[0-9a-f]{7,40}\b")
"""The second of the exceptions is a number in the address of GitHub's bot."""


def page(folder: Path) -> str:
    """The page, played in an empty folder."""
    with EmbeddedGitHub(folder / "hub", ci=False, prefix="/api/v3") as hub:
        return "\n".join([_HEAD, *_parts(Desk(folder, hub, FILES), folder), _TAIL])


def _parts(desk: Desk, folder: Path) -> Iterator[str]:
    programs = _programs(folder)
    desk.git("config", "--global", "user.name", "alice")
    desk.git("config", "--global", "user.email", "alice@example.com")
    login = desk.hub.server_url.replace("://", f"://x-access-token:{desk.token}@")
    desk.git("config", "--global", f"url.{login}.insteadOf", desk.hub.server_url)
    mask = _Mask(folder)
    for number, (text, commands) in enumerate(_STORY):
        if number == _SECRETS_FROM:
            for name in ("ANTHROPIC_API_KEY", "NIGHTJAR_TOKEN"):
                desk.repository.name_secret(name)
        done = subprocess.run(
            ["bash", "-c", commands],
            cwd=desk.clone,
            env=desk.environment(
                PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
                GH_TOKEN=desk.token,
                TMPDIR=str(folder),
                **{SCALE_VARIABLE: SCALE},
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        typed = "\n".join(f"$ {line}" for line in commands.splitlines())
        code = f"\n$ echo $?\n{done.returncode}" if done.returncode else ""
        yield f"{text}\n\n```console\n{typed}\n{mask(done.stdout).rstrip()}{code}\n```\n"


def _programs(folder: Path) -> Path:
    """A folder with `nightjar` in it."""
    programs = folder / "programs"
    programs.mkdir()
    nightjar = programs / "nightjar"
    nightjar.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bot "$@"\n', encoding="utf-8")
    nightjar.chmod(0o755)
    return programs


class _Mask:
    """Takes out what differs from one time to the next. Commits are called by letters, in the order in which they
    appear.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._letters = cycle(ascii_lowercase)
        self._commits: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        text = text.replace(f"{self._folder}/clone", "~/widget").replace(str(self._folder), "~")
        for pattern, stand_in in _MASKS:
            text = re.sub(pattern, stand_in, text)
        text = re.sub(r" +$", "", _PASSING.sub("", text), flags=re.MULTILINE)
        return _COMMIT.sub(lambda found: self._letter(found[0]) * len(found[0]), text)

    def _letter(self, commit: str) -> str:
        known = commit[:7]
        if known not in self._commits:
            self._commits[known] = next(self._letters)
        return self._commits[known]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temp:
        print(page(Path(temp).resolve()), end="")
