"""Links lead somewhere, and codes and settings that the docs name exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from bot.failures import CATALOGUE
from tests.docs.pages import PAGES, ROOT

LINKED = (*PAGES, ROOT / "docs" / "examples" / "README.md")
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)|(?:src|srcset)=\"(?!https?:)([^\"]+)\"")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_OURS = "https://github.com/acme/nightjar/blob/main/"


@cache
def anchors(page: Path) -> frozenset[str]:
    """What a link can name behind `#`: the page's headings, as GitHub spells them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Each link to a file of this repository finds it, and the heading that it names."""
    for found in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = (found[0] or found[1]).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


def test_every_page_can_be_found() -> None:
    """From the README one link leads to each page of `docs/`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = {found[0].partition("#")[0] for found in _LINK.findall(text)}
    assert {str(page.relative_to(ROOT)) for page in PAGES if page.parent.name == "docs"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_failures_that_are_named_exist(page: Path) -> None:
    """Each link to a reason goes by its code, and there is such a code."""
    codes = re.findall(r"\[`(\w+)`\]\((?:docs/)?failures\.md#(\w+)\)", page.read_text(encoding="utf-8"))
    assert all(shown == linked and shown in CATALOGUE for shown, linked in codes)


def test_who_reports_a_problem_is_led_to_pages_that_exist() -> None:
    """The links beside the forms for issues lead to pages of this repository."""
    config = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/config.yml").read_text(encoding="utf-8"))
    ours = [link["url"].removeprefix(_OURS) for link in config["contact_links"] if link["url"].startswith(_OURS)]
    assert ours
    assert all((ROOT / path).is_file() for path in ours)
