"""Sorts mail, tested with unittest."""

from __future__ import annotations

from tests.exam.case import Sample
from tests.exam.samples.ci import CI

INBOX = Sample(
    "inbox (unittest)",
    {
        ".github/workflows/ci.yml": CI.format(run="python3 -m unittest -v"),
        ".gitignore": "__pycache__/\n",
        "README.md": "# inbox\n\nSorts mail into folders by rules.\n",
        "inbox/__init__.py": "",
        "inbox/subject.py": '''\
"""Subjects of mails."""

import re

_PREFIX = re.compile(r"^(re|fwd?): ", re.IGNORECASE)


def bare(subject):
    """A subject without what replies and forwards put before it."""
    return _PREFIX.sub("", subject)


def shorten(subject, width):
    """A subject of at most `width` characters."""
    return subject if len(subject) <= width else subject[:width] + "..."
''',
        "inbox/rules.py": '''\
"""Which folder a mail goes to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    field: str
    word: str
    folder: str

    def matches(self, mail):
        return self.word in mail.get(self.field, "")


def folder_of(mail, rules):
    """The folder of the first rule that matches."""
    for rule in rules:
        if rule.matches(mail):
            return rule.folder
    return "Inbox"
''',
        "inbox/pages.py": '''\
"""Pages of a long list of mails."""


def pages(count, size):
    """How many pages `count` mails take."""
    return count // size + 1


def page(mails, number, size):
    """The mails on a page; the first is number 1."""
    start = (number - 1) * size
    return mails[start : start + size]
''',
        "inbox/quoting.py": '''\
"""Quotes a mail in its answer."""


def quote(text):
    return "\\n".join("> " + line for line in text.split("\\n"))
''',
        "inbox/store.py": '''\
"""Keeps mails in a folder, one JSON file each."""

import json
from pathlib import Path


class Store:
    def __init__(self, folder):
        self.folder = Path(folder)

    def save(self, mail):
        name = mail["subject"].replace("/", "-")
        (self.folder / f"{name}.json").write_text(json.dumps(mail))

    def load(self):
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]
''',
        "tests/__init__.py": "",
        "tests/helpers.py": '''\
"""Mails for tests."""


def mail(subject="Hello", sender="alice@example.org"):
    return {"subject": subject, "from": sender}
''',
        "tests/test_subject.py": """\
import unittest

from inbox.subject import bare, shorten


class Bare(unittest.TestCase):
    def test_takes_a_prefix_off(self):
        self.assertEqual(bare("Re: lunch"), "lunch")

    def test_leaves_other_subjects_alone(self):
        self.assertEqual(bare("Review: lunch"), "Review: lunch")


class Shorten(unittest.TestCase):
    def test_leaves_short_subjects_alone(self):
        self.assertEqual(shorten("lunch", 10), "lunch")
""",
        "tests/test_rules.py": """\
import unittest

from inbox.rules import Rule, folder_of
from tests.helpers import mail

RULES = [Rule("subject", "invoice", "Money"), Rule("from", "@example.org", "People")]


class FolderOf(unittest.TestCase):
    def test_first_rule_that_matches(self):
        self.assertEqual(folder_of(mail("Your invoice"), RULES), "Money")

    def test_no_rule(self):
        self.assertEqual(folder_of(mail(sender="dana@example.com"), RULES), "Inbox")
""",
        "tests/test_pages.py": """\
import unittest

from inbox.pages import page, pages


class Pages(unittest.TestCase):
    def test_last_page_is_not_full(self):
        self.assertEqual(pages(11, 5), 3)

    def test_second_page(self):
        self.assertEqual(page(list("abcdefg"), 2, 3), ["d", "e", "f"])
""",
        "tests/test_quoting.py": """\
import unittest

from inbox.quoting import quote


class Quote(unittest.TestCase):
    def test_every_line(self):
        self.assertEqual(quote("a\\nb"), "> a\\n> b")
""",
    },
    "python3 -m unittest",
)
