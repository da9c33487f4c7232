"""Prints the commands that the docs show, and which of them a test runs: `python -m tests.docs`."""

from __future__ import annotations

from tests.docs.not_run import NOT_RUN
from tests.docs.pages import PAGES, mentions, shell_blocks


def main() -> None:
    """One line a command."""
    for page in PAGES:
        shown = [(block.place, command) for block in shell_blocks(page) for command in block.commands]
        shown += [(one.place, one.command) for one in mentions(page) if one.rest]
        for place, command in shown:
            print(f"{place:32} {'not run' if command in NOT_RUN else 'run':8} {command}")
    print()
    for command, why in NOT_RUN.items():
        print(f"not run: {command}: {why}")


if __name__ == "__main__":
    main()
