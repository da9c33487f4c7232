"""The runners: threads that take jobs in the order in which they were queued, so many at once and no more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

RUNNERS = 2
"""As many as the sandbox has when nobody says otherwise."""


class Runners:
    """Threads come when there is work and go when there is none."""

    def __init__(self, limit: int = RUNNERS) -> None:
        """`limit` is how many work at once."""
        self._limit = limit
        self._lock = threading.Lock()
        self._queue: deque[Callable[[], None]] = deque()
        self._threads: set[threading.Thread] = set()

    def resize(self, limit: int) -> None:
        """Let so many work at once; those that work already finish what they do."""
        with self._lock:
            self._limit = limit

    def submit(self, work: Callable[[], None]) -> None:
        """Queue `work`, which raises nothing."""
        with self._lock:
            self._queue.append(work)
            if len(self._threads) < self._limit:
                thread = threading.Thread(target=self._serve, name="ci-runner", daemon=True)
                self._threads.add(thread)
                thread.start()

    def join(self) -> None:
        """Wait until all that was queued is done."""
        for thread in list(self._threads):
            thread.join()

    def _serve(self) -> None:
        while True:
            with self._lock:
                if not self._queue or len(self._threads) > self._limit:
                    self._threads.discard(threading.current_thread())
                    return
                work = self._queue.popleft()
            work()
