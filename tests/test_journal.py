"""The Record on its refs, over real git and HTTP: one Run an issue, one Run a slot, and nothing half written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.failures import RunFailed
from bot.ports import SlotTaken
from bot.record import JobEntry, Outcome, Record, Trigger, WaitsFor
from bot.sandbox.github import Act, Answer, Drop, EmbeddedGitHub, Fault
from tests.runners import Runners

NOON = "2026-05-01T12:00:00.000+00:00"
PUSH = r"/git-receive-pack$"


def run(issue: int) -> Record:
    """A fresh Run."""
    trigger = Trigger("acme/widget", issue, "t", "b", "nightjar", "alice", NOON, "42", 1, "https://x")
    job = JobEntry("42", 1, "https://x", "nightjar.yml", NOON)
    return Record(trigger=trigger, base="main", branch=f"nightjar/issue-{issue}", max_repairs=5, jobs=(job,))


@pytest.fixture
def runners(tmp_path: Path) -> Iterator[Runners]:
    """A remote without CI."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as hub:
        yield Runners(tmp_path, hub)


def test_of_two_runs_one_gets_the_slot(runners: Runners) -> None:
    """The slower one publishes nothing at all, and gets the next slot."""
    first, second = runners.journal(1), runners.journal(2)
    first.publish(replace(run(1), slot=1))
    with pytest.raises(SlotTaken):
        second.publish(replace(run(2), slot=1))
    assert runners.refs == {"issue-1", "open/1", "slot/1"}
    second.publish(replace(run(2), slot=2))
    found = runners.queue().others()
    assert [one.trigger.issue for one in found.records] == [1, 2]
    assert found.taken == {1, 2}
    assert [one.trigger.issue for one in runners.queue().others(1).records] == [2]


def test_a_slot_is_held_until_the_run_waits_or_is_told(runners: Runners) -> None:
    """It stays through every save, is free once the Run is parked, and with the end of a Run nothing of it is open."""
    journal = runners.journal(1)
    record = journal.publish(replace(run(1), slot=1))
    journal.publish(replace(record, claimed=True))
    assert runners.queue().others().taken == {1}
    journal.publish(record.parked_for(WaitsFor.CI, NOON))
    assert runners.refs == {"issue-1", "open/1"}
    journal.publish(replace(record, slot=1))
    journal.publish(replace(record, slot=0, outcome=Outcome.READY))
    assert runners.refs == {"issue-1", "open/1"}
    journal.publish(replace(record, slot=0, outcome=Outcome.READY, told=True))
    assert runners.refs == {"issue-1"}
    assert runners.queue().others().records == ()


def test_only_its_holder_gives_a_slot_back(runners: Runners) -> None:
    """A job that took its Run over gives the slot back; one whose slot another Run has by now leaves it alone."""
    runners.journal(1).publish(replace(run(1), slot=1))
    heir = runners.journal(1)
    heir.publish(run(1).parked_for(WaitsFor.CI, NOON))
    assert runners.refs == {"issue-1", "open/1"}

    # A Record that still names a slot which has gone to somebody else meanwhile.
    late = runners.journal(1)
    late.publish(replace(run(1), slot=1))
    (runners.repository.path / "refs/nightjar/slot/1").unlink()
    runners.journal(2).publish(replace(run(2), slot=1))
    heir = runners.journal(1)
    heir.publish(replace(run(1), outcome=Outcome.FAILED, told=True))
    assert runners.refs == {"issue-1", "issue-2", "open/2", "slot/1"}


def test_of_two_jobs_one_has_the_run(runners: Runners) -> None:
    """Both read the same Record; the second to write hears that the issue was taken over, and changes nothing."""
    runners.journal(1).publish(run(1).parked_for(WaitsFor.CI, NOON))
    first, second = runners.journal(1), runners.journal(1)
    first.publish(replace(run(1), slot=1))
    with pytest.raises(RunFailed) as refused:
        second.publish(replace(run(1), slot=2, claimed=True))
    assert refused.value.code == "overtaken"
    assert runners.refs == {"issue-1", "open/1", "slot/1"}


@pytest.mark.parametrize("trouble", [Drop(stored=True), Answer(502, stored=True), Drop(), Answer(502)])
def test_an_answer_that_is_lost(runners: Runners, trouble: Drop | Answer) -> None:
    """A push that came through although its answer was lost is taken as done, one that did not is sent again."""
    journal = runners.journal(1)
    runners.hub.faults.add(Fault("POST", PUSH, trouble))
    journal.publish(replace(run(1), slot=1))
    journal.publish(replace(run(1), slot=1, claimed=True))
    assert runners.refs == {"issue-1", "open/1", "slot/1"}
    runners.hub.faults.add(Fault("POST", PUSH, trouble))
    journal.publish(replace(run(1), told=True, outcome=Outcome.READY))
    assert runners.refs == {"issue-1"}


def test_a_record_of_another_version(runners: Runners) -> None:
    """It is left alone, and the log says whose it is and why; the others are seen all the same."""
    runners.journal(1).publish(replace(run(1), version=99))
    runners.journal(2).publish(run(2))
    found = runners.queue().others()
    assert [one.trigger.issue for one in found.records] == [2]
    assert runners.heard == [
        "The Run on issue #1 is left alone: record.json has version 99; this Nightjar reads version 1."
    ]


def test_a_run_seen_twice_is_fetched_once(runners: Runners) -> None:
    """Looking again asks for the list alone while nothing has changed, and counts no request."""
    runners.journal(1).publish(run(1))
    queue = runners.queue()
    queue.others()
    before = len(runners.hub.requests)
    assert [one.trigger.issue for one in queue.others().records] == [1]
    asked = runners.hub.requests[before:]
    assert {request.method for request in asked} <= {"GET", "POST"}
    assert len(asked) == 2
    assert not any(request.counted for request in runners.hub.requests)


@pytest.mark.parametrize("told", [True, False], ids=["ends", "goes on"])
def test_a_run_that_moves_on_hides_no_other(runners: Runners, told: bool) -> None:
    """One that ends or goes on between the list and the fetch takes nobody out of the line."""
    moving, *others = (runners.journal(issue) for issue in (1, 2, 3))
    record = moving.publish(run(1))
    for issue, journal in enumerate(others, start=2):
        journal.publish(run(issue).parked_for(WaitsFor.SLOT, NOON))
    after = replace(record, outcome=Outcome.READY, told=True) if told else replace(record, claimed=True)
    look = Fault("GET", r"/info/refs\?service=git-upload-pack", Act(lambda: moving.publish(after)), nth=2)
    queue = runners.queue()
    runners.hub.faults.add(look)
    seen = [one.trigger.issue for one in queue.others().records]
    assert seen == ([2, 3] if told else [1, 2, 3])
