"""Every command that the docs show is run, page by page, as somebody who follows the page would."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.sandbox.github import EmbeddedGitHub
from tests.docs.not_run import NOT_RUN
from tests.docs.pages import PAGES, ROOT, mentions, shell_blocks
from tests.docs.place import Place

WITH_COMMANDS = [page for page in PAGES if shell_blocks(page) or any(one.rest for one in mentions(page))]
_MAKE = re.compile(r"`make ([a-z-]+)`")


def name(page: Path) -> str:
    """The page, as tests are told apart."""
    return page.stem


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A repository, and somebody at their desk."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False, prefix="/api/v3") as hub:
        yield Place(tmp_path, hub)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_commands_work(page: Path, place: Place) -> None:
    """From the top of the page to its end each command ends well, and prints what the page shows; then those in its
    sentences that have arguments.
    """
    shown = shell_blocks(page)
    runnable = [command for block in shown for command in block.commands if command not in NOT_RUN]
    if not any(re.search(r"nightjar init\b(?!.*--dry-run)", command) for command in runnable):
        place.set_up()
    place.had_a_run()
    for block in shown:
        said = place.type(*(command for command in block.commands if command not in NOT_RUN))
        assert said.code == 0, f"{block.place}\n{said.out}{said.err}"
        lines = iter(" ".join(line.split()) for line in said.lines)
        for line in block.printed:
            assert " ".join(line.split()) in lines, f"{block.place}: {line!r} is not printed there\n{said.out}"
    for one in mentions(page):
        if one.rest and one.command not in NOT_RUN:
            said = place.type(one.command)
            assert said.code == 0, f"{one.place}\n{said.out}{said.err}"


def test_what_is_not_run_is_shown() -> None:
    """The list of what is not run names only commands that stand in the docs."""
    shown = {command for page in PAGES for block in shell_blocks(page) for command in block.commands}
    assert NOT_RUN.keys() <= shown


def test_targets_can_be_made() -> None:
    """Each `make` of the docs is a target of the Makefile."""
    targets = {command.removeprefix("make ") for command in NOT_RUN if command.startswith("make ")}
    for page in PAGES:
        targets |= set(_MAKE.findall(page.read_text(encoding="utf-8")))
    defined = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert targets
    assert targets <= set(defined)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_sentences_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A `nightjar …` in a sentence names a command that there is, with options that it has."""
    for one in mentions(page):
        with pytest.raises(SystemExit) as ended:
            main([one.name, "--help"])
        assert ended.value.code == 0, one.command
        known = capsys.readouterr().out
        assert set(re.findall(r"--[a-z-]+", one.rest)) <= set(re.findall(r"--[a-z-]+", known)), one.command


def test_the_list_of_commands() -> None:
    """`python -m tests.docs` prints each command with its place, and whether it is run."""
    done = subprocess.run([sys.executable, "-m", "tests.docs"], cwd=ROOT, capture_output=True, text=True, check=True)
    printed = re.sub(" +", " ", done.stdout)
    assert re.search(r"^README\.md:\d+ run GH_TOKEN=\$\(gh auth token\) nightjar init$", printed, re.MULTILINE)
    assert re.search(r"^CONTRIBUTING\.md:\d+ not run make check$", printed, re.MULTILINE)


def test_every_command_has_its_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of exit codes has a row for each command that there is, and for no other."""
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z]+) ", capsys.readouterr().out, re.MULTILINE)
    table = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    assert commands
    assert re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE) == commands
