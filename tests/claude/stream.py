"""Lines as the CLI prints them, in the notation of the scenarios. Shapes are those of the recordings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import msgspec

from bot.claude.facts import Event, Facts, PromptSent, StopAsked
from bot.claude.fold import fold
from bot.claude.lines import parse

Step = bytes | PromptSent | StopAsked
Steps = list[Step]
SESSION = "5d66ffac-0ed0-463c-a7d7-7fdd76961eaf"
_numbers = itertools.count(1)


def line(**fields: object) -> bytes:
    """One frame, with an id of its own."""
    own = {"session_id": SESSION, "uuid": f"00000000-0000-4000-8000-{next(_numbers):012}"}
    return msgspec.json.encode({**own, **fields})


def system(subtype: str, **fields: object) -> bytes:
    return line(type="system", subtype=subtype, **fields)


def prompt() -> Steps:
    return [PromptSent()]


def init(session: str = SESSION) -> Steps:
    return [system("init", session_id=session, claude_code_version="2.1.332", model="claude-opus-4-8")]


def says(text: str = "Waiting.", *, parent: str | None = None, error: str = "") -> Steps:
    content = [{"type": "text", "text": text}]
    extra = {"error": error} if error else {}
    return [
        line(type="assistant", message={"role": "assistant", "content": content}, parent_tool_use_id=parent, **extra)
    ]


def uses(call: str, tool: str = "Bash", *, parent: str | None = None, **given: object) -> Steps:
    content = [{"type": "tool_use", "id": call, "name": tool, "input": given}]
    return [line(type="assistant", message={"role": "assistant", "content": content}, parent_tool_use_id=parent)]


def answers(call: str, *, parent: str | None = None, **result: object) -> Steps:
    content = [{"type": "tool_result", "tool_use_id": call, "content": "…", "is_error": False}]
    return [
        line(
            type="user",
            message={"role": "user", "content": content},
            parent_tool_use_id=parent,
            tool_use_result={"stdout": "", "stderr": "", **result},
        )
    ]


def started(task: str, *, call: str = "", kind: str = "local_bash", **fields: object) -> Steps:
    about = {"task_id": task, "tool_use_id": call or f"call-{task}", "description": f"job {task}", "task_type": kind}
    return [system("task_started", **about, **fields)]


def background(task: str, *, parent: str | None = None, timeout: int = 120000) -> Steps:
    """A background Bash: the call, the start, the acknowledgement."""
    call = f"call-{task}"
    return [
        *uses(call, parent=parent, command="make test", timeout=timeout, run_in_background=True),
        *started(task),
        *answers(call, parent=parent, backgroundTaskId=task),
    ]


def agent(task: str) -> Steps:
    call = f"call-{task}"
    return [
        *uses(call, "Agent", prompt="…", run_in_background=True),
        *started(task, kind="local_agent"),
        *answers(call, isAsync=True, agentId=task, status="async_launched"),
    ]


def level(*tasks: str, **fields: object) -> Steps:
    return [
        system(
            "background_tasks_changed",
            tasks=[
                {"task_id": task, "task_type": "local_bash", "description": f"job {task}", **fields} for task in tasks
            ],
        )
    ]


def updated(task: str, status: str = "completed") -> Steps:
    return [system("task_updated", task_id=task, patch={"status": status, "end_time": 1795966268244})]


def to_background(task: str) -> Steps:
    return [system("task_updated", task_id=task, patch={"is_backgrounded": True})]


def notified(task: str, status: str = "completed") -> Steps:
    return [
        system(
            "task_notification", task_id=task, tool_use_id=f"call-{task}", status=status, output_file="", summary="…"
        )
    ]


def ends(task: str) -> Steps:
    return [*level(), *updated(task), *notified(task)]


def killed(task: str) -> Steps:
    return [*updated(task, "killed"), *notified(task, "stopped")]


def result(text: str = "done", **fields: object) -> Steps:
    usual: dict[str, object] = {"subtype": "success", "is_error": False, "num_turns": 2, "stop_reason": "end_turn"}
    return [line(type="result", **{**usual, "result": text, "total_cost_usd": 0.1, "permission_denials": [], **fields})]


def woken(text: str = "woken") -> Steps:
    return result(text, num_turns=1, origin={"kind": "task-notification"})


def debris() -> Steps:
    return result("", num_turns=0, origin={"kind": "task-notification"})


def wakes(text: str = "woken") -> Steps:
    """A whole Wake turn."""
    return [*init(), *says(text), *woken(text)]


def api_fails(status: int | None = 500, error: str = "server_error") -> Steps:
    said = "API Error: boom"
    return [*says(said, error=error), *result(said, is_error=True, num_turns=1, api_error_status=status)]


def aborted() -> Steps:
    return result("", subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools")


def max_turns() -> Steps:
    return result("", subtype="error_max_turns", is_error=True, terminal_reason="max_turns", errors=["Reached maximum"])


def events(steps: Iterable[Step]) -> list[Event]:
    return [parse(step) if isinstance(step, bytes) else step for step in steps]


def facts_of(steps: Iterable[Step], facts: Facts | None = None) -> Facts:
    facts = fold(Facts(), PromptSent()) if facts is None else facts
    for event in events(steps):
        facts = fold(facts, event)
    return facts
