"""SECURITY.md and the adversarial suite speak of the same attempts."""

from __future__ import annotations

import re
from pathlib import Path

from tests.adversary.attempt import Attempt
from tests.adversary.attempts import ATTEMPTS
from tests.adversary.elsewhere import ELSEWHERE
from tests.adversary.theatre import CONSEQUENCES

REPOSITORY = Path(__file__).parents[1]
TEXT = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
COLUMNS = 6


def rows() -> list[list[str]]:
    """The cells of the table of attempts, without its head."""
    table = TEXT.partition("| Attempts |\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def test_every_attempt_is_in_the_table_once() -> None:
    """Each attempt of the suite stands in one row, and no row names another."""
    named = [name for row in rows() for name in re.findall(r"`([^`]+)`", row[-1])]
    assert sorted(named) == sorted(one.id for one in (*ATTEMPTS, *CONSEQUENCES, *ELSEWHERE))


def test_rows_are_whole() -> None:
    """Each row says for each kind of user what becomes of the attempt."""
    words = ("prevented", "hindered", "open", "shown first")
    assert all(len(row) == COLUMNS and all(cell.startswith(words) for cell in row[1:-1]) for row in rows())


def test_what_needs_landlock_is_marked() -> None:
    """What a Session of the program's own user is kept from by Landlock alone has an L in its row."""
    for row in rows():
        if any(one.landlock for one in of(row)):
            assert " L" in row[2], row[0]


def test_what_relaxed_gives_away() -> None:
    """What a plain user's Session does with `isolation: relaxed` is in no row that says it is prevented."""
    for row in rows():
        taken = [one.id for one in of(row) if "plain" in one.control]
        assert not (taken and row[4] == "prevented"), row[0]


def of(row: list[str]) -> list[Attempt]:
    """The attempts on the runner that a row names."""
    return [one for one in ATTEMPTS if f"`{one.id}`" in row[-1]]


def test_readme_leads_to_a_heading() -> None:
    """Whoever sets Nightjar up is led to what CI's secrets meet, and that is there."""
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-")
        for line in TEXT.splitlines()
        if line[:1] == "#"
    }
    links = re.findall(r"\(SECURITY\.md#([^)]+)\)", (REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert links
    assert set(links) <= headings


def test_length() -> None:
    """It can be read in one sitting."""
    assert len(TEXT.splitlines()) <= 150
