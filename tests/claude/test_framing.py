"""Bytes → whole lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.claude.framing import LineFramer


@given(st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"a\nb", b"\n\n"]), max_size=12))
def test_lines_are_the_same_whatever_the_chunks(chunks: list[bytes]) -> None:
    """However a stream is cut, its lines come whole, in order and each once."""
    framer = LineFramer()
    lines = [line for chunk in chunks for piece in framer.feed(chunk) for line in piece.split(b"\n")]
    stream = b"".join(chunks)

    assert framer.open == (not stream.endswith(b"\n") and stream != b"")
    lines += framer.rest()
    assert lines == stream.removesuffix(b"\n").split(b"\n") * bool(stream)


def test_a_line_over_the_limit_is_dropped_and_the_next_one_read() -> None:
    """Memory stays bounded: the line is counted, not kept."""
    framer = LineFramer(limit=10)
    chunks = (b"short\n123456", b"78901", b"2\nnext\nre")

    assert [piece for chunk in chunks for piece in framer.feed(chunk)] == [b"short", b"next"]
    assert (framer.rest(), framer.dropped) == ([b"re"], 1)
