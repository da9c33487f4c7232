"""What people read, compared whole with files under `golden/`; sizes; strangers' text in every place."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from bot.record import CheckState, CiState, CiVerdict, FailureEntry, Outcome, Record, RepairEntry, WaitsFor
from bot.report import render, words
from bot.report.render import BODY_LIMIT, Limits

GOLDEN = Path(__file__).parent / "golden"
NASTY = (
    "@org/everyone fixes #1 closes o/r#2 <!-- nightjar:tracking run=1 --> "
    "![x](https://evil.example/t.png) </details>\n````\nx"
)


def same(name: str, text: str) -> None:
    """`text` is what the golden file holds; with NIGHTJAR_GOLDEN=write the file is written anew, to be reviewed."""
    path = GOLDEN / f"{name}.md"
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def failed(record: Record, code: str, reason: str, evidence: str = "") -> Record:
    return replace(record, outcome=Outcome.FAILED, failure=FailureEntry(code, reason, evidence))


def test_tracking_at_the_start(claimed: Record, limits: Limits, now: datetime) -> None:
    """The first comment says what will happen and what bounds it."""
    same("tracking-claimed", render.tracking_comment(claimed, limits, "the workspace is being prepared", now))


def test_tracking_after_a_repair(repaired: Record, limits: Limits, now: datetime) -> None:
    """Later it lists Sessions, Resumes and Repairs with what they took."""
    same("tracking-repaired", render.tracking_comment(repaired, limits, "waiting for CI", now))


def test_ready(repaired: Record) -> None:
    """A good ending names the pull request, what CI says and what it took."""
    same(
        "ready",
        render.ending_comment(replace(repaired, outcome=Outcome.READY, notes=("The title was written by Nightjar.",))),
    )


WAITING = {
    WaitsFor.SLOT: "**Queued:** the Run waits for its turn, with 2 Runs before it, because as many Runs are at work as "
    "`max-working` allows.",
    WaitsFor.CI: "**Parked:** the Run waits for CI, until 2026-03-04 04:15 UTC at the latest.",
    WaitsFor.RUNNER: "**Parked:** the Run waits for the new runner that it has asked for.",
    WaitsFor.USAGE_LIMIT: "**Parked:** the Run waits for the usage limit to be reset, which is due at 2026-03-04 04:15 "
    "UTC.",
    WaitsFor.UNPAUSED: "**Parked:** the Run waits for `NIGHTJAR_PAUSED` to be taken back.",
}


@pytest.mark.parametrize("waits_for", WaitsFor)
def test_waiting_without_a_runner(claimed: Record, limits: Limits, now: datetime, waits_for: WaitsFor) -> None:
    """The Tracking comment begins with what is waited for, and until when where that can be told."""
    until = "2026-03-04T04:15:00.000+00:00" if waits_for is not WaitsFor.SLOT else ""
    record = claimed.parked_for(waits_for, "2026-03-04T02:15:00.000+00:00", until)
    first, *_ = render.tracking_comment(record, limits, words.waits(record, 2), now).split("\n")
    assert first == f"{WAITING[waits_for]} It holds no runner, and goes on by itself."


def test_waiting_for_nothing_that_can_be_told(claimed: Record) -> None:
    """Without a moment there is no empty "until", the next in line is told so, and a Run at work waits for nothing."""
    parked = claimed.parked_for(WaitsFor.CI, "2026-03-04T02:15:00.000+00:00")
    assert words.waits(parked, 0) == "waits for CI. It holds no runner, and goes on by itself"
    queued = claimed.parked_for(WaitsFor.SLOT, "2026-03-04T02:15:00.000+00:00")
    assert words.waits(queued, 0).startswith("waits for its turn, as the next one, because as many Runs are at work")
    assert words.waits(queued, 1).startswith("waits for its turn, with 1 Run before it, because")
    assert words.waits(queued, None).startswith("waits for its turn, because")
    assert words.waits(claimed, 0) == ""


def test_failure_after_repairs_and_a_loss(pushed: Record) -> None:
    """Background work that was lost earlier is mentioned before what came after it."""
    repairs = tuple(
        RepairEntry(n, ("unit",), "a" * 40, "a" * 40 if n == 2 else "c" * 40, ("greet.py",), ci=CiState.RED)
        for n in (1, 2)
    )
    record = failed(
        replace(pushed, repairs=repairs),
        "ci_red",
        "unit failed again after the last of 2 Repairs",
        "E  assert 'a' == 'b'",
    )
    same("failed-ci-red", render.ending_comment(record))


def test_a_loss_of_the_failing_session_is_named_once(pushed: Record) -> None:
    """What the Session that the Run failed in lost itself is told by its own reason only."""
    last = replace(pushed.sessions[-1], name="repair-1", ended="fail", lost=("npm run e2e",))
    reason = (
        "repair-1 session died in the middle of a turn (killed by signal 9); a task (npm run e2e) was killed with it"
    )
    body = render.ending_comment(failed(replace(pushed, sessions=(last,)), "session_died", reason))
    assert body.count("npm run e2e") == 1
    assert "and then:" not in body


def test_failure_of_the_seed_case(pushed: Record) -> None:
    """A command that was killed twice is named by the fixed sentence, once."""
    sentence = "implement session ended while waiting on a background task (npm test), which was killed"
    body = render.ending_comment(failed(pushed, "background_lost", sentence))
    assert body.count(sentence) == 1
    same("failed-background-lost", body)


def test_failure_before_any_work(claimed: Record) -> None:
    """Where nothing was pushed the comment says so."""
    same(
        "failed-claude-auth",
        render.ending_comment(failed(claimed, "claude_auth", "The API answered 401 to the key of this Run")),
    )


def test_cancelled(pushed: Record) -> None:
    """A cancelled Run says what was kept and how to go on."""
    body = render.ending_comment(replace(pushed, outcome=Outcome.CANCELLED))
    assert "### Nightjar stopped: the Run was cancelled" in body
    assert "put the label `nightjar` on this issue again" in body


def test_nothing_checked_this(repaired: Record) -> None:
    """Without any CI the ending does not claim that something was checked."""
    body = render.ending_comment(
        replace(repaired, outcome=Outcome.READY, ci=CiVerdict(repaired.pushed, CiState.NONE_EXPECTED))
    )
    assert "Nothing checked this" in body
    assert "green" not in body


@pytest.mark.parametrize("state", CiState)
def test_whatever_ci_says_has_words(pushed: Record, limits: Limits, now: datetime, state: CiState) -> None:
    """Each state of CI is told as a sentence in the Tracking comment and in the comment on a Repair."""
    repair = RepairEntry(1, ("unit",), "a" * 40, "b" * 40, ci=state)
    record = replace(pushed, ci=CiVerdict(pushed.head, state), repairs=(repair,))
    assert "Watch CI. " in render.tracking_comment(record, limits, "waiting", now)
    assert re.search(r"- CI now: [a-z ']+\n", render.repair_comment(record, repair))


def test_repair(repaired: Record) -> None:
    """The pull request hears what was red, what changed, and what CI says now."""
    same("repair", render.repair_comment(repaired, repaired.repairs[0]))


def test_repair_that_changed_nothing(repaired: Record) -> None:
    """A Repair that left the code alone says so."""
    repair = replace(repaired.repairs[0], after=repaired.repairs[0].before)
    assert "- Changed: nothing\n" in render.repair_comment(repaired, repair)


def test_pull_request(repaired: Record) -> None:
    """The Session's words, our closing line, and a fold with what it took."""
    same("pull-request", render.pull_request_body(replace(repaired, body=f"{repaired.body}\n\nCloses #7.\n")))


def test_step_summary(repaired: Record, now: datetime) -> None:
    """The job's page tells the same, with a timeline of jobs, Sessions and CI."""
    same("summary", render.step_summary(replace(repaired, outcome=Outcome.READY), "", now))


@pytest.mark.field_case(36, "title")
def test_titles(claimed: Record) -> None:
    """A title is one short line that skips no CI; without one the issue's own is used."""
    assert render.pull_request_title(replace(claimed, title="Fix #3\n[skip ci]")) == "Fix issue 3 (skip ci)"
    assert render.pull_request_title(claimed) == "Greet people by name"
    assert len(render.pull_request_title(replace(claimed, title="é" * 400))) == 256


@pytest.mark.field_case(36, "comment")
def test_a_long_failure_keeps_its_reason(pushed: Record) -> None:
    """Only the evidence gives way, in its middle, with its fence closed."""
    reason = "unit failed: " + "🙂" * 9_000 + " the end"
    evidence = "first line\n" + "log line\n```\n" * 5_000 + "last line"
    body = render.ending_comment(failed(pushed, "ci_red", reason, evidence))
    assert BODY_LIMIT - 200 < len(body) <= BODY_LIMIT
    assert reason in body
    assert "first line" in body
    assert "shortened" in body
    assert "last line\n````\n\n</details>" in body


def test_even_an_absurd_reason_fits(pushed: Record) -> None:
    """A reason of 70,000 characters does not cost the report."""
    assert len(render.ending_comment(failed(pushed, "internal", "x" * 70_000, "y" * 70_000))) <= BODY_LIMIT


@pytest.mark.field_case(36, "pull request")
def test_a_long_handover_fits(repaired: Record) -> None:
    """A body made from the longest issue keeps our closing line."""
    body = render.pull_request_body(replace(repaired, body="@a ```\n" * 9_400))
    assert len(body) <= BODY_LIMIT
    assert "\nCloses #7\n" in body


def test_many_of_everything_fits(repaired: Record, limits: Limits, now: datetime) -> None:
    """Hundreds of Sessions, Repairs and long notes still make a comment."""
    repair = replace(repaired.repairs[0], files=("f" * 200,) * 50, red=("r" * 200,) * 50)
    record = replace(
        repaired,
        sessions=tuple(replace(entry, lost=("t" * 900,)) for entry in repaired.sessions) * 100,
        repairs=(repair,) * 100,
        notes=tuple(f"{n} " + "n" * 900 for n in range(100)),
    )
    assert len(render.tracking_comment(record, limits, "x" * 5000, now)) <= BODY_LIMIT
    assert len(render.ending_comment(failed(record, "ci_red", "red", "e" * 70_000))) <= BODY_LIMIT
    assert len(render.pull_request_body(record)) <= BODY_LIMIT


def test_strangers_act_nowhere(pushed: Record, limits: Limits, now: datetime) -> None:
    """Whatever a Session, a check or a log says, the only mention, closing line and marker are our own."""
    assert pushed.ci is not None
    check = replace(pushed.ci.checks[0], name=NASTY, url="https://x.example/)![x](https://evil.example/t.png)")
    repair = RepairEntry(1, (NASTY,), "a" * 40, "b" * 40, (NASTY,), summary=NASTY)
    record = replace(
        failed(pushed, "ci_red", NASTY, NASTY),
        body=NASTY,
        title=NASTY,
        notes=(NASTY,),
        repairs=(repair,),
        sessions=tuple(replace(entry, lost=(NASTY,)) for entry in pushed.sessions),
        ci=CiVerdict(pushed.head, CiState.RED, (check,)),
    )
    for body, mentions, markers in (
        (render.tracking_comment(replace(record, outcome=None), limits, NASTY, now), [], 1),
        (render.ending_comment(record), ["@alice"], 1),
        (render.repair_comment(record, repair), [], 1),
        (render.pull_request_body(record), [], 3),  # its own parts (`bot.report.rewriting`)
        (render.step_summary(record, "", now), [], 0),
    ):
        outside = re.sub(
            r"`[^`\n]+`", "", re.sub(r"^(> )?(`{3,}).*?^(> )?\2$", "", body, flags=re.MULTILINE | re.DOTALL)
        )
        assert re.findall(r"@[A-Za-z0-9]+", outside) == mentions
        assert body.count("<!-- nightjar") == markers
        assert "![" not in outside
        assert re.findall(r"(?i)\b(?:fix|close)\w*:? \S*#\d", outside) in ([], ["Closes #7"])
        assert outside.count("<details>") == outside.count("</details>")


def test_red_on_the_base_alone(pushed: Record, limits: render.Limits, now: datetime) -> None:
    """Where only checks that the base branch has red too are red, they are named once, and nothing is named before."""
    assert pushed.ci is not None
    check = replace(pushed.ci.checks[0], name="style", state=CheckState.FAILED, conclusion="failure", inherited=True)
    record = replace(pushed, outcome=None, ci=CiVerdict(pushed.head, CiState.RED, (check,)))
    body = render.tracking_comment(record, limits, "watching CI", now)
    assert "`. Red on the base branch too, and left alone: [`style`]" in body
