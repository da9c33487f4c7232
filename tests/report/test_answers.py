"""Answers to commands: what they say, and where in the Tracking comment they stand."""

from __future__ import annotations

import re

import pytest

from bot.commands import Answer, Verb
from bot.record import Record
from bot.report import answers
from tests.report.test_render import NASTY

URL = "https://github.example/acme/widget/issues/7#issuecomment-77"


def test_every_answer_has_words(pushed: Record) -> None:
    """There is a text for each answer, and it names who asked, for what and where."""
    assert set(answers.ANSWERS) == {str(answer) for answer in Answer}
    for said in Answer:
        text = answers.answer(said, "/nightjar fix", "bob", URL, pushed, "It is ready.", "no permission")
        assert text.startswith(f"@bob asked [`/nightjar fix`]({URL}): ")
        assert "{" not in text
        assert "\n" not in text


def test_every_command_is_named() -> None:
    """Whoever writes a word that is no command is told all that are."""
    text = answers.answer(Answer.UNKNOWN, "/nightjar merge", "bob", URL, None, "")
    assert all(f"`/nightjar {verb}" in text for verb in Verb)


def test_a_newer_answer_takes_the_place_of_an_older_one() -> None:
    """The Tracking comment has one answer, at its top, and the rest of it stays as it is."""
    once = answers.with_answer("**Working.**\n\n- [x] Claim\n", "first")
    twice = answers.with_answer(once, "second")
    assert once.count("> first") == 1
    assert "first" not in twice
    assert twice.endswith("\n\n**Working.**\n\n- [x] Claim\n")
    assert twice.splitlines()[1] == "> second"


@pytest.mark.parametrize("who", ["bob", "not a login"])
def test_strangers_texts_are_inert(pushed: Record, who: str) -> None:
    """A word that is no command, and GitHub's own reason, mention nobody, close nothing and are no markup."""
    text = answers.answer(Answer.STOPS_LATER, f"/nightjar {NASTY}", who, URL, pushed, "", NASTY)
    outside = re.sub(r"`[^`\n]+`", "", text)
    assert re.findall(r"@[A-Za-z0-9]+", outside) == (["@bob"] if who == "bob" else [])
    assert re.findall(r"(?i)\b(?:fix|close)\w*:? \S*#\d", outside) == []
    assert "<!--" not in text
    assert "![" not in outside
