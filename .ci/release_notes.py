"""What CHANGELOG.md says of a version: the text of its release.

    .ci/release_notes.py            of the version in `bot/__init__.py`
    .ci/release_notes.py v1.2.3     the same, and it has to be that version

Prints the section to stdout. Ends with 1 and one line where there is none, or the tag names another version.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## \[(?P<version>[^]]+)\](?: - \d{4}-\d{2}-\d{2})?$", re.MULTILINE)


def version_of(code: str) -> str:
    """The version that `bot/__init__.py` says. Raises `ValueError` where it says none."""
    found = re.search(r'^__version__ = "([^"]+)"$', code, re.MULTILINE)
    if found is None:
        raise ValueError("bot/__init__.py names no version")
    return found[1]


def section(changelog: str, version: str) -> str:
    """What stands under the version's heading. Raises `ValueError` where there is none, or nothing under it."""
    headings = list(HEADING.finditer(changelog))
    for heading, end in zip(headings, [*(later.start() for later in headings[1:]), len(changelog)], strict=True):
        if heading["version"] == version:
            text = re.sub(r"^\[[^]]+\]: \S+$", "", changelog[heading.end() : end], flags=re.MULTILINE).strip()
            if not text:
                raise ValueError(f"CHANGELOG.md says nothing under [{version}]")
            return f"{text}\n"
    raise ValueError(f"CHANGELOG.md has no section ## [{version}]")


def main(arguments: list[str]) -> int:
    """The command line; the exit code."""
    try:
        version = version_of((ROOT / "bot" / "__init__.py").read_text(encoding="utf-8"))
        if arguments and arguments[0] != f"v{version}":
            raise ValueError(f"the tag is {arguments[0]}, and the code is version {version}")
        print(section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version), end="")
    except ValueError as problem:
        print(f"release_notes: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
