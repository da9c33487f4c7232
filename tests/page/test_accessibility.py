"""The page is for everybody: it can be read with a screen reader, used with a keyboard, and seen in both themes."""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

import pytest

from bot.page.render import CSS
from tests.page.dom import Element, parse
from tests.page.stage import page

CSS_TEXT = CSS.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Element:
    return parse(page(tmp_path_factory.mktemp("page"), "word"))


def test_the_document_says_what_it_is(document: Element) -> None:
    """It has a language, a title, a width for narrow screens, and one heading above all others."""
    (html,) = document.all("html")
    assert html.attributes["lang"] == "en"
    assert [title.text for title in document.all("title")] != [""]
    names = {
        meta.attributes.get("name"): meta.attributes["content"]
        for meta in document.all("meta")
        if meta.attributes.get("name")
    }
    assert "width=device-width" in names["viewport"]
    assert len(list(document.all("h1"))) == 1


def test_landmarks(document: Element) -> None:
    """One header, one named navigation, one main part and one footer; each section and card is named by its heading."""
    for tag in ("header", "nav", "main", "footer"):
        assert len(list(document.all(tag))) == 1, tag
    (nav,) = document.all("nav")
    assert nav.attributes["aria-label"]
    for part in document.all("section", "article"):
        heading = document.by_id(part.attributes["aria-labelledby"])
        assert heading.tag in ("h2", "h3")
        assert heading.text.strip()
    for region in document.all("div"):
        if region.attributes.get("role") == "region":
            assert region.attributes["aria-label"]


def test_headings_skip_no_level(document: Element) -> None:
    """Whoever jumps from heading to heading misses none: levels go down one at a time."""
    levels = [int(heading.tag[1]) for heading in document.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_names_are_there_once(document: Element) -> None:
    """Ids are unique, and each link within the page leads to one."""
    ids = [element.attributes["id"] for element in document.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    within = {link.attributes["href"][1:] for link in document.all("a") if link.attributes["href"].startswith("#")}
    assert within <= set(ids)
    assert {"why", "timeline", "sessions", "repairs", "checks", "about"} <= within


def test_the_keyboard_reaches_everything(document: Element) -> None:
    """The first stop skips to the content; folds are the browser's own, which keys open; nothing changes the order."""
    (body,) = document.all("body")
    first = next(element for element in body.all("a", "summary", "button", "input"))
    assert (first.attributes["class"], first.attributes["href"]) == ("skip", "#content")
    assert document.by_id("content").attributes["tabindex"] == "-1"
    for fold in document.all("details"):
        children = [child for child in fold.children if isinstance(child, Element)]
        assert children[0].tag == "summary"
        assert children[0].text.strip()
        assert [child.tag for child in children].count("summary") == 1
    orders = {element.attributes["tabindex"] for element in document.all() if "tabindex" in element.attributes}
    assert orders <= {"0", "-1"}
    assert ":focus-visible" in CSS_TEXT
    assert "outline: none" not in CSS_TEXT


def test_tables_have_headers(document: Element) -> None:
    """Each table says what its columns and rows are; what only draws is hidden from those who cannot see it."""
    for table in document.all("table"):
        heads = [cell for cell in table.all("th") if cell.attributes.get("scope") == "col"]
        assert heads
        assert all(cell.text.strip() for cell in heads if "aria-hidden" not in cell.attributes)
        assert all(cell.attributes.get("scope") for cell in table.all("th"))
    for cell in document.all("td"):
        assert cell.text.strip() or cell.attributes.get("aria-hidden") == "true"


def test_tools_are_folded(document: Element) -> None:
    """What tools were given and answered is closed until somebody opens it; what the model said is not."""
    tools = [fold for fold in document.all("details") if fold.attributes.get("class") == "tool"]
    assert len(tools) > 5
    assert not [fold for fold in tools if "open" in fold.attributes]


# ── colours ─────────────────────────────────────────────────────────────────────────────────────────────────────


def themes() -> dict[str, dict[str, str]]:
    """The colours by name, of the light and of the dark theme."""
    light, dark = re.findall(r":root \{(.*?)\n *\}", CSS_TEXT, re.DOTALL)[:2]
    return {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", body))
        for name, body in (("light", light), ("dark", dark))
    }


def luminance(colour: str) -> float:
    """As WCAG 2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


PAIRS = [
    *product(("ink", "quiet", "link", "well", "ill", "now"), ("paper", "card")),
    *product(("ink", "quiet"), ("sunk",)),
    *((name, f"{name}-soft") for name in ("well", "ill", "now", "idle", "held")),
    ("ink", "held-soft"),
    ("ink", "added"),
    ("ink", "removed"),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), PAIRS)
def test_colours_can_be_told_apart(theme: str, front: str, back: str) -> None:
    """Text stands out from what is behind it as WCAG's level AA demands, in both themes."""
    colours = themes()[theme]
    brighter, darker = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
    assert (brighter + 0.05) / (darker + 0.05) >= 4.5


def test_both_themes_have_every_colour() -> None:
    """No colour of the light theme shows in the dark one."""
    light, dark = themes().values()
    assert light.keys() == dark.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", CSS_TEXT)) <= light.keys()
    assert not re.search(r"#[0-9a-f]{3,6}\b", re.sub(r":root \{.*?\n *\}", "", CSS_TEXT, flags=re.DOTALL))


def test_the_style_sheet_is_small() -> None:
    """It is read with every page."""
    assert len(CSS_TEXT) < 12_000
    assert Path(CSS).suffix == ".css"
