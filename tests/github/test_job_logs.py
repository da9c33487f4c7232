"""A job's log made readable and short."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.logs import EXCERPT_LIMIT, READ_LIMIT, TOO_LONG, excerpt, read_lines

STAMP = "2026-03-01T10:00:00.1234567Z "


def lines_of(text: str) -> list[str]:
    """What `read_lines` makes of one text."""
    return list(read_lines([text.encode()]))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (f"\ufeff{STAMP}hello", "hello"),
        (f"{STAMP}\x1b[31;1mred\x1b[0m text\x1b[K", "red text"),
        (f"{STAMP}\x1b]8;;https://a.example\x07link\x1b]8;;\x07", "link"),
        (f"{STAMP}1%\r50%\r100%", "100%"),
        (f"{STAMP}done\r", "done"),
        (f"{STAMP}##[group]Run make test", "##[group]Run make test"),
        (f"{STAMP}token is ***", "token is ***"),
        (f"{STAMP}tab\there\x00\x07", "tab\there"),
        ("2026-03-01 is a date", "2026-03-01 is a date"),
    ],
)
def test_line_as_a_person_sees_it(raw: str, shown: str) -> None:
    """Marks, time stamps, colours and redrawn progress go; what was printed stays."""
    assert lines_of(raw + "\n") == [shown]


def test_invalid_utf8_is_replaced() -> None:
    """A byte that is no UTF-8 costs that character only, also when a character is torn between two chunks."""
    assert list(read_lines([b"caf\xff \xc3", b"\xa9\n"])) == ["caf� é"]


def test_endless_lines_are_cut() -> None:
    """One line of megabytes becomes a short one with both its ends, and 5 000 redraws become the last."""
    (line,) = read_lines([b"start ", *([b"x" * 100_000] * 30), b" end\n"])
    assert len(line) < 700
    assert line.startswith("start xxx")
    assert line.endswith("xxx end")
    assert lines_of("".join(f"{number}%\r" for number in range(5000)) + "all done\n") == ["all done"]


@given(st.binary(max_size=400), st.integers(1, 40))
def test_chunks_do_not_matter(raw: bytes, size: int) -> None:
    """However the bytes arrive, the lines are the same."""
    chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
    assert list(read_lines(chunks)) == list(read_lines([raw]))


def test_log_over_the_limit_is_cut_and_says_so() -> None:
    """At most 64 MB are read, and the excerpt says that there was more."""
    chunk = b"x" * 99 + b"\n"
    pulled = 0

    def endless() -> Iterator[bytes]:
        nonlocal pulled
        while True:
            pulled += 1
            yield chunk * 10_000

    last = ""
    for line in read_lines(endless()):
        last = line
    assert last == TOO_LONG
    assert pulled <= READ_LIMIT // 1_000_000 + 2


def big_log(megabytes: int = 20) -> Iterator[bytes]:
    """A log with the real error 300 lines before the end."""
    noise = (STAMP + "downloading " + "." * 450 + "\n").encode()
    yield ("\ufeff" + STAMP + "##[group]Run pytest -q\n").encode()
    yield (STAMP + "##[endgroup]\n").encode()
    for _ in range(5 * megabytes):
        yield noise * 420
    yield (STAMP + "Traceback (most recent call last):\n").encode()
    yield (STAMP + '  File "widget.py", line 3, in area\n').encode()
    yield (STAMP + "\x1b[31mAssertionError: 6 is not 7\x1b[0m\n").encode()
    yield noise * 290
    yield (STAMP + "##[error]Process completed with exit code 1.\n").encode()
    yield (STAMP + "Post job cleanup.\n").encode()


def test_memory_does_not_grow_with_the_log() -> None:
    """What is held at most while a log is read is far less than the log, and the same for twice as much of it."""
    peaks = []
    for megabytes in (2, 4):
        tracemalloc.start()
        excerpt(read_lines(big_log(megabytes)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 1_500_000
    assert peaks[1] < peaks[0] * 1.2


def test_big_log() -> None:
    """Of 20 MB the step's command, the traceback, the exit code and the end are shown, in a few kilobytes."""
    text = excerpt(read_lines(big_log()))
    assert len(text.encode()) <= EXCERPT_LIMIT
    shown = text.splitlines()
    assert shown[0] == "##[group]Run pytest -q"
    wanted = [
        "Traceback (most recent call last):",
        "AssertionError: 6 is not 7",
        "##[error]Process completed with exit code 1.",
    ]
    positions = [shown.index(line) for line in (*wanted, "Post job cleanup.")]
    assert positions == sorted(positions)
    assert any("lines left out" in line for line in shown)


def test_first_and_last_of_many_errors() -> None:
    """Among thousands of error lines the first, which often is the cause, and the last ones stay."""
    text = excerpt(f"error: number {number} " + "y" * 60 for number in range(5000))
    assert "error: number 0 " in text
    assert "error: number 4999 " in text
    assert len(text.encode()) <= EXCERPT_LIMIT


def test_log_without_an_error_shows_its_end() -> None:
    """With no marker to go by, the tail is all there is to show."""
    text = excerpt(f"line {number}" for number in range(1000))
    assert text.splitlines()[-1] == "line 999"
    assert "line 950" in text


def test_empty_log_has_no_excerpt() -> None:
    """Nothing in, nothing out: the caller has to look elsewhere."""
    assert excerpt([]) == ""
    assert excerpt(["", ""]) == ""


@given(
    st.lists(
        st.one_of(st.text(max_size=30), st.sampled_from(["error: x", "##[error]y", "##[group]Run z", "##[endgroup]"])),
        max_size=300,
    )
)
def test_excerpt_is_bounded_and_keeps_the_order(lines: list[str]) -> None:
    """Never more than asked for, and only lines of the log, in its order."""
    lines = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    text = excerpt(lines, limit=600)
    assert len(text.encode("utf-8", "replace")) <= 600
