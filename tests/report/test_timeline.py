"""The timeline of a Run in the step summary: what is drawn, what it adds up to, and that nobody breaks out of it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.record import CiState, FailureEntry, JobEntry, Outcome, Record, SessionEntry, WaitsFor
from bot.report import render
from bot.report.actions import SUMMARY_BYTES

MERMAID_CHARACTERS = 50_000
"""Mermaid draws no diagram of more (`maxTextSize`, as GitHub leaves it)."""
TIME = r"\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d"
OWN_LINES = re.compile(
    rf"""gantt
|\ {{4}}title\ Run\ on\ issue\ 7,\ times\ in\ UTC
|\ {{4}}dateFormat\ YYYY-MM-DD\ HH:mm:ss
|\ {{4}}axisFormat\ [%HMSmd: -]+
|\ {{4}}todayMarker\ off
|\ {{4}}section\ (?:Jobs|Sessions|CI)
|\ {{4}}(?:Job|Queued|Parked|Session|CI)\b[^#:;%{{}}<>`\n]*\ :(?:(?:crit|active|done),\ )?{TIME},\ {TIME}""",
    re.VERBOSE,
)
NASTY = (
    'title x\nsection y\n```\n# out <img src=x> :crit, 2020-01-01, 2020-01-02 ; click a href "javascript:alert(1)" '
    '%%{init: {"theme": "dark"}}%% #59; @org/everyone fixes #1 $$x$$ [a](b) \u202e\u200b'
)


def summary(record: Record, now: datetime, doing: str = "") -> str:
    return render.step_summary(record, doing, now)


def diagram(record: Record, now: datetime) -> list[str]:
    """The lines of the diagram, as Mermaid gets them."""
    (found,) = re.findall(r"^```mermaid\n(.*?)\n```$", summary(record, now), re.MULTILINE | re.DOTALL)
    return str(found).split("\n")


def bars(record: Record, now: datetime) -> list[str]:
    return [line.strip() for line in diagram(record, now) if re.search(rf"{TIME}, {TIME}$", line)]


def job(number: int, began: str, ended: str = "", waits_for: WaitsFor | None = None) -> JobEntry:
    url = f"https://github.example/acme/widget/actions/runs/{number}"
    times = (f"2026-03-04T{began}:00.000+00:00", f"2026-03-04T{ended}:00.000+00:00" if ended else "")
    return JobEntry(str(number), 1, url, "nightjar.yml", *times, waits_for)


def test_three_jobs_and_what_lay_between(repaired: Record) -> None:
    """Each job and each wait has its bar and its row, and the minutes on runners are those of the jobs alone."""
    record = replace(
        repaired,
        jobs=(
            job(1, "02:00", "02:16", WaitsFor.CI),
            job(2, "02:40", "02:45", WaitsFor.USAGE_LIMIT),
            job(3, "04:00"),
        ),
        outcome=Outcome.READY,
    )
    now = datetime(2026, 3, 4, 4, 3, 30, tzinfo=UTC)
    assert bars(record, now)[:5] == [
        "Job 1, 16 min 00 s :2026-03-04 02:00:00, 2026-03-04 02:16:00",
        "Parked, waits for CI, 24 min 00 s :done, 2026-03-04 02:16:00, 2026-03-04 02:40:00",
        "Job 2, 5 min 00 s :2026-03-04 02:40:00, 2026-03-04 02:45:00",
        "Parked, waits for the usage limit to be reset, 1 h 15 min :done, 2026-03-04 02:45:00, 2026-03-04 04:00:00",
        "Job 3, 3 min 30 s :2026-03-04 04:00:00, 2026-03-04 04:03:30",
    ]
    text = summary(record, now)
    assert "| 2026-03-04 02:00:00 | 16.0 min | waits for CI, 24 min 00 s |\n" in text
    assert "| 2026-03-04 04:00:00 | 3.5 min | the end |\n" in text
    assert "| **together** | | **24.5 min** | waited 1 h 39 min without a runner |\n" in text


def test_a_parked_run_waits_until_now(pushed: Record, now: datetime) -> None:
    """The job that parks itself is over, and CI and the wait for it are drawn as going on."""
    parked = replace(pushed, ci=None, waits_for_ci=(), jobs=(job(1, "02:00"),))
    record = parked.parked_for(WaitsFor.CI, "2026-03-04T02:16:00.000+00:00")
    drawn = bars(record, now)
    assert "Parked, waits for CI, 7 min 00 s :active, 2026-03-04 02:16:00, 2026-03-04 02:23:00" in drawn
    assert "CI on a1b2c3d4e5 still running :active, 2026-03-04 02:15:02, 2026-03-04 02:23:00" in drawn
    text = summary(record, now, "waits for CI")
    assert text.startswith("## Nightjar: issue #7\n\n**Parked:** the Run waits for CI.\n")


def test_a_queued_run(claimed: Record, now: datetime) -> None:
    """A wait for other Runs is called by its name."""
    record = replace(claimed, jobs=(job(1, "02:00"),)).parked_for(WaitsFor.SLOT, "2026-03-04T02:01:00.000+00:00")
    assert "Queued, waits for its turn, 22 min 00 s :active, 2026-03-04 02:01:00, 2026-03-04 02:23:00" in bars(
        record, now
    )


def test_verdicts_are_told_and_coloured(repaired: Record, now: datetime) -> None:
    """Sessions and CI say how they ended, what was bad is red, and a Repair's Session stands between two verdicts."""
    assert bars(repaired, now)[1:] == [
        "Session implement, 12 min 34 s, resumed :crit, 2026-03-04 02:00:41, 2026-03-04 02:13:15",
        "Session implement-resume, 1 min 35 s, done :2026-03-04 02:13:16, 2026-03-04 02:14:51",
        "Session repair-1, 48 s, done :2026-03-04 02:18:33, 2026-03-04 02:19:21",
        "CI on a1b2c3d4e5 red, unit :crit, 2026-03-04 02:15:02, 2026-03-04 02:18:30",
        "CI on 0f1e2d3c4b green :2026-03-04 02:19:25, 2026-03-04 02:22:50",
    ]


def test_a_lost_runner_is_not_given_more_time_than_is_known(repaired: Record) -> None:
    """A job that nobody saw end lasts until the Run was last heard of, and says that it was lost."""
    much_later = datetime(2026, 3, 4, 9, tzinfo=UTC)
    failure = FailureEntry("runner_lost", "the Run's process ended without a word")
    record = replace(repaired, outcome=Outcome.FAILED, failure=failure)
    assert bars(record, much_later)[0] == "Job 1, lost :crit, 2026-03-04 02:00:05, 2026-03-04 02:22:50"
    taken_up = replace(repaired, jobs=(job(1, "02:00"), job(2, "02:20")))
    assert bars(taken_up, much_later)[0] == "Job 1, lost :crit, 2026-03-04 02:00:00, 2026-03-04 02:19:21"
    assert "| the runner was lost |" in summary(taken_up, much_later)


def test_nothing_to_draw(claimed: Record, now: datetime) -> None:
    """Without a single time there is a sentence instead of an empty diagram."""
    text = summary(replace(claimed, jobs=()), now)
    assert "### Timeline\n\nNo times are known of this Run.\n" in text
    assert "mermaid" not in text


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-03-04", "2026-03-04T02:00:05Z"])
def test_odd_times(repaired: Record, now: datetime, moment: str) -> None:
    """A time that is missing, or of another form, costs its bar at most."""
    session = replace(repaired.sessions[0], began=moment)
    entry = replace(repaired.waits_for_ci[0], began=moment)
    record = replace(repaired, sessions=(session,), waits_for_ci=(entry,), watched_since=moment)
    assert all(OWN_LINES.fullmatch(line) for line in diagram(record, now))


def test_a_bar_can_be_seen(repaired: Record, now: datetime) -> None:
    """What took no time, or less by another machine's clock, is a second long."""
    entry = replace(repaired.waits_for_ci[0], ended="2026-03-04T01:00:00.000+00:00")
    record = replace(repaired, sessions=(replace(repaired.sessions[0], seconds=0.0),), waits_for_ci=(entry,))
    assert [line[-40:] for line in bars(record, now)[1:]] == [
        "2026-03-04 02:00:41, 2026-03-04 02:00:42",
        "2026-03-04 02:15:02, 2026-03-04 02:15:03",
    ]


def test_nobody_breaks_out_of_the_diagram(repaired: Record, now: datetime) -> None:
    """Whatever a check or a Session is called, each line of the diagram is one of Nightjar's own form."""
    entries = tuple(replace(entry, red=(NASTY, NASTY[::-1]), head=NASTY) for entry in repaired.waits_for_ci)
    sessions = tuple(replace(entry, name=NASTY, ended=NASTY) for entry in repaired.sessions)
    lines = diagram(replace(repaired, waits_for_ci=entries, sessions=sessions, outcome=Outcome.READY), now)
    assert [line for line in lines if not OWN_LINES.fullmatch(line)] == []
    assert max(map(len, lines)) < 150


@pytest.mark.parametrize(
    ("hours", "axis"), [(0.1, "%H:%M:%S"), (5, "%H:%M"), (50, "%m-%d %H:%M")], ids=["minutes", "hours", "days"]
)
def test_the_axis_fits_the_run(claimed: Record, hours: float, axis: str) -> None:
    """Seconds for a short Run, days for a long one."""
    began = datetime(2026, 3, 4, 2, tzinfo=UTC)
    record = replace(claimed, jobs=(job(1, "02:00"),))
    assert f"    axisFormat {axis}" in diagram(record, began + timedelta(hours=hours))


def test_a_run_of_hundreds_of_everything(repaired: Record, now: datetime) -> None:
    """The newest are drawn, the others counted, and diagram and summary stay below what is shown at all."""
    record = replace(
        repaired,
        jobs=tuple(job(n, "02:00", "02:01", WaitsFor.USAGE_LIMIT) for n in range(300)),
        sessions=tuple(replace(repaired.sessions[0], name=f"repair-{n}-{'n' * 300}") for n in range(300)),
        waits_for_ci=tuple(replace(repaired.waits_for_ci[0], red=("r" * 300,) * 300) for _ in range(300)),
        failure=FailureEntry("ci_red", "🙂" * 60_000, "🙂" * 400_000),
        outcome=Outcome.FAILED,
    )
    lines = diagram(record, now)
    assert len("\n".join(lines)) < MERMAID_CHARACTERS
    assert any("repair-299" in line for line in lines)
    assert "Older bars that are not drawn: 1079.\n" in summary(record, now)
    assert len(summary(record, now).encode()) < SUMMARY_BYTES


def test_ci_that_was_not_waited_for_here(pushed: Record, now: datetime) -> None:
    """A verdict on a commit that an earlier Run pushed stands where it was heard."""
    entry = replace(pushed.waits_for_ci[0], began="", state=CiState.GREEN, red=())
    drawn = bars(replace(pushed, waits_for_ci=(entry,)), now)
    assert "CI on a1b2c3d4e5 green :2026-03-04 02:18:30, 2026-03-04 02:18:31" in drawn


def test_a_cancelled_session_is_no_failure(pushed: Record, now: datetime) -> None:
    """It is drawn in grey."""
    session = SessionEntry("implement", "S1", 60, 0.1, 1, "cancelled", began="2026-03-04T02:01:00+00:00")
    drawn = bars(replace(pushed, sessions=(session,)), now)
    assert "Session implement, 1 min 00 s, cancelled :done, 2026-03-04 02:01:00, 2026-03-04 02:02:00" in drawn
