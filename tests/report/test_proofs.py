"""What people read of the Proof: in the pull request, the comments, the job's page and the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.proof.facts import Claim, Proof, Result, Trial, Verdict
from bot.record import FailureEntry, Outcome, Proving, Record, RepairEntry
from bot.report import proofs, render
from bot.report.render import BODY_LIMIT, Limits
from bot.report.terminal import run_page
from tests.report.conftest import FIXED, HEAD
from tests.report.test_render import NASTY, same

BASE = "b" * 40
CLAIM = Claim("pytest -q tests/test_greet.py", ("tests/test_greet.py",))
FAILED = Trial(BASE, Result.FAILED, 1, 1.24, "1 of 3 tests failed", ("test_name",), 2, "JUnit XML", output="E  assert")
PASSED = Trial(HEAD, Result.PASSED, 0, 75, "3 of 3 tests passed", passed=3, told_by="JUnit XML")
NOT_LOADED = Trial(BASE, Result.NOT_LOADED, 2, 0.8, "`bye` is missing", told_by="JUnit XML", missing="bye")
ALONE = Trial(HEAD, Result.PASSED, 0, 3, "exit code 0 alone")
RED = Trial(HEAD, Result.FAILED, 2, 12, "exit code 2 alone")
PROVED = Proof(
    BASE, HEAD, Verdict.PROVED, "before, 1 of 3 tests failed", CLAIM, "implement", FAILED, None, PASSED, PASSED
)
WITHOUT = Proof(BASE, HEAD, Verdict.NOT_NAMED, "no test was named")


def with_proof(record: Record, proof: Proof, kind: str = "code") -> Record:
    claim = CLAIM if proof.claim else None
    return replace(record, proof=proof, proving=Proving.DONE, kind=kind, claim=claim)


def passes_before(why: str) -> Proof:
    passed = replace(PASSED, commit=BASE)
    return replace(PROVED, verdict=Verdict.PASSES_BEFORE_TOO, why=why, before=passed, again=None)


CASES: dict[str, tuple[Proof, str, str]] = {
    "a bug fix": (PROVED, "code", "**Proved.** The named test fails before this change and passes after it."),
    "a feature that could not load": (
        replace(PROVED, feature="bye", before=NOT_LOADED),
        "code",
        (
            "**Proved.** Before, the named test could not load because `bye` was not there, which this change adds; "
            "after, it passes."
        ),
    ),
    "a feature that failed": (
        replace(PROVED, feature="--shout", before=replace(FAILED, missing="--shout")),
        "code",
        (
            "**Proved.** Before, the named test failed because `--shout` was not there, which this change adds; "
            "after, it passes."
        ),
    ),
    "passes before too": (
        passes_before("it passes before too (3 of 3 tests passed)"),
        "code",
        "**Not proved.** It passes before too (3 of 3 tests passed).",
    ),
    "only tests": (
        passes_before("it passes before too (3 of 3 tests passed)"),
        "tests",
        "**Not proved.** Only tests were changed. It passes before too (3 of 3 tests passed).",
    ),
    "fails after": (
        replace(PROVED, verdict=Verdict.FAILS_AFTER, why="on the head, exit code 2 alone", after=RED, again=None),
        "code",
        "**Fails after.** On the head, exit code 2 alone.",
    ),
    "flaky": (
        replace(PROVED, verdict=Verdict.FAILS_AFTER, why="it passed once on the head and then did not", again=RED),
        "code",
        "**Fails after.** It passed once on the head and then did not. The named test is flaky.",
    ),
    "could not be run": (
        replace(PROVED, verdict=Verdict.COULD_NOT_RUN, why="on the base, `setup` failed: npm ci", again=None),
        "code",
        "**Could not be run.** On the base, `setup` failed: npm ci.",
    ),
    "nothing named": (WITHOUT, "code", "**Nothing proves this.** No test was named."),
    "only documentation": (
        WITHOUT,
        "documentation",
        "**Nothing proves this.** Only documentation was changed. No test was named.",
    ),
    "check command green": (
        replace(WITHOUT, check=ALONE),
        "code",
        "**Nothing proves this.** No test was named. `check-command` passes.",
    ),
    "check command red": (
        replace(WITHOUT, check=RED, check_before=replace(ALONE, commit=BASE)),
        "code",
        "**Nothing proves this.** No test was named. `check-command` is red (exit code 2 alone).",
    ),
    "check command red on the base too": (
        replace(PROVED, check=RED, check_before=replace(RED, commit=BASE)),
        "code",
        (
            "**Proved.** The named test fails before this change and passes after it. `check-command` is red "
            "on the base too, and left alone."
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_headings(pushed: Record, case: str) -> None:
    """The pull request opens with the verdict and the facts in words."""
    proof, kind, heading = CASES[case]
    body = render.pull_request_body(with_proof(pushed, proof, kind))
    assert body.split("\n")[0] == heading


@pytest.mark.parametrize("case", CASES)
def test_one_line(pushed: Record, limits: Limits, now: datetime, case: str) -> None:
    """Tracking comment, both endings and `nightjar show` say the same on one line, and the step is ticked."""
    proof, kind, heading = CASES[case]
    record = with_proof(pushed, proof, kind)
    line = proofs.told(record)
    assert line.split(":")[0] == heading.split(".**")[0].removeprefix("**")
    assert f"- [x] Prove. {line}\n" in render.tracking_comment(record, limits, "watching CI", now)
    ready = render.ending_comment(replace(record, outcome=Outcome.READY))
    stopped = render.ending_comment(replace(record, outcome=Outcome.FAILED, failure=FailureEntry("unproved", "x")))
    assert f"\n{line}\n" in ready
    assert f"**What Nightjar itself ran.** {line}\n" in stopped
    assert f"Proof  {'':7}{line.replace('`', '')}\n" in run_page(record, (), now, 0)


def test_a_proof_that_is_due(claimed: Record, limits: Limits, now: datetime) -> None:
    """Before anything was run there is an open step and nothing else; with `proof: off` there is no step at all."""
    assert "- [ ] Prove\n" in render.tracking_comment(claimed, limits, "x", now)
    off = replace(claimed, proving=Proving.DONE)
    assert "Prove" not in render.tracking_comment(off, limits, "x", now)
    assert "roof" not in render.pull_request_body(off) + render.step_summary(off, "x", now)


def test_the_table(pushed: Record) -> None:
    """A row for each thing that was run, where it was run, and what told the result."""
    proof = replace(
        PROVED,
        before_with_tests=NOT_LOADED,
        again=ALONE,
        check=RED,
        check_before=replace(RED, exit_code=None, told_by="TAP"),
    )
    table = [line for line in render.pull_request_body(with_proof(pushed, proof)).split("\n") if line.startswith("| ")]
    assert table[:8] == [
        "| | commit | result | exit code | lasted | told by |",
        "| --- | --- | --- | ---: | ---: | --- |",
        "| before | `bbbbbbbbbb` | failed | 1 | 1.2 s | JUnit XML: 1 of 3 tests failed |",
        "| before, with the other tests | `bbbbbbbbbb` | could not load | 2 | 0.8 s | JUnit XML: `bye` is missing |",
        "| after | `a1b2c3d4e5` | passed | 0 | 1 min 15 s | JUnit XML: 3 of 3 tests passed |",
        "| after, again | `a1b2c3d4e5` | passed | 0 | 3.0 s | exit code 0 alone |",
        "| `check-command` after | `a1b2c3d4e5` | failed | 2 | 12 s | exit code 2 alone |",
        "| `check-command` before | `a1b2c3d4e5` | failed | none | 12 s | TAP: exit code 2 alone |",
    ]


def test_pull_request_with_a_proof(pushed: Record) -> None:
    """The whole body: table, command, linked files, what was printed, what to look at, and then the Session's words."""
    proof = replace(PROVED, suspicions=("the named test `tests/test_greet.py` asserts nothing",))
    same("pull-request-proved", render.pull_request_body(with_proof(pushed, proof)))


def test_summary_with_a_proof(pushed: Record, now: datetime) -> None:
    """The job's page has the table too, and the line while the Run goes on."""
    text = render.step_summary(with_proof(pushed, PROVED), "waits for CI", now)
    assert "### Proof\n\nProved: the named test fails before this change and passes after it.\n\n| | commit" in text


def test_a_terminal_shows_the_trials(pushed: Record) -> None:
    """`nightjar show` lists what was run in columns, without Markdown."""
    page = run_page(
        with_proof(pushed, replace(PROVED, again=None, check=ALONE)), (), datetime(2026, 3, 4, tzinfo=UTC), 0
    )
    shown = page.split("\nProof\n")[1].split("\n\n")[0].splitlines()
    assert [line.rstrip() for line in shown] == [
        "  before               bbbbbbbbbb  1.2 s       failed  JUnit XML: 1 of 3 tests failed",
        "  after                a1b2c3d4e5  1 min 15 s  passed  JUnit XML: 3 of 3 tests passed",
        "  check-command after  a1b2c3d4e5  3.0 s       passed  exit code 0 alone",
    ]


def test_what_a_session_named_wrongly(pushed: Record) -> None:
    """A claim that was refused, or whose file is gone, is told from one that was never made."""
    refused = with_proof(
        replace(pushed, claim_refused="`proof.json` is not JSON"), replace(WITHOUT, why="`proof.json` is not JSON")
    )
    expected = "**Nothing proves this.** What the Session named is no test that can be run: `proof.json` is not JSON."
    assert proofs.heading(refused) == expected
    gone = replace(with_proof(pushed, replace(WITHOUT, why="`tests/x.py` is not in the commit")), claim=CLAIM)
    assert "What the Session named is no test that can be run: `tests/x.py` is not in the commit." in proofs.heading(
        gone
    )


def test_an_older_head(repaired: Record) -> None:
    """A Proof of a commit that others came after says so."""
    said = f"That is of commit `{HEAD[:10]}`, and `{FIXED[:10]}` came later."
    assert said in proofs.heading(with_proof(repaired, PROVED))
    assert "came later" not in proofs.heading(with_proof(repaired, replace(PROVED, head=FIXED)))


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("tests/test_greet.py", "tests/test_greet.py"),
        ("tests/a b(c)[d].py", "tests/a%20b%28c%29%5Bd%5D.py"),
        ('t/"`<x>?#%.t', "t/%22%60%3Cx%3E%3F%23%25.t"),
        ("tests/grüße.py", "tests/gr%C3%BC%C3%9Fe.py"),
    ],
)
def test_named_files_are_linked(pushed: Record, path: str, url: str) -> None:
    """To the very commit that was run, whatever is in the path; without a link before the commit is on GitHub."""
    record = with_proof(pushed, replace(PROVED, claim=Claim("x", (path,))))
    link = f"](https://github.example/acme/widget/blob/{HEAD}/{url})"
    assert link in render.pull_request_body(record)
    assert "/blob/" not in render.pull_request_body(replace(record, pushed=""))


def test_what_was_printed(pushed: Record) -> None:
    """Folds show what the failing ones printed, the end of it, in a fence that it does not break."""
    output = "first\n" + "x\n" * 4000 + "````\nlast"
    record = with_proof(pushed, replace(PROVED, before=replace(FAILED, output=output)))
    body = render.pull_request_body(record)
    assert "<details><summary>What was printed before</summary>\n\n`````\n" in body
    assert "last\n`````\n\n</details>" in body
    assert "first" not in body
    assert "What was printed after" not in body


def test_what_a_flaky_test_printed(pushed: Record) -> None:
    """It is what the second time printed: the first one passed."""
    again = replace(RED, output="E  timed out")
    flaky = replace(PROVED, verdict=Verdict.FAILS_AFTER, again=again)
    body = render.pull_request_body(with_proof(pushed, flaky))
    assert "<details><summary>What was printed after</summary>\n\n```\nE  timed out\n```" in body


def test_a_repair_for_the_proof(pushed: Record) -> None:
    """The comment says what Nightjar's own run saw, and the lists of Repairs name it."""
    repair = RepairEntry(1, ("the named test", "check-command"), HEAD, FIXED, ("greet.py",), proof=True)
    body = render.repair_comment(pushed, repair)
    assert "- Red: the named test, check-command\n- Seen before CI: Nightjar itself had run it\n- Changed" in body
    stopped = replace(pushed, repairs=(repair,), outcome=Outcome.FAILED, failure=FailureEntry("unproved", "x"))
    assert "- Repair 1: red was the named test, check-command; changed" in render.ending_comment(stopped)
    assert "Seen before CI" not in render.repair_comment(pushed, replace(repair, proof=False))


def test_suspicions_of_the_named_test(pushed: Record) -> None:
    """What is odd about the named test stands in the pull request and in the ending, before what is odd in the diff."""
    found = replace(passes_before("it passes before too"), suspicions=("the command `true` runs no test",))
    record = with_proof(replace(pushed, suspicions=("`Makefile` was bent",)), found)
    first = "> - the command `true` runs no test\n> - `Makefile` was bent\n"
    assert first in render.pull_request_body(record)
    assert "runs no test; `Makefile` was bent" in render.ending_comment(replace(record, outcome=Outcome.READY))


def nasty() -> Proof:
    trial = Trial(NASTY, Result.FAILED, 1, 1e9, NASTY + "|a|b", (NASTY,), told_by=NASTY + "|\\|", output=NASTY * 400)
    claim = Claim("`````" + NASTY, (NASTY, "a|b", "..") * 9)
    return Proof(
        *(BASE, HEAD, Verdict.FAILS_AFTER, NASTY, claim, NASTY, trial, trial, trial, trial, NASTY),
        check=trial,
        check_before=trial,
        suspicions=(NASTY,),
    )


def test_strangers_act_nowhere(pushed: Record, limits: Limits, now: datetime) -> None:
    """Whatever is in a command, a path, a report or an output: no mention, no closing line, no image, no broken row."""
    record = with_proof(replace(pushed, body="x"), nasty())
    bodies = {
        "pull request": render.pull_request_body(record),
        "tracking": render.tracking_comment(record, limits, "x", now),
        "ending": render.ending_comment(replace(record, outcome=Outcome.FAILED, failure=FailureEntry("unproved", "x"))),
        "summary": render.step_summary(record, "x", now),
    }
    for where, body in bodies.items():
        outside = re.sub(r"`[^`\n]+`", "", re.sub(r"^(`{3,}).*?^\1$", "", body, flags=re.MULTILINE | re.DOTALL))
        assert re.findall(r"@[A-Za-z0-9]+", outside) == (["@alice"] if where == "ending" else []), where
        assert re.findall(r"(?i)\b(?:fix|close)\w*:? \S*#\d", outside) in ([], ["Closes #7"]), where
        assert "![" not in outside
        assert outside.count("<details>") == outside.count("</details>")
        assert len(body) <= BODY_LIMIT
    rows = [line for line in bodies["pull request"].split("\n") if line.startswith(("| before", "| after", "| `check"))]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}
    assert len(rows) == 6
