"""What is left of a rehearsal: a folder outside the repository, for the user to read and to delete."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bot.rehearsal import words
from bot.rehearsal.ci import CiSeen
from bot.rehearsal.source import CannotRehearse
from bot.rehearsal.stage import Rehearsed
from bot.sandbox.timeline import as_markdown, entries

PAGE = "run.html"
DIFF = "change.diff"
_COMMENTS = "comments.md"
_LOG = "run.log"


def make_folder(given: str | None, top: Path) -> Path:
    """An empty folder: `given`, or one of the system's temporary ones. `top` is the user's repository. Raises
    `CannotRehearse`.
    """
    if given is None:
        folder = Path(tempfile.mkdtemp(prefix="nightjar-rehearsal-")).resolve()
        if folder.is_relative_to(top.resolve()):
            folder.rmdir()
            raise CannotRehearse(words.INSIDE.format(folder=folder))
        return folder
    folder = Path(given).resolve()
    if folder.is_relative_to(top.resolve()):
        raise CannotRehearse(words.INSIDE.format(folder=given))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CannotRehearse(words.NOT_EMPTY.format(folder=given))
    except OSError as error:
        raise CannotRehearse(words.NO_FOLDER.format(folder=given, why=error.strerror or error)) from error
    return folder


def keep(folder: Path, found: Rehearsed, log: str) -> None:
    """Write everything there. Raises `OSError`. `log` is the Run's, as it was shown."""
    if found.logs.is_dir():
        shutil.copytree(found.logs, folder, dirs_exist_ok=True, symlinks=True)
    record = found.logs.parent / "record.json"
    if record.is_file():
        shutil.copyfile(record, folder / record.name)
    (folder / _LOG).write_text(log, encoding="utf-8")
    pages = "\n".join(as_markdown(title, entries(found.repository, number)) for title, number in pages_of(found))
    (folder / _COMMENTS).write_text(pages, encoding="utf-8")
    if found.diff:
        (folder / DIFF).write_text(found.diff, encoding="utf-8")
    for name, check in _names(found.ci):
        (folder / "ci").mkdir(exist_ok=True)
        (folder / "ci" / name).write_text(check.log, encoding="utf-8")


def pages_of(found: Rehearsed) -> Iterator[tuple[str, int]]:
    """The pages that GitHub would have: titles and numbers."""
    yield words.ISSUE_PAGE.format(title=found.repository.issue(found.issue).title), found.issue
    if found.pull_request is not None:
        yield words.PULL_PAGE.format(title=found.pull_request.title), found.pull_request.number


def _names(ci: tuple[CiSeen, ...]) -> Iterator[tuple[str, CiSeen]]:
    for number, check in enumerate(ci, start=1):
        if check.log:
            yield f"{number}-{re.sub(r'[^A-Za-z0-9._-]+', '-', check.name).strip('-')[:80]}.log", check
