"""The Record as text: to and from JSON, with a version. Pure."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from bot.record import VERSION, Record
from bot.request import Request

if TYPE_CHECKING:
    from cattrs.preconf.json import JsonConverter


class UnreadableRecord(ValueError):
    """A stored Record that is damaged, or written by a newer Nightjar."""


@cache
def _converter() -> JsonConverter:
    from cattrs.preconf.json import make_converter

    return make_converter(forbid_extra_keys=True)


def to_json(record: Record) -> str:
    """The Record as one JSON document."""
    return str(_converter().dumps(record, indent=1, sort_keys=True))


def from_json(text: str) -> Record:
    """The Record that `to_json` wrote. Raises `UnreadableRecord`; never guesses."""
    import json

    try:
        version = json.loads(text)["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableRecord("record.json is not a Record: no version can be read from it") from error
    if version != VERSION:
        raise UnreadableRecord(f"record.json has version {version!r}; this Nightjar reads version {VERSION}")
    try:
        return _converter().loads(text, Record)
    except Exception as error:  # cattrs raises a tree of types of its own
        raise UnreadableRecord(f"record.json does not fit version {VERSION}: {type(error).__name__}") from error


def request_to_json(request: Request) -> str:
    """The request as one JSON document."""
    return str(_converter().dumps(request, indent=1, sort_keys=True))


def request_from_json(text: str) -> Request:
    """The request that `request_to_json` wrote. Raises `UnreadableRecord`; never guesses."""
    try:
        return _converter().loads(text, Request)
    except Exception as error:  # cattrs and json raise trees of types of their own
        raise UnreadableRecord(f"request.json is not a request: {type(error).__name__}") from error
