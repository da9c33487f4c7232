"""The reporter over a GitHub that remembers what it was told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.guard import Redactor
from bot.record import FailureEntry, Outcome, Record, WaitsFor
from bot.report.actions import SUMMARY_BYTES, Runner
from bot.report.render import Limits
from bot.report.reporter import GitHubReporter
from tests.report.page import Page

SECRET = "ghs_" + "S3cr3t" * 6
KEY = "the-model-key-of-acme"


@dataclass
class Desk:
    """A reporter with everything it writes to."""

    reporter: GitHubReporter
    page: Page
    log: list[str]
    folder: Path

    def written(self) -> str:
        """All that left the program."""
        files = "".join(path.read_text(encoding="utf-8") for path in self.folder.iterdir())
        return "\n".join([*(body for _, body in self.page.comments.values()), *self.log, files])


@pytest.fixture
def desk(tmp_path: Path, limits: Limits) -> Desk:
    log: list[str] = []
    environ = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    page = Page()
    runner = Runner.from_environment(environ, log.append)
    minute = iter(range(1000))

    def today() -> datetime:
        return datetime(2026, 3, 4, 2 + next(minute) // 60, 5, tzinfo=UTC)

    return Desk(GitHubReporter(page, runner, Redactor([KEY, SECRET]), limits, today), page, log, tmp_path)


def outputs(folder: Path) -> dict[str, str]:
    """The step's outputs as the runner reads them."""
    values: dict[str, str] = {}
    lines = iter((folder / "output").read_text(encoding="utf-8").split("\n"))
    for line in lines:
        name, found, delimiter = line.partition("<<")
        if found:
            value: list[str] = []
            while (part := next(lines)) != delimiter:
                value.append(part)
            values[name] = "\n".join(value)
    return values


def test_the_tracking_comment_appears_once_and_is_edited(desk: Desk, claimed: Record) -> None:
    """One comment, edited when there is news and left alone when there is none."""
    record = desk.reporter.claimed(claimed)
    assert record.tracking_comment == 1
    desk.reporter.progress(record, "a Session is working")
    desk.reporter.progress(record, "a Session is working")
    assert (len(desk.page.comments), desk.page.edits) == (1, 1)
    assert "a Session is working" in desk.page.comments[1][1]
    assert sum("a Session is working" in line for line in desk.log) == 1


def test_a_taken_up_run_keeps_its_tracking_comment(desk: Desk, claimed: Record) -> None:
    """A Record that knows its Tracking comment gets no second one."""
    number = desk.page.comment(7, "older")
    record = desk.reporter.claimed(replace(claimed, tracking_comment=number))
    assert (record.tracking_comment, len(desk.page.comments)) == (number, 1)


def test_the_ending_is_told_once(desk: Desk, repaired: Record) -> None:
    """A new comment on the issue, and no second one when the ending is run again."""
    record = desk.reporter.ended(replace(repaired, outcome=Outcome.READY, tracking_comment=desk.page.comment(7, "")))
    desk.reporter.ended(record)
    endings = [body for number, body in desk.page.comments.values() if number == 7 and "nightjar:ending" in body]
    assert len(endings) == 1
    assert endings[0].startswith("@alice, pull request")
    assert desk.page.comments[1][1].startswith("**Ready for review:** [#12]")


def test_the_outputs(desk: Desk, repaired: Record) -> None:
    """The step's outputs say how it ended, in the documented names."""
    desk.reporter.ended(replace(repaired, outcome=Outcome.READY))
    assert outputs(desk.folder) == {
        "outcome": "ready",
        "reason": "",
        "pr-url": "https://github.example/acme/widget/pull/12",
        "branch": "nightjar/issue-7",
        "repairs": "1",
        "resumes": "1",
        "cost-usd": "0.9300",
        "logs": "",
        "transcripts": "/logs/implement.jsonl\n/logs/implement-resume.jsonl\n/logs/repair-1.jsonl",
    }


def test_a_parked_run_is_told_in_four_places(desk: Desk, repaired: Record) -> None:
    """Tracking comment, annotation, step summary and outputs say what is waited for; nobody is mentioned."""
    since, until = "2026-03-04T02:15:00.000+00:00", "2026-03-04T04:15:00.000+00:00"
    number = desk.page.comment(7, "")
    record = replace(repaired, tracking_comment=number).parked_for(WaitsFor.CI, since, until)
    desk.reporter.parked(record, 0)
    waits = "waits for CI, until 2026-03-04 04:15 UTC at the latest. It holds no runner, and goes on by itself"
    assert desk.page.comments[number][1].startswith(f"**Parked:** the Run {waits}.\n")
    assert len(desk.page.comments) == 1
    assert [line for line in desk.log if line.startswith("::")] == [f"::notice title=Nightjar%3A parked::{waits}"]
    assert f"**Parked:** the Run {waits}.\n" in (desk.folder / "summary").read_text(encoding="utf-8")
    said = outputs(desk.folder)
    assert (said["outcome"], said["reason"], said["repairs"]) == ("parked", waits, "1")


def test_a_queued_run_knows_its_place_everywhere(desk: Desk, claimed: Record) -> None:
    """The number of Runs before it is the same in the comment, the annotation and the outputs."""
    record = desk.reporter.parked(claimed.parked_for(WaitsFor.SLOT, "2026-03-04T02:00:10.000+00:00"), 2)
    assert "with 2 Runs before it" in desk.page.comments[record.tracking_comment][1]
    assert any(
        line.startswith("::notice title=Nightjar%3A queued::") and "2 Runs before it" in line for line in desk.log
    )
    assert (outputs(desk.folder)["outcome"], "2 Runs before it" in outputs(desk.folder)["reason"]) == ("queued", True)


def test_outputs_cannot_be_forged(desk: Desk, claimed: Record) -> None:
    """A reason with line breaks and a delimiter of its own adds no output."""
    failure = FailureEntry("internal", "x\nEOF\noutcome<<EOF\nready\nEOF")
    desk.reporter.ended(replace(claimed, outcome=Outcome.FAILED, failure=failure))
    assert outputs(desk.folder)["outcome"] == "failed"


def test_one_annotation_with_the_reason(desk: Desk, claimed: Record) -> None:
    """The job's page shows one error, on one line, whatever the reason holds."""
    failure = FailureEntry("claude_auth", "the key was refused: 100%\n::error::forged")
    desk.reporter.ended(replace(claimed, outcome=Outcome.FAILED, failure=failure))
    commands = [line for line in desk.log if line.startswith("::")]
    assert commands == [
        "::error title=Nightjar stopped%3A Claude did not accept the key::the key was refused: 100%25 ::error::forged."
    ]


def test_a_refused_ending_goes_to_log_summary_and_pull_request(desk: Desk, pushed: Record) -> None:
    """A locked issue takes no comment: the pull request gets it, and log and summary hold the reason in any case."""
    desk.page.locked = {7}
    failure = FailureEntry("ci_red", "unit failed again")
    record = desk.reporter.ended(replace(pushed, outcome=Outcome.FAILED, failure=failure))
    assert [number for number, _ in desk.page.comments.values()] == [12]
    assert record.ending_comment == 1
    assert "unit failed again" in (desk.folder / "summary").read_text(encoding="utf-8")
    assert any("The ending could not be told on #7" in line for line in desk.log)


def test_nowhere_to_comment_still_tells(desk: Desk, claimed: Record) -> None:
    """When GitHub takes no comment at all the Run goes on, and its reason is in log, summary and outputs."""
    desk.page.locked = {7}
    record = desk.reporter.claimed(claimed)
    desk.reporter.progress(record, "working")
    desk.reporter.ended(replace(record, outcome=Outcome.FAILED, failure=FailureEntry("no_changes", "nothing changed")))
    assert desk.page.comments == {}
    assert any("nothing changed" in line for line in desk.log)
    assert "nothing changed" in (desk.folder / "summary").read_text(encoding="utf-8")
    assert outputs(desk.folder)["reason"].endswith("nothing changed.")


def test_a_repair_has_one_comment(desk: Desk, repaired: Record) -> None:
    """The comment about a Repair is written on the pull request and then kept up to date."""
    fresh = replace(repaired, repairs=(replace(repaired.repairs[0], comment=0, ci=None),))
    record = desk.reporter.repaired(fresh)
    again = desk.reporter.repaired(replace(record, repairs=(replace(record.repairs[0], ci=repaired.repairs[0].ci),)))
    assert [number for number, _ in desk.page.comments.values()] == [12]
    assert "- CI now: green" in desk.page.comments[again.repairs[0].comment][1]


def test_no_secret_leaves(desk: Desk, repaired: Record) -> None:
    """A token in a title, a body, a note, a reason, a log or a file name is replaced wherever it would be read."""
    leak = f"token {SECRET} and {KEY}"
    leaking = replace(
        repaired,
        title=leak,
        body=leak,
        notes=(leak,),
        repairs=(replace(repaired.repairs[0], summary=leak, files=(leak,), comment=0),),
        sessions=tuple(replace(entry, transcript=f"/logs/{SECRET}") for entry in repaired.sessions),
        tracking_comment=0,
    )
    record = desk.reporter.claimed(leaking)
    desk.reporter.progress(record, leak)
    record = desk.reporter.repaired(record)
    text = desk.reporter.pull_request_text(record)
    desk.reporter.ended(replace(record, outcome=Outcome.FAILED, failure=FailureEntry("internal", leak, leak)))
    everything = desk.written() + text.title + text.body
    assert SECRET not in everything
    assert KEY not in everything
    assert "***" in text.title


@pytest.mark.field_case(36, "summary")
def test_the_summary_stays_below_what_github_shows(tmp_path: Path) -> None:
    """A summary of 1.4 MiB is cut and says so, also when the file holds something already."""
    path = tmp_path / "summary"
    path.write_text("before\n", encoding="utf-8")
    Runner(None, path, in_actions=True).step_summary("é" * 700_000 + "tail")
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) <= SUMMARY_BYTES
    assert text.startswith("before\né")
    assert "shortened" in text


def test_a_terminal_gets_plain_lines() -> None:
    """Outside GitHub Actions no commands are written, and a value to be masked is not printed."""
    log: list[str] = []
    runner = Runner.from_environment({}, log.append)
    runner.mask("secret-value")
    runner.group("tests")
    runner.annotate("error", "Nightjar stopped", "why")
    runner.endgroup()
    runner.outputs({"a": "b"})
    runner.step_summary("text")
    assert log == ["tests", "error: Nightjar stopped: why"]


def test_masks_and_groups() -> None:
    """On a runner each line of a value is masked, and a group's title holds no command."""
    log: list[str] = []
    runner = Runner.from_environment({"GITHUB_ACTIONS": "true"}, log.append)
    runner.mask("one%\ntwo")
    runner.group("a\n::error::b")
    runner.endgroup()
    *masks, group, end = log
    assert masks[:2] == ["::add-mask::one%25", "::add-mask::two"]
    assert all(line.startswith("::add-mask::") for line in masks)
    assert (group, end) == ("::group::a : :error::b", "::endgroup::")
