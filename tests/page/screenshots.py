"""Makes the README's pictures of the Run page: a Run on the sandbox, with the real command and CLI, seen in Chromium.

    python -m tests.page.screenshots        (or `make screenshots`)

The session lets its tests run in the background and is held open for them; it forgets a docstring, CI says so, and one
Repair mends it.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bot.sandbox.cli import bundled_claude
from bot.sandbox.demo import play
from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.model import Reply, Script, ScriptedModel
from bot.sandbox.stories import STORIES, bash, write
from tests.page.browser import CHROMIUM, WHY_NOT, screenshot

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
MOST_BYTES = 200_000
_SLOW_TESTS = bash("sleep 4; python3 -m unittest", "Run the tests", background=True)
_PROOF = '{"command": "python3 -m unittest tests.test_prices", "files": ["tests/test_prices.py"]}'


def script() -> Script:
    """The demo's Repair, with its tests in the background and a test that is named to prove the work."""
    implement, repair = STORIES["repair"].script.conversations
    read, add, _, hand_over, done = implement.replies
    replies = (
        *(read, add),
        Reply(text="The tests take a while: they run in the background.", calls=(_SLOW_TESTS,)),
        Reply(text="I go on when they are done."),
        hand_over,
        Reply(
            text="The test shows it.",
            calls=(bash(write('"$NIGHTJAR_HANDOVER/proof.json"', _PROOF), "Name the test that proves it"),),
        ),
        done,
    )
    return Script(conversations=(replace(implement, replies=replies), repair))


def main() -> int:
    """Play the Run, take both pictures; the exit code."""
    if CHROMIUM is None:
        print(f"no pictures were taken: {WHY_NOT}", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nightjar-screenshots-") as temp:
        folder = Path(temp)
        with EmbeddedGitHub(folder / "github") as hub, ScriptedModel(script()) as model:
            played = play(STORIES["repair"], hub, model.url, bundled_claude(), folder / "job", print)
        page = played.job.temp / "nightjar" / "logs" / "run.html"
        if played.job.exit_code:
            print(played.job.log, file=sys.stderr)
            return 1
        for theme in ("light", "dark"):
            to = IMAGES / f"run-page-{theme}.png"
            screenshot(page, to, theme=theme, width=880, height=2000)
            print(f"{to.name}: {to.stat().st_size:,} bytes, at most {MOST_BYTES:,}")
    return int(any(image.stat().st_size > MOST_BYTES for image in IMAGES.glob("run-page-*.png")))


if __name__ == "__main__":
    sys.exit(main())
