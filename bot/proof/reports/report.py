"""What a test runner told, whatever it wrote it in."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CASES = 5000
LONGEST_NAME = 300
LONGEST_MESSAGE = 4000


@dataclass(frozen=True, slots=True)
class Case:
    """One test as a runner told it: a stranger's words."""

    name: str
    """ "" where the runner only counts."""
    file: str = ""
    """Where it is, in the runner's own terms: a path, a dotted name, a package of Go; "" where it does not say."""
    message: str = ""
    """What it said of its failure; the end where that is long."""


@dataclass(frozen=True, slots=True)
class Report:
    """The tests of one command by how they went."""

    told_by: str
    """`JUnit XML`, `pytest`, `unittest`, `go test` or `TAP`."""
    passed: tuple[Case, ...] = ()
    failed: tuple[Case, ...] = ()
    not_loaded: tuple[Case, ...] = ()
    """Files or packages whose tests could not be imported, collected or compiled."""
    errors: tuple[Case, ...] = ()
    """Tests that did not begin, because what prepares them failed."""
    skipped: tuple[Case, ...] = ()
    """Also those that are expected to fail, and do."""
    unfinished: str = ""
    """Why nothing more was tested, a clause; "" when the runner came to its end. Markdown, inert."""
    short: str = ""
    """How what it reports falls short of what it planned, a clause; "" when it does not. Markdown, inert."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """All that it tells of."""
        return self.passed + self.failed + self.not_loaded + self.errors + self.skipped


class Sorting:
    """Collects cases under what became of them; no more than `MOST_CASES`, each bounded."""

    def __init__(self) -> None:
        self.passed: list[Case] = []
        self.failed: list[Case] = []
        self.not_loaded: list[Case] = []
        self.errors: list[Case] = []
        self.skipped: list[Case] = []

    def add(self, where: list[Case], name: str, file: str = "", message: str = "") -> None:
        """Put a case into one of the lists."""
        if len(where) < MOST_CASES:
            where.append(Case(name[:LONGEST_NAME], file[:LONGEST_NAME], message[-LONGEST_MESSAGE:]))

    def count(self, where: list[Case], number: int) -> None:
        """Put in `number` cases of which nothing is known."""
        where.extend([Case("")] * max(0, min(number, MOST_CASES - len(where))))

    def report(self, told_by: str, *, unfinished: str = "", short: str = "") -> Report:
        """All that was collected."""
        return Report(
            told_by,
            passed=tuple(self.passed),
            failed=tuple(self.failed),
            not_loaded=tuple(self.not_loaded),
            errors=tuple(self.errors),
            skipped=tuple(self.skipped),
            unfinished=unfinished,
            short=short,
        )
