"""Whether a failure is new."""

from __future__ import annotations

from bot.record import Check, CheckState, CiState, CiVerdict, Evidence, RepairEntry
from bot.repetition import fingerprint, inherit, repeats


def check(name: str, state: CheckState = CheckState.FAILED, workflow: str = "ci.yml") -> Check:
    """A check of GitHub Actions."""
    return Check(name, "github-actions", workflow, state, "failure", "https://x.example/1")


def evidence(excerpt: str, name: str = "test") -> Evidence:
    """What a failed check's log says."""
    return Evidence(check(name), "Unit tests", excerpt)


def repair(number: int, mark: str, *, changed: bool = True, conflict: bool = False) -> RepairEntry:
    """A Repair that ended."""
    after = f"{number}" * 40 if changed else "0" * 40
    return RepairEntry(number, ("test",), "0" * 40, after, fingerprint=mark, conflict=conflict)


def test_what_varies_from_run_to_run_makes_no_other_failure() -> None:
    """Durations, commit ids, times, line numbers and folders do not tell one failure from another."""
    first = "FAILED tests/test_a.py:12 in 3.2s\nHEAD is now at 1a2b3c4d5e\nAssertionError: 750 != 751 at /tmp/a/b.py"
    again = "FAILED tests/test_a.py:19 in 8.4s\nHEAD is now at 9f8e7d6c5b\nAssertionError: 750 != 751 at /tmp/z/b.py"
    assert fingerprint([evidence(first)]) == fingerprint([evidence(again)])


def test_other_values_and_other_checks_make_another_failure() -> None:
    """A different error line, or the same one in another check, is a different failure."""
    marks = {
        fingerprint([evidence("AssertionError: 750 != 751")]),
        fingerprint([evidence("AssertionError: 749 != 751")]),
        fingerprint([evidence("AssertionError: 750 != 751", name="style")]),
    }
    assert len(marks) == 3


def test_the_order_of_checks_does_not_matter() -> None:
    """The same failures listed the other way round are the same."""
    one, two = evidence("error: a", "a"), evidence("error: b", "b")
    assert fingerprint([one, two]) == fingerprint([two, one])


def test_a_failure_repeats_when_it_comes_back_after_a_change() -> None:
    """The second time in a row is too much with a limit of 2; another failure, or an unchanged head, starts anew."""
    assert repeats([repair(1, "same")], "same", 2)
    assert not repeats([repair(1, "same")], "same", 3)
    assert not repeats([repair(1, "other")], "same", 2)
    assert not repeats([repair(1, "same", changed=False)], "same", 2)
    assert not repeats([repair(1, "same")], "same", 0)
    assert not repeats([], "same", 2)
    assert repeats([repair(1, "same"), repair(2, "", conflict=True)], "same", 2)


def test_red_on_the_base_is_inherited_by_name_and_workflow() -> None:
    """A check that is red on the base too is not the branch's; the same name in another workflow is."""
    head = CiVerdict("h", CiState.RED, (check("docs"), check("test"), check("docs", workflow="other.yml")))
    base = CiVerdict("b", CiState.RED, (check("docs"), check("test", CheckState.PASSED)))
    told = inherit(head, base)
    assert [(item.name, item.workflow) for item in told.inherited] == [("docs", "ci.yml")]
    assert [(item.name, item.workflow) for item in told.failed] == [("test", "ci.yml"), ("docs", "other.yml")]
