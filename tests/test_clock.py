"""Planned waits follow the scale, reactions do not, and a cancel cuts every wait short."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from bot.cancel import Cancel, Cancelled
from bot.clock import BadTimeScale, Clock
from bot.signals import on_signals


@pytest.fixture
def cancel() -> Iterator[Cancel]:
    """A cancel that nobody has asked for yet."""
    made = Cancel()
    yield made
    made.close()


def test_scale_divides_planned_waits(cancel: Cancel) -> None:
    """An hour at the scale 36000 is a tenth of a second."""
    clock = Clock(36_000, cancel)
    began = clock.now()
    clock.sleep(3600)
    assert 0.05 < clock.now() - began < 5
    assert clock.deadline("ci-start-minutes", 3600).left() <= 0.1


def test_scale_leaves_reactions_alone(cancel: Cancel) -> None:
    """What another program needs to react cannot be sped up."""
    limit = Clock(36_000, cancel).reaction("exit", 60)
    assert 59 < limit.left() <= 60
    assert not limit.passed()


def test_deadline_that_has_passed() -> None:
    """Nothing is left of it, and never less than nothing; its plan is kept for messages."""
    limit = Clock.reaction("exit", -5)
    assert limit.passed()
    assert limit.left() == 0
    assert limit.seconds == -5


@pytest.mark.parametrize("text", ["0", "-1", "fast", "nan", ""])
def test_bad_scale(text: str) -> None:
    """A scale that is no number above zero is refused by its name; an empty one is 1."""
    if not text:
        assert Clock.from_environment({"NIGHTJAR_TIME_SCALE": text}).scale == 1
        return
    with pytest.raises(BadTimeScale, match="NIGHTJAR_TIME_SCALE must be a number above 0"):
        Clock.from_environment({"NIGHTJAR_TIME_SCALE": text})


@pytest.mark.timeout(20)
def test_cancel_cuts_a_wait_short(cancel: Cancel) -> None:
    """An hour's wait ends at once when stopping is asked for."""
    clock = Clock(1, cancel)
    asking = threading.Timer(0.1, cancel.request)
    asking.start()
    with pytest.raises(Cancelled):
        clock.sleep(3600)
    asking.join()
    with pytest.raises(Cancelled):
        clock.sleep(0)


def test_after_the_cancel_was_taken_note_of(cancel: Cancel) -> None:
    """The ending may wait again, and being asked a second time changes nothing."""
    clock = Clock(1000, cancel)
    cancel.request()
    cancel.request()
    cancel.acknowledge()
    cancel.request()
    clock.sleep(1)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals(number: signal.Signals) -> None:
    """SIGINT and SIGTERM are requests to stop; one more, while the command leaves, changes nothing."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with on_signals(finish_follows=False) as cancel:
            os.kill(os.getpid(), number)
            with pytest.raises(Cancelled):
                Clock(1, cancel).sleep(3600)
        os.kill(os.getpid(), number)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def test_handlers_come_back() -> None:
    """Where nobody asked, the handlers are what they were before."""
    before = signal.getsignal(signal.SIGINT)
    with on_signals(finish_follows=False):
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
