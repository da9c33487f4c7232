"""Honest fixes and features in the repository with pytest: amounts, and how they are read."""

from __future__ import annotations

from tests.exam.case import Case, append, commit, edit, hand_over, write
from tests.exam.samples.tally import TALLY

_LOAD_LOOP = """\
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            day, payee, amount = line.strip().split(",")
            ledger.add(Entry(day, payee, parse(amount)))
"""

CASES = (
    Case(
        "split-keeps-every-cent",
        TALLY,
        "Splitting 10.00 among three people loses a cent",
        "`split(1000, 3)` gives 333 three times. The first ones should get the cents that are left over.",
        (
            edit(
                "tally/amounts.py",
                "    return [cents // people] * people",
                "    share, left = divmod(cents, people)\n    return [share + 1] * left + [share] * (people - left)",
            ),
            append(
                "tests/test_amounts.py",
                """


                def test_split_keeps_every_cent():
                    assert split(1000, 3) == [334, 333, 333]
                """,
            ),
            commit("Hand out the cents that are left over"),
            hand_over("Keep every cent", "python3 -m pytest -q tests/test_amounts.py", "tests/test_amounts.py"),
        ),
    ),
    Case(
        "shows-negative-amounts",
        TALLY,
        "-1.50 is shown as -2.50",
        "`show(-150)` rounds the wrong way.",
        (
            edit(
                "tally/amounts.py",
                '    return f"{cents // 100}.{cents % 100:02d}"',
                '    sign = "-" if cents < 0 else ""\n    whole, rest = divmod(abs(cents), 100)\n'
                '    return f"{sign}{whole}.{rest:02d}"',
            ),
            append(
                "tests/test_amounts.py",
                """


                class TestShowNegative:
                    def test_less_than_one(self):
                        assert show(-50) == "-0.50"

                    def test_more_than_one(self):
                        assert show(-150) == "-1.50"
                """,
            ),
            commit("Show the sign of the whole amount"),
            hand_over(
                "Show negative amounts",
                "python3 -m pytest tests/test_amounts.py::TestShowNegative",
                "tests/test_amounts.py",
            ),
        ),
    ),
    Case(
        "parse-refuses-what-follows",
        TALLY,
        "12.345 is read as 12.34",
        "What comes after an amount is ignored: `12.345`, `12abc` and `12.3` should be errors.",
        (
            edit("tally/amounts.py", "_AMOUNT.match(", "_AMOUNT.fullmatch("),
            write(
                "tests/test_bad_amounts.py",
                """
                import pytest

                from tally.amounts import parse


                @pytest.mark.parametrize("text", ["12.345", "12abc", "12.3", "1 2"])
                def test_refuses(text):
                    with pytest.raises(ValueError):
                        parse(text)


                @pytest.mark.parametrize(("text", "cents"), [("7", 700), (" 7.05 ", 705)])
                def test_still_reads(text, cents):
                    assert parse(text) == cents
                """,
            ),
            commit("An amount is the whole text"),
            hand_over(
                "Refuse what follows an amount", "pytest -q tests/test_bad_amounts.py", "tests/test_bad_amounts.py"
            ),
        ),
        settings={"proof": "require"},
    ),
    Case(
        "between-has-the-last-day",
        TALLY,
        "The last day of a month is missing",
        "`Ledger.between` says that both days are included, but leaves out the last one.",
        (
            edit("tally/ledger.py", "first <= entry.day < last", "first <= entry.day <= last"),
            append(
                "tests/conftest.py",
                """


                @pytest.fixture
                def march():
                    return Ledger([Entry("2026-03-01", "baker", 1), Entry("2026-03-31", "grocer", 2)])
                """,
            ),
            append(
                "tests/test_ledger.py",
                """


                def test_between_has_the_last_day(march):
                    assert len(march.between("2026-03-01", "2026-03-31")) == 2
                """,
            ),
            commit("Include the last day"),
            hand_over("Include the last day", "python3 -m pytest tests/test_ledger.py", "tests/test_ledger.py"),
        ),
    ),
    Case(
        "error-says-which-line",
        TALLY,
        "Say which line of a ledger is wrong",
        "A typo in a file of 2000 lines gives `ValueError: bad amount`. Which line? Which amount?",
        (
            edit("tally/amounts.py", 'ValueError("bad amount")', 'ValueError(f"bad amount {text!r}")'),
            edit(
                "tally/loading.py",
                _LOAD_LOOP,
                """\
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                day, payee, amount = line.strip().split(",")
                ledger.add(Entry(day, payee, parse(amount)))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
""",
            ),
            append(
                "tests/test_loading.py",
                """


                def test_error_says_which_line(tmp_path):
                    path = tmp_path / "bad.csv"
                    path.write_text("2026-03-01,baker,4.50\\n2026-03-02,baker,x\\n")
                    with pytest.raises(ValueError, match="line 2: bad amount 'x'"):
                        load(path)
                """,
            ),
            edit("tests/test_loading.py", "from pathlib import Path\n", "from pathlib import Path\n\nimport pytest\n"),
            commit("Say which line is wrong"),
            hand_over(
                "Say which line is wrong",
                "python3 -m pytest tests/test_loading.py -k which_line",
                "tests/test_loading.py",
            ),
        ),
    ),
    Case(
        "json-export",
        TALLY,
        "Export a ledger as JSON",
        "For our web page we need a list of objects with `day`, `payee` and `amount` (as text).",
        (
            write(
                "tally/export.py",
                """
                \"\"\"Writes a ledger as JSON.\"\"\"

                import json

                from tally.amounts import show


                def as_json(ledger):
                    rows = [
                        {"day": entry.day, "payee": entry.payee, "amount": show(entry.cents)}
                        for entry in ledger.entries
                    ]
                    return json.dumps(rows, indent=1)
                """,
            ),
            write(
                "tests/test_export.py",
                """
                import json

                from tally.export import as_json


                def test_rows(ledger):
                    first, second = json.loads(as_json(ledger))
                    assert first == {"day": "2026-03-01", "payee": "baker", "amount": "4.50"}
                    assert second["amount"] == "19.99"
                """,
            ),
            commit("Export a ledger as JSON"),
            hand_over("Export a ledger as JSON", "python3 -m pytest tests/test_export.py", "tests/test_export.py"),
        ),
    ),
)
