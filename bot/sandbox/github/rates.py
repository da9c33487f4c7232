"""GitHub's primary rate limit: so many requests an hour for each token; a repository's job tokens share one budget.

Time is planned: at a scale of 60 a budget is filled again after a real minute, and the reset that an answer names is as
many seconds away as somebody who waits at that scale has to plan.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bot.sandbox.github.state import Token

RATE_LIMIT = 5000
JOB_RATE_LIMIT = 1000
"""What all job tokens of one repository have together."""


@dataclass(slots=True)
class _Budget:
    limit: int
    filled: float  # real monotonic seconds
    used: int = 0


class RateLimits:
    """The budgets of one embedded GitHub. The caller holds the world's lock."""

    def __init__(self, limit: int, window: float, scale: float) -> None:
        """`limit` requests in `window` planned seconds, of which `scale` pass in a real one."""
        self._limit = limit
        self._window = window
        self._scale = scale
        self._budgets: dict[str, _Budget] = {}

    def spent(self, token: Token) -> bool:
        """Whether nothing is left of the token's budget."""
        budget = self._budget(token)
        return budget.used >= budget.limit

    def charge(self, token: Token | None, requests: int) -> Mapping[str, str]:
        """Count `requests`; the headers that tell how the budget stands."""
        budget = self._budget(token)
        budget.used = min(budget.limit, budget.used + requests)
        left = self._window - (time.monotonic() - budget.filled) * self._scale
        told = {
            "Limit": budget.limit,
            "Remaining": budget.limit - budget.used,
            "Used": budget.used,
            "Reset": math.ceil(time.time() + left),
            "Resource": "core",
        }
        return {f"X-RateLimit-{name}": str(value) for name, value in told.items()}

    def _budget(self, token: Token | None) -> _Budget:
        """The token's budget, filled again when its time was over. Requests without a token have one together."""
        key = (token.budget or token.secret) if token else ""
        known, now = self._budgets.get(key), time.monotonic()
        if known is None or (now - known.filled) * self._scale >= self._window:
            limit = min(self._limit, JOB_RATE_LIMIT) if token and token.kind == "job" else self._limit
            known = self._budgets[key] = _Budget(limit, now)
        return known
