"""The fixed script of `--scripted`: one harmless new file, and no Repair of anything."""

from __future__ import annotations

from bot.sandbox.model import Conversation, Reply, Script
from bot.sandbox.stories import bash, chain, hand_over, note, write

FILE = "nightjar-rehearsal.md"
_TEXT = "# A rehearsal\n\nA fixed script wrote this file to show how a Run goes. Nothing was worked on.\n"
_TITLE = "Rehearsal: add a file that says so"
_BODY = f"Adds `{FILE}`. A fixed script stood in for the model: nothing was worked on, and the issue is not solved."
_REPAIRS = 5
"""Sessions that get an answer of their own; later ones are told that the script is over."""


def rehearsal_script() -> Script:
    """What the scripted model says to every rehearsal."""
    commit = chain(f"git add -f -- {FILE}", f"git commit -q --no-verify -m 'Add {FILE}'")
    work = chain('cd "$(git rev-parse --show-toplevel)"', write(FILE, _TEXT), commit, hand_over(_TITLE, _BODY))
    implement = Conversation(
        "implement",
        (
            Reply(text=f"A rehearsal: I add {FILE}.", calls=(bash(work, f"Add {FILE}"),)),
            Reply(text="The file is there. A script said this; nothing was worked on."),
        ),
    )
    left = "A fixed script stands in for the model: nothing was repaired."
    repair = (
        Reply(text="A rehearsal: I leave a note.", calls=(bash(note(left), "Leave a note"),)),
        Reply(text=left),
    )
    return Script((implement, *(Conversation(f"repair-{number}", repair) for number in range(1, _REPAIRS + 1))))
