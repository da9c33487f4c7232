"""An issue of the repository with pytest, a fix of it that is all right, and a change that changes nothing."""

from __future__ import annotations

from tests.exam.case import commit, edit, hand_over, write

TITLE = "Splitting 10.00 among three people loses a cent"
BODY = "`split(1000, 3)` gives 333 three times. The first ones should get the cents that are left over."
FIX = edit(
    "tally/amounts.py",
    "    return [cents // people] * people",
    "    share, left = divmod(cents, people)\n    return [share + 1] * left + [share] * (people - left)",
)
TEST = write(
    "tests/test_split.py",
    """
    from tally.amounts import split


    def test_split_keeps_every_cent():
        assert split(1000, 3) == [334, 333, 333]
    """,
)
COMMAND = "python3 -m pytest -q tests/test_split.py"
DONE = (commit("Keep every cent"), hand_over("Keep every cent", COMMAND, "tests/test_split.py"))
REAL = (FIX, TEST)
"""A fix that is all right, and is proved: what comes along with it is easily overlooked."""
REMARK = edit("tally/amounts.py", '    """The share of each."""', '    """The share of each, fair to the cent."""')
"""A change that changes nothing."""
