"""A page that opens fast: it is summarised, not dumped, and read in bounded memory; what was left out is said."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from bot.page.fitting import fit
from bot.page.history import Fetched
from bot.page.logs import Logs
from bot.page.model import RepairTold, Told
from bot.page.render import LIMIT, run_html
from bot.page.writer import tell
from bot.record import Record
from tests.page.dom import parse
from tests.page.stage import HEAD, NOW, PREFIX, answered, call, init, record, result, said, session, text

MB = 1024 * 1024


def one_long_turn() -> Iterator[object]:
    """Thousands of tool calls in one Turn."""
    yield init()
    for number in range(2000):
        yield said(text("text", text=f"step {number}"), call(f"c{number}", "Bash", {"command": f"run {number}"}))
        yield answered(f"c{number}", f"<{number}>" * 400)
    yield result("done", error=False)


def many_turns() -> Iterator[object]:
    """Thousands of Turns."""
    for number in range(2000):
        yield init()
        yield said(text("text", text=f"step {number} " + "&" * 1500))
        yield result("done", error=False)


def long_texts() -> Iterator[object]:
    """Texts that fill a page each."""
    yield init()
    for number in range(4):
        yield said(text("text", text=f"step {number} " + '"' * 2 * MB))
    yield result("done", error=False)


def written(folder: Path, frames: Callable[[], Iterator[object]]) -> Path:
    """A transcript of several MB, as `implement`."""
    path = folder / f"{PREFIX}-implement.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(frame)}\n" for frame in frames())
    return path


def of(entries: int) -> Record:
    """A Run of so many Sessions."""
    sessions = tuple(session("implement", "02:00:41", 7, "done", "word") for _ in range(entries))
    return replace(record("word"), sessions=sessions)


@pytest.mark.parametrize("frames", [one_long_turn, many_turns, long_texts], ids=lambda frames: frames.__name__)
def test_a_long_transcript(tmp_path: Path, frames: Callable[[], Iterator[object]]) -> None:
    """The page of a transcript of several MB has its beginning and its end, says how much it left out, and took a small
    part of the transcript's size in memory.
    """
    path = written(tmp_path, frames)
    size = path.stat().st_size
    assert size > 3 * MB
    run = of(1)
    run_html(Told(run, (), ()), NOW)  # what is made once a process
    tracemalloc.start()
    page = run_html(tell(run, Logs(tmp_path), Fetched()), NOW)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(page.encode()) < LIMIT / 2
    limit = 24 if frames is long_texts else 8
    assert peak < limit * MB
    (shown, *_) = parse(page).all("article")
    assert "step 0" in shown.text
    assert f"step {3 if frames is long_texts else 1999}" in shown.text
    assert "left out here" in shown.text
    assert f"{size:,} bytes" in shown.text


@pytest.mark.parametrize("many", [40, 3000])
def test_many_sessions(tmp_path: Path, many: int) -> None:
    """However many Sessions there were, the page is bounded: the newest are told, of the others it says how many."""
    names = tuple(f"repair-{number}" for number in range(1, many + 1))
    sessions = tuple(session(name, "02:00:41", 7, "done", "<" * 3000) for name in names)
    frames = "".join(f"{json.dumps(frame)}\n" for frame in one_turn_of("<" * 3000))
    for name in names[-80:]:
        (tmp_path / f"{PREFIX}-{name}.jsonl").write_text(frames, encoding="utf-8")
    page = run_html(tell(replace(record("word"), sessions=sessions), Logs(tmp_path), Fetched()), NOW)

    assert len(page.encode()) <= LIMIT
    assert names[-1] in page
    if many > 200:
        assert f"Together, with {many - 200:,} older ones" in parse(page).text


def one_turn_of(words: str) -> Iterator[object]:
    """Thirty entries."""
    yield init()
    for _ in range(30):
        yield said(text("text", text=words))
    yield result("done", error=False)


def test_repairs_share_their_room() -> None:
    """What is kept of evidence and diffs takes no more of the page than a third of the room that there is."""
    run = record("word")
    repairs = (RepairTold(run.repairs[0], "<" * MB, "+\n" * MB),) * 10
    kept = fit(Told(run, (), repairs), 300_000).repairs
    shown = sum(len(escape(one.evidence)) + len(escape(one.diff)) + 32 * one.diff.count("\n") for one in kept)
    assert 25_000 < shown < 100_000


def test_large_repairs() -> None:
    """Evidence and diff of a Repair are cut in the middle."""
    run = record("word")
    repairs = tuple(RepairTold(run.repairs[0], "begin" + "<" * MB + "end", "-a" + "+\n" * MB + "+z") for _ in range(50))
    page = run_html(Told(replace(run, repairs=(run.repairs[0],) * 50), (), repairs), NOW)
    assert len(page.encode()) <= LIMIT
    blocks = [block.text for block in parse(page).all("pre") if "begin" in block.text]
    assert len(blocks) == 50
    assert all("characters or more are left out here" in block and block.endswith("end") for block in blocks)


def test_a_record_that_fills_the_page() -> None:
    """A Record that is itself too long for a page still gives its verdict and its reason."""
    run = record("word")
    assert run.failure is not None
    assert run.proof is not None
    assert run.ci is not None
    long = replace(
        run,
        sessions=tuple(session("implement", "02:00:41", 7, "fail", "<" * 5000) for _ in range(1000)),
        repairs=tuple(replace(run.repairs[0], summary="<" * 5000, files=("<" * 5000,) * 30) for _ in range(300)),
        notes=("<" * 5000,) * 1000,
        failure=replace(run.failure, reason="why " + "<" * MB, evidence="<" * MB),
        trigger=replace(run.trigger, title="<" * MB, body="<" * MB, requested_by="<" * MB, label="<" * MB),
        branch="<" * MB,
        base="<" * MB,
        pushed=HEAD,
    )
    repairs = tuple(RepairTold(repair, "<" * 5000, "<" * 5000) for repair in long.repairs)
    page = run_html(Told(long, (), repairs), NOW)
    assert len(page.encode()) <= LIMIT
    verdict = parse(page).by_id("content")
    assert "Stopped: CI is still red after the last Repair" in verdict.text
    assert "why <<<" in verdict.text
