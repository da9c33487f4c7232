"""What the CLI printed to stderr, as people get to see it."""

from __future__ import annotations

import pytest

from bot.claude.last_words import MAX_BYTES, LastWords


def said(*chunks: bytes) -> str:
    words = LastWords()
    for chunk in chunks:
        words.feed(chunk)
    return words.text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"one\ntwo\n", "one\ntwo"),
        (b"\x1b[31merror:\x1b[0m no\x07 key\r\n", "error: no key"),
        (b"\x1b]8;;https://example.com\x07link\x1b]8;;\x07", "link"),
        ("left\u202eright \u200bx\u009b".encode(), "leftright x"),
        (b"bad \xff byte", "bad \ufffd byte"),
        (b"", ""),
    ],
)
def test_control_characters_are_taken_out(printed: bytes, shown: str) -> None:
    """Colours, links, bells and characters that turn text around are not shown; broken bytes are."""
    assert said(printed) == shown


def test_only_the_last_lines_are_kept() -> None:
    """Forty lines, whatever the chunks."""
    text = b"".join(b"line %d\n" % number for number in range(100))
    assert said(*(text[start : start + 7] for start in range(0, len(text), 7))).splitlines() == [
        f"line {number}" for number in range(60, 100)
    ]


@pytest.mark.parametrize("filler", [b"word ", b"\x1b[31m", b"x"])
def test_what_is_cut_off_begins_with_a_whole_word(filler: bytes) -> None:
    """However much is printed, at most 4 kB are shown, and no word is shown in part: it could be a secret."""
    shown = said(filler * 50_000, b" the end")
    assert len(shown.encode()) <= MAX_BYTES
    assert shown.endswith("the end")
    assert set(shown.split()) <= {"word", "the", "end"}


def test_a_remark_of_our_own_gets_a_line_of_its_own() -> None:
    """It does not run on from what the CLI was printing."""
    words = LastWords()
    words.feed(b"half a line")
    words.note("the transcript ends early")
    assert words.text == "half a line\nthe transcript ends early"
