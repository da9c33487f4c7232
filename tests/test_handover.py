"""What a Session leaves behind is read as a stranger's file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.handover import MAX_BYTES, Handover, pull_request_template
from bot.ports import PullRequestText


@pytest.fixture
def handover(tmp_path: Path) -> Handover:
    """Folders below a root that does not exist yet."""
    return Handover(tmp_path / "handover")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Title\n\nBody\n\nmore\n", PullRequestText("Title", "Body\n\nmore")),
        ("\n\n# Title  \nBody", PullRequestText("Title", "Body")),
        ("Title", PullRequestText("Title", "")),
        ("Title\r\n\r\nBody\r\n", PullRequestText("Title", "Body")),
        ("", None),
        ("  \n \n", None),
        ("#\n\nBody", None),
    ],
)
def test_pull_request_text(handover: Handover, text: str, read: PullRequestText | None) -> None:
    """The first line is the title, the rest the body; without a title there is nothing usable."""
    (handover.fresh("implement") / "pull-request.md").write_text(text, encoding="utf-8", newline="")
    assert handover.pull_request("implement") == read


def test_missing(handover: Handover) -> None:
    """Nothing was left, or the folder itself is gone."""
    folder = handover.fresh("implement")
    assert handover.pull_request("implement") is None
    assert handover.note("implement") == ""
    folder.rmdir()
    assert handover.pull_request("implement") is None


def test_fresh_for_each_session(handover: Handover) -> None:
    """A Session finds nothing of an earlier one of the same kind."""
    (handover.fresh("repair-1") / "note.md").write_text("old", encoding="utf-8")
    assert handover.note("repair-1") == "old"
    assert list(handover.fresh("repair-1").iterdir()) == []
    assert handover.note("repair-1") == ""


@pytest.mark.field_case(54, "handover")
def test_symbolic_link(handover: Handover, tmp_path: Path) -> None:
    """A link is not followed, not even to a harmless file."""
    secret = tmp_path / "secret"
    secret.write_text("Title\n\nsecret", encoding="utf-8")
    (handover.fresh("implement") / "pull-request.md").symlink_to(secret)
    assert handover.pull_request("implement") is None


def test_folder_that_is_a_link(handover: Handover, tmp_path: Path) -> None:
    """Neither is a link in place of the whole folder."""
    folder = handover.fresh("implement")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pull-request.md").write_text("Title\n\nsecret", encoding="utf-8")
    folder.rmdir()
    folder.symlink_to(elsewhere)
    assert handover.pull_request("implement") is None


@pytest.mark.parametrize("plant", ["link", "file", "folder"])
def test_planted_for_a_later_session(handover: Handover, tmp_path: Path, plant: str) -> None:
    """What one Session leaves in the place of a later one's folder is not there when that one begins."""
    place = handover.fresh("implement").parent / "repair-1"
    if plant == "link":
        place.symlink_to(tmp_path)
    elif plant == "file":
        place.touch()
    else:
        place.mkdir()
        (place / "note.md").write_text("planted", encoding="utf-8")
    assert list(handover.fresh("repair-1").iterdir()) == []
    assert tmp_path.exists()


@pytest.mark.timeout(10)
@pytest.mark.field_case(54, "pipe")
def test_named_pipe(handover: Handover) -> None:
    """A pipe that nobody writes to does not hold the Run up."""
    os.mkfifo(handover.fresh("implement") / "pull-request.md")
    assert handover.pull_request("implement") is None


@pytest.mark.field_case(54, "folder")
def test_directory(handover: Handover) -> None:
    """A folder of that name is nothing usable."""
    (handover.fresh("implement") / "pull-request.md").mkdir()
    assert handover.pull_request("implement") is None


@pytest.mark.field_case(54, "size")
def test_huge_file(handover: Handover) -> None:
    """Only so much is read, however large the file claims to be."""
    path = handover.fresh("implement") / "pull-request.md"
    with path.open("wb") as file:
        file.write(b"Title\n\nBody")
        file.truncate(5 * 1024**3)
    read = handover.pull_request("implement")
    assert read is not None
    assert read.title == "Title"
    assert len(read.body) <= MAX_BYTES


def test_not_text(handover: Handover) -> None:
    """Bytes that are no text are replaced, never an error."""
    (handover.fresh("repair-1") / "note.md").write_bytes(b"caf\xe9")
    assert handover.note("repair-1") == "caf\N{REPLACEMENT CHARACTER}"


def test_template(tmp_path: Path) -> None:
    """The repository's own pull request template is found where GitHub looks for it."""
    assert pull_request_template(tmp_path) == ""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pull_request_template.md").touch()
    assert pull_request_template(tmp_path) == "docs/pull_request_template.md"
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "PULL_REQUEST_TEMPLATE.md").touch()
    assert pull_request_template(tmp_path) == ".github/PULL_REQUEST_TEMPLATE.md"
