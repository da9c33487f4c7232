"""What the docs have from the code: the tables of the README, the reference of settings; and the README's length."""

from __future__ import annotations

import os
import re

import pytest

from bot.failures import CATALOGUE
from bot.settings import settings_table
from tests.docs.pages import ROOT
from tests.docs.settings_page import reference


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
