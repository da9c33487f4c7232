"""Plays the attacks and prints one line an attempt, one column a user: `python -m tests.adversary`.

0 when no attempt succeeded but where nothing is isolated.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.adversary.attempt import BOTH, ROLES, Attempt
from tests.adversary.attempts import ATTEMPTS
from tests.adversary.elsewhere import ELSEWHERE
from tests.adversary.theatre import CONSEQUENCES, Attacked, Consequence, NotPlayable, attack

_WIDTH = 14


@dataclass(frozen=True, slots=True)
class _Column:
    """One Run: whose program, isolated or not, and what came of it or why it was not played."""

    role: str
    strict: bool
    came: Attacked | str

    @property
    def head(self) -> str:
        return self.role if self.strict else f"{'root' if self.role == ROLES[0] else self.role}, open"

    def cell(self, one: Attempt | Consequence) -> str:
        if isinstance(self.came, str):
            return "-"
        if one.id in self.came.succeeded:
            return "SUCCEEDS" if self.strict else "succeeds"
        return "not here" if isinstance(one, Attempt) and one.impossible() else "prevented"


def main() -> int:
    """Play, and print."""
    columns = [_play(role, strict=True) for role in ROLES] + [_play(role, strict=False) for role in BOTH]
    for column in columns:
        said = column.came.said if isinstance(column.came, Attacked) else f"not played: {column.came}"
        print(f"{column.head}: {said}")
    rows: list[Attempt | Consequence] = [*ATTEMPTS, *CONSEQUENCES]
    longest = max(len(one.id) for one in (*rows, *ELSEWHERE))
    print(f"\n{'attempt':{longest}}  {''.join(f'{column.head:{_WIDTH}}' for column in columns)}a Session …")
    for one in rows:
        print(f"{one.id:{longest}}  {''.join(f'{column.cell(one):{_WIDTH}}' for column in columns)}{one.what}")
    print(f"\n{'made by other tests':{longest}}  somebody …")
    for other in ELSEWHERE:
        print(f"{other.id:{longest}}  {other.what} ({other.test})")
    print("\nwhat `env` prints in a Session:\n")
    print(next((column.came.env for column in columns if isinstance(column.came, Attacked)), ""))
    return int(any(column.cell(one) == "SUCCEEDS" for one in rows for column in columns))


def _play(role: str, *, strict: bool) -> _Column:
    try:
        return _Column(role, strict, attack(role, strict=strict))
    except NotPlayable as why:
        return _Column(role, strict, str(why))


if __name__ == "__main__":
    sys.exit(main())
