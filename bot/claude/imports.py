"""What instruction files import: `@docs/style.md`, which the CLI reads relative to the file that says it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

_IMPORT = re.compile(r"@((?:[^\s\\]|\\ )+)")
_DEEPEST = 4
"""Imports of imports that the CLI follows (measured with CLI 2.1.332), one less for the file that imports them all."""


def imported(path: str, read: Callable[[str], str | None]) -> tuple[str, ...]:
    """Paths of the repository that the instruction file at `path` imports, directly or not; those that are there.
    `read`: the text at a path; None where there is none.
    """
    found: dict[str, None] = {}
    level = [path]
    for _ in range(_DEEPEST):
        targets = [target for one in level for target in _targets(one, read(one) or "")]
        level = [target for target in dict.fromkeys(targets) if target not in found and read(target) is not None]
        found.update(dict.fromkeys(level))
    return tuple(found)


def closed(text: str, *, at: Path, root: Path, home: Path) -> str:
    """`text` without the imports that lead out of `root` to something that is there, which may be a Session's. `at` is
    the folder of the file; `home` is what `~` stands for.
    """

    def close(found: re.Match[str]) -> str:
        targets = (found[1].replace("\\ ", " "), _bare(found[1]))
        return f"@ {found[1]}" if any(map(leads_out, targets)) else found[0]

    def leads_out(target: str) -> bool:
        named = home / target.removeprefix("~").lstrip("/") if target.startswith("~") else at / target
        leads_to = Path(os.path.normpath(named))
        return not leads_to.is_relative_to(root) and os.path.lexists(leads_to)

    return _IMPORT.sub(close, text)


def _targets(path: str, text: str) -> list[str]:
    folder = PurePosixPath(path).parent
    named = (os.path.normpath(folder / _bare(found[1])) for found in _IMPORT.finditer(text) if found[1][0] not in "~/")
    return [target for target in named if target.split("/")[0] != ".."]


def _bare(target: str) -> str:
    """Without what may follow the path: a heading's name, quotes and brackets that it may stand in."""
    return target.replace("\\ ", " ").partition("#")[0].rstrip("`'\"*_)],.;:")
