"""What waiting costs: the runner minutes of one Run with a Repair, whose CI takes 15 planned minutes each time.

    python -m bench.parked [MINUTES]        (default 15)

The shipped workflows run in the sandbox's Actions, once with `wait: inline`, once with `wait: park`. A planned minute
is a second here, so that a process's own start counts sixtyfold: real jobs are shorter than these by that much.
Printed: each timeline, and the ratio of the minutes that are billed (each job is rounded up).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bot.sandbox.minutes import Timeline
from tests.run.town import CI, town

WORKS = 'case "$kind" in implement) wrong;; *) mend;; esac'


def played(wait: str, minutes: int) -> Timeline:
    """The story, played; CI's own jobs are left out."""
    files = {".github/workflows/ci.yml": CI.format(first=f"sleep {minutes}; ")}
    with (
        tempfile.TemporaryDirectory() as folder,
        town(Path(folder), WORKS, settings={"wait": wait}, files=files) as story,
    ):
        story.label()
        story.settle()
        assert story.labels() == ("nightjar:ready",), story.log
        return story.actions.timeline().of("Nightjar", "Nightjar wake")


def main() -> None:
    """Play both, print both."""
    minutes = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    billed = {}
    for wait in ("inline", "park"):
        timeline = played(wait, minutes)
        billed[wait] = timeline.billed
        print(f"\nwait: {wait}\n\n{timeline.as_markdown()}")
    inline, parked = billed["inline"], billed["park"]
    print(f"\nratio {inline / parked:.2f}: {inline} minutes inline, {parked} parked")


if __name__ == "__main__":
    main()
