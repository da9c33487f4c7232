"""One more event → what is known then. A fold over Frames and over what we ourselves asked of the process. Pure: no
clock, no I/O.

The rules about background work that this fold keeps:

* The Roster is what runs in the background. A level replaces it; `task_started` adds to it, but for a foreground
  command only once it was moved to the background; where the CLI does not say (2.1.197), only once the tool's answer
  or its own input showed the background.
* A Wake turn is owed when a root task ended and the root has neither opened a Turn for it nor spoken since. An empty
  level cancels nothing.
* Only root-owned tasks wake the root; a nested task (a sub-agent's own) can be lost all the same.
* A loss is absorbed only by a root `assistant` frame after it, followed by a result that is no error; what we
  stopped is never absorbed.
* A failed Turn on a live process keeps the Roster and what is owed: the level is only sent on change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from bot.claude import tasks, turns
from bot.claude.facts import Event, Facts, PromptSent, StopAsked
from bot.claude.frames import (
    NOT_JSON,
    ApiRetry,
    Aside,
    Assistant,
    Batch,
    Ignored,
    Init,
    Level,
    RateLimit,
    Result,
    TaskNotification,
    TaskStarted,
    TaskUpdated,
    User,
)


def fold(facts: Facts, event: Event) -> Facts:
    """The facts after one more event."""
    return fold_all((event,), facts)


def fold_all(events: Iterable[Event], facts: Facts) -> Facts:
    """The facts after all `events`."""
    for event in events:
        if facts.torn:
            facts = replace(facts, torn=False)
        facts = _STEPS[type(event)](facts, event)
    return facts


def _batch(facts: Facts, batch: Batch) -> Facts:
    return fold_all(batch.frames, facts)


def _prompt_sent(facts: Facts, _: PromptSent) -> Facts:
    return replace(facts, unanswered=facts.unanswered + 1)


def _api_retry(facts: Facts, frame: ApiRetry) -> Facts:
    refused = frame.error == "authentication_failed"
    return replace(facts, api_error=frame.error or facts.api_error, refused_auth=facts.refused_auth or refused)


def _rate_limit(facts: Facts, frame: RateLimit) -> Facts:
    return replace(facts, resets_at=frame.resets_at) if frame.status == "rejected" and frame.resets_at else facts


def _aside(facts: Facts, _: Aside) -> Facts:
    return facts


def _ignored(facts: Facts, frame: Ignored) -> Facts:
    counted = {**facts.ignored, frame.why: facts.ignored.get(frame.why, 0) + 1}
    return replace(facts, ignored=counted, torn=frame.why == NOT_JSON)


_STEPS: dict[type, Callable[[Facts, Any], Facts]] = {
    PromptSent: _prompt_sent,
    StopAsked: tasks.stop_asked,
    Init: turns.init,
    Assistant: turns.assistant,
    User: turns.user,
    Result: turns.result,
    TaskStarted: tasks.task_started,
    TaskUpdated: tasks.task_updated,
    TaskNotification: tasks.task_notification,
    Level: tasks.level,
    ApiRetry: _api_retry,
    RateLimit: _rate_limit,
    Aside: _aside,
    Ignored: _ignored,
    Batch: _batch,
}
