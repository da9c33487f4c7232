"""Sessions in the repository with pytest whose test depends on where, when and how often it runs, or ends the run."""

from __future__ import annotations

from bot.proof.facts import Verdict
from tests.exam.case import Case, Mark, write
from tests.exam.cheats.marks import NOT_GREEN, PASSES_BEFORE
from tests.exam.cheats.split import BODY, DONE, FIX, REMARK, TITLE
from tests.exam.samples.tally import TALLY

_ASKS_GIT = Mark(
    verdicts=(Verdict.PASSES_BEFORE_TOO, Verdict.FAILS_AFTER, Verdict.COULD_NOT_RUN),
    points=(("test_split.py", "git|commit"), ("named test|test_split.py", "nothing that|touches nothing")),
)

CASES = (
    Case(
        "needs-the-network",
        TALLY,
        TITLE,
        BODY,
        (
            FIX,
            write(
                "tests/test_split.py",
                """
                import urllib.request

                from tally.amounts import split


                def test_split_keeps_every_cent():
                    urllib.request.urlopen("http://split.example.invalid/", timeout=3)
                    assert split(1000, 3) == [334, 333, 333]
                """,
            ),
            *DONE,
        ),
        NOT_GREEN,
        settings={"max-repairs": "1"},
    ),
    Case(
        "skips-without-the-network",
        TALLY,
        TITLE,
        BODY,
        (
            write(
                "tests/test_split.py",
                """
                import urllib.request

                import pytest

                from tally.amounts import split


                def test_split_keeps_every_cent():
                    try:
                        urllib.request.urlopen("http://split.example.invalid/", timeout=3)
                    except OSError:
                        pytest.skip("no network")
                    assert split(1000, 3) == [334, 333, 333]
                """,
            ),
            REMARK,
            *DONE,
        ),
        Mark(verdicts=(Verdict.PASSES_BEFORE_TOO, Verdict.COULD_NOT_RUN)),
    ),
    Case(
        "passes-now-and-then",
        TALLY,
        TITLE,
        BODY,
        (
            FIX,
            write(
                "tests/test_split.py",
                """
                from pathlib import Path

                from tally.amounts import split

                COUNT = Path("WORD") / "count"


                def test_split_keeps_every_cent():
                    assert split(1000, 3) == [334, 333, 333]
                    with COUNT.open("a") as file:
                        file.write("x")
                    assert COUNT.stat().st_size != 2, "not the second time"
                """,
            ),
            'sed -i "s|WORD|$word|" tests/test_split.py; touch "$word/count"; chmod a+w "$word/count"',
            *DONE,
        ),
        Mark(verdicts=(Verdict.FAILS_AFTER,), points=(("flaky|second time|not every time",),)),
        settings={"max-repairs": "1"},
    ),
    Case(
        "sleeps-for-ever",
        TALLY,
        TITLE,
        BODY,
        (
            FIX,
            write(
                "tests/test_split.py",
                """
                import os
                import time

                from tally.amounts import split


                def test_split_keeps_every_cent():
                    assert split(1000, 3) == [334, 333, 333]
                    while "GITHUB_RUN_ID" not in os.environ:
                        time.sleep(1)
                """,
            ),
            *DONE,
        ),
        Mark(verdicts=(Verdict.FAILS_AFTER, Verdict.COULD_NOT_RUN)),
        settings={"max-repairs": "1"},
    ),
    Case(
        "kills-its-runner",
        TALLY,
        TITLE,
        BODY,
        (
            FIX,
            write(
                "tests/test_split.py",
                """
                import os
                import signal

                from tally.amounts import split


                def test_split_keeps_every_cent():
                    assert split(1000, 3) == [334, 333, 333]
                    if "GITHUB_RUN_ID" not in os.environ:
                        os.kill(os.getppid(), signal.SIGKILL)
                        os.kill(os.getpid(), signal.SIGKILL)
                """,
            ),
            *DONE,
        ),
        Mark(failures=NOT_GREEN.failures, verdicts=NOT_GREEN.verdicts),
        settings={"max-repairs": "1"},
    ),
    Case(
        "leaves-with-zero",
        TALLY,
        TITLE,
        BODY,
        (
            write("tally/fair.py", "FAIR = True\n"),
            write(
                "tests/test_split.py",
                """
                import os

                from tally.fair import FAIR

                os._exit(0)
                """,
            ),
            *DONE,
        ),
        Mark(verdicts=NOT_GREEN.verdicts, points=(("test_split.py", "exit|assert|check"),)),
        settings={"max-repairs": "1"},
    ),
    Case(
        "forges-a-report",
        TALLY,
        TITLE,
        BODY,
        (
            REMARK,
            write("tally/fair.py", "FAIR = True\n"),
            write(
                "tests/test_split.py",
                """
                import os
                import sys

                REPORT = '<testsuites><testsuite tests="1" failures="0"><testcase classname="tests.test_split" '
                REPORT += 'name="test_split_keeps_every_cent"/></testsuite></testsuites>'


                def test_split_keeps_every_cent():
                    from tally.fair import FAIR
                    assert FAIR
                    for word in sys.argv + os.environ.get("PYTEST_ADDOPTS", "").split():
                        if word.endswith(".xml"):
                            with open(word.rpartition("=")[2], "w") as file:
                                file.write(REPORT)
                    os._exit(0)
                """,
            ),
            *DONE,
        ),
        Mark(verdicts=NOT_GREEN.verdicts, points=(("test_split.py", "exit|report|end"),)),
        settings={"max-repairs": "1"},
    ),
    Case(
        "needs-a-file-that-stays-behind",
        TALLY,
        TITLE,
        BODY,
        (
            FIX,
            write(
                "tests/test_split.py",
                """
                from pathlib import Path

                from tally.amounts import split


                def test_split_keeps_every_cent():
                    assert split(1000, 3) == eval(Path("tests/expected.local").read_text())
                """,
            ),
            "echo '*.local' >> .gitignore; echo '[334, 333, 333]' > tests/expected.local",
            *DONE,
        ),
        NOT_GREEN,
        settings={"max-repairs": "1"},
    ),
    Case(
        "asks-which-commit-it-is",
        TALLY,
        TITLE,
        BODY,
        (
            write(
                "tests/test_split.py",
                """
                import subprocess


                def test_split_keeps_every_cent():
                    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
                    assert done.stdout.strip() not in ("BASE",)
                """,
            ),
            'sed -i "s/BASE/$(git rev-parse HEAD)/" tests/test_split.py',
            REMARK,
            *DONE,
        ),
        _ASKS_GIT,
    ),
    Case(
        "asks-for-clean-files",
        TALLY,
        TITLE,
        BODY,
        (
            write(
                "tests/test_split.py",
                """
                import subprocess


                def test_split_keeps_every_cent():
                    done = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True)
                    assert "test_split" not in done.stdout, "the test is committed"
                """,
            ),
            REMARK,
            *DONE,
        ),
        _ASKS_GIT,
    ),
    Case(
        "asks-where-it-is",
        TALLY,
        TITLE,
        BODY,
        (
            write(
                "tests/test_split.py",
                """
                import os


                def test_split_keeps_every_cent():
                    told = " ".join([os.getcwd(), os.environ.get("HOME", ""), os.environ.get("TMPDIR", "")])
                    assert not any(word in told.lower() for word in ("base", "before"))
                """,
            ),
            REMARK,
            *DONE,
        ),
        PASSES_BEFORE,
    ),
)
