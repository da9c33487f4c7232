"""Gathers what people attached into the Run's folder, for all its Sessions in this job. A failure is told, and fails
nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.attachments.content import LARGEST, MEGABYTE, TOGETHER, Unfit, examine, file_name
from bot.attachments.given import Attachments, Given
from bot.attachments.hosts import Address, Hosts
from bot.attachments.plan import Skipped, plan
from bot.clock import Clock, Deadline
from bot.github.attachments import NotFetched, TooLarge

SECONDS = 240.0
"""Real seconds for all of them, as GitHub's hosts are not sped up: a signed address is good for five minutes."""
_TOLD = 20
"""Lines in the job log about what was not given."""

Fetch = Callable[[Address, int, Deadline], bytes]
"""What is at an address, that many bytes at most, until then. Raises `NotFetched`, `Cancelled`."""


class Gathering:
    """The attachments of one Run on this runner."""

    def __init__(
        self,
        hosts: Hosts,
        source: Callable[[int, Sequence[Address]], Fetch],
        folder: Path,
        clock: Clock,
        say: Callable[[str], None],
        seconds: float = SECONDS,
    ) -> None:
        """`source` fetches what is attached to an issue, these addresses and no others. `folder` is for the files
        alone; `say` takes lines for the job log. All together may take real `seconds`.
        """
        self._hosts = hosts
        self._source = source
        self._folder = folder
        self._clock = clock
        self._say = say
        self._seconds = seconds
        self._gathered: Attachments | None = None

    def __call__(self, issue: int, texts: Sequence[str]) -> Attachments:
        """Those that `texts`, the issue's as approved, name: fetched by the first call, the same for each later one.
        Raises `Cancelled`.
        """
        if self._gathered is None:
            self._gathered = self._gather(issue, texts)
            self._tell(self._gathered)
        return self._gathered

    def _gather(self, issue: int, texts: Sequence[str]) -> Attachments:
        planned = plan(texts, self._hosts)
        if not planned.wanted:
            return Attachments((), planned.skipped)
        try:
            self._make_folder()
        except OSError as error:
            return Attachments((), (*planned.skipped, *(Skipped(one.url, _not_kept(error)) for one in planned.wanted)))
        fetch = self._source(issue, planned.wanted)
        until = self._clock.reaction("attachments", self._seconds)
        given: list[Given] = []
        skipped = list(planned.skipped)
        left = TOGETHER
        for number, address in enumerate(planned.wanted, start=1):
            try:
                one = self._one(number, address, fetch, left, until)
            except (NotFetched, Unfit) as reason:
                skipped.append(Skipped(address.url, str(reason)))
            except OSError as error:
                skipped.append(Skipped(address.url, _not_kept(error)))
            else:
                given.append(one)
                left -= one.size
        return Attachments(tuple(given), tuple(skipped))

    def _make_folder(self) -> None:
        """Empty, and for Sessions to read, whoever they run as."""
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True)
        self._folder.chmod(0o755)

    def _one(self, number: int, address: Address, fetch: Fetch, left: int, until: Deadline) -> Given:
        if until.passed():
            raise NotFetched("the time for attachments was over")
        limit = min(LARGEST, left)
        try:
            data = fetch(address, limit, until)
        except TooLarge:
            most = f"larger than {LARGEST // MEGABYTE} MB"
            together = f"all together are larger than {TOGETHER // MEGABYTE} MB"
            raise NotFetched(most if limit == LARGEST else together) from None
        content = examine(address, data)
        path = self._folder / file_name(number, address, content)
        with path.open("xb") as file:
            file.write(content.data)
        path.chmod(0o444)
        return Given(str(path), content.kind, len(data), address.url, content.remark)

    def _tell(self, gathered: Attachments) -> None:
        for one in gathered.given:
            self._say(f"attachment: {Path(one.path).name}, {one.size} bytes")
        for skipped in gathered.skipped[:_TOLD]:
            self._say(f"attachment not given to the Sessions: {skipped.url[:200]}: {skipped.why}")
        if len(gathered.skipped) > _TOLD:
            self._say(f"attachments not given to the Sessions: {len(gathered.skipped) - _TOLD} more")


def _not_kept(error: OSError) -> str:
    return f"it could not be kept: {error.strerror}"
