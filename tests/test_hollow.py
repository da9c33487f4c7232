"""What a reviewer is told of a named test that shows nothing of what the code does."""

from __future__ import annotations

import pytest

from bot.ports import FileChange
from bot.proof.facts import Claim, Proof, Verdict
from bot.suspicion import about_the_named_test

PY, SH = "tests/test_split.py", "t/split.t"
FIX = FileChange("tally/amounts.py", False, ("def split(cents, people):", "    return shares(cents, people)"), ())
SCRIPT = FileChange("bin/logcut", False, ('[ "${word^^}" = "$level" ]',), ('[ "$word" = "$level" ]',))
TEST = "from tally.amounts import split\n\n\ndef test_split():\n    assert split(1000, 3) == [334, 333, 333]\n"


def told(text: str = TEST, *, path: str = PY, command: str = "", work: FileChange = FIX) -> tuple[str, ...]:
    """What is said of a named file with that text, which the diff adds."""
    claim = Claim(command or f"run {path}", (path,))
    changes = (work, FileChange(path, False, tuple(text.splitlines()), (), new=True))
    return about_the_named_test(claim, {path: text}, changes, Proof("b" * 40, "a" * 40, Verdict.PROVED, "", claim))


def test_a_test_that_reads_the_source() -> None:
    """It shows that words are there, not that they do something."""
    text = 'def test_split():\n    assert "fair" in open("tally/amounts.py").read()\n'
    said = "the named test `tests/test_split.py` reads the source `tally/amounts.py` and runs none of it"
    assert said in told(text)
    named = 'IT = Path("tally") / "amounts.py"\n\n\ndef test_split():\n    assert "fair" in IT.read_text()\n'
    assert said in told(named)
    shell = '. t/lib.sh\ngrep -q "word^^" bin/logcut\nis $? 0 "in any case"\nfinish\n'
    assert told(shell, path=SH, work=SCRIPT) == (
        "the named test `t/split.t` reads the source `bin/logcut` and runs none of it",
    )


@pytest.mark.parametrize(
    ("text", "path", "work"),
    [
        (f"{TEST}\n\ndef test_says_so():\n    assert 'fair' in open('tally/amounts.py').read()\n", PY, FIX),
        ('def test_it():\n    subprocess.run(["tally/amounts.py"])\n    assert open("out").read() == "x"\n', PY, FIX),
        ('[ "$(echo "$log" | bash bin/logcut error)" = "gone" ]\n', SH, SCRIPT),
        ('[ "$(bash bin/logcut error < log)" = "gone" ]\n', SH, SCRIPT),
        ('def test_it():\n    exec(open("tally/amounts.py").read())\n    assert tally == [1]\n', PY, FIX),
        ("test -x bin/logcut && bin/logcut error | grep -q gone\n", SH, SCRIPT),
        ('def test_it(run):\n    run("tally/amounts.py")\n    assert open("out").read() == "x"\n', PY, FIX),
        ('IT = "tally/amounts.py"\n\n\ndef test_it(run):\n    assert run(IT)\n    assert open(IT).read()\n', PY, FIX),
        ('bash bin/logcut error > out\ngrep -q bin/logcut out\n[ "$?" = 0 ]\n', SH, SCRIPT),
        (
            'def test_it():\n    assert load(open("tally/rates.json").read()) == 1\n',
            PY,
            FileChange("tally/rates.json", False, ('{"tally": 1}',), ()),
        ),
        (
            'def test_it():\n    assert tally(open("site/__main__.py").read()) == 1\n',
            PY,
            FileChange("tally/__main__.py", False, ("main()",), ()),
        ),
    ],
)
def test_a_test_that_runs_what_it_reads(text: str, path: str, work: FileChange) -> None:
    """Where the file is run too, or is data, nothing is said."""
    assert not any("reads the source" in line for line in told(text, path=path, work=work))


def test_code_that_knows_the_answer() -> None:
    """A condition on the test's own input, and the test's own expectation as the answer, are no fix."""
    lines = ("    if cents == 1000 and people == 3:", "        return [334, 333, 333]")
    cheat = FileChange("tally/amounts.py", False, lines, ())
    said = "`tally/amounts.py` has the named test's own input and answer in it: `if cents == 1000 and people == 3:`"
    assert told(work=cheat) == (said,)


@pytest.mark.parametrize(
    "lines",
    [
        ("    if cents == 1000 and people == 3:", "        return shares(cents, people)"),
        ("    if cents == 0 and people == 3:", "        return [334, 333, 333]"),
        ("    if unit == 1000:", "        return [334, 333, 333]"),
    ],
)
def test_code_with_conditions(lines: tuple[str, ...]) -> None:
    """A case of its own is no suspicion: a computed answer, other input, a single value."""
    assert not told(work=FileChange("tally/amounts.py", False, lines, ()))
