"""What is about to leave the runner in commits, looked at for secrets piece by piece, in bounded memory. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.guard.secrets import OVERLAP, Redactor, tokens


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that would leave."""

    where: str
    """What it is, for people; Markdown."""
    blocks: Iterable[bytes]
    """Its content from the beginning to the end; to be read before the next piece is."""


def first_secret(pieces: Iterable[Piece], redactor: Redactor, stood_before: Callable[[str], bool]) -> str:
    """Where a secret stands in what would leave, a sentence without a full stop that never holds its value; "" when
    there is none.

    A known value counts wherever it is. What only looks like a token counts unless it `stood_before`, where everybody
    who can read the repository has it already: an example in the documentation, a key made for tests.
    """
    for piece in pieces:
        what = _secret_within(piece.blocks, redactor, stood_before)
        if what:
            return f"{redactor.clean(piece.where)} holds {what}"
    return ""


def _secret_within(blocks: Iterable[bytes], redactor: Redactor, stood_before: Callable[[str], bool]) -> str:
    """What kind of secret; "" for none. A block shares its beginning with the end of the one before."""
    held = b""
    for block in blocks:
        held = held[-OVERLAP:] + block
        if redactor.knows_bytes(held):
            return "the value of a secret that the job was given"
        for name, word in tokens(held.decode("latin-1")):
            if not stood_before(word):
                return f"what looks like {name}"
    return ""
