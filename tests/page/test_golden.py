"""The whole page of a Run with everything in it, compared with a reviewed file. NIGHTJAR_GOLDEN=write makes it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.page.model import Told
from bot.page.render import run_html, verdict
from bot.record import CiState, CiVerdict, Outcome, Record, WaitsFor
from tests.page.dom import parse
from tests.page.stage import NOW, at, page, record

GOLDEN = Path(__file__).parent / "golden" / "run.html"


def test_the_page(tmp_path: Path) -> None:
    """The page, but for its style sheet and the hash of that, is what was reviewed."""
    before, _, rest = page(tmp_path, "a word").partition("<style>")
    whole = before.split('content="default-src')[0] + rest.partition("</style>")[2]
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(whole, encoding="utf-8")
    assert whole == GOLDEN.read_text(encoding="utf-8")


OVER = record("word")
GOING = replace(OVER, outcome=None, failure=None, told=False)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (replace(OVER, outcome=Outcome.READY, failure=None), "Ready for review"),
        (replace(OVER, outcome=Outcome.MERGED, failure=None), "Merged"),
        (replace(OVER, outcome=Outcome.CANCELLED, failure=None), "Cancelled"),
        (OVER, "Stopped: CI is still red after the last Repair"),
        (GOING.parked_for(WaitsFor.CI, at("02:39:30"), at("04:39:30")), "Parked"),
        (GOING.parked_for(WaitsFor.SLOT, at("02:39:30")), "Queued"),
        (GOING, "At work"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_verdict_comes_first(run: Record, said: str) -> None:
    """Whatever became of the Run stands in the first heading of the content, and in the title of the window."""
    document = parse(run_html(Told(run, (), ()), NOW))
    assert verdict(run) == said
    (title,) = document.all("title")
    assert title.text == f"{said} · issue #7 · Nightjar"
    headings = [heading.text for heading in document.by_id("content").all("h2")]
    assert headings == [said, "Why", "Timeline", "Sessions", "Repairs", "Checks", "About this Run"][:3] + headings[3:]


def test_nothing_checked_this() -> None:
    """A Run without CI is ready, and the page says that nothing checked it."""
    ci = CiVerdict(OVER.pushed, CiState.NONE_EXPECTED)
    run = replace(OVER, outcome=Outcome.READY, failure=None, ci=ci)
    assert "Nothing checked this" in parse(run_html(Told(run, (), ()), NOW)).by_id("content").text


def test_a_fresh_run() -> None:
    """A Run that has only been claimed has a page too: nothing is known of it yet."""
    bare = Record(trigger=OVER.trigger, base="main", branch="nightjar/issue-7", max_repairs=5)
    document = parse(run_html(Told(bare, (), ()), NOW))
    assert "No times are known of this Run." in document.text
    assert document.by_id("verdict").text == "At work"
