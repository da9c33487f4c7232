"""What of the issue's text is fetched, and what is not, and why: told from the text alone. Pure.

The text is the one that was approved, as a person sees it on the page: what stands in a comment of HTML, or is too
small to be seen, is nobody's attachment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot import guard
from bot.attachments.hosts import Address, Hosts

MOST = 20
"""Files of one Run."""
_SMALLEST = 10
"""Pixels of an edge: nobody sees what is in an image that is shown smaller."""
_TAG = re.compile(r"<img(?=[\s/])[^<>]{0,2000}>", re.IGNORECASE)
_SOURCE = re.compile(r"\ssrc\s*=\s*(?:\"([^\"\s]+)\"|'([^'\s]+)'|([^\s\"'>]+))", re.IGNORECASE)
_EDGE = re.compile(r"\s(?:width|height)\s*=\s*[\"']?\s*([0-9]{1,6})\s*(?:px)?[\"'\s/>]", re.IGNORECASE)
_IMAGE = re.compile(r"\[image\]\(\s*<?([^\s()<>]+)")
_EMPTY_LINK = re.compile(r"(?<![\w\]])\[\s*\]\(\s*<?([^\s()<>]+)[^()\n]*\)")


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not fetched, or not given: an address, or its beginning, from a stranger."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is fetched, in the order of the text, and what is not."""

    wanted: tuple[Address, ...]
    skipped: tuple[Skipped, ...]


def plan(texts: Sequence[str], hosts: Hosts) -> Plan:
    """Of `texts`, the issue's and those of the comments that belong to what was asked."""
    wanted: dict[str, Address] = {}
    skipped: dict[str, Skipped] = {}
    unseen: list[str] = []
    for text in texts:
        shown = _shown(text, unseen)
        for address in hosts.mentioned(shown):
            wanted.setdefault(address.key or address.url, address)
        for url in _IMAGE.findall(shown):
            if hosts.address(url) is None:
                skipped.setdefault(url, Skipped(url, "an address that is not GitHub's for attachments; not asked for"))
    for url in unseen:
        hidden = hosts.address(url)
        if hidden is not None and (hidden.key or url) not in wanted:
            skipped.setdefault(url, Skipped(url, "nobody sees it on the page"))
    chosen = list(wanted.values())
    many = [Skipped(address.url, f"more than {MOST} attachments") for address in chosen[MOST:]]
    return Plan(tuple(chosen[:MOST]), (*skipped.values(), *many))


def _shown(text: str, unseen: list[str]) -> str:
    """What a person sees of `text`, with the addresses of its images; `unseen` gets those that nobody does."""

    def image(tag: re.Match[str]) -> str:
        source = _SOURCE.search(tag[0])
        url = next(filter(None, source.groups()), "") if source else ""
        if any(int(edge) < _SMALLEST for edge in _EDGE.findall(tag[0])):
            unseen.append(url)
            return ""
        return f"![i]({url})" if url else ""

    def link(empty: re.Match[str]) -> str:
        unseen.append(empty[1])
        return ""

    return _EMPTY_LINK.sub(link, guard.visible(_TAG.sub(image, text)))
