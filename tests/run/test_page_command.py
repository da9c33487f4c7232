"""`nightjar page`, the real command: a Run from its ref in a clone, from a Record in a file, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.stored import to_json
from tests.page.dom import Element, parse
from tests.page.stage import record
from tests.run.stage import MEND, RED_AT_FIRST, Stage, does, note, says, session

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    """What the command printed."""

    code: int
    out: str
    err: str


def run(where: Path, *words: str) -> Done:
    """The command, in a folder."""
    known = {"PATH": os.environ["PATH"], "HOME": str(where), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "bot", "page", *words]
    done = subprocess.run(argv, cwd=where, env=known, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def written(path: Path) -> Element:
    """The page in a file."""
    return parse(path.read_text(encoding="utf-8"))


def test_a_run_on_an_issue(stage: Stage, tmp_path: Path) -> None:
    """In a clone the Record, the journal and the Repair's diff come from the ref; transcripts and evidence come with
    `--logs`; a record.json brings those beside it.
    """
    mended = session("repair", does(f"{MEND}; {note('Swapped.')}", "mend it"), says("Fixed."))
    played = stage.run(RED_AT_FIRST, mended)
    assert played.exit_code == 0, played.log
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(stage.repository.path), str(clone)], check=True)

    bare = run(clone, "#1")
    assert (bare.code, bare.out, bare.err) == (0, "run.html\n", "")
    page = written(clone / "run.html")
    assert page.by_id("verdict").text == "Ready for review"
    assert "+    return a - b" in page.text
    assert "claiming the issue" in page.text
    assert "Its transcript is not at hand here" in page.text
    assert "AssertionError: -2 != 2" not in page.text

    logs = str(played.job.temp / "nightjar" / "logs")
    assert run(clone, "1", "--logs", logs, "-o", "whole.html").code == 0
    page = written(clone / "whole.html")
    assert "Its transcript is not at hand here" not in page.text
    assert "AssertionError: -2 != 2" in page.text

    assert run(tmp_path, str(played.job.temp / "nightjar" / "record.json")).code == 0
    page = written(tmp_path / "run.html")
    assert "AssertionError: -2 != 2" in page.text
    assert "The diff is not at hand here" in page.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("7",), "the Run on issue #7 cannot be shown: this is no clone of a repository"),
        (("none.json",), "cannot read none.json: No such file or directory; give an issue's number or a record.json"),
        (("bad.json",), "bad.json: record.json is not a Record"),
        (("7", "--logs", "none"), "none is no folder; give the one that holds the transcripts"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """One line says what is wrong, and no page is written."""
    (tmp_path / "bad.json").write_text("<b>", encoding="utf-8")
    done = run(tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"nightjar page: {said}")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run.html").exists()


def test_no_place_for_the_page(tmp_path: Path) -> None:
    """An output that cannot be written is one line."""
    (tmp_path / "record.json").write_text(to_json(record("word")), encoding="utf-8")
    done = run(tmp_path, "record.json", "-o", "none/run.html")
    assert (done.code, done.out) == (2, "")
    assert done.err == "nightjar page: cannot write none/run.html: No such file or directory\n"


def test_its_help_has_an_example(tmp_path: Path) -> None:
    """`--help` shows how it is called."""
    assert "nightjar page 7" in run(tmp_path, "--help").out
