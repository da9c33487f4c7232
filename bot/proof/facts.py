"""What the program itself ran and saw, as frozen values; part of the Record."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What the Trials of the named test show."""

    PROVED = "proved"
    PASSES_BEFORE_TOO = "passes_before_too"
    FAILS_AFTER = "fails_after"
    COULD_NOT_RUN = "could_not_run"
    NOT_NAMED = "not_named"


class Result(StrEnum):
    """How one Trial went: passed; failed for the tests' own reason; the tests could not even be loaded; or nothing was
    tested, because something was missing, broken or too slow.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_LOADED = "not_loaded"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a Session says proves its work; a stranger's word, checked for shape only."""

    command: str
    files: tuple[str, ...]
    """Paths in the repository, `/` between their parts."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One command as it ended, before anybody has read what it means."""

    exit_code: int | None
    """Negative for a signal; None when it was stopped because its time was over."""
    seconds: float
    output: str
    """What it printed, both streams, bounded in the middle."""
    reports: tuple[str, ...] = ()
    """Text of the report files that it wrote, each bounded."""
    setup_failed: str = ""
    """Why the `setup` commands failed there: the command was not run then."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One command that the program ran on one commit."""

    commit: str
    result: Result
    exit_code: int | None
    """As in `Ran`; None also when the command was not run at all."""
    seconds: float
    why: str
    """A clause for people: what the result rests on, `2 of 5 tests failed` or `exit code 1 alone`. Markdown, inert."""
    failed: tuple[str, ...] = ()
    """Names of the tests that failed, bounded."""
    passed: int = 0
    """Number of tests that passed; 0 where nothing was reported."""
    told_by: str = ""
    """What told it beyond the exit code: `JUnit XML`, `unittest`, `TAP`, `go test`; "" for the exit code alone."""
    missing: str = ""
    """The name that its error says is not there, where that is why it could not load or failed; else ""."""
    output: str = ""
    """The end of what it printed, bounded; a stranger's text."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What was run to see whether the work does what it says, and what that shows."""

    base: str
    """The base commit that the named files were laid over."""
    head: str
    """The commit that it is about."""
    verdict: Verdict
    why: str
    """A sentence without a full stop: the facts that the verdict rests on. Markdown, inert."""
    claim: Claim | None = None
    named_by: str = ""
    """The kind of Session that named the test."""
    before: Trial | None = None
    """The named files on the base commit."""
    before_with_tests: Trial | None = None
    """The same with every other test file of the diff laid over as well; None where there is none or no need."""
    after: Trial | None = None
    again: Trial | None = None
    """The second Trial on the head, where the first passed and was fast."""
    feature: str = ""
    """The name that the diff adds and whose absence made the tests fail before; "" for a failure of their own."""
    suspicions: tuple[str, ...] = ()
    """What a reviewer should look at in the named test. Markdown, a sentence each without a full stop."""
    check: Trial | None = None
    """`check-command` on the head."""
    check_before: Trial | None = None
    """`check-command` on the base commit, where it is red on the head."""

    @property
    def flaky(self) -> bool:
        """Whether the named test passed and then failed on one commit."""
        return self.again is not None and self.again.result is not Result.PASSED

    @property
    def is_red(self) -> bool:
        """Whether something that was run says that the work is wrong."""
        return self.verdict is Verdict.FAILS_AFTER or self.check_is_red

    @property
    def check_is_red(self) -> bool:
        """Whether `check-command` is red on the head and not on the base commit."""
        red = self.check is not None and self.check.result is not Result.PASSED
        return red and (self.check_before is None or self.check_before.result is Result.PASSED)
