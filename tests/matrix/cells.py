"""The cells of the two matrices: one place where a Run dies, or one request that goes wrong, and what follows."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bot.sandbox.github import Act, Answer, Drop, Wait, secondary_limit
from tests.matrix.promises import broken
from tests.matrix.requests import Named, named
from tests.matrix.theatre import Lived, Theatre, theatre

THEN = ("finish", "run")
"""After a death: the job's last step, or a fresh label where even that did not come."""
NOT_BEGUN = "Nothing to finish: no Run was begun"


@dataclass(frozen=True, slots=True)
class Cell:
    """One Run of a matrix."""

    row: str
    column: str
    play: Callable[[Theatre], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Played:
    """A cell that was played, and the promises that it broke."""

    cell: Cell
    broken: tuple[str, ...]
    lost: bool = False
    """Whether a Session's last commit went with its runner: the one exception, and only before the next push."""
    missed: bool = False
    """Whether the request never came: polls are as many as CI takes long."""


@dataclass(frozen=True, slots=True)
class Clean:
    """A Run to which nothing happens: where the cells come from."""

    requests: tuple[Named, ...]
    saves: int


def clean(folder: Path) -> Clean:
    """Play it. Raises `AssertionError` when that breaks a promise itself."""
    with theatre(folder) as stage:
        acted = stage.label()
        lived = stage.play(acted, dies=("before-save", 0))
        wrong = list(broken(stage))
        assert lived.exit_code == 0, lived.log
        assert not wrong, wrong
        assert [kind for kind, _ in acted.sessions] == ["implement", "repair-1"]
        saves = len((acted.home / "before-save").read_text(encoding="utf-8").splitlines())
        return Clean(tuple(named(stage.hub.requests)), saves)


# ── death ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def crash_cells(known: Clean) -> Iterator[Cell]:
    """The main step dies at each save of the Record and around each request that writes."""
    for then in THEN:
        for nth in range(1, known.saves + 1):
            for place in ("before-save", "after-save"):
                yield Cell(f"{place} {nth}", then, _dies_at((place, nth), then))
        for request in known.requests:
            if request.writes:
                for stored in (False, True):
                    row = f"{'after' if stored else 'before'} {request}"
                    yield Cell(row, then, _dies_in(request, stored, then))


def _dies_at(point: tuple[str, int], then: str) -> Callable[[Theatre], Iterable[str]]:
    def play(stage: Theatre) -> Iterable[str]:
        lived = stage.play(stage.label(), dies=point)
        if not lived.killed:
            return [f"it did not die: {_last(lived.log)}"]
        return _afterwards(stage, then)

    return play


def _dies_in(request: Named, stored: bool, then: str) -> Callable[[Theatre], Iterable[str]]:
    def play(stage: Theatre) -> Iterable[str]:
        lived = dies_in(stage, request, stored=stored)
        if not lived.killed:
            return [f"it did not die: {_last(lived.log)}"]
        return _afterwards(stage, then)

    return play


def dies_in(stage: Theatre, request: Named, *, stored: bool) -> Lived:
    """Label the issue; the main step is killed when that request has come: before its work is done, or after."""
    running: list[subprocess.Popen[str]] = []

    def kill() -> None:
        running[0].kill()
        running[0].wait()

    acted = stage.label()
    stage.hub.faults.add(request.fault(Act(kill, stored)))
    running.append(stage.begin(acted))
    return stage.end(acted, running[0])


def _afterwards(stage: Theatre, then: str) -> Iterable[str]:
    """The last step of the job, twice, or a job of a fresh label; then what is broken."""
    if then == "run":
        stage.lose_the_runner()
        lived = stage.play(stage.label())
        yield from broken(stage)
        if lived.exit_code or stage.repository.labels(stage.issue) != ("nightjar:ready",):
            yield f"the second Run came to exit code {lived.exit_code}: {_last(lived.log)}"
        return
    acted = stage.jobs[-1]
    lived = stage.play(acted, "finish")
    if NOT_BEGUN in lived.log:
        yield from (f"{marker}, though no Run was begun" for marker in stage.markers())
        return
    yield from broken(stage)
    if lived.exit_code:
        yield f"finish came to exit code {lived.exit_code}: {_last(lived.log)}"
    before = len(stage.hub.requests)
    stage.play(acted, "finish")
    if any(request.method != "GET" for request in stage.hub.requests[before:]):
        yield "a second finish wrote something"


# ── faults ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_Trouble = Answer | Drop | Wait
_TROUBLE: dict[str, _Trouble] = {
    "500": Answer(500),
    "502": Answer(502),
    "502 stored": Answer(502, stored=True),
    "dropped": Drop(),
    "dropped stored": Drop(stored=True),
}
"""What passes: the Run ends as if nothing had been."""
_REFUSALS = {"403": Answer(403), "401": Answer(401)}
"""What stays, for this request and all of its kind."""


def fault_cells(known: Clean) -> Iterator[Cell]:
    """Each request of a Run goes wrong in each way; what git asks can hang, too."""
    for request in known.requests:
        for column, trouble in _TROUBLE.items():
            yield Cell(str(request), column, _passes(request, trouble))
        limit = secondary_limit(retry_after=1, status=429 if request.git else 403)  # git hears of no header
        yield Cell(str(request), "secondary limit", _passes(request, limit))
        for column, refusal in _REFUSALS.items():
            yield Cell(str(request), column, _refused(request, refusal))
        if request.git:
            yield Cell(str(request), "hangs", _passes(request, Wait()))


def _passes(request: Named, trouble: _Trouble) -> Callable[[Theatre], Iterable[str]]:
    def play(stage: Theatre) -> Iterable[str]:
        acted = stage.label()
        stage.hub.faults.add(request.fault(trouble))
        lived = stage.play(acted)
        stage.hub.faults.clear()
        stage.missed = request not in named(stage.hub.requests)
        yield from broken(stage)
        if lived.exit_code:
            yield f"exit code {lived.exit_code}: {_last(lived.log)}"

    return play


def _refused(request: Named, refusal: Answer) -> Callable[[Theatre], Iterable[str]]:
    def play(stage: Theatre) -> Iterable[str]:
        acted = stage.label()
        stage.hub.faults.add(request.fault(refusal, always=True))
        lived = stage.play(acted)
        stage.missed = request not in named(stage.hub.requests)
        if lived.exit_code not in (0, 1):
            yield f"exit code {lived.exit_code}: {_last(lived.log)}"
        yield from broken(stage, refused=request.shape)

    return play


def _last(log: str) -> str:
    return next((line[:220] for line in reversed(log.splitlines()) if line.strip()), "")


# ── playing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def sample(cells: Sequence[Cell], size: int) -> list[Cell]:
    """`size` of them, evenly spread; always the same ones."""
    step = max(1.0, len(cells) / size)
    return [cells[int(number * step)] for number in range(min(size, len(cells)))]


def play(
    cells: Iterable[Cell], folder: Path, *, abreast: int, heard: Callable[[Played], None] = lambda _: None
) -> list[Played]:
    """Play the cells, `abreast` at a time, each in a theatre of its own."""

    def one(numbered: tuple[int, Cell]) -> Played:
        number, cell = numbered
        try:
            with theatre(folder / f"{number}") as stage:
                played = Played(cell, tuple(cell.play(stage)), bool(stage.lost), stage.missed)
        except subprocess.TimeoutExpired as hung:
            played = Played(cell, (f"it did not end within {hung.timeout:.0f} s",))
        heard(played)
        return played

    with ThreadPoolExecutor(abreast) as pool:
        return list(pool.map(one, enumerate(cells)))


def table(played: Sequence[Played]) -> str:
    """The size of a matrix and its survivors, for people."""
    survivors = [one for one in played if one.broken]
    rows = [f"  {one.cell.row} | {one.cell.column} | {'; '.join(one.broken)}" for one in survivors]
    lost, missed = sum(one.lost for one in played), sum(one.missed for one in played)
    asides = (
        f"{missed} whose request never came, {lost} whose runner was lost between a Session's end and the next push"
    )
    head = f"{len(played)} played ({asides}), {len(survivors)} of them broke a promise"
    return "\n".join([head + ("" if not rows else ":"), *rows])
