"""The page in a real browser: nothing runs, nothing is loaded, its own style sheet holds, and both themes are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.browser import CHROMIUM, WHY_NOT, dom_of, picture, screenshot
from tests.page.dom import parse
from tests.page.stage import page
from tests.page.test_accessibility import themes
from tests.page.test_escaping import HOSTILE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)


def in_a_file(folder: Path, strange: str) -> Path:
    """The page, saved."""
    path = folder / "run.html"
    path.write_text(page(folder / "logs", strange), encoding="utf-8", errors="replace")
    return path


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """With every hostile text at once in every place, Chromium has the elements that it has with a plain word, and the
    title that the page gave itself.
    """
    plain, hostile = (
        parse(tidy(dom_of(in_a_file(made(tmp_path / name), words))))
        for name, words in (
            ("plain", "word"),
            ("hostile", " ".join(HOSTILE).replace("\ud800", "") + "<script>document.title='!'</script>"),
        )
    )
    assert hostile.skeleton() == plain.skeleton()
    (title,) = hostile.all("title")
    assert title.text == "Stopped: CI is still red after the last Repair · issue #7 · Nightjar"


def made(folder: Path) -> Path:
    """The folder, made."""
    folder.mkdir()
    return folder


def tidy(dom: str) -> str:
    """What Chromium writes differently from what it read: empty elements of SVG with an end of their own."""
    return dom.replace("></rect>", "/>").strip()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes(tmp_path: Path, theme: str) -> None:
    """The page's own style sheet is let through its policy, and follows what the reader's system prefers."""
    shot = tmp_path / "page.png"
    screenshot(in_a_file(tmp_path, "word"), shot, theme=theme, width=600, height=80)
    seen = picture(shot)
    assert (seen.width, seen.height) == (600, 80)
    assert seen.at(3, 3) == themes()[theme]["paper"]


def test_a_narrow_window(tmp_path: Path) -> None:
    """On a telephone nothing stands out to the right of the window: its last column is the page's own colour."""
    shot = tmp_path / "page.png"
    screenshot(in_a_file(tmp_path, "averylongword" * 20), shot, theme="light", width=500, height=1000)
    seen = picture(shot)
    assert {seen.at(seen.width - 2, y) for y in range(0, seen.height, 7)} == {themes()["light"]["paper"]}


def test_the_network_is_not_asked_for(tmp_path: Path) -> None:
    """A page in which everything tries to load something from a server loads nothing."""
    strange = '<img src="http://127.0.0.1:9/x.png"><link rel=stylesheet href="http://127.0.0.1:9/x.css">'
    document = parse(tidy(dom_of(in_a_file(tmp_path, strange))))
    assert not list(document.all("img", "link", "script", "iframe"))
