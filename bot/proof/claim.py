"""The claim of a Session: which command over which files shows its work. A stranger's word, read for its shape only."""

from __future__ import annotations

import json
from collections.abc import Collection

from bot.proof.facts import Claim
from bot.proof.words import code

_LONGEST_TEXT = 20_000
_LONGEST_COMMAND = 1000
_LONGEST_PATH = 300
_MOST_FILES = 20


class NoClaim(Exception):
    """Why `proof.json` names no test: a clause for people, Markdown, inert; "" where there is no such file."""


def read_claim(text: str) -> Claim:
    """The claim that a Handover's `proof.json` makes; keys that mean nothing here are passed over.

    Raises:
        NoClaim: there is none, or it is not of the right shape.
    """
    if not text.strip():
        raise NoClaim("")
    if len(text) > _LONGEST_TEXT:
        raise NoClaim(f"`proof.json` has more than {_LONGEST_TEXT} characters")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise NoClaim("`proof.json` is not JSON") from None
    if not isinstance(told, dict):
        raise NoClaim("`proof.json` holds no object with `command` and `files`")
    return Claim(_command(told.get("command")), _files(told.get("files")))


def tracked(claim: Claim, paths: Collection[str]) -> str:
    """Why the claimed files cannot be run; "" when each is one of `paths`, the regular files tracked on the head."""
    absent = [code(path) for path in claim.files if path not in paths]
    return f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in the commit" if absent else ""


def _command(told: object) -> str:
    if not isinstance(told, str):
        raise NoClaim("`command` in `proof.json` is not a text")
    command = told.strip()
    if not command:
        raise NoClaim("`command` in `proof.json` is empty")
    if len(command) > _LONGEST_COMMAND:
        raise NoClaim(f"`command` in `proof.json` has more than {_LONGEST_COMMAND} characters")
    if not command.isprintable():
        raise NoClaim("`command` in `proof.json` is not one line of printable characters")
    return command


def _files(told: object) -> tuple[str, ...]:
    if not isinstance(told, list) or not all(isinstance(path, str) for path in told):
        raise NoClaim("`files` in `proof.json` is not a list of paths")
    if not told:
        raise NoClaim("`files` in `proof.json` names no file")
    if len(told) > _MOST_FILES:
        raise NoClaim(f"`files` in `proof.json` names more than {_MOST_FILES} files")
    paths = [path.removeprefix("./") for path in told]
    for at, path in enumerate(paths):
        if reason := _unusable(path):
            raise NoClaim(f"{code(path)} in `proof.json` {reason}")
        if path in paths[:at]:
            raise NoClaim(f"{code(path)} is named twice in `proof.json`")
    return tuple(paths)


def _unusable(path: str) -> str:
    """Why `path` is not one inside the tree; "" when it is."""
    parts = path.split("/")
    if len(path) > _LONGEST_PATH:
        return f"has more than {_LONGEST_PATH} characters"
    if not path.isprintable() or "\\" in path or path[:1] in ("-", ":"):
        return "has characters that a path may not have here"
    if path.startswith("/") or ".." in parts or ".git" in (part.lower() for part in parts):
        return "is not inside the tree"
    return "is not the path of a file" if "" in parts or "." in parts else ""
