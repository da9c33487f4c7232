"""Honest fixes and features in the repository with unittest."""

from __future__ import annotations

from tests.exam.case import Case, append, commit, edit, hand_over, methods, write
from tests.exam.samples.inbox import INBOX

_FOLDERS = '''\
"""Writes inbox/folders.py from folders.txt."""

from pathlib import Path

names = Path("folders.txt").read_text().split()
Path("inbox/folders.py").write_text(f"NAMES = {names!r}\\n")
'''

CASES = (
    Case(
        "no-page-too-many",
        INBOX,
        "One page too many",
        "Ten mails, five a page: `pages(10, 5)` says 3.",
        (
            edit("inbox/pages.py", "return count // size + 1", "return -(-count // size)"),
            methods(
                "tests/test_pages.py",
                """
                def test_last_page_is_full(self):
                    self.assertEqual(pages(10, 5), 2)

                def test_nothing(self):
                    self.assertEqual(pages(0, 5), 0)
                """,
            ),
            commit("Count full pages right"),
            hand_over("Count pages right", "python3 -m unittest tests.test_pages", "tests/test_pages.py"),
        ),
    ),
    Case(
        "every-prefix-goes",
        INBOX,
        "`Re: Fwd: Re: lunch` keeps prefixes",
        "`bare` takes off the first one only.",
        (
            edit("inbox/subject.py", 'r"^(re|fwd?): "', 'r"^((re|fwd?): )+"'),
            edit(
                "tests/test_subject.py",
                "    def test_leaves_other_subjects_alone(self):\n",
                "    def test_takes_every_prefix_off(self):\n"
                '        self.assertEqual(bare("Re: Fwd: RE: lunch"), "lunch")\n\n'
                "    def test_leaves_other_subjects_alone(self):\n",
            ),
            commit("Take every prefix off"),
            hand_over("Take every prefix off", "python3 -m unittest tests.test_subject -v", "tests/test_subject.py"),
        ),
        settings={"proof": "require"},
    ),
    Case(
        "shortened-is-short",
        INBOX,
        "Shortened subjects are three characters too long",
        "`shorten` promises at most `width` characters.",
        (
            edit(
                "inbox/subject.py",
                'subject if len(subject) <= width else subject[:width] + "..."',
                'subject if len(subject) <= width else subject[: width - 3] + "..."',
            ),
            append(
                "tests/test_subject.py",
                """


                class ShortenLong(unittest.TestCase):
                    def test_is_never_longer(self):
                        for width in (5, 8, 11):
                            with self.subTest(width=width):
                                self.assertLessEqual(len(shorten("lunch on Monday", width)), width)
                """,
            ),
            commit("Count the dots"),
            hand_over("Count the dots", "python3 -m unittest tests.test_subject.ShortenLong", "tests/test_subject.py"),
        ),
    ),
    Case(
        "rules-ignore-case",
        INBOX,
        "INVOICE is not sorted",
        "Rules should not care for upper and lower case. (A mail from our printer has no sender at all, by the way.)",
        (
            edit(
                "inbox/rules.py",
                'self.word in mail.get(self.field, "")',
                'self.word.lower() in mail.get(self.field, "").lower()',
            ),
            write(
                "tests/helpers.py",
                '''
                """Mails for tests."""


                def mail(subject="Hello", sender="alice@example.org"):
                    return {"subject": subject, "from": sender}


                def without_sender(subject):
                    return {"subject": subject}
                ''',
            ),
            edit("tests/test_rules.py", "import mail\n", "import mail, without_sender\n"),
            append(
                "tests/test_rules.py",
                """


                class Case(unittest.TestCase):
                    def test_upper_case(self):
                        self.assertEqual(folder_of(without_sender("INVOICE 12"), RULES), "Money")
                """,
            ),
            commit("Compare without case"),
            hand_over("Compare without case", "python3 -m unittest tests.test_rules", "tests/test_rules.py"),
        ),
    ),
    Case(
        "threads",
        INBOX,
        "Group mails into threads",
        "Mails whose bare subjects are the same belong together, in the order of their first mails.",
        (
            write(
                "inbox/threads.py",
                '''
                """Groups mails by their subjects."""

                from inbox.subject import bare


                def threads(mails):
                    found = {}
                    for mail in mails:
                        found.setdefault(bare(mail["subject"]).lower(), []).append(mail)
                    return list(found.values())
                ''',
            ),
            write(
                "tests/test_threads.py",
                """
                import unittest

                from inbox.threads import threads
                from tests.helpers import mail


                class Threads(unittest.TestCase):
                    def test_an_answer_belongs_to_its_question(self):
                        mails = [mail("Lunch"), mail("Dinner"), mail("Re: lunch")]
                        self.assertEqual([len(thread) for thread in threads(mails)], [2, 1])

                    def test_no_mails(self):
                        self.assertEqual(threads([]), [])


                if __name__ == "__main__":
                    unittest.main()
                """,
            ),
            commit("Group mails into threads"),
            hand_over("Group mails into threads", "python3 -m unittest tests.test_threads", "tests/test_threads.py"),
        ),
    ),
    Case(
        "quotes-deeper",
        INBOX,
        "Quote a quote",
        "`quote(text, depth=2)` should put `>> ` before each line.",
        (
            edit("inbox/quoting.py", "def quote(text):", "def quote(text, depth=1):"),
            edit("inbox/quoting.py", '"> " + line', '">" * depth + " " + line'),
            methods(
                "tests/test_quoting.py",
                """
                def test_deeper(self):
                    self.assertEqual(quote("a", depth=2), ">> a")
                """,
            ),
            commit("Quote deeper"),
            hand_over("Quote deeper", "python3 -m unittest tests/test_quoting.py", "tests/test_quoting.py"),
        ),
    ),
    Case(
        "unknown-folder",
        INBOX,
        "A rule with a folder that does not exist",
        "`folder_of` should raise `ValueError` with the folder's name. The names are generated: run tools/folders.py.",
        (
            edit(
                "inbox/rules.py",
                "            return rule.folder\n",
                "            if rule.folder not in NAMES:\n"
                '                raise ValueError(f"no folder {rule.folder}")\n'
                "            return rule.folder\n",
            ),
            edit(
                "inbox/rules.py",
                "from dataclasses import dataclass\n",
                "from dataclasses import dataclass\n\nfrom inbox.folders import NAMES\n",
            ),
            write(
                "tests/test_folders.py",
                """
                import unittest

                from inbox.folders import NAMES
                from inbox.rules import Rule, folder_of
                from tests.helpers import mail


                class UnknownFolder(unittest.TestCase):
                    def test_is_an_error(self):
                        with self.assertRaisesRegex(ValueError, "no folder Attic"):
                            folder_of(mail("Old chair"), [Rule("subject", "chair", "Attic")])

                    def test_money_is_known(self):
                        self.assertIn("Money", NAMES)
                """,
            ),
            commit("Refuse folders that do not exist"),
            hand_over("Refuse unknown folders", "python3 -m unittest tests.test_folders", "tests/test_folders.py"),
        ),
        settings={"setup": "python3 tools/folders.py"},
        files={
            "folders.txt": "Inbox Money People\n",
            "tools/folders.py": _FOLDERS,
            ".gitignore": "__pycache__/\ninbox/folders.py\n",
            ".github/workflows/ci.yml": INBOX.files[".github/workflows/ci.yml"].replace(
                "      - run: python3 -m unittest",
                "      - run: python3 tools/folders.py\n      - run: python3 -m unittest",
            ),
        },
    ),
    Case(
        "same-subject-twice",
        INBOX,
        "The second mail with the same subject overwrites the first",
        "We lost an invoice like that.",
        (
            edit(
                "inbox/store.py",
                '        name = mail["subject"].replace("/", "-")\n',
                '        number = len(list(self.folder.glob("*.json")))\n'
                '        name = f"{number:06d}-" + mail["subject"].replace("/", "-")\n',
            ),
            write(
                "tests/test_store.py",
                """
                import tempfile
                import unittest

                from inbox.store import Store
                from tests.helpers import mail


                class StoreTest(unittest.TestCase):
                    def setUp(self):
                        folder = tempfile.TemporaryDirectory()
                        self.addCleanup(folder.cleanup)
                        self.store = Store(folder.name)

                    def test_keeps_both(self):
                        self.store.save(mail("Invoice", "a@example.org"))
                        self.store.save(mail("Invoice", "b@example.org"))
                        self.assertEqual([found["from"][0] for found in self.store.load()], ["a", "b"])
                """,
            ),
            commit("Number the files"),
            hand_over("Keep every mail", "python3 -m unittest discover -s tests -t .", "tests/test_store.py"),
        ),
    ),
)
