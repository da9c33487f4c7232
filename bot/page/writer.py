"""Writes the Run page into the logs folder at the end of a job. Whatever goes wrong there is said, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from bot.failures import RunFailed
from bot.guard import Redactor
from bot.page.history import History
from bot.page.logs import Logs
from bot.page.model import RepairTold, Told
from bot.page.render import run_html
from bot.record import Record


def tell(record: Record, logs: Logs, history: History) -> Told:
    """All that is to be had of a Run."""
    repairs = tuple(RepairTold(one, logs.evidence(record, one.number), history.diff(one)) for one in record.repairs)
    return Told(record, logs.sessions(record), repairs, history.saves())


class PageWriter:
    """The Run page of one job."""

    def __init__(
        self,
        folder: Path,
        history: History,
        *,
        redactor: Redactor,
        today: Callable[[], datetime],
        say: Callable[[str], None],
        wanted: Callable[[], bool],
    ) -> None:
        """`folder` is the logs folder. `wanted` tells whether the job is to keep it as an artifact; it is asked once,
        and may raise `RunFailed`.
        """
        self._folder = folder
        self._history = history
        self._redactor = redactor
        self._today = today
        self._say = say
        self._wanted = wanted

    @cached_property
    def upload(self) -> str:
        """The folder that the job is to keep as an artifact; "" for none, and where GitHub does not say who sees it."""
        try:
            return str(self._folder) if self._wanted() else ""
        except RunFailed:
            return ""

    def write(self, record: Record) -> None:
        """Write the page of the Run as it stands. Raises nothing."""
        try:
            told = tell(record, Logs(self._folder, self._redactor.clean), self._history)
            path = Logs(self._folder).write(run_html(told, self._today(), self._redactor))
        except Exception as error:  # what is told of a Run on the issue must not depend on a page
            self._say(f"The Run page could not be written: {type(error).__name__}: {error}")
        else:
            self._say(f"The Run page is {path}")
