"""Whole Runs whose Session makes every attempt: none succeeds, and each does where nothing is isolated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adversary.attempt import BOTH, Attempt
from tests.adversary.attempts import ATTEMPTS
from tests.adversary.elsewhere import ELSEWHERE, Elsewhere
from tests.adversary.theatre import CONSEQUENCES, Attacked, Consequence
from tests.adversary.trial import MEANS

ROOT = Path(__file__).parents[2]
CONTROLLED = [(who, one) for who in BOTH for one in (*ATTEMPTS, *CONSEQUENCES) if who in one.control]

pytestmark = pytest.mark.timeout(600)


def named(one: Attempt | Consequence | Elsewhere) -> str:
    """The attempt's id, which is the test's."""
    return one.id


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=named)
def test_attempt(attacked: Attacked, role: str, attempt: Attempt) -> None:
    """A Session does not get what it tries to get on the runner."""
    assert attempt.id in attacked.tried
    if reason := attempt.impossible() or attempt.lacking(role):
        pytest.skip(reason)
    assert attempt.id not in attacked.succeeded


@pytest.mark.parametrize("attempt", CONSEQUENCES, ids=named)
def test_consequence(attacked: Attacked, attempt: Consequence) -> None:
    """What a Session planted, handed over, said and left running does nothing."""
    assert attempt.id not in attacked.succeeded


@pytest.mark.parametrize("what", MEANS)
def test_session_has_the_means(attacked: Attacked, what: str) -> None:
    """The Session finds the program, the forwarder and the server that it attacks, and can work."""
    assert f"means {what}" in attacked.succeeded


@pytest.mark.parametrize(
    ("unprotected", "attempt"),
    CONTROLLED,
    indirect=["unprotected"],
    ids=[f"{who}-{one.id}" for who, one in CONTROLLED],
)
def test_works_where_nothing_is_isolated(unprotected: Attacked, attempt: Attempt | Consequence) -> None:
    """Each attempt on the runner is one that succeeds with `isolation: relaxed`, for a root's program or for both."""
    if isinstance(attempt, Attempt) and (reason := attempt.impossible()):
        pytest.skip(reason)
    assert attempt.id in unprotected.succeeded


def test_role(attacked: Attacked, role: str) -> None:
    """The job log says as whom the Session ran, and it is who this Run is about."""
    wanted = {
        "own-user": "as a user of their own",
        "root": "as root without capabilities",
        "plain": "as the runner's user",
    }
    assert wanted[role] in attacked.said


@pytest.mark.parametrize("attempt", ELSEWHERE, ids=named)
def test_made_elsewhere(attempt: Elsewhere) -> None:
    """The test that makes the attempt is there."""
    path, _, name = attempt.test.partition("::")
    assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_ids_are_different() -> None:
    """No two attempts have the same id."""
    ids = [one.id for one in (*ATTEMPTS, *CONSEQUENCES, *ELSEWHERE)]
    assert len(ids) == len(set(ids))
