"""What is to be done with each file that `init` wants: nothing is ever written over. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import StrEnum

from bot.init.files import Wanted


class Standing(StrEnum):
    """How a file that is wanted stands in the repository."""

    NEW = "new"
    SAME = "same"
    OTHER = "other"
    """There is one, and it says something else."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A file that is wanted, and how it stands."""

    wanted: Wanted
    standing: Standing
    diff: str
    """From what is there to what is wanted, unified; "" for nothing to change."""


def planned(wanted: Wanted, there: str | None) -> Planned:
    """What becomes of `wanted`. `there`: the text that the file has; None where there is none."""
    if there is None:
        return Planned(wanted, Standing.NEW, _diff("/dev/null", f"b/{wanted.path}", "", wanted.text))
    if _lines(there) == _lines(wanted.text):
        return Planned(wanted, Standing.SAME, "")
    return Planned(wanted, Standing.OTHER, _diff(f"a/{wanted.path}", f"b/{wanted.path}", there, wanted.text))


def _lines(text: str) -> list[str]:
    """git may have checked it out with other line ends."""
    return text.splitlines()


def _diff(before: str, after: str, old: str, new: str) -> str:
    return "\n".join(difflib.unified_diff(_lines(old), _lines(new), before, after, lineterm=""))
