"""What the docs have from the code: the tables of the README, the reference of settings; and the README's length."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bot.failures import CATALOGUE
from bot.settings import SETTINGS
from tests.docs.pages import PAGES, ROOT
from tests.docs.settings_page import reference, settings_table


def failures_table() -> str:
    """The README's table of codes."""
    rows = (f"| `{failure.code}` | {failure.title} |" for failure in CATALOGUE.values())
    return "\n".join(["| Code | What it says |", "|---|---|", *rows])


GENERATED = {
    "settings": ("README.md", settings_table),
    "failures": ("README.md", failures_table),
    "reference": ("docs/settings.md", reference),
}


@pytest.mark.parametrize("mark", GENERATED)
def test_the_page_says_what_the_code_says(mark: str) -> None:
    """Between its marks a page has what the code prints; NIGHTJAR_GOLDEN=write writes it anew, for review."""
    path, made = GENERATED[mark]
    page = ROOT / path
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {mark} -->\n(.*?)\n?<!-- /{mark} -->", text, re.DOTALL)
    assert found is not None, f"{path} has no <!-- {mark} --> … <!-- /{mark} -->"
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        page.write_text(f"{text[: found.start(1)]}{made()}\n{text[found.end(0) - len(f'<!-- /{mark} -->') :]}", "utf-8")
        return
    assert found[1] == made()


def test_the_readme_is_short() -> None:
    """It can be read in one sitting: fewer than 250 lines, tables and all."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 250


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_defaults_in_sentences_are_the_codes(page: Path) -> None:
    """A number in brackets behind a setting is its default."""
    for name, number in re.findall(r"`([a-z-]+)` \((\d+)\b", page.read_text(encoding="utf-8")):
        assert number == SETTINGS[name].default, f"{page.name}: `{name}` ({number})"


def test_bounds_are_the_codes() -> None:
    """Each number in the README's table of bounds is the default of a setting in its row."""
    table = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .partition("| What | Bound | Setting |\n")[2]
        .partition("\n\n")[0]
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    assert rows
    for what, bound, settings in rows:
        defaults = {SETTINGS[name].default for name in re.findall(r"`([a-z-]+)`", settings)}
        assert set(re.findall(r"\d+", bound)) <= defaults, what


def test_what_waiting_costs_is_what_was_measured() -> None:
    """The minutes on the page about costs, and those in the README, are those of the Run that was measured."""
    measured = (ROOT / "docs" / "examples" / "parked-minutes.md").read_text(encoding="utf-8")
    (inline, inline_billed), (parked, parked_billed) = re.findall(r"\*\*(\d+\.\d)\*\* \| \*\*(\d+)\*\*", measured)
    costs = (ROOT / "docs" / "costs.md").read_text(encoding="utf-8")
    assert f"| `wait: inline` | 3 | {inline} | {inline_billed} |" in costs
    assert f"| `wait: park` | 3 | {parked} | {parked_billed} |" in costs
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{parked_billed} billed minutes instead of {inline_billed}" in readme
