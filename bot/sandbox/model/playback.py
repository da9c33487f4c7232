"""Who gets which item of a Script.

A session is its id: a new id takes the first free Conversation whose `when` is in its first prompt, else the next free
one without `when`, and keeps it through every resume. A sub-agent takes one of the Script's `agents` in the same way.
It is known by the agent id that the CLI sends (2.1.332) or, with a CLI that sends none (2.1.197), by its first prompt,
which is that of an Agent call that its session was given. A Conversation is taken once. Requests without tools belong
to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.sandbox.model.messages import ModelRequest
from bot.sandbox.model.script import Conversation, Fault, Reply, Script

OVERRUN_TEXT = "The scripted model has nothing more to say here: the script of this conversation has ended."
AGENT_TOOLS = ("Agent", "Task")
_SIDE_TEXT = Reply(text="OK.", output_tokens=2)
_SIDE_JSON = Reply(text='{"title": "Scripted session"}', output_tokens=8)
_OVERRUN = Reply(text=OVERRUN_TEXT)


@dataclass(slots=True)
class _Track:
    """A Conversation being played; one without a Conversation is over from the start."""

    name: str
    items: Iterator[Reply | Fault]


@dataclass(slots=True)
class _Session:
    first_text: str
    track: _Track
    prompts: list[str] = field(default_factory=list)
    agents: dict[str, _Track] = field(default_factory=dict)


class Playback:
    """The state of one playing of a Script. Not thread-safe: its owner takes one request at a time."""

    def __init__(self, script: Script) -> None:
        self.overruns = 0
        self._free = list(script.conversations)
        self._free_agents = list(script.agents)
        self._sessions: dict[str, _Session] = {}

    def take(self, request: ModelRequest) -> tuple[ModelRequest, Reply | Fault]:
        """The request with its kind and conversation filled in, and the item that it gets."""
        if request.kind == "side":
            return request, _SIDE_JSON if request.wants_json else _SIDE_TEXT
        session = self._session(request)
        agent = request.agent_id or _agent_prompt(request, session)
        track = self._agent(request, session, agent) if agent else session.track
        item = next(track.items, None)
        if item is None:
            self.overruns += 1
            item = _OVERRUN
        if isinstance(item, Reply):
            asked = [call.input.get("prompt") for call in item.calls if call.name in AGENT_TOOLS]
            session.prompts.extend(text for text in asked if isinstance(text, str) and text)
        return replace(request, kind="agent" if agent else "main", conversation=track.name), item

    def _session(self, request: ModelRequest) -> _Session:
        known = self._sessions.get(request.session_id)
        if known is None:
            taken = _taken(self._free, request.first_text)
            known = self._sessions[request.session_id] = _Session(request.first_text, _track(taken))
        return known

    def _agent(self, request: ModelRequest, session: _Session, agent: str) -> _Track:
        if agent not in session.agents:
            session.agents[agent] = _track(_taken(self._free_agents, request.first_text))
        return session.agents[agent]


def _agent_prompt(request: ModelRequest, session: _Session) -> str:
    if request.first_text == session.first_text:
        return ""
    return next((prompt for prompt in session.prompts if prompt in request.first_text), "")


def _taken(free: list[Conversation], first_text: str) -> Conversation | None:
    """The Conversation for one who begins with `first_text`, no longer free."""
    wanted = [conversation for conversation in free if conversation.when and conversation.when in first_text]
    in_order = [conversation for conversation in free if not conversation.when]
    for conversation in [*wanted, *in_order]:
        free.remove(conversation)
        return conversation
    return None


def _track(conversation: Conversation | None) -> _Track:
    if conversation is None:
        return _Track("", iter(()))
    return _Track(conversation.name, (item for item in conversation.replies for _ in range(item.times)))
