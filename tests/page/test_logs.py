"""The logs folder as the page reads and writes it: a Session may have put anything there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.failures import RunFailed
from bot.guard import Redactor
from bot.page.history import Fetched
from bot.page.logs import Logs, transcript_name
from bot.page.writer import PageWriter
from tests.page.dom import parse
from tests.page.stage import NOW, PREFIX, record, session, write_logs

RUN = record("word")
ONE = replace(RUN, sessions=RUN.sessions[:1], repairs=())
NAME = f"{PREFIX}-implement.jsonl"


def test_links_pipes_and_folders_are_no_transcripts(tmp_path: Path) -> None:
    """What is no regular file is not read, and waits for nobody; nor is a link's target written to."""
    secret = tmp_path / "secret"
    secret.write_text('{"type": "assistant", "message": {"content": "from elsewhere"}}\n', encoding="utf-8")
    logs = tmp_path / "logs"
    logs.mkdir()
    for plant in (lambda path: path.symlink_to(secret), os.mkfifo, Path.mkdir):
        plant(logs / NAME)
        (told,) = Logs(logs).sessions(ONE)
        assert told.transcript is None
        (logs / NAME).rmdir() if (logs / NAME).is_dir() and not (logs / NAME).is_symlink() else (logs / NAME).unlink()
    (logs / "run.html").symlink_to(secret)
    Logs(logs).write("the page")
    assert "from elsewhere" in secret.read_text(encoding="utf-8")
    assert (logs / "run.html").read_text(encoding="utf-8") == "the page"
    assert [path.name for path in logs.iterdir()] == ["run.html"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "issue-7-run-1-1-x.jsonl/../../y", ".."])
def test_a_transcript_is_looked_for_in_the_folder_alone(name: str) -> None:
    """Whatever path a Record has for a transcript, only a name of a transcript is taken from it."""
    entry = replace(session("implement", "02:00:41", 7, "done", "word"), transcript=name)
    assert transcript_name(RUN, entry) == NAME


def test_a_session_that_was_taken_up_under_its_name(tmp_path: Path) -> None:
    """Of two entries with one transcript both are told, and the transcript is the newer one's."""
    twice = replace(RUN, sessions=(RUN.sessions[0], RUN.sessions[0]))
    older, newer, *_ = Logs(write_logs(tmp_path, "word")).sessions(twice)
    assert (older.name, older.transcript) == ("implement", None)
    assert newer.name == "implement"
    assert newer.transcript is not None


def test_no_folder() -> None:
    """Without logs the page has what the Record knows, the Session's last words among it."""
    (told,) = Logs(None).sessions(ONE)
    assert (told.transcript, told.name) == (None, "implement")


class Desk:
    """A writer whose log is kept; `public` is what GitHub says, or raises."""

    def __init__(self, folder: Path, history: Fetched | None = None, *, wanted: bool | None = True) -> None:
        self.said: list[str] = []
        self.asked = 0
        self.wanted = wanted
        self.writer = PageWriter(
            folder,
            history or Fetched(),
            redactor=Redactor([]),
            today=lambda: NOW,
            say=self.said.append,
            wanted=self.ask,
        )

    def ask(self) -> bool:
        """What `transcripts` and GitHub say."""
        self.asked += 1
        if self.wanted is None:
            raise RunFailed("github_unavailable", "GitHub could not be reached")
        return self.wanted


def test_the_writer(tmp_path: Path) -> None:
    """The page is written anew each time, and the log says where."""
    desk = Desk(write_logs(tmp_path / "logs", "word"))
    for run in (replace(RUN, outcome=None, failure=None), RUN):
        desk.writer.write(run)
    assert parse((tmp_path / "logs" / "run.html").read_text("utf-8")).by_id("verdict").text.startswith("Stopped")
    assert desk.said == [f"The Run page is {tmp_path / 'logs' / 'run.html'}"] * 2


def test_the_writer_fails_nothing(tmp_path: Path) -> None:
    """A folder that cannot be made, or a git that fails, is a line in the log and nothing more."""
    (tmp_path / "logs").write_text("in the way", encoding="utf-8")

    def broken(*_: str) -> str:
        raise RunFailed("internal", "git failed")

    for desk in (Desk(tmp_path / "logs"), Desk(tmp_path / "other", Fetched(broken))):
        desk.writer.write(replace(RUN, repairs=(replace(RUN.repairs[0], files=("a.txt",)),)))
        assert len(desk.said) == 1
        assert desk.said[0].startswith("The Run page could not be written: ")


@pytest.mark.parametrize(("wanted", "folder"), [(True, True), (False, False), (None, False)])
def test_what_is_kept(tmp_path: Path, wanted: bool | None, folder: bool) -> None:
    """The folder is to be an artifact where that is wanted, and not where nobody knows; GitHub is asked once."""
    desk = Desk(tmp_path, wanted=wanted)
    assert [desk.writer.upload for _ in range(3)] == [str(tmp_path) if folder else ""] * 3
    assert desk.asked == 1
