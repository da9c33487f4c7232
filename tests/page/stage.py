"""A Run with everything that a page can show, and one text in every place that a stranger can write to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot.page.history import Fetched
from bot.page.logs import Logs
from bot.page.model import Told
from bot.page.render import run_html
from bot.page.writer import tell
from bot.proof.facts import Claim, Proof, Result, Trial, Verdict
from bot.record import (
    Check,
    CheckState,
    CiState,
    CiVerdict,
    FailureEntry,
    JobEntry,
    Outcome,
    PullRequest,
    Record,
    RepairEntry,
    SessionEntry,
    Trigger,
)
from bot.report.terminal import Save

NOW = datetime(2026, 3, 4, 2, 40, tzinfo=UTC)
HEAD, FIXED, BASE = "a1b2c3d4e5" * 4, "0f1e2d3c4b" * 4, "b" * 40
ACTIONS = "https://github.example/acme/widget/actions/runs"
PREFIX = "issue-7-run-4711-1"


def at(text: str) -> str:
    """A moment of the night, ISO 8601, UTC."""
    return f"2026-03-04T{text}.000+00:00"


def record(strange: str) -> Record:
    """A failed Run of two jobs: three Sessions, one of them resumed, and one Repair."""
    check = Check(strange, strange, strange, CheckState.FAILED, strange, strange, 8, strange)
    passed = replace(check, state=CheckState.PASSED, url=f"{ACTIONS}/4711/job/9")
    sessions = (
        session("implement", "02:00:41", 700, "resume", strange),
        session("implement-resume", "02:13:16", 95, "done", strange),
        session("repair-1", "02:30:33", 48, "done", strange),
    )
    repair = RepairEntry(
        *(1, (strange,), HEAD, FIXED, (strange,), strange, CiState.RED, 901), suspicions=(strange,), fingerprint="f"
    )
    failed = Trial(BASE, Result.FAILED, 1, 2.5, "1 of 5 tests failed", (strange,), 4, "unittest", "", strange)
    proof = Proof(
        *(BASE, HEAD, Verdict.PASSES_BEFORE_TOO, "the named test passes before this change too"),
        claim=Claim(strange, (strange,)),
        named_by="implement",
        before=failed,
        after=replace(failed, commit=HEAD, result=Result.PASSED, exit_code=0),
        suspicions=(strange,),
    )
    trigger = Trigger(
        *("acme/widget", 7, strange, strange, strange, strange, at("02:00:00"), "4711", 1, f"{ACTIONS}/4711")
    )
    jobs = (
        JobEntry("4711", 1, f"{ACTIONS}/4711", strange, at("02:00:05")),
        JobEntry("4712", 1, strange, "nightjar-wake.yml", at("02:30:00"), at("02:39:00")),
    )
    run = Record(
        *(trigger, strange, strange, 5),
        jobs=jobs,
        claimed=True,
        base_commit=BASE,
        head=FIXED,
        implemented=True,
        pushed=FIXED,
        pull_request=PullRequest(12, "https://github.example/acme/widget/pull/12", draft=True),
        sessions=sessions,
        resumes=1,
        repairs=(repair,),
        proof=proof,
        suspicions=(strange,),
        notes=(strange,),
        watched_since=at("02:31:30"),
        failure=FailureEntry("ci_red", strange, strange),
        outcome=Outcome.FAILED,
        told=True,
    )
    return run.heard(CiVerdict(FIXED, CiState.RED, (check, passed), strange), at("02:38:30"))


def session(name: str, began: str, seconds: float, ended: str, strange: str) -> SessionEntry:
    """One process of a Session."""
    transcript = f"/logs/{PREFIX}-{name}.jsonl"
    lost = (strange,) if ended == "resume" else ()
    return SessionEntry(name, "S1", seconds, 0.41, 2, ended, lost, strange, transcript, at(began))


def stream(strange: str) -> Iterator[object]:
    """What the CLI says in two Turns, with a Hold between them: every kind of frame that is told of."""
    task = {"task_id": "t1", "task_type": "local_bash", "description": strange, "run_id": "r1"}
    yield init()
    yield said(text("thinking", thinking=strange), text("text", text=strange))
    yield said(call("c1", strange, {strange: strange, "description": strange, "command": strange}))
    yield answered("c1", strange)
    yield said(call("c2", "Bash", {"command": strange, "run_in_background": True}))
    yield {"type": "system", "subtype": "task_started", **task, "tool_use_id": "c2", "is_backgrounded": True}
    yield answered("c2", [{"type": "text", "text": strange}, {"type": strange}], failed=True)
    yield said(call("c3", "Read", {"file_path": strange}), parent="c2")
    yield {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 529, "error": strange}
    yield result(strange, error=False)
    yield {"type": "system", "subtype": "task_notification", **task, "status": "completed", "summary": strange}
    yield init()
    yield said(text("text", text=strange), time="02:06:30")
    yield result(strange, error=True)


def init() -> object:
    """A Turn opens."""
    model = {"model": "claude-opus-5-5", "claude_code_version": "2.1.332"}
    return {"type": "system", "subtype": "init", "session_id": "S1", **model}


def said(*blocks: object, parent: str | None = None, time: str = "02:05:00") -> object:
    """The model says something."""
    message = {"role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "timestamp": at(time)}


def text(kind: str, **given: str) -> object:
    """A block of words."""
    return {"type": kind, **given}


def call(name: str, tool: str, given: object) -> object:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def answered(name: str, content: object, *, failed: bool = False) -> object:
    """A tool answers."""
    block = {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "timestamp": at("02:05:08")}


def result(words: str, *, error: bool) -> object:
    """A Turn closes."""
    how = {"subtype": "success", "is_error": error, "num_turns": 3, "total_cost_usd": 0.02, "errors": [words]}
    return {"type": "result", **how, "result": words, "session_id": "S1"}


def write_logs(folder: Path, strange: str) -> Path:
    """A logs folder with the Run's transcripts, one of which has no entry in the Record, and its evidence."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(frame)}\n" for frame in stream(strange))
    for name in ("implement", "implement-resume", "repair-1", "repair-2"):
        (folder / f"{PREFIX}-{name}.jsonl").write_text(lines, encoding="utf-8")
    evidence = strange.encode(errors="replace")
    (folder / f"{PREFIX}-repair-1.evidence.txt").write_bytes(evidence)
    return folder


def told(folder: Path, strange: str) -> Told:
    """The whole Run, read from `folder`."""
    diff = f"diff --git a/{strange} b/{strange}\n@@ -1 +1 @@ {strange}\n-{strange}\n+{strange}\n {strange}"
    saves = (Save(datetime(2026, 3, 4, 2, 39, tzinfo=UTC), strange),)
    return tell(record(strange), Logs(write_logs(folder, strange)), Fetched(lambda *_: diff, saves))


def page(folder: Path, strange: str) -> str:
    """Its page."""
    return run_html(told(folder, strange), NOW)
