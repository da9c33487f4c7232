"""The issue that is rehearsed: a file, stdin, or an issue of a GitHub."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.clone.address import address_of
from bot.failures import RunFailed
from bot.github.issue_text import IssueText, read_issue_text
from bot.own_token import NoToken, own_token
from bot.rehearsal import words
from bot.rehearsal.source import CannotRehearse

LARGEST = 65_536
"""Characters of an issue's text, as GitHub allows them."""
LONGEST_TITLE = 256
_URL = re.compile(r"(?P<repository>https?://[^?#]+)/issues/(?P<number>[0-9]+)/?([?#].*)?")


def read_issue(given: str, environ: Mapping[str, str]) -> IssueText:
    """What `--issue` names: an issue's address, a file, or `-` for stdin. Raises `CannotRehearse`."""
    if given.startswith(("https://", "http://")):
        return _from_github(given, environ)
    try:
        raw = sys.stdin.buffer.read() if given == "-" else Path(given).read_bytes()
    except OSError as error:
        why = words.ISSUE_UNREADABLE.format(given=given, why=error.strerror or error)
        raise CannotRehearse(why) from error
    where = "stdin" if given == "-" else given
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotRehearse(words.ISSUE_UNREADABLE.format(given=where, why="it is no UTF-8 text")) from error
    title, _, body = text.strip().partition("\n")
    title = title.lstrip("#").strip()
    if not title:
        raise CannotRehearse(words.ISSUE_EMPTY.format(given=where))
    if len(title) > LONGEST_TITLE or len(body) > LARGEST:
        raise CannotRehearse(words.ISSUE_LONG.format(given=where, title=LONGEST_TITLE, body=LARGEST))
    return IssueText(title, body.strip())


def _from_github(url: str, environ: Mapping[str, str]) -> IssueText:
    found = _URL.fullmatch(url)
    address = address_of(found["repository"]) if found else None
    if found is None or address is None:
        raise CannotRehearse(words.NO_ISSUE_URL.format(url=url))
    try:
        token = own_token(address, environ, None)
        credential = token.credential if token else None
        return read_issue_text(address.api(environ), address.repository, int(found["number"]), credential)
    except (RunFailed, NoToken) as problem:
        why = problem.reason if isinstance(problem, RunFailed) else str(problem)
        raise CannotRehearse(words.ISSUE_UNREADABLE.format(given=url, why=why)) from problem
