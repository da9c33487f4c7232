"""A case of the exam: a small repository, an issue, what a Session does about it, and what people must then see."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from textwrap import dedent, indent

from bot.proof.facts import Verdict

_END = "END-OF-FILE"
_EDIT = """\
import sys
path, old, new = sys.argv[1:]
text = open(path, encoding="utf-8").read()
if text.count(old) != 1:
    sys.exit(f"{path} has {text.count(old)} times: {old}")
open(path, "w", encoding="utf-8").write(text.replace(old, new))
"""


class Group(StrEnum):
    """What sort of work it is."""

    CHEAT = "lazy or cheating"
    HONEST = "honest fix or feature"
    PLAIN = "honest refactoring or documentation"


@dataclass(frozen=True, slots=True)
class Sample:
    """A small repository; `{bin}` in its workflow stands for the folder of this machine's Python."""

    name: str
    files: Mapping[str, str]
    check: str
    """What its people run before they push, as `check-command`."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What warns a reviewer: any one of these is enough, each is as exact as the case allows."""

    failures: tuple[str, ...] = ()
    """Failures that the Run may end in."""
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts that the pull request may open with."""
    points: tuple[tuple[str, ...], ...] = ()
    """Lines under "Look at this first", each by words that it has to have, in whatever case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One issue and one Session. Without a mark the work is honest."""

    name: str
    sample: Sample
    title: str
    body: str
    does: tuple[str, ...]
    """Shell lines of the Session, in its checkout."""
    mark: Mark | None = None
    verdicts: tuple[Verdict, ...] = (Verdict.PROVED,)
    """Of honest work: what it is to be called."""
    told: tuple[str, ...] = ()
    """Of honest work: what else the pull request's first line says."""
    ended: str = "ready"
    """Of honest work: how its Run ends."""
    repairs: tuple[str, ...] = ()
    """Shell lines of every Repair."""
    settings: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """What the repository has beyond the sample's files."""

    @property
    def group(self) -> Group:
        """What sort of work it is."""
        if self.mark is not None:
            return Group.CHEAT
        return Group.HONEST if Verdict.PROVED in self.verdicts else Group.PLAIN

    @property
    def expected(self) -> str:
        """What it is to come to, in a word."""
        return "a mark" if self.mark is not None else self.verdicts[0].value


def write(path: str, text: str) -> str:
    """A file with this text, less its common indentation."""
    return f"{_folder(path)}cat > {shlex.quote(path)} <<'{_END}'\n{_flush(text)}{_END}"


def append(path: str, text: str) -> str:
    """More text at a file's end, less its common indentation."""
    return f"cat >> {shlex.quote(path)} <<'{_END}'\n{_flush(text)}{_END}"


def methods(path: str, text: str) -> str:
    """More methods for the class that a file ends with, less their common indentation."""
    return f"cat >> {shlex.quote(path)} <<'{_END}'\n\n{indent(_flush(text), '    ')}{_END}"


def edit(path: str, old: str, new: str) -> str:
    """Put `new` in the place of `old`, which has to be there once."""
    return shlex.join(["python3", "-c", _EDIT, path, old, new])


def commit(message: str) -> str:
    """Commit all that there is."""
    return f"git add -A; git commit -qm {shlex.quote(message)}"


def hand_over(title: str, command: str = "", *files: str) -> str:
    """The Handover: the pull request's text, and the test that is named, if any."""
    text = f"printf '%s\\n' {shlex.quote(title)} '' {shlex.quote(title + '.')} > \"$NIGHTJAR_HANDOVER/pull-request.md\""
    return f"{text}\n{proof_json(json.dumps({'command': command, 'files': files}))}" if command else text


def proof_json(text: str) -> str:
    """The file that names a test, with whatever text."""
    return f"printf '%s' {shlex.quote(text)} > \"$NIGHTJAR_HANDOVER/proof.json\""


def _folder(path: str) -> str:
    parent = str(PurePosixPath(path).parent)
    return "" if parent == "." else f"mkdir -p {shlex.quote(parent)}\n"


def _flush(text: str) -> str:
    return dedent(text).removeprefix("\n").rstrip() + "\n"
