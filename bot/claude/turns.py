"""The steps of the fold that are about Turns: what opens and closes them, and what the root says and does in them."""

from __future__ import annotations

from msgspec.structs import replace

from bot.claude import tasks
from bot.claude.facts import Facts, Opener
from bot.claude.frames import Assistant, Init, Result, User

_TURN_FRAMES_KEPT = 4
"""Those of two Turns: as many can be open at once."""


def init(facts: Facts, frame: Init) -> Facts:
    """A Turn opens."""
    if frame.uuid and frame.uuid in facts.turn_frames:
        return facts
    ours = facts.unanswered > 0
    return replace(
        facts,
        session_id=frame.session_id or facts.session_id,
        cli_version=frame.cli_version or facts.cli_version,
        turn_frames=_remember(facts, frame.uuid),
        begun=True,
        in_turn=True,
        unclosed=facts.unclosed + 1,
        opener=Opener.PROMPT if ours else Opener.TASK_END if facts.owed else Opener.ITSELF,
        unanswered=facts.unanswered - 1 if ours else 0,
        wake_turns=facts.wake_turns + (not ours),
        owed=facts.owed if ours else {},
        api_error="",
    )


def _remember(facts: Facts, uuid: str) -> tuple[str, ...]:
    return (*facts.turn_frames[1 - _TURN_FRAMES_KEPT :], uuid) if uuid else facts.turn_frames


def assistant(facts: Facts, frame: Assistant) -> Facts:
    """The root or a sub-agent speaks, or calls tools."""
    if frame.tool_uses:
        facts = _tools_opened(facts, frame)
    if frame.parent:
        return facts
    if frame.error:
        return replace(facts, api_error=frame.error)
    if facts.owed or facts.lost:
        answered_for = {task_id: within for task_id, within in facts.owed.items() if not within}
        facts = replace(facts, owed=answered_for, lost=dict.fromkeys(facts.lost, True))
    if frame.text:
        return replace(facts, in_turn=True, api_error="", words=frame.text)
    return facts if facts.in_turn and not facts.api_error else replace(facts, in_turn=True, api_error="")


def _tools_opened(facts: Facts, frame: Assistant) -> Facts:
    opened = dict(facts.open_tools)
    for use in frame.tool_uses:
        if use.asks_background:
            facts = replace(facts, background_asked=facts.background_asked | {use.id})
        if frame.parent:
            facts = replace(facts, nested_calls=facts.nested_calls | {use.id})
        elif use.id:
            opened[use.id] = f"{use.name}: {use.about}" if use.about else use.name
    return facts if frame.parent else replace(facts, open_tools=opened)


def user(facts: Facts, frame: User) -> Facts:
    """Tools have answered."""
    if not frame.results:
        return facts
    facts = _tools_answered(facts, frame)
    for answer in frame.results:
        if answer.background_task:
            facts = tasks.acknowledged(facts, answer, nested=bool(frame.parent))
    return facts


def _tools_answered(facts: Facts, frame: User) -> Facts:
    if frame.parent:
        answered = {answer.tool_use_id for answer in frame.results}
        return replace(facts, nested_calls=facts.nested_calls - (answered - facts.background_asked))
    left = dict(facts.open_tools)
    for answer in frame.results:
        left.pop(answer.tool_use_id, None)
    return facts if len(left) == len(facts.open_tools) else replace(facts, open_tools=left)


def result(facts: Facts, frame: Result) -> Facts:
    """A Turn closes."""
    if frame.uuid and frame.uuid in facts.turn_frames:
        return facts
    unclosed, remembered = max(facts.unclosed - 1, 0), _remember(facts, frame.uuid)
    if frame.is_debris:
        unanswered = facts.unanswered + (facts.in_turn and facts.opener is Opener.PROMPT)
        return replace(facts, in_turn=False, unclosed=unclosed, turn_frames=remembered, unanswered=unanswered)
    since = frame.cost_since_usd
    facts = replace(
        facts,
        in_turn=False,
        unclosed=unclosed,
        turn_frames=remembered,
        session_id=facts.session_id or frame.session_id,
        turns=facts.turns + 1,
        work_turns=facts.work_turns + (facts.opener is not Opener.ITSELF),
        last=frame,
        owed={} if frame.woken else facts.owed,
        words=frame.text or facts.words,
        cost_usd=max(facts.cost_usd, frame.cost_total_usd) if since is None else facts.cost_usd + since,
        open_tools={} if frame.is_error else facts.open_tools,
    )
    if frame.denied_tools:
        facts = replace(facts, denied_tools=tuple(dict.fromkeys((*facts.denied_tools, *frame.denied_tools))))
    if not frame.is_error:
        facts = _absorbed(facts)
    return tasks.without_old(facts)


def _absorbed(facts: Facts) -> Facts:
    """Losses after which the root has spoken are absorbed by a good result."""
    if not facts.lost:
        return facts
    left = {task: said for task, said in facts.lost.items() if not said or facts.tasks[task].killed_by_us}
    return replace(facts, lost=left)
