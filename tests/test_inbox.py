"""What people ask of Runs waits on refs, over real git and HTTP, until a Run has taken it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.failures import RunFailed
from bot.request import Request, Wants
from bot.sandbox.github import Act, Answer, EmbeddedGitHub, Fault
from tests.runners import Runners

FIX = Request(
    *(Wants.FIX, 77, "bob", "2026-05-01T12:00:00Z", "https://x/77"), text="Rename it.\n\n“Quickly”", workflow="n.yml"
)
STOP = Request(Wants.STOP, 78, "alice", "2026-05-01T12:30:00Z", "https://x/78")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Runners]:
    """An empty inbox."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as hub:
        yield Runners(tmp_path, hub)


def test_left_and_taken(place: Runners) -> None:
    """A request is there for any other job, as it was asked, until it is taken; the oldest comes first."""
    place.requests().leave(7, STOP)
    place.requests().leave(7, FIX)
    assert place.requests().waiting(7) == (FIX, STOP)
    assert place.requests().waiting(8) == ()
    place.requests().taken(7, [FIX])
    assert place.requests().waiting(7) == (STOP,)


def test_left_twice(place: Runners) -> None:
    """An event that is delivered twice asks once."""
    place.requests().leave(7, FIX)
    place.requests().leave(7, FIX)
    assert place.requests().waiting(7) == (FIX,)


def test_taken_twice(place: Runners) -> None:
    """Crossing off what somebody else has crossed off already is no failure."""
    place.requests().leave(7, FIX)
    place.requests().taken(7, [FIX])
    place.requests().taken(7, [FIX])
    place.requests().taken(7, [])
    assert place.requests().waiting(7) == ()


def test_issues_with_the_same_beginning(place: Runners) -> None:
    """Issue 7 and issue 77 are told apart."""
    place.requests().leave(77, FIX)
    assert place.requests().waiting(7) == ()


def test_seen_beside_the_open_runs(place: Runners) -> None:
    """Whoever looks at the Runs that are not over sees on which issues something is asked for."""
    place.requests().leave(7, FIX)
    place.requests().leave(7, STOP)
    place.requests().leave(9, replace(FIX, id=79))
    assert place.queue().others().asked == {7, 9}


def test_damaged(place: Runners) -> None:
    """A request that cannot be read is said in the log and left alone; the others are heard."""
    damaged = place.repository.commit("asked", {"request.json": "{}"}, "Not a request")
    place.requests().leave(7, FIX)
    git = place.git()
    git.open()
    git.fetch("asked")
    assert git.network("push", "--quiet", git.remote.url, f"{damaged}:refs/nightjar/asked/7/80").code == 0
    assert place.requests().waiting(7) == (FIX,)
    assert "refs/nightjar/asked/7/80 is left alone" in place.heard[0]


def test_github_is_away(place: Runners) -> None:
    """Where GitHub cannot be asked, that is the reason, and nothing is taken for empty."""
    place.requests().leave(7, FIX)
    place.hub.faults.add(Fault("GET", r"/info/refs", Answer(503), times=0))
    with pytest.raises(RunFailed, match="what people ask of the Run could not be read"):
        place.requests().waiting(7)


def test_one_is_taken_in_between(place: Runners) -> None:
    """What another job takes between the list and the fetch hides nothing else."""
    place.requests().leave(7, FIX)
    place.requests().leave(7, STOP)
    other = place.requests()
    look = Fault("GET", r"/info/refs\?service=git-upload-pack", Act(lambda: other.taken(7, [FIX])), nth=2)
    requests = place.requests()
    place.hub.faults.add(look)
    assert requests.waiting(7) == (STOP,)
