"""The timeline of jobs and the runner minutes they used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.minutes import JobTime, timeline

START = datetime(2026, 1, 2, 22, 0, tzinfo=UTC)


def job(name: str, began: float | None, ended: float | None, scale: float = 60, attempt: int = 1) -> JobTime:
    """A job that ran from `began` to `ended`, real seconds after the start."""
    at = [None if one is None else START + timedelta(seconds=one) for one in (began, ended)]
    return JobTime(1, "Nightjar", "issues", attempt, name, "success", at[0], at[1], scale)


@pytest.mark.parametrize(
    ("began", "ended", "scale", "minutes", "billed"),
    [
        (0, 3, 60, 3.0, 3),
        (0, 3.1, 60, 3.1, 4),
        (5, 5.01, 60, 0.01, 1),
        (0, 90, 1, 1.5, 2),
        (None, None, 60, 0.0, 0),
        (4, None, 60, 0.0, 0),
    ],
)
def test_minutes_are_planned_and_billed_whole(
    began: float | None, ended: float | None, scale: float, minutes: float, billed: int
) -> None:
    """Each job is rounded up by itself; one that had no runner, or has not ended, costs nothing."""
    found = job("run", began, ended, scale)
    assert found.minutes == pytest.approx(minutes)
    assert found.billed == billed


def test_the_timeline_reads_in_the_order_of_beginning() -> None:
    """Planned times since the start, attempts from the second on, jobs without a runner last, and the sums."""
    jobs = [job("skipped", None, None), job("late", 4, 6.5), job("early", 1, 2), job("late", 8, 9, attempt=2)]
    told = timeline(START, jobs)
    assert told.as_text() == (
        "workflow  job               started by  began  ended     minutes  billed  conclusion\n"
        "Nightjar  early             issues      +1:00  +2:00         1.0       1  success\n"
        "Nightjar  late              issues      +4:00  +6:30         2.5       3  success\n"
        "Nightjar  late (attempt 2)  issues      +8:00  +9:00         1.0       1  success\n"
        "Nightjar  skipped           issues      -      -             0.0       0  success\n"
        "                                               together      4.5       5\n"
    )
    lines = told.as_markdown().splitlines()
    assert lines[2] == "| Nightjar | early | issues | +1:00 | +2:00 | 1.0 | 1 | success |"
    assert lines[-1] == "|  |  |  |  | **together** | **4.5** | **5** |  |"
