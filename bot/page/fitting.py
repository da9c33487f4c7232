"""How much of each text fits on the page: a page that opens fast holds the beginning and the end of what is long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from bot.claude.told import WIDEST, Bounds, Call, Entry, Happened, Hold, Kept, Said, Transcript, Turn
from bot.guard import shorten
from bot.page.model import RepairTold, SessionTold, Told

_MARKUP = 320
"""Bytes of markup around an entry or a Turn, about."""
_LADDER = (
    WIDEST,
    Bounds(first_turns=8, last_turns=16, first_entries=12, last_entries=24, characters=1200),
    Bounds(first_turns=4, last_turns=8, first_entries=8, last_entries=16, characters=600),
    Bounds(first_turns=2, last_turns=4, first_entries=3, last_entries=6, characters=300),
    Bounds(first_turns=1, last_turns=2, first_entries=1, last_entries=3, characters=120),
)
"""From much to little: the first that fits is taken."""
_EVIDENCE, _DIFF = 20_000, 40_000
"""Characters of one Repair's evidence and diff at most."""
_LEAST = 400
_ROWS, _FEW_ROWS = 200, 20
"""Sessions and Repairs on a page, the newest; and on one with less room than `_FEW_BELOW`."""
_FEW_BELOW = 100_000
_WORDS = 4_000
"""Characters of a Session's last words and of a Repair's note at most."""
_LINE = 32
"""Bytes of markup around a line of a diff."""


def fitted(transcript: Transcript, room: int) -> Transcript:
    """As much of it as fits into `room` bytes of HTML, about; the least there is where nothing does."""
    for bounds in _LADDER:
        cut = _within(transcript, bounds)
        if _size(cut) <= room:
            break
    return cut


def fit(told: Told, room: int) -> Told:
    """As much of a Run as fits into `room` bytes of HTML, about; two thirds of it are the Sessions'."""
    rows = _ROWS if room >= _FEW_BELOW else _FEW_ROWS
    sessions, repairs = told.sessions[-rows:], told.repairs[-rows:]
    for_sessions = _share(room * 2 // 3, len(sessions))
    for_repairs = _share(room // 3, len(repairs))
    return replace(
        told,
        sessions=tuple(_fit_session(session, for_sessions) for session in sessions),
        repairs=tuple(_fit_repair(repair, for_repairs) for repair in repairs),
    )


def _share(room: int, many: int) -> int:
    return room // max(1, many)


def _fit_session(session: SessionTold, room: int) -> SessionTold:
    if session.transcript is not None:
        return replace(session, transcript=fitted(session.transcript, room))
    if session.entry is None:
        return session
    return replace(session, entry=replace(session.entry, words=_cut(session.entry.words.strip(), min(_WORDS, room))))


def _fit_repair(repair: RepairTold, room: int) -> RepairTold:
    part = room // 4
    return RepairTold(
        replace(repair.entry, summary=_cut(repair.entry.summary.strip(), min(_WORDS, part))),
        evidence=_cut(repair.evidence, min(_EVIDENCE, part)),
        diff=_cut(repair.diff, min(_DIFF, 2 * part)),
    )


def _cut(text: str, room: int) -> str:
    """At most `room` bytes of it on the page, about; never less than a glimpse."""
    text = shorten(text, max(_LEAST, room))
    grows = (_bytes(text) + _LINE * text.count("\n")) / max(1, len(text))
    return shorten(text, max(_LEAST, int(room / max(1.0, grows))))


def _within(transcript: Transcript, bounds: Bounds) -> Transcript:
    turns = transcript.turns.within(bounds.first_turns, bounds.last_turns)
    first, last = (tuple(_cut_turn(turn, bounds) for turn in part) for part in (turns.first, turns.last))
    return replace(transcript, turns=Kept(first, last, turns.left_out))


def _cut_turn(turn: Turn, bounds: Bounds) -> Turn:
    kept = turn.entries.within(bounds.first_entries, bounds.last_entries)
    first, last = (tuple(_cut_entry(entry, bounds.characters) for entry in part) for part in (kept.first, kept.last))
    hold = _cut_hold(turn.hold, bounds) if turn.hold else None
    woken_by = tuple(shorten(name, bounds.characters, "end") for name in turn.woken_by[: bounds.last_entries])
    errors = shorten(turn.errors, bounds.characters)
    return replace(turn, entries=Kept(first, last, kept.left_out), hold=hold, woken_by=woken_by, errors=errors)


def _cut_hold(hold: Hold, bounds: Bounds) -> Hold:
    tasks, events = (
        tuple(shorten(text, bounds.characters, "end") for text in texts[: bounds.last_entries])
        for texts in (hold.tasks, hold.events)
    )
    return replace(hold, tasks=tasks, events=events)


def _cut_entry(entry: Entry, characters: int) -> Entry:
    match entry:
        case Said() | Happened():
            return replace(entry, text=shorten(entry.text, characters))
        case Call():
            answer = None if entry.answer is None else shorten(entry.answer, characters)
            about, given = shorten(entry.about, characters, "end"), shorten(entry.given, characters)
            return replace(entry, name=shorten(entry.name, characters, "end"), about=about, given=given, answer=answer)


def _size(transcript: Transcript) -> int:
    return sum(
        _MARKUP + sum(map(_bytes, _texts(turn))) + _MARKUP * len(turn.entries.all) for turn in transcript.turns.all
    )


def _texts(turn: Turn) -> Sequence[str]:
    texts = [turn.errors, *turn.woken_by]
    if turn.hold:
        texts += [*turn.hold.tasks, *turn.hold.events]
    for entry in turn.entries.all:
        if isinstance(entry, Call):
            texts += [entry.name, entry.about, entry.given, entry.answer or ""]
        else:
            texts.append(entry.text)
    return texts


def _bytes(text: str) -> int:
    """Bytes of it in the page."""
    return len(escape(text).encode(errors="replace"))
