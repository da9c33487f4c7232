"""A pull request's text that is told anew: what somebody wrote into it stays, Nightjar's own parts are new."""

from __future__ import annotations

import pytest

from bot.ports import PullRequestText
from bot.report.rewriting import rewritten, signed

LIMIT = 65_536


def text(proof: str, title: str = "Add tax", words: str = "Adds the tax.", made: str = "1 Session") -> PullRequestText:
    """As the template renders it."""
    head = f"{proof}\n<!-- nightjar:proof -->\n\nThe base was red.\n" if proof else ""
    text = f"<!-- nightjar:text 00000000 00000000 -->\n{words}\n\nCloses #7\n"
    return signed(PullRequestText(title, f"{head}{text}<!-- nightjar:made -->\n{made}\n<!-- nightjar:end -->\n"))


OLD = text("Not proved.")
NEW = text("Proved.", "Add the tax", "Adds the tax, and rounds it.", "2 Sessions, 1 Repair")


def edited(before: str, after: str, there: PullRequestText = OLD) -> PullRequestText:
    """Somebody changes the body."""
    assert before in there.body
    return PullRequestText(there.title, there.body.replace(before, after))


def test_nobody_wrote_into_it() -> None:
    """All of it is new, whatever GitHub or an editor made of the white space."""
    assert rewritten(OLD, NEW, LIMIT) == NEW
    spaced = PullRequestText(" Add tax ", OLD.body.replace("\n", "\r\n").replace("the tax.", "the  tax. "))
    assert rewritten(spaced, NEW, LIMIT) == NEW


def test_the_description() -> None:
    """A description that somebody changed stays; the Proof above and the fold below are new."""
    new = rewritten(edited("Adds the tax.", "Adds the tax.\n\n- [x] Looked at in staging"), NEW, LIMIT)
    assert "- [x] Looked at in staging" in new.body
    assert "and rounds it" not in new.body
    assert new.title == "Add the tax"
    assert new.body.startswith("Proved.\n")
    assert "Not proved." not in new.body
    assert "2 Sessions, 1 Repair" in new.body
    again = rewritten(new, text("Proved twice.", words="Another."), LIMIT)
    assert "- [x] Looked at in staging" in again.body
    assert "Proved twice." in again.body
    assert "Another." not in again.body


def test_the_title() -> None:
    """A title that somebody changed stays, the next time too."""
    theirs = PullRequestText("WIP: tax", OLD.body)
    once = rewritten(theirs, NEW, LIMIT)
    assert once == PullRequestText("WIP: tax", NEW.body)
    assert rewritten(once, text("Proved twice."), LIMIT).title == "WIP: tax"


def test_around_it() -> None:
    """What somebody put above and below stays where it is."""
    new = rewritten(PullRequestText(OLD.title, f"Do not merge before Friday.\n\n{OLD.body}\ncc @carol"), NEW, LIMIT)
    assert new.body == f"Do not merge before Friday.\n\n{NEW.body}\ncc @carol"


def test_the_first_proof() -> None:
    """Where there was none it comes below what somebody put above."""
    theirs = edited("Adds the tax.", "Adds the tax.", text(""))
    new = rewritten(PullRequestText(theirs.title, f"Not before Friday.\n\n{theirs.body}"), NEW, LIMIT)
    assert new.body == f"Not before Friday.\n\n{NEW.body}"


@pytest.mark.parametrize("theirs", ["All mine now.", ""])
def test_nothing_of_ours_is_left(theirs: str) -> None:
    """Of a body without Nightjar's parts everything stays; the Proof stands above it."""
    new = rewritten(PullRequestText("Mine", theirs), NEW, LIMIT)
    assert new.title == "Mine"
    assert new.body.startswith("Proved.\n")
    assert theirs in new.body
    assert "and rounds it" not in new.body
    again = rewritten(new, text("Proved twice."), LIMIT)
    assert theirs in again.body
    assert again.body.count("Proved") == 1


def test_more_than_github_takes() -> None:
    """The fold with what it took goes first; before a word of theirs would go, all stays as it is."""
    theirs = edited("Adds the tax.", "x" * 600)
    whole = len(rewritten(theirs, NEW, LIMIT).body)
    shorter = rewritten(theirs, NEW, whole - 1)
    assert "x" * 600 in shorter.body
    assert shorter.body.startswith("Proved.\n")
    assert "2 Sessions" not in shorter.body
    assert rewritten(theirs, NEW, 600) == theirs
